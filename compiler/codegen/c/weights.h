// weights.h: writes the weights as C.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/c/style.h"
#include "compiler/interface/object.h"

namespace relaxc::codegen_c {

/// Receives the text of a file in pieces; returns false if it cannot be written (the caller reports the file system's
/// error).
using Write = std::function<bool(std::string_view text)>;

/// The extension that follows the output's stem in the name of the file that kIncbin and kEmbed include.
inline constexpr const char* kWeightsFile = ".weights.bin";

/// A part of the weights with elements of several bytes. Whatever is in no run is bytes.
struct ElementRun {
  uint64_t offset = 0, bytes = 0;
  uint32_t element_bytes = 1;
};

/// Prints little-endian data as the content of a C array of bytes in the byte order of the machine that compiles it:
/// elements of several bytes are calls of macros.
class ByteArray {
 public:
  /// `runs` is sorted by offset; `macro` is the prefix of the macros' names, which the number of bytes follows.
  ByteArray(const std::vector<ElementRun>& runs, std::string_view macro) : runs_(runs), macro_(macro) {}
  /// Appends the text of the next bytes to `text`; an incomplete element at the end waits for its other bytes.
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

/// Returns the definitions of the macros that such an array needs.
std::string byte_order_macros(const std::vector<ElementRun>& runs, std::string_view macro);
/// Returns text that selects `big` on big-endian machines and `little` on others.
std::string on_byte_order(const std::string& big, const std::string& little);
/// Returns an #error for big-endian machines with the message `what`.
std::string little_endian_only(std::string_view what);

/// Returns the declaration of `rlx_weights` for a file that does not define it.
std::string weights_declaration(const interface::Object& object);
/// Writes the definition, `static` if `is_static`. `file` is the name of the file of kWeightsFile.
bool write_weights(const interface::Object& object, const std::vector<ElementRun>& runs, const Style& style,
                   const std::string& file, bool is_static, const Write& write);
/// Writes the bytes alone.
bool write_weights_bytes(const interface::Weights& weights, const Write& write);

}  // namespace relaxc::codegen_c
