// op_pattern.cpp: reads, matches and builds patterns.
//
// Matching goes from the root down and tries every order of commutative operands and every alternative: the rest of the
// match is a function that returns whether it matches, so that a wrong choice is undone. Patterns are a dozen nodes, so
// nothing cleverer is needed; recursion is as deep as a pattern.
#include "compiler/transform/graph/rewriting/op_pattern.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include "compiler/relax/attr_text.h"
#include "compiler/transform/graph/products/window_attrs.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr size_t kDeepestPattern = 64, kMostPatternNodes = 256;  ///< limits of a pattern

/// Parses a pattern. After the first fault nothing more is read, and the result must not be used.
class Parser {
 public:
  Parser(std::string_view text, std::span<const PatternPart> parts) : text_(text), parts_(parts) {}

  PatternNode whole() {
    PatternNode node = pattern();
    if (at_ < text_.size()) fail("expected the end of the pattern");
    return node;
  }
  const std::optional<PatternFault>& fault() const { return fault_; }

 private:
  void fail(std::string text) {
    if (!fault_) fault_ = PatternFault{std::min(at_, text_.size()), std::move(text)};
    at_ = text_.size();
  }
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) {
    blanks();
    bool here = !fault_ && at_ < text_.size() && text_[at_] == c;
    at_ += here;
    blanks();
    return here;
  }
  void expect(char c) {
    if (!take(c)) fail("expected '" + std::string(1, c) + "'");
  }

  std::string word(const char* what) {
    blanks();
    size_t begin = at_;
    auto inside = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
    };
    while (at_ < text_.size() && inside(text_[at_])) ++at_;
    if (at_ == begin) fail(std::string("expected ") + what);
    return std::string(text_.substr(begin, at_ - begin));
  }

  PatternNode pattern() {
    blanks();
    PatternNode node;
    node.at = at_;
    if (depth_ == kDeepestPattern || ++nodes_ > kMostPatternNodes) {
      fail("a pattern has at most 64 operators in each other, and 256 in all");
      return node;
    }
    ++depth_;
    if (take('(')) {
      node.kind = PatternNode::kEither;
      do node.operands.push_back(pattern());
      while (take('|'));
      expect(')');
    } else if (take('#')) {
      node.kind = PatternNode::kAnyNumber, node.name = word("the name of a number");
    } else if (take('%')) {
      node.kind = PatternNode::kConstant, node.name = word("the name of a constant");
    } else if (take('@')) {
      node = part();
    } else {
      named(node);
    }
    --depth_;
    return node;
  }

  /// Reads a number, a hole or an operator.
  void named(PatternNode& node) {
    node.name = word("an operator or a name");
    if (fault_) return;
    char first = node.name[0];
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '-') {
      node.kind = PatternNode::kNumber;
      node.number = std::strtod(node.name.c_str(), nullptr);
      return;
    }
    node.op = OpName::find(node.name);
    bool has_attributes = take('[');
    if (has_attributes) attributes(node);
    if (!take('(')) {
      node.kind = node.name == "_" ? PatternNode::kAnything : PatternNode::kVariable;
      if (has_attributes) fail("expected '(' and the operands of " + node.name);
      return;
    }
    if (!node.op && !fault_) {
      at_ = node.at;
      fail("there is no operator '" + node.name + "'");
      fault_->unknown_operator = node.name;
    }
    do node.operands.push_back(pattern());
    while (take(','));
    expect(')');
  }

  void attributes(PatternNode& node) {
    do {
      blanks();
      PatternNode::Attr attr;
      attr.at = at_, attr.name = word("the name of an attribute");
      if (take('='))
        attr.value = value();
      else
        expect(':'), attr.variable = word("a name for the attribute");
      node.attrs.push_back(std::move(attr));
    } while (take(','));
    expect(']');
  }

  /// Reads a word, or a list of words.
  std::string value() {
    if (!take('[')) return word("a value");
    std::string list;
    if (!take(']')) {
      do list += (list.empty() ? "" : ", ") + word("a value");
      while (take(','));
      expect(']');
    }
    return "[" + list + "]";
  }

  /// Reads a part, whose text gets the operand's text for each `?`.
  PatternNode part() {
    std::string name = word("the name of a part");
    auto found = std::find_if(parts_.begin(), parts_.end(), [&](const PatternPart& p) { return p.name == name; });
    if (found == parts_.end()) fail("there is no part '" + name + "'");
    expect('(');
    size_t begin = at_;
    pattern();
    std::string operand(text_.substr(begin, at_ - begin)), text;
    expect(')');
    if (fault_) return {};
    for (char c : found->text) text += c == '?' ? operand : std::string(1, c);
    Parser inner(text, parts_);
    PatternNode node = inner.whole();
    if (inner.fault_) fail(inner.fault_->text);
    return node;
  }

  std::string_view text_;
  std::span<const PatternPart> parts_;
  size_t at_ = 0, depth_ = 0, nodes_ = 0;
  std::optional<PatternFault> fault_;
};

bool commutes(const Op& op) {
  return op.is("add") || op.is("multiply") || op.is("maximum") || op.is("minimum");
}

/// Returns whether a constant is `number`, as its dtype or an exporter that wrote eight digits rounds it.
bool is_number(const Value& value, double number) {
  std::optional<double> found = uniform_value(&value);
  double narrow = value.dtype().is_float() && value.dtype().bits < 32 ? 4e-3 : 1e-7;
  return found && std::abs(*found - number) <= narrow * std::abs(number);
}

/// Returns lists about windows with a number for each spatial dim, and for each side.
AttrValue whole_value(const Op& op, const std::string& name, AttrValue value) {
  const auto* numbers = std::get_if<std::vector<int64_t>>(&value);
  const size_t rank = op.result()->shape().size();
  if (numbers == nullptr || rank < 2) return value;
  if (name == "strides" || name == "dilation") return one_per_dim(*numbers, rank - 2, 1);
  if (name == "padding") return both_sides(*numbers, rank - 2);
  return value;
}

class Matcher {
 public:
  using Next = std::function<bool()>;

  bool matches(const PatternNode& pattern, Value* value, const Next& next) {
    if (++steps_ > kMostSteps) return false;
    const bool tensor = value != nullptr && value->info->as<TensorInfo>() != nullptr;
    if (!tensor && pattern.kind != PatternNode::kAnything) return false;
    switch (pattern.kind) {
      case PatternNode::kAnything:
        return next();
      case PatternNode::kConstant:
      case PatternNode::kVariable:
        if (pattern.kind == PatternNode::kConstant && constant_of(value) == nullptr) return false;
        return bind(found_.values, pattern.name, value, next);
      case PatternNode::kNumber:
        return is_number(*value, pattern.number) && next();
      case PatternNode::kAnyNumber: {
        std::optional<double> number = uniform_value(value);
        if (!number) return false;
        const bool whole = !value->dtype().is_float() && std::abs(*number) <= 0x1p53;
        AttrValue found = whole ? AttrValue(static_cast<int64_t>(*number)) : AttrValue(*number);
        return bind(found_.attrs, pattern.name, found, next);
      }
      case PatternNode::kEither:
        return std::any_of(pattern.operands.begin(), pattern.operands.end(),
                           [&](const PatternNode& choice) { return matches(choice, value, next); });
      case PatternNode::kOperator:
        return value->op != nullptr && value->op->is(*pattern.op) && matches_operator(pattern, *value->op, next);
    }
    RELAXC_UNREACHABLE();
  }

  const PatternMatch& found() const { return found_; }

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
    const AttrValue value = whole_value(op, attr.name, op.attrs.all().find(attr.name)->second);
    Next rest = [&] { return matches_attrs(pattern, op, k + 1, next); };
    if (!attr.variable.empty()) return bind(found_.attrs, attr.variable, value, rest);
    return is_written(op, attr, value) && rest();
  }

  static bool is_written(const Op& op, const PatternNode::Attr& attr, const AttrValue& value) {
    const std::string& text = attr.value;
    if (const bool* flag = std::get_if<bool>(&value)) return *flag == (text == "true" || text == "True");
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer) == text;
    if (const auto* string = std::get_if<std::string>(&value)) return *string == text;
    if (const auto* number = std::get_if<double>(&value))
      return std::abs(*number - std::strtod(text.c_str(), nullptr)) <= 1e-7 * std::abs(*number);
    const bool list = text.starts_with('[') || std::holds_alternative<DType>(value);
    return whole_value(op, attr.name, parse_attr(list ? text : "[" + text + "]", attr_type(value))) == value;
  }

  bool matches_operands(const PatternNode& pattern, const Op& op, size_t k, bool crossed, const Next& next) {
    if (k == pattern.operands.size()) return next();
    Next rest = [&] { return matches_operands(pattern, op, k + 1, crossed, next); };
    return matches(pattern.operands[k], op.operand(crossed ? 1 - k : k), rest);
  }

  static constexpr int64_t kMostSteps = 100'000;
  PatternMatch found_;
  int64_t steps_ = 0;
};

/// Returns whether only `ops` read what they make, except for the result of the root.
bool closed(const std::vector<const Op*>& ops) {
  for (size_t i = 1; i < ops.size(); ++i)
    for (const Value* result : ops[i]->results)
      for (const Use& use : result->uses())
        if (ops[i] != ops[0] && std::find(ops.begin(), ops.end(), use.user) == ops.end()) return false;
  return true;
}

/// Returns `value` as an attribute of `type`; a list of one axis may stand for an integer.
std::optional<AttrValue> as_type(const AttrValue& value, AttrType type) {
  const auto* axes = std::get_if<std::vector<int64_t>>(&value);
  if (axes != nullptr && axes->empty()) return std::nullopt;  // all axes
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

std::variant<PatternNode, PatternFault> read_pattern(std::string_view text, std::span<const PatternPart> parts) {
  Parser parser(text, parts);
  PatternNode node = parser.whole();
  if (parser.fault()) return *parser.fault();
  return node;
}

PatternNode parse_pattern(std::string_view text, std::span<const PatternPart> parts) {
  std::variant<PatternNode, PatternFault> read = read_pattern(text, parts);
  const auto* fault = std::get_if<PatternFault>(&read);
  RELAXC_CHECK(fault == nullptr, (fault == nullptr ? "" : fault->text) + " in a pattern: " + std::string(text));
  return std::get<PatternNode>(std::move(read));
}

std::optional<PatternMatch> match_pattern(const PatternNode& pattern, Value& root) {
  Matcher matcher;
  if (!matcher.matches(pattern, &root, [&] { return closed(matcher.found().ops); })) return std::nullopt;
  return matcher.found();
}

std::optional<PatternMatch> largest_match(const PatternNode& pattern, Value& root,
                                          const std::function<bool(const PatternMatch&)>& accept) {
  std::optional<PatternMatch> best;
  Matcher matcher;
  auto size = [](const PatternMatch& match) { return std::set<const Op*>(match.ops.begin(), match.ops.end()).size(); };
  matcher.matches(pattern, &root, [&] {
    const PatternMatch& found = matcher.found();
    if ((!best || size(found) > size(*best)) && closed(found.ops) && accept(found)) best = found;
    return false;  // there may be a larger one
  });
  return best;
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
