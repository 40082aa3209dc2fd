// check_pattern.cpp: checks that operators have the operands and attributes that a user's pattern gives them. Code that
// matches a pattern relies on it.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "compiler/relax/attr_text.h"
#include "compiler/support/suggest.h"
#include "compiler/transform/graph/external/pattern_file.h"

namespace relaxc {
namespace {

using relax::AttrDef;
using relax::AttrType;
using relax::OpDef;

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

void collect(const PatternNode& node, HoleNames& holes) {
  if (node.kind == PatternNode::kVariable || node.kind == PatternNode::kConstant) add_once(holes.values, node.name);
  if (node.kind == PatternNode::kAnyNumber) add_once(holes.attrs, node.name);
  for (const PatternNode::Attr& attr : node.attrs)
    if (!attr.variable.empty()) add_once(holes.attrs, attr.variable);
  for (const PatternNode& operand : node.operands) collect(operand, holes);
}

bool spells_number(std::string_view text, bool whole) {
  int64_t integer = 0;
  double real = 0;
  const char *begin = text.data(), *end = begin + text.size();
  if (auto [stop, error] = std::from_chars(begin, end, integer); error == std::errc() && stop == end) return true;
  auto [stop, error] = std::from_chars(begin, end, real);
  return !whole && error == std::errc() && stop == end;
}

/// Returns whether `text`, or each of its items if it is a list, is a number.
bool spells_numbers(std::string_view text, bool whole) {
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    if (!spells_number(text.substr(0, comma), whole)) return false;
    text.remove_prefix(std::min(text.size(), comma + 2));  // a blank follows the comma
  }
  return true;
}

bool fits(std::string_view text, AttrType type) {
  const bool list = text.starts_with('[');
  switch (type) {
    case AttrType::kBool:
      return text == "true" || text == "false" || text == "True" || text == "False";
    case AttrType::kInt:
      return spells_number(text, true);
    case AttrType::kFloat:
      return spells_number(text, false);
    case AttrType::kString:
      return !list;
    case AttrType::kDType:
      return parse_dtype(std::string(text)).has_value();
    case AttrType::kInts:
      return spells_numbers(text, true);
    case AttrType::kFloats:
      return spells_numbers(text, false);
    case AttrType::kStrings:
      return true;
  }
  RELAXC_UNREACHABLE();
}

class Check {
 public:
  Check(const relax::OpTable& ops, const std::function<Location(size_t at)>& place, Diagnostics& diag)
      : ops_(ops), place_(place), diag(diag) {}

  Status run(const PatternNode& node) {
    for (const PatternNode& operand : node.operands) RELAXC_DO(run(operand));
    if (node.kind != PatternNode::kOperator) return Done{};
    const OpDef* def = ops_.of(*node.op);
    if (def == nullptr)
      return diag.error(place_(node.at), Kind::unknown_operator, "there is no operator '{}'", node.name);
    for (const PatternNode::Attr& given : node.attrs) RELAXC_DO(attribute(*def, given));
    return arity(*def, node);
  }

 private:
  Status attribute(const OpDef& def, const PatternNode::Attr& given) {
    std::vector<std::string> names;
    for (const AttrDef& attr : def.attrs) {
      names.emplace_back(attr.name);
      if (attr.name != given.name) continue;
      if (!given.variable.empty() || fits(given.value, attr.type)) return Done{};
      return diag.error(place_(given.at), Kind::invalid_attribute, "attribute '{}' of '{}' is {}, found '{}'",
                        given.name, def.name, relax::attr_type_name(attr.type), given.value);
    }
    Failure failure =
        diag.error(place_(given.at), Kind::invalid_attribute, "'{}' has no attribute '{}'; it has {}", def.name,
                   given.name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    if (auto near = nearest_name(given.name, names)) diag.note(nullptr, "did you mean '{}'?", *near);
    return failure;
  }

  Status arity(const OpDef& def, const PatternNode& node) {
    size_t least = 0;
    bool any_more = false;
    for (const relax::OperandDef& operand : def.operands) {
      least += operand.arity == relax::OperandDef::kRequired;
      any_more |= operand.arity == relax::OperandDef::kVariadic;
    }
    const size_t given = node.operands.size(), most = def.operands.size();
    if (given >= least && (any_more || given <= most)) return Done{};
    std::string wanted = any_more        ? fmt::format("at least {}", least)
                         : least == most ? std::to_string(least)
                                         : fmt::format("{} to {}", least, most);
    return diag.error(place_(node.at), Kind::wrong_arity, "'{}' takes {} operands, found {}", def.name, wanted, given);
  }

  const relax::OpTable& ops_;
  const std::function<Location(size_t at)>& place_;
  Diagnostics& diag;
};

}  // namespace

HoleNames holes_of(const PatternNode& pattern) {
  HoleNames holes;
  collect(pattern, holes);
  return holes;
}

Status check_pattern(const PatternNode& pattern, const relax::OpTable& ops,
                     const std::function<Location(size_t at)>& place, Diagnostics& diag) {
  return Check(ops, place, diag).run(pattern);
}

}  // namespace relaxc
