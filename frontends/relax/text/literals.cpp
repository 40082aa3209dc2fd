// literals.cpp: reads constants, dtypes and dotted paths of the tree.
#include "frontends/relax/text/literals.h"

#include <cstdlib>
#include <vector>

#include "compiler/support/suggest.h"

namespace relaxc::frontend {

using ast::Expr;
using AstKind = ast::ExprKind;

Result<int64_t> integer_value(SourceText& source, const Expr& e) {
  std::string_view digits = e.text;
  uint64_t radix = 10;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] > '9') {
    char letter = static_cast<char>(digits[1] | 0x20);
    radix = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    digits.remove_prefix(2);
  }
  uint64_t value = 0;
  bool valid = !digits.empty();
  for (char c : digits) {
    char lower = static_cast<char>(c | 0x20);
    uint64_t digit = c >= '0' && c <= '9'           ? static_cast<uint64_t>(c - '0')
                     : lower >= 'a' && lower <= 'z' ? static_cast<uint64_t>(lower - 'a') + 10
                                                    : radix;
    valid = valid && digit < radix;
    if (!valid) break;
    if (__builtin_mul_overflow(value, radix, &value) || __builtin_add_overflow(value, digit, &value) ||
        (radix == 10 && value > INT64_MAX))
      return source.error(e.place, Kind::overflow, "{} does not fit a 64-bit integer", e.text);
  }
  if (!valid) return source.error(e.place, Kind::syntax, "'{}' is not a number", e.text);
  return static_cast<int64_t>(value);
}

double float_value(const Expr& e) {
  return std::strtod(e.text.c_str(), nullptr);
}

std::optional<std::string> dotted_path(const Expr& e) {
  std::vector<const Expr*> parts;
  const Expr* at = &e;
  for (; at->is(AstKind::kAttribute); at = at->items[0]) parts.push_back(at);
  if (!at->is(AstKind::kName)) return std::nullopt;
  std::string path = at->text;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path += "." + (*part)->text;
  return path;
}

std::optional<std::string> nearest_dtype(std::string_view text) {
  static const std::vector<std::string> kCommon = {"float32", "float16", "float64", "bfloat16", "int8",
                                                   "int16",   "int32",   "int64",   "uint8",    "uint16",
                                                   "uint32",  "uint64",  "bool"};
  return nearest_name(text, kCommon);
}

void suggest(SourceText& source, std::string_view name, const std::vector<std::string>& names) {
  if (source.suppressed()) return;
  if (auto near = nearest_name(name, names)) source.hint("did you mean '{}'?", *near);
}

Result<DType> dtype_value(SourceText& source, const Expr& e) {
  // R.dtype("float32")
  if (e.is(AstKind::kCall) && e.items.size() == 2 && dotted_path(*e.items[0]) == "R.dtype")
    return dtype_value(source, *e.items[1]);
  std::string text = e.text;
  if (std::optional<std::string> path = dotted_path(e); path && path->rfind("T.", 0) == 0)
    text = path->substr(2);
  else if (!e.is(AstKind::kString))
    return source.error(e.place, Kind::invalid_value, "expected a dtype such as \"float32\", found {}", describe(e));
  if (std::optional<DType> dtype = parse_dtype(text)) return *dtype;
  Failure failure = source.error(e.place, Kind::invalid_value, "\"{}\" is not a dtype", text);
  if (auto near = nearest_dtype(text)) source.hint("did you mean \"{}\"?", *near);
  return failure;
}

Result<std::string> string_value(SourceText& source, const Expr& e, std::string_view what) {
  if (e.is(AstKind::kString)) return e.text;
  return source.error(e.place, Kind::invalid_value, "expected {} in quotes, found {}", what, describe(e));
}

bool is_none(const Expr* e) {
  return e == nullptr || e->is(AstKind::kNone);
}

std::string_view describe(const Expr& e) {
  switch (e.kind) {
    case AstKind::kName:
      return "a name";
    case AstKind::kInt:
    case AstKind::kFloat:
      return "a number";
    case AstKind::kString:
      return "a string";
    case AstKind::kTrue:
    case AstKind::kFalse:
      return "a bool";
    case AstKind::kNone:
      return "None";
    case AstKind::kEllipsis:
      return "'...'";
    case AstKind::kAttribute:
      return "a dotted name";
    case AstKind::kCall:
      return "a call";
    case AstKind::kSubscript:
      return "a subscript";
    case AstKind::kSlice:
      return "a slice";
    case AstKind::kTuple:
      return "a tuple";
    case AstKind::kList:
      return "a list";
    case AstKind::kDict:
      return "a dict";
    case AstKind::kStarred:
      return "a starred expression";
    default:
      return "an expression";
  }
}

}  // namespace relaxc::frontend
