// weights.cpp: weights as an array, or in a file of their own that the assembler or the preprocessor takes.
//
// A C compiler needs some hundred bytes of memory and a microsecond for each element of an array, so weights of many
// megabytes are better left to the assembler (`.incbin`, any GCC or clang that writes ELF) or to `#embed` of C23. What
// the program sees is the same in all forms: a constant object `rlx_weights` that is aligned as numbers are.
#include "compiler/codegen/c/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace relaxc::codegen_c {
namespace {

uint64_t array_bytes(const interface::Weights& weights) {
  return std::max<uint64_t>(weights.bytes, 1);
}

/// Piece by piece, so that a large model needs no text of its whole size in memory.
bool write_array(const interface::Weights& weights, const Write& write) {
  bool fine = true;
  uint64_t written = 0;
  if (weights.bytes == 0) return write("0");
  weights.stream([&](const std::byte* data, size_t size) {
    std::string text;
    for (size_t i = 0; i < size && fine; ++i, ++written) {
      if (written % 32 == 0) text += "\n";
      text += std::to_string(static_cast<unsigned>(data[i])) + ",";
      if (text.size() > 1 << 16) {
        fine = write(text);
        text.clear();
      }
    }
    fine = fine && write(text);
  });
  return fine && write("\n");
}

/// Lets a build that compiles elsewhere name the file: -DMODEL_WEIGHTS_FILE='"path"'.
std::string file_macro(const std::string& name, const std::string& file) {
  std::string macro;
  for (char c : name) macro += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  macro += "_WEIGHTS_FILE";
  return fmt::format("#ifndef {0}\n#define {0} \"{1}\"\n#endif\n", macro, file);
}

std::string incbin_text(const interface::Object& object, const std::string& file) {
  std::string macro = file_macro(object.name, file), used = macro.substr(8, macro.find('\n') - 8);
  return macro + fmt::format(
                     "#if !defined(__ELF__)\n#error \"weights by .incbin are for ELF; relaxc --c-weights=array is for "
                     "any format\"\n#endif\n"
                     "__asm__(\n"
                     "    \".pushsection .rodata.{0}_weights,\\\"a\\\",%progbits\\n\"\n"
                     "    \".balign {1}\\n.globl {0}_weights\\n.hidden {0}_weights\\n.type {0}_weights, %object\\n\"\n"
                     "    \"{0}_weights:\\n.incbin \\\"\" {2} \"\\\"\\n.size {0}_weights, {3}\\n.popsection\\n\");\n",
                     object.name, object.weights.alignment, used, object.weights.bytes);
}

}  // namespace

std::string weights_declaration(const interface::Object& object) {
  return fmt::format(
      "extern RLX_PRIVATE const union {0}_weights_bytes {{\n  uint8_t bytes[{1}];\n  double alignment;\n}} "
      "{0}_weights;\n#define rlx_weights {0}_weights\n",
      object.name, array_bytes(object.weights));
}

bool write_weights(const interface::Object& object, const Style& style, const std::string& file, bool is_static,
                   const Write& write) {
  const interface::Weights& weights = object.weights;
  WeightsForm form = weights.bytes == 0 ? WeightsForm::kArray : style.weights;
  if (form == WeightsForm::kIncbin) return write(weights_declaration(object) + incbin_text(object, file) + "\n");
  bool fine = true;
  if (style.profile == Profile::kMisra)
    fine = write(
        fmt::format("static const struct {{\n  double alignment;\n  uint8_t bytes[{}];\n}} rlx_weights = {{0.0, {{",
                    array_bytes(weights)));
  else if (is_static)
    fine = write(fmt::format("static const union {{\n  uint8_t bytes[{}];\n  double alignment;\n}} rlx_weights = {{{{",
                             array_bytes(weights)));
  else
    fine = write(weights_declaration(object) +
                 fmt::format("const union {0}_weights_bytes {0}_weights = {{{{", object.name));
  if (form == WeightsForm::kEmbed) return fine && write(fmt::format("\n#embed \"{}\"\n}}}};\n\n", file));
  return fine && write_array(weights, write) && write("}};\n\n");
}

bool write_weights_bytes(const interface::Weights& weights, const Write& write) {
  bool fine = true;
  weights.stream([&](const std::byte* data, size_t size) {
    fine = fine && write({reinterpret_cast<const char*>(data), size});
  });
  return fine;
}

}  // namespace relaxc::codegen_c
