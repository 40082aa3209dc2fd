// weights.h: model data in C.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/codegen/c/style.h"
#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// Receives the text of a file, piece by piece; false when it cannot be written (the file system's error is the
/// caller's to report).
using Write = std::function<bool(std::string_view text)>;

/// The ending, behind the output's stem, of the file that kIncbin and kEmbed take.
inline constexpr const char* kWeightsFile = ".weights.bin";

/// The declaration of `rlx_weights` for a file that does not hold it.
std::string weights_declaration(const interface::Object& object);
/// The definition, `static` unless other files are to see it. `file` is the name of the file of kWeightsFile.
bool write_weights(const interface::Object& object, const Style& style, const std::string& file, bool is_static,
                   const Write& write);
/// The bytes alone.
bool write_weights_bytes(const interface::Weights& weights, const Write& write);

}  // namespace relaxc::codegen_c
