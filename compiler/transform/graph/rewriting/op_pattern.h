// op_pattern.h: shapes of operators as text, to be found in a graph and written into it.
//
// A pattern is an expression of operators with holes:
//
//   multiply(x, sigmoid(x))                      the same value wherever x is
//   divide(x, 1.41421356)                        a constant whose elements are all this number, as its dtype rounds it
//   add(v, #epsilon)                             a constant whose elements are all one number, which gets a name
//   multiply(x, %gamma)                          a constant of any elements
//   mean[axis:axes, keepdims=true](x)            attributes that get a name, or must be so
//   (sqrt(x) | power(x, 0.5))                    either; what matches last decides
//   @square(x)                                   a part that is in a table of its own, with x for its ?
//
// Operands of operators that commute match in either order.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

struct PatternNode {
  enum Kind : uint8_t { kOperator, kVariable, kConstant, kNumber, kAnyNumber, kEither };
  /// An attribute that must have a value as it is printed, or whose value gets a name.
  struct Attr {
    std::string name, value, variable;
  };
  Kind kind = kOperator;
  std::string name;
  std::optional<relax::OpName> op;  ///< of an operator
  double number = 0;
  std::vector<Attr> attrs;
  std::vector<PatternNode> operands;
};

/// A part of patterns that has a name; `?` in the text stands for its one operand.
struct PatternPart {
  std::string_view name, text;
};

/// What the holes of a pattern are.
struct PatternMatch {
  std::map<std::string, relax::Value*> values;
  std::map<std::string, relax::AttrValue> attrs;  ///< numbers too
  std::vector<const relax::Op*> ops;              ///< all that matched, the root first
};

/// Text that is not a pattern is an internal error.
PatternNode parse_pattern(std::string_view text, std::span<const PatternPart> parts = {});
/// How `pattern` matches `root`, if it does and nothing else reads what is between its holes and the root.
std::optional<PatternMatch> match_pattern(const PatternNode& pattern, relax::Value& root);
/// The value that `pattern` means with the holes filled in; null if an attribute's value is none that it can have.
relax::Value* build_pattern(const PatternNode& pattern, const PatternMatch& match, const Site& site);

}  // namespace relaxc
