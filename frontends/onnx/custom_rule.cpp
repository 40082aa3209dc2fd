// custom_rule.cpp: reads the rule of a custom operator.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "frontends/onnx/custom_op.h"

namespace relaxc::frontend {
namespace {

constexpr int kMostNested = 64;
constexpr size_t kMostListed = 64;  ///< operands, results, dims or attributes

class RuleReader {
 public:
  RuleReader(std::string_view key, std::string_view text, Diagnostics& diag) : key_(key), text_(text), diag(diag) {}

  Status read(CustomOp& op) {
    if (!at("->")) RELAXC_DO(list(op.operands, &RuleReader::operand));
    if (!take("->")) return expected("'->' and the results");
    RELAXC_DO(list(op.results, &RuleReader::result));
    if (take(";")) RELAXC_DO(list(op.attributes, &RuleReader::attribute));
    skip();
    if (at_ < text_.size()) return expected("the end");
    for (const RuleTensor& result : op.results)
      if (result.like >= static_cast<int64_t>(op.operands.size()))
        return diag.error(nullptr, Kind::usage, "--custom-op {}: like({}) where there are {} operands", key_,
                          result.like, op.operands.size());
    return Done{};
  }

 private:
  template <typename T>
  Status list(std::vector<T>& items, Result<T> (RuleReader::*item)()) {
    do {
      if (items.size() == kMostListed) return expected("an end before that many");
      RELAXC_TRY(T next, (this->*item)());
      items.push_back(std::move(next));
    } while (take(","));
    return Done{};
  }

  Result<RuleTensor> operand() {
    RuleTensor tensor;
    if (take("*")) {
      tensor.any = true;
      return tensor;
    }
    return shaped(false);
  }

  Result<RuleTensor> result() {
    RuleTensor tensor;
    if (!take("like")) return shaped(true);
    if (!take("(")) return expected("'('");
    RELAXC_TRY(tensor.like, number());
    if (!take(")")) return expected("')'");
    return tensor;
  }

  Result<RuleTensor> shaped(bool result) {
    RuleTensor tensor;
    may_be_found_ = result;
    if (!at("[")) {
      std::string name = word();
      tensor.dtype = parse_dtype(name);
      if (!tensor.dtype || tensor.dtype->is_index() || tensor.dtype->code == TypeCode::kHandle)
        return expected("a dtype, '[' or '*'");
    }
    if (!take("[")) return expected("'['");
    if (take("]")) return tensor;
    RELAXC_DO(list(tensor.dims, &RuleReader::dim));
    if (!take("]")) return expected("',' or ']'");
    return tensor;
  }

  Result<RuleDim> dim() {
    if (may_be_found_ && take("?")) {
      RuleDim found{RuleDim::kFound, 0, word(), {}};
      if (found.name.empty()) return expected("a name");
      return found;
    }
    return sum();
  }

  Result<RuleDim> sum() { return chain({{"+", RuleDim::kAdd}, {"-", RuleDim::kSubtract}}, &RuleReader::product); }
  Result<RuleDim> product() {
    return chain({{"*", RuleDim::kMultiply}, {"//", RuleDim::kFloorDivide}, {"%", RuleDim::kFloorModulo}},
                 &RuleReader::primary);
  }

  /// Operators of one strength, from left to right.
  Result<RuleDim> chain(std::initializer_list<std::pair<std::string_view, RuleDim::Kind>> operators,
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

  /// `-` is an operator unless it begins the arrow.
  bool binary(std::string_view sign) { return !at("->") && take(sign); }

  Result<RuleDim> primary() {
    if (depth_ == kMostNested) return expected("fewer parentheses");
    ++depth_;
    Result<RuleDim> dim = inner();
    --depth_;
    return dim;
  }

  Result<RuleDim> inner() {
    skip();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
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
    bool least = name == "min";
    if ((!least && name != "max") || !take("(")) return RuleDim{RuleDim::kName, 0, std::move(name), {}};
    RuleDim whole{least ? RuleDim::kMin : RuleDim::kMax, 0, {}, {}};
    for (const char* end : {",", ")"}) {
      RELAXC_TRY(RuleDim part, sum());
      whole.parts.push_back(std::move(part));
      if (!take(end)) return expected(end);
    }
    return whole;
  }

  Result<RuleAttribute> attribute() {
    RuleAttribute attribute{word(), {}};
    if (attribute.name.empty()) return expected("the name of an attribute");
    if (!take("=")) return attribute;
    skip();
    size_t end = text_.find_first_of(",; \t", at_);
    std::string_view token = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    int64_t integer = 0;
    double real = 0;
    const char* last = token.data() + token.size();
    if (auto [stop, error] = std::from_chars(token.data(), last, integer); error == std::errc() && stop == last)
      attribute.fallback = integer;
    else if (auto [far, fault] = std::from_chars(token.data(), last, real); fault == std::errc() && far == last)
      attribute.fallback = real;
    else
      return expected("a number");
    at_ += token.size();
    return attribute;
  }

  Result<int64_t> number() {
    skip();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return expected("a number");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  std::string word() {
    skip();
    size_t begin = at_;
    auto part = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (at_ < text_.size() && part(text_[at_]) &&
           (at_ > begin || std::isdigit(static_cast<unsigned char>(text_[at_])) == 0))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool at(std::string_view token) {
    skip();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!at(token)) return false;
    at_ += token.size();
    return true;
  }
  Failure expected(std::string_view what) {
    std::string_view rest = text_.substr(std::min(at_, text_.size()));
    return diag.error(nullptr, Kind::usage, "--custom-op {}: expected {} {}", key_, what,
                      rest.empty() ? "at the end of the rule" : fmt::format("before '{}'", rest.substr(0, 40)));
  }

  std::string_view key_, text_;
  Diagnostics& diag;
  size_t at_ = 0;
  int depth_ = 0;
  bool may_be_found_ = false;
};

bool is_identifier(std::string_view name) {
  auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), part) &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

}  // namespace

Result<CustomOp> parse_custom_op(std::string_view key, std::string_view rule, std::string function, Diagnostics& diag) {
  CustomOp op;
  size_t colons = key.rfind("::");
  op.name = key.substr(colons == std::string_view::npos ? 0 : colons + 2);
  op.domain = colons == std::string_view::npos ? "" : key.substr(0, colons);
  if (op.domain == "ai.onnx") op.domain.clear();
  if (op.name.empty()) return diag.error(nullptr, Kind::usage, "--custom-op '{}': write domain::Name=rule", key);
  if (function.empty()) {
    function = op.domain.empty() ? op.name : op.domain + "_" + op.name;
    for (char& c : function)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  if (!is_identifier(function) || function.starts_with("rlx_"))
    return diag.error(nullptr, Kind::usage, "--custom-op {}: '{}' cannot name a C function of yours", key, function);
  op.function = std::move(function);
  RELAXC_DO(RuleReader(key, rule, diag).read(op));
  return op;
}

}  // namespace relaxc::frontend
