// weights.h: model data in C.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/c/style.h"
#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// Receives the text of a file, piece by piece; false when it cannot be written (the file system's error is the
/// caller's to report).
using Write = std::function<bool(std::string_view text)>;

/// The extension, behind the output's stem, of the file that kIncbin and kEmbed take.
inline constexpr const char* kWeightsFile = ".weights.bin";

/// Where the weights hold elements of more than a byte. What is in no run is bytes.
struct ElementRun {
  uint64_t offset = 0, bytes = 0;
  uint32_t element_bytes = 1;
};

/// Data in little-endian order as the content of a C array of bytes that has the order of the machine it is compiled
/// for: elements of more than a byte are calls of macros.
class ByteArray {
 public:
  /// `runs` by offset; `macro` is what the macros' names begin with, before the number of bytes.
  ByteArray(const std::vector<ElementRun>& runs, std::string_view macro) : runs_(runs), macro_(macro) {}
  /// Adds the text of the next bytes; a last element that is not whole waits for more.
  void append(const std::byte* data, size_t size, std::string& text);

 private:
  uint32_t width();

  const std::vector<ElementRun>& runs_;
  std::string macro_;
  size_t run_ = 0;
  uint64_t at_ = 0;
  std::string element_;
  uint32_t count_ = 0;
};

/// What a file needs before the content of such an array.
std::string byte_order_macros(const std::vector<ElementRun>& runs, std::string_view macro);
/// Text for big-endian machines, and text for the others.
std::string on_byte_order(const std::string& big, const std::string& little);
/// Refuses big-endian machines: `what` is little-endian for a reason.
std::string little_endian_only(std::string_view what);

/// The declaration of `rlx_weights` for a file that does not hold it.
std::string weights_declaration(const interface::Object& object);
/// The definition, `static` unless other files are to see it. `file` is the name of the file of kWeightsFile.
bool write_weights(const interface::Object& object, const std::vector<ElementRun>& runs, const Style& style,
                   const std::string& file, bool is_static, const Write& write);
/// The bytes alone.
bool write_weights_bytes(const interface::Weights& weights, const Write& write);

}  // namespace relaxc::codegen_c
