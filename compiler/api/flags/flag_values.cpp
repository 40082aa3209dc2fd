// flag_values.cpp: parses dims, sizes, states and pools.
#include "compiler/api/flags/flag_values.h"

#include <algorithm>
#include <charconv>

namespace relaxc::api {
namespace {

std::optional<int64_t> integer(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<frontend::DimOverride> parse_dim(const std::string& text) {
  frontend::DimOverride dim;
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  dim.name = text.substr(0, equals);
  std::string range = text.substr(equals + 1);
  if (size_t colon = range.find(':'); colon != std::string::npos) {
    std::optional<int64_t> multiple = integer(std::string_view(range).substr(colon + 1));
    if (!multiple || *multiple < 1) return std::nullopt;
    dim.multiple_of = *multiple;
    range.resize(colon);
  }
  size_t dots = range.find("..");
  std::string lower = range.substr(0, dots), upper = dots == std::string::npos ? lower : range.substr(dots + 2);
  std::optional<int64_t> low = lower.empty() ? std::optional<int64_t>(0) : integer(lower);
  std::optional<int64_t> high =
      upper.empty() && dots != std::string::npos ? std::optional<int64_t>(INT64_MAX) : integer(upper);
  if (!low || !high || *low < 0 || *high < *low) return std::nullopt;
  dim.lower = *low;
  dim.upper = *high;
  return dim;
}

std::optional<uint64_t> parse_bytes(const std::string& text) {
  constexpr std::string_view kUnits = "kmgt";
  size_t digits = text.find_first_not_of("0123456789");
  std::optional<int64_t> number = integer(std::string_view(text).substr(0, digits));
  if (!number || *number < 0) return std::nullopt;
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  for (char& c : unit)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (unit.empty() || unit == "b") return static_cast<uint64_t>(*number);
  size_t power = kUnits.find(unit[0]);
  std::string rest = unit.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return std::nullopt;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(*number), uint64_t{1} << (10 * (power + 1)), &bytes))
    return std::nullopt;
  return bytes;
}

std::optional<State> parse_state(const std::string& text) {
  size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  return State{text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<GradientFlag> parse_gradient(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  GradientFlag flag{text.substr(0, colon), {}};
  for (size_t at = colon; at < text.size();) {
    const size_t comma = std::min(text.find(',', at + 1), text.size());
    flag.parameters.push_back(text.substr(at + 1, comma - at - 1));
    at = comma;
  }
  auto empty = [](const std::string& name) { return name.empty(); };
  if (flag.function.empty() || std::any_of(flag.parameters.begin(), flag.parameters.end(), empty)) return std::nullopt;
  return flag;
}

std::optional<interface::Pool> parse_pool(const std::string& text) {
  size_t equals = std::min(text.find('='), text.size());
  interface::Pool pool {
    text.substr(0, equals)
  };
  auto digit_or_lower = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
  bool named =
      !pool.name.empty() && pool.name[0] >= 'a' && std::all_of(pool.name.begin(), pool.name.end(), digit_or_lower);
  std::optional<uint64_t> bytes = equals == text.size() ? 0 : parse_bytes(text.substr(equals + 1));
  if (!named || !bytes || *bytes > INT64_MAX || (*bytes == 0 && equals != text.size())) return std::nullopt;
  pool.bytes = *bytes;
  return pool;
}

}  // namespace relaxc::api
