// tensor_rule.cpp: parses rules of tensors by recursive descent, with limits for nesting and length.
#include "compiler/relax/tensor_rule.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace relaxc::relax {
namespace {

constexpr int kMostNested = 64;

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

Result<RuleTensor> RuleReader::operand() {
  RuleTensor tensor;
  if (take("*")) {
    tensor.any = true;
    return tensor;
  }
  return shaped(false);
}

Result<RuleTensor> RuleReader::result() {
  RuleTensor tensor;
  if (!take("like")) return shaped(true);
  if (!take("(")) return expected("'('");
  RELAXC_TRY(tensor.like, number());
  if (!take(")")) return expected("')'");
  return tensor;
}

Result<RuleTensor> RuleReader::shaped(bool result) {
  RuleTensor tensor;
  may_be_found_ = result;
  if (!at("[")) {
    const size_t begin = at_;
    tensor.dtype = parse_dtype(word());
    if (!tensor.dtype || tensor.dtype->is_index() || tensor.dtype->code == TypeCode::kHandle)
      return at_ = begin, expected("a dtype, '[' or '*'");
  }
  if (!take("[")) return expected("'['");
  if (take("]")) return tensor;
  RELAXC_DO(list(tensor.dims, [&] { return found_or_sum(); }));
  if (!take("]")) return expected("',' or ']'");
  return tensor;
}

Result<RuleDim> RuleReader::found_or_sum() {
  if (may_be_found_ && take("?")) {
    RuleDim found{RuleDim::kFound, 0, word(), {}};
    if (found.name.empty()) return expected("a name");
    return found;
  }
  return sum();
}

Result<RuleDim> RuleReader::dim() {
  return sum();
}

Result<RuleDim> RuleReader::sum() {
  return chain({{"+", RuleDim::kAdd}, {"-", RuleDim::kSubtract}}, &RuleReader::product);
}

Result<RuleDim> RuleReader::product() {
  return chain({{"*", RuleDim::kMultiply}, {"//", RuleDim::kFloorDivide}, {"%", RuleDim::kFloorModulo}},
               &RuleReader::primary);
}

/// Parses left-associative operators of one precedence level. `-` is an operator unless it begins an arrow, `->`.
Result<RuleDim> RuleReader::chain(std::initializer_list<std::pair<std::string_view, RuleDim::Kind>> operators,
                                  Result<RuleDim> (RuleReader::*part)()) {
  RELAXC_TRY(RuleDim left, (this->*part)());
  for (int length = 0;;) {
    auto found = std::find_if(operators.begin(), operators.end(), [&](const auto& o) { return binary(o.first); });
    if (found == operators.end()) return left;
    if (++length > kMostNested) return expected("a shorter dim");
    RELAXC_TRY(RuleDim right, (this->*part)());
    RuleDim whole{found->second, 0, {}, {}};
    whole.parts.push_back(std::move(left));
    whole.parts.push_back(std::move(right));
    left = std::move(whole);
  }
}

Result<RuleDim> RuleReader::primary() {
  if (depth_ == kMostNested) return expected("fewer parentheses");
  ++depth_;
  Result<RuleDim> dim = inner();
  --depth_;
  return dim;
}

Result<RuleDim> RuleReader::inner() {
  skip_blanks();
  if (at_ < text_.size() && is_digit(text_[at_])) {
    RELAXC_TRY(int64_t value, number());
    return RuleDim{RuleDim::kNumber, value, {}, {}};
  }
  if (take("(")) {
    RELAXC_TRY(RuleDim inside, sum());
    if (!take(")")) return expected("')'");
    return inside;
  }
  std::string name = word();
  if (name.empty()) return expected("a number, a name or '('");
  if ((name == "min" || name == "max") && take("(")) return extreme(name == "min" ? RuleDim::kMin : RuleDim::kMax);
  if (!has_elements || !take("[")) return RuleDim{RuleDim::kName, 0, std::move(name), {}};
  RELAXC_TRY(int64_t place, number());
  if (!take("]")) return expected("']'");
  return RuleDim{RuleDim::kElement, place, std::move(name), {}};
}

Result<RuleDim> RuleReader::extreme(RuleDim::Kind kind) {
  RuleDim whole{kind, 0, {}, {}};
  for (const char* end : {",", ")"}) {
    RELAXC_TRY(RuleDim part, sum());
    whole.parts.push_back(std::move(part));
    if (!take(end)) return expected(end);
  }
  return whole;
}

Result<int64_t> RuleReader::number() {
  skip_blanks();
  int64_t value = 0;
  auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc() || value < 0) return expected("a number");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::string RuleReader::word() {
  skip_blanks();
  size_t begin = at_;
  while (at_ < text_.size() && is_part_of_name(text_[at_]) && (at_ > begin || !is_digit(text_[at_]))) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

void RuleReader::skip_blanks() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

bool RuleReader::at(std::string_view token) {
  skip_blanks();
  return text_.substr(at_, token.size()) == token;
}

bool RuleReader::take(std::string_view token) {
  if (!at(token)) return false;
  at_ += token.size();
  return true;
}

Expr combined_dims(RuleDim::Kind kind, Expr a, Expr b) {
  switch (kind) {
    case RuleDim::kAdd:
      return a + b;
    case RuleDim::kSubtract:
      return a - b;
    case RuleDim::kMultiply:
      return a * b;
    case RuleDim::kFloorDivide:
      return arith::floordiv(a, b);
    case RuleDim::kFloorModulo:
      return arith::floormod(a, b);
    case RuleDim::kMin:
      return arith::min(a, b);
    case RuleDim::kMax:
      return arith::max(a, b);
    default:
      RELAXC_UNREACHABLE("no operator of dims");
  }
}

bool names_c_function(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_part_of_name) && !is_digit(name[0]) &&
         !name.starts_with("rlx_");
}

}  // namespace relaxc::relax
