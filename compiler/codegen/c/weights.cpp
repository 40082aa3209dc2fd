// weights.cpp: writes weights as an array, or as a file of their own that the assembler or the preprocessor includes.
//
// A C compiler needs some hundred bytes of memory and a microsecond for each element of an array, so many megabytes of
// weights are better left to the assembler (`.incbin`, any GCC or clang that writes ELF) or to `#embed` of C23. Each
// form gives the program the same constant object `rlx_weights`, aligned as numbers are. An array is right on machines
// of either byte order; files are little-endian, and big-endian machines refuse them.
#include "compiler/codegen/c/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace relaxc::codegen_c {
namespace {

/// The condition of RLX_BIG_ENDIAN in rlx_internal.h, which not every written file includes.
constexpr std::string_view kIsBigEndian =
    "#if (defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)) ? (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) : \\\n"
    "    (defined(__BIG_ENDIAN__) || defined(__big_endian__) || defined(__ARMEB__) || defined(__MIPSEB__))\n";

constexpr std::string_view kWeightsMacro = "RLX_";

uint64_t array_bytes(const interface::Weights& weights) {
  return std::max<uint64_t>(weights.bytes, 1);
}

/// Writes the weights piece by piece, so that a large model needs no text of its size in memory; false on failure.
bool write_array(const interface::Weights& weights, const std::vector<ElementRun>& runs, const Write& write) {
  constexpr size_t kPiece = 1 << 14;
  bool fine = true;
  if (weights.bytes == 0) return write("0");
  ByteArray array(runs, kWeightsMacro);
  weights.stream([&](const std::byte* data, size_t size) {
    for (size_t at = 0; at < size && fine; at += kPiece) {
      std::string text;
      array.append(data + at, std::min(kPiece, size - at), text);
      fine = write(text);
    }
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

uint32_t ByteArray::width() {
  while (run_ < runs_.size() && runs_[run_].offset + runs_[run_].bytes <= at_) ++run_;
  return run_ < runs_.size() && runs_[run_].offset <= at_ ? runs_[run_].element_bytes : 1;
}

void ByteArray::append(const std::byte* data, size_t size, std::string& text) {
  constexpr uint32_t kBytesOfLine = 32;
  for (size_t i = 0; i < size; ++i) {
    if (count_ == 0) {
      if (at_ % kBytesOfLine == 0) text += "\n";
      element_.clear();
    }
    element_ += (count_ == 0 ? "" : ",") + std::to_string(static_cast<unsigned>(data[i]));
    const uint32_t wide = width();
    if (++count_ < wide) continue;
    text += wide == 1 ? element_ + "," : fmt::format("{}{}({}),", macro_, wide, element_);
    at_ += wide;
    count_ = 0;
  }
}

std::string byte_order_macros(const std::vector<ElementRun>& runs, std::string_view macro) {
  std::set<uint32_t> widths;
  for (const ElementRun& run : runs) widths.insert(run.element_bytes);
  widths.erase(1);
  if (widths.empty()) return {};
  auto define = [&](bool swapped) {
    std::string text;
    for (uint32_t wide : widths) {
      std::string given, listed;
      for (uint32_t i = 0; i < wide; ++i) {
        const char* comma = i == 0 ? "" : ", ";
        given += fmt::format("{}{}", comma, static_cast<char>('a' + i));
        listed += fmt::format("{}({})", comma, static_cast<char>('a' + (swapped ? wide - 1 - i : i)));
      }
      text += fmt::format("#define {}{}({}) {}\n", macro, wide, given, listed);
    }
    return text;
  };
  return on_byte_order(define(true), define(false));
}

std::string on_byte_order(const std::string& big, const std::string& little) {
  return std::string(kIsBigEndian) + big + "#else\n" + little + "#endif\n";
}

std::string little_endian_only(std::string_view what) {
  return fmt::format("{}#error \"{}\"\n#endif\n", kIsBigEndian, what);
}

std::string weights_declaration(const interface::Object& object) {
  return fmt::format(
      "extern RLX_PRIVATE const union {0}_weights_bytes {{\n  uint8_t bytes[{1}];\n  double alignment;\n}} "
      "{0}_weights;\n#define rlx_weights {0}_weights\n",
      object.name, array_bytes(object.weights));
}

bool write_weights(const interface::Object& object, const std::vector<ElementRun>& runs, const Style& style,
                   const std::string& file, bool is_static, const Write& write) {
  const interface::Weights& weights = object.weights;
  WeightsForm form = weights.bytes == 0 ? WeightsForm::kArray : style.weights;
  if (form != WeightsForm::kArray &&
      !write(
          little_endian_only("the file of weights is little-endian; relaxc --c-weights=array is for any byte order")))
    return false;
  if (form == WeightsForm::kArray && !write(byte_order_macros(runs, kWeightsMacro))) return false;
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
  return fine && write_array(weights, runs, write) && write("}};\n\n");
}

bool write_weights_bytes(const interface::Weights& weights, const Write& write) {
  bool fine = true;
  weights.stream([&](const std::byte* data, size_t size) {
    fine = fine && write({reinterpret_cast<const char*>(data), size});
  });
  return fine;
}

}  // namespace relaxc::codegen_c
