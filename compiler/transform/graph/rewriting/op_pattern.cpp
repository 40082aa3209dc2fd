// op_pattern.cpp: reading, matching and building patterns.
//
// Matching goes from the root down and tries every order of operands that commute and every alternative: what is left
// to match is a function that says whether it matches, so that a choice which turns out wrong is undone. Patterns are a
// dozen nodes, so nothing cleverer is needed; recursion is as deep as a pattern.
#include "compiler/transform/graph/rewriting/op_pattern.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace relaxc {
namespace {

using namespace relax;

class Parser {
 public:
  Parser(std::string_view text, std::span<const PatternPart> parts) : text_(text), parts_(parts) {}

  PatternNode whole() {
    PatternNode node = pattern();
    RELAXC_CHECK(at_ == text_.size(), "text after a pattern: " + std::string(text_));
    return node;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    blanks();
    bool here = at_ < text_.size() && text_[at_] == c;
    at_ += here;
    blanks();
    return here;
  }
  void expect(char c) { RELAXC_CHECK(take(c), "a pattern lacks '" + std::string(1, c) + "': " + std::string(text_)); }

  std::string word() {
    blanks();
    size_t begin = at_;
    auto inside = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    };
    while (at_ < text_.size() && inside(text_[at_])) ++at_;
    RELAXC_CHECK(at_ > begin, "a pattern lacks a word: " + std::string(text_));
    return std::string(text_.substr(begin, at_ - begin));
  }

  PatternNode pattern() {
    PatternNode node;
    if (take('(')) {
      node.kind = PatternNode::kEither;
      do node.operands.push_back(pattern());
      while (take('|'));
      expect(')');
      return node;
    }
    if (take('#')) return hole(PatternNode::kAnyNumber);
    if (take('%')) return hole(PatternNode::kConstant);
    if (take('@')) return part();
    node.name = word();
    char first = node.name[0];
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-') {
      node.kind = PatternNode::kNumber;
      node.number = std::strtod(node.name.c_str(), nullptr);
      return node;
    }
    if (take('[')) attributes(node);
    if (!take('(')) {
      node.kind = PatternNode::kVariable;
      return node;
    }
    node.op = OpName::find(node.name);
    RELAXC_CHECK(node.op.has_value(), "a pattern names an operator that does not exist: " + node.name);
    do node.operands.push_back(pattern());
    while (take(','));
    expect(')');
    return node;
  }

  PatternNode hole(PatternNode::Kind kind) {
    PatternNode node;
    node.kind = kind;
    node.name = word();
    return node;
  }

  void attributes(PatternNode& node) {
    do {
      PatternNode::Attr attr{word(), {}, {}};
      if (take('='))
        attr.value = word();
      else
        expect(':'), attr.variable = word();
      node.attrs.push_back(std::move(attr));
    } while (take(','));
    expect(']');
  }

  /// The part with its operand's text for each `?`.
  PatternNode part() {
    std::string name = word();
    auto found = std::find_if(parts_.begin(), parts_.end(), [&](const PatternPart& p) { return p.name == name; });
    RELAXC_CHECK(found != parts_.end(), "no part of patterns is named " + name);
    expect('(');
    size_t begin = at_;
    pattern();
    std::string operand(text_.substr(begin, at_ - begin)), text;
    expect(')');
    for (char c : found->text) text += c == '?' ? operand : std::string(1, c);
    return Parser(text, parts_).whole();
  }

  std::string_view text_;
  std::span<const PatternPart> parts_;
  size_t at_ = 0;
};

bool commutes(const Op& op) {
  return op.is("add") || op.is("multiply") || op.is("maximum") || op.is("minimum");
}

/// Whether a constant is `number` as its dtype, or an exporter that wrote eight digits, rounds it.
bool is_number(const Value& value, double number) {
  std::optional<double> found = uniform_value(&value);
  double narrow = value.dtype().is_float() && value.dtype().bits < 32 ? 4e-3 : 1e-7;
  return found && std::abs(*found - number) <= narrow * std::abs(number);
}

class Matcher {
 public:
  using Next = std::function<bool()>;

  bool matches(const PatternNode& pattern, Value* value, const Next& next) {
    if (value == nullptr || value->info->as<TensorInfo>() == nullptr) return false;
    switch (pattern.kind) {
      case PatternNode::kConstant:
      case PatternNode::kVariable:
        if (pattern.kind == PatternNode::kConstant && constant_of(value) == nullptr) return false;
        return bind(found_.values, pattern.name, value, next);
      case PatternNode::kNumber:
        return is_number(*value, pattern.number) && next();
      case PatternNode::kAnyNumber: {
        std::optional<double> number = uniform_value(value);
        return number && bind(found_.attrs, pattern.name, AttrValue(*number), next);
      }
      case PatternNode::kEither:
        return std::any_of(pattern.operands.begin(), pattern.operands.end(),
                           [&](const PatternNode& choice) { return matches(choice, value, next); });
      case PatternNode::kOperator:
        return value->op != nullptr && value->op->is(*pattern.op) && matches_operator(pattern, *value->op, next);
    }
    RELAXC_UNREACHABLE();
  }

  PatternMatch take() { return std::move(found_); }
  const std::vector<const Op*>& ops() const { return found_.ops; }

 private:
  template <typename T>
  static bool bind(std::map<std::string, T>& holes, const std::string& name, const T& value, const Next& next) {
    auto [hole, fresh] = holes.emplace(name, value);
    if (!fresh) return hole->second == value && next();
    if (next()) return true;
    holes.erase(name);
    return false;
  }

  bool matches_operator(const PatternNode& pattern, const Op& op, const Next& next) {
    size_t operands = op.operands().size();
    while (operands > 0 && op.operand(operands - 1) == nullptr) --operands;
    if (operands != pattern.operands.size()) return false;
    found_.ops.push_back(&op);
    Next straight = [&] { return matches_operands(pattern, op, 0, false, next); };
    Next crossed = [&] { return matches_operands(pattern, op, 0, true, next); };
    if (matches_attrs(pattern, op, 0, straight)) return true;
    if (operands == 2 && commutes(op) && matches_attrs(pattern, op, 0, crossed)) return true;
    found_.ops.pop_back();
    return false;
  }

  bool matches_attrs(const PatternNode& pattern, const Op& op, size_t k, const Next& next) {
    if (k == pattern.attrs.size()) return next();
    const PatternNode::Attr& attr = pattern.attrs[k];
    const AttrValue& value = op.attrs.all().find(attr.name)->second;
    Next rest = [&] { return matches_attrs(pattern, op, k + 1, next); };
    if (!attr.variable.empty()) return bind(found_.attrs, attr.variable, value, rest);
    return is_written(value, attr.value) && rest();
  }

  static bool is_written(const AttrValue& value, const std::string& text) {
    if (const bool* flag = std::get_if<bool>(&value)) return *flag == (text == "true");
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer) == text;
    if (const auto* string = std::get_if<std::string>(&value)) return *string == text;
    const auto* number = std::get_if<double>(&value);
    return number != nullptr && std::abs(*number - std::strtod(text.c_str(), nullptr)) <= 1e-7 * std::abs(*number);
  }

  bool matches_operands(const PatternNode& pattern, const Op& op, size_t k, bool crossed, const Next& next) {
    if (k == pattern.operands.size()) return next();
    Next rest = [&] { return matches_operands(pattern, op, k + 1, crossed, next); };
    return matches(pattern.operands[k], op.operand(crossed ? 1 - k : k), rest);
  }

  PatternMatch found_;
};

/// Whether nothing but `ops` reads what they make, the root's result aside.
bool closed(const std::vector<const Op*>& ops) {
  for (size_t i = 1; i < ops.size(); ++i)
    for (const Value* result : ops[i]->results)
      for (const Use& use : result->uses())
        if (ops[i] != ops[0] && std::find(ops.begin(), ops.end(), use.user) == ops.end()) return false;
  return true;
}

/// `value` as an attribute of `type`: one of several axes may stand for a list of one.
std::optional<AttrValue> as_type(const AttrValue& value, AttrType type) {
  const auto* axes = std::get_if<std::vector<int64_t>>(&value);
  if (axes != nullptr && axes->empty()) return std::nullopt;  // all of them
  if (type != AttrType::kInt || axes == nullptr) return value;
  if (axes->size() != 1) return std::nullopt;
  return AttrValue(axes->front());
}

std::optional<Attrs> built_attrs(const PatternNode& pattern, const PatternMatch& match, const OpDef& def) {
  Attrs attrs;
  for (const PatternNode::Attr& attr : pattern.attrs) {
    if (attr.variable.empty()) {
      attrs.set(attr.name, attr.value);
      continue;
    }
    auto row = std::find_if(def.attrs.begin(), def.attrs.end(), [&](const AttrDef& d) { return d.name == attr.name; });
    RELAXC_CHECK(row != def.attrs.end(), "a pattern gives '" + pattern.name + "' an attribute that it has not");
    std::optional<AttrValue> value = as_type(match.attrs.at(attr.variable), row->type);
    if (!value) return std::nullopt;
    attrs.set(attr.name, std::move(*value));
  }
  return attrs;
}

}  // namespace

PatternNode parse_pattern(std::string_view text, std::span<const PatternPart> parts) {
  return Parser(text, parts).whole();
}

std::optional<PatternMatch> match_pattern(const PatternNode& pattern, Value& root) {
  Matcher matcher;
  if (!matcher.matches(pattern, &root, [&] { return closed(matcher.ops()); })) return std::nullopt;
  return matcher.take();
}

Value* build_pattern(const PatternNode& pattern, const PatternMatch& match, const Site& site) {
  if (pattern.kind == PatternNode::kVariable || pattern.kind == PatternNode::kConstant)
    return match.values.at(pattern.name);
  RELAXC_CHECK(pattern.kind == PatternNode::kOperator, "a pattern that cannot be built");
  const OpDef* def = site.builder.table().of(*pattern.op);
  RELAXC_CHECK(def != nullptr, "the table lacks " + pattern.name);
  std::optional<Attrs> attrs = built_attrs(pattern, match, *def);
  std::vector<Value*> operands;
  for (const PatternNode& operand : pattern.operands) operands.push_back(build_pattern(operand, match, site));
  bool complete = attrs && std::find(operands.begin(), operands.end(), nullptr) == operands.end();
  return complete ? site.make(*pattern.op, operands, *attrs) : nullptr;
}

}  // namespace relaxc
