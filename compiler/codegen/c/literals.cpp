// literals.cpp: prints constants with the suffixes and parentheses that C needs.
#include "compiler/codegen/c/literals.h"

#include <fmt/format.h>

#include <cmath>

namespace relaxc::codegen_c {

std::string integer_text(DType dtype, int64_t value) {
  if (dtype == DType::u(64)) return fmt::format("UINT64_C({})", static_cast<uint64_t>(value));
  if (value == INT64_MIN) return "INT64_MIN";
  bool wide = value > INT32_MAX || value < INT32_MIN + int64_t{1};
  std::string text = wide ? fmt::format("INT64_C({})", value) : std::to_string(value);
  if (dtype == DType::u(32)) text = std::to_string(static_cast<uint32_t>(value)) + "u";
  return value < 0 ? "(" + text + ")" : text;
}

std::string float_text(DType dtype, double value) {
  if (std::isnan(value)) return dtype.bits == 64 ? "(double)NAN" : "NAN";
  if (std::isinf(value))
    return std::string(value < 0 ? "(-" : "(") + (dtype.bits == 64 ? "(double)" : "") + "INFINITY)";
  std::string text = dtype.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (dtype.bits != 64) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

std::string zero(DType dtype) {
  return dtype.is_float() ? float_text(dtype, 0) : integer_text(dtype, 0);
}

}  // namespace relaxc::codegen_c
