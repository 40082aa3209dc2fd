// attr_text.cpp: prints and parses attribute values.
#include "compiler/relax/attr_text.h"

#include <fmt/format.h>

#include <cstdlib>

#include "compiler/support/quote.h"

namespace relaxc::relax {
namespace {

std::vector<std::string> split_list(std::string_view text) {
  RELAXC_CHECK(text.size() >= 2 && text.front() == '[' && text.back() == ']', "a default list without brackets");
  std::vector<std::string> parts;
  std::string part;
  for (char c : text.substr(1, text.size() - 2)) {
    if (c == ',')
      parts.push_back(std::move(part)), part.clear();
    else if (c != ' ')
      part += c;
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? text + ".0" : text;
}

template <typename T, typename F>
std::string list_text(const std::vector<T>& values, F each) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + each(value);
  return "[" + text + "]";
}

}  // namespace

AttrType attr_type(const AttrValue& value) {
  return static_cast<AttrType>(value.index());
}

std::string_view attr_type_name(AttrType type) {
  switch (type) {
    case AttrType::kBool:
      return "a bool";
    case AttrType::kInt:
      return "an integer";
    case AttrType::kFloat:
      return "a float";
    case AttrType::kString:
      return "a string";
    case AttrType::kDType:
      return "a dtype";
    case AttrType::kInts:
      return "a list of integers";
    case AttrType::kFloats:
      return "a list of floats";
    case AttrType::kStrings:
      return "a list of strings";
  }
  RELAXC_UNREACHABLE();
}

std::string attr_text(const AttrValue& value) {
  switch (attr_type(value)) {
    case AttrType::kBool:
      return std::get<bool>(value) ? "True" : "False";
    case AttrType::kInt:
      return std::to_string(std::get<int64_t>(value));
    case AttrType::kFloat:
      return float_text(std::get<double>(value));
    case AttrType::kString:
      return quoted(std::get<std::string>(value));
    case AttrType::kDType:
      return "\"" + to_string(std::get<DType>(value)) + "\"";
    case AttrType::kInts:
      return list_text(std::get<std::vector<int64_t>>(value), [](int64_t v) { return std::to_string(v); });
    case AttrType::kFloats:
      return list_text(std::get<std::vector<double>>(value), float_text);
    case AttrType::kStrings:
      return list_text(std::get<std::vector<std::string>>(value), quoted);
  }
  RELAXC_UNREACHABLE();
}

AttrValue parse_attr(std::string_view view, AttrType type) {
  std::string text(view);
  switch (type) {
    case AttrType::kBool:
      return text == "true" || text == "True";
    case AttrType::kInt:
      return static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
    case AttrType::kFloat:
      return std::strtod(text.c_str(), nullptr);
    case AttrType::kString:
      return text;
    case AttrType::kDType: {
      std::optional<DType> dtype = parse_dtype(text.empty() ? "float32" : text);
      RELAXC_CHECK(dtype.has_value(), "a default dtype that does not exist");
      return *dtype;
    }
    case AttrType::kInts: {
      std::vector<int64_t> values;
      if (!text.empty())
        for (const std::string& part : split_list(text)) values.push_back(std::strtoll(part.c_str(), nullptr, 10));
      return values;
    }
    case AttrType::kFloats: {
      std::vector<double> values;
      if (!text.empty())
        for (const std::string& part : split_list(text)) values.push_back(std::strtod(part.c_str(), nullptr));
      return values;
    }
    case AttrType::kStrings:
      return text.empty() ? std::vector<std::string>{} : split_list(text);
  }
  RELAXC_UNREACHABLE();
}

std::optional<AttrValue> convert_attr(const AttrValue& value, AttrType type) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    if (type == AttrType::kFloat) return static_cast<double>(*integer);
    if (type == AttrType::kBool && (*integer == 0 || *integer == 1)) return *integer == 1;
    if (type == AttrType::kInts) return std::vector<int64_t>{*integer};
  }
  if (const auto* flag = std::get_if<bool>(&value))
    if (type == AttrType::kInt) return static_cast<int64_t>(*flag);
  if (const auto* text = std::get_if<std::string>(&value))
    if (type == AttrType::kDType)
      if (std::optional<DType> dtype = parse_dtype(*text)) return *dtype;
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    if (type == AttrType::kFloats) return std::vector<double>(ints->begin(), ints->end());
    if (type == AttrType::kStrings && ints->empty()) return std::vector<std::string>{};
  }
  return std::nullopt;
}

}  // namespace relaxc::relax
