// custom_rule.cpp: parses the rule of a custom operator.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "frontends/onnx/custom_op.h"

namespace relaxc::frontend {
namespace {

using relax::RuleReader;

class CustomRuleReader {
 public:
  CustomRuleReader(std::string_view key, std::string_view text, Diagnostics& diag)
      : key_(key), diag(diag), rule_(text, [this](size_t at, std::string_view what) { return expected(at, what); }) {}

  Status read(CustomOp& op) {
    if (!rule_.at("->")) RELAXC_DO(rule_.list(op.operands, [&] { return rule_.operand(); }));
    if (!rule_.take("->")) return rule_.expected("'->' and the results");
    RELAXC_DO(rule_.list(op.results, [&] { return rule_.result(); }));
    if (rule_.take(";")) RELAXC_DO(rule_.list(op.attributes, [&] { return attribute(); }));
    if (!rule_.at_end()) return rule_.expected("the end");
    for (const RuleTensor& result : op.results)
      if (result.like >= static_cast<int64_t>(op.operands.size()))
        return diag.error(nullptr, Kind::usage, "--custom-op {}: like({}) where there are {} operands", key_,
                          result.like, op.operands.size());
    return Done{};
  }

 private:
  Result<RuleAttribute> attribute() {
    RuleAttribute attribute{rule_.word(), {}};
    if (attribute.name.empty()) return rule_.expected("the name of an attribute");
    if (!rule_.take("=")) return attribute;
    rule_.skip_blanks();
    const size_t begin = rule_.position(), end = rule_.text().find_first_of(",; \t", begin);
    std::string_view token = rule_.text().substr(begin, end == std::string_view::npos ? end : end - begin);
    int64_t integer = 0;
    double real = 0;
    const char* last = token.data() + token.size();
    if (auto [stop, error] = std::from_chars(token.data(), last, integer); error == std::errc() && stop == last)
      attribute.fallback = integer;
    else if (auto [far, fault] = std::from_chars(token.data(), last, real); fault == std::errc() && far == last)
      attribute.fallback = real;
    else
      return rule_.expected("a number");
    rule_.move_to(begin + token.size());
    return attribute;
  }

  Failure expected(size_t at, std::string_view what) {
    std::string_view rest = rule_.text().substr(std::min(at, rule_.text().size()));
    return diag.error(nullptr, Kind::usage, "--custom-op {}: expected {} {}", key_, what,
                      rest.empty() ? "at the end of the rule" : fmt::format("before '{}'", rest.substr(0, 40)));
  }

  std::string_view key_;
  Diagnostics& diag;
  RuleReader rule_;
};

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
  if (!relax::names_c_function(function))
    return diag.error(nullptr, Kind::usage, "--custom-op {}: '{}' cannot name a C function of yours", key, function);
  op.function = std::move(function);
  RELAXC_DO(CustomRuleReader(key, rule, diag).read(op));
  return op;
}

}  // namespace relaxc::frontend
