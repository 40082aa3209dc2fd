// op_pattern.h: shapes of operators as text, to be found in a graph and written into it.
//
// A pattern is an expression of operators with holes:
//
//   multiply(x, sigmoid(x))                      the same value wherever x is
//   divide(x, 1.41421356)                        a constant whose elements are all this number, as its dtype rounds it
//   add(v, #epsilon)                             a constant whose elements are all one number, which gets a name
//   multiply(x, %gamma)                          a constant of any elements
//   reshape(x, _)                                any value, such as a shape
//   mean[axis:axes, keepdims=true](x)            attributes that get a name, or must be so
//   (sqrt(x) | power(x, 0.5))                    either; what matches last decides
//   @square(x)                                   a part that is in a table of its own, with x for its ?
//
// Operands of operators that commute match in either order. Strides, dilations and paddings of windows are compared and
// named in full: a number for each spatial dim, and for each side. The patterns of relaxc are tables of its passes;
// users write theirs into files (graph/external/pattern_file.h), so what is wrong with a text is said with its place.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

struct PatternNode {
  enum Kind : uint8_t { kOperator, kVariable, kConstant, kNumber, kAnyNumber, kEither, kAnything };
  /// An attribute that must have a value as it is printed, or whose value gets a name.
  struct Attr {
    std::string name, value, variable;
    size_t at = 0;  ///< byte of the text
  };
  Kind kind = kOperator;
  std::string name;
  std::optional<relax::OpName> op;  ///< of an operator
  double number = 0;
  std::vector<Attr> attrs;
  std::vector<PatternNode> operands;
  size_t at = 0;  ///< byte of the text
};

/// Why a text is not a pattern, as a sentence, and the byte where that shows.
struct PatternFault {
  size_t at = 0;
  std::string text;
  std::optional<std::string> unknown_operator = {};  ///< that is what is wrong
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

/// Reads a pattern, all of `text`.
std::variant<PatternNode, PatternFault> read_pattern(std::string_view text, std::span<const PatternPart> parts = {});
/// The same of a pattern of relaxc's own: a fault is an internal error.
PatternNode parse_pattern(std::string_view text, std::span<const PatternPart> parts = {});
/// How `pattern` matches `root`, if it does and nothing else reads what is between its holes and the root.
std::optional<PatternMatch> match_pattern(const PatternNode& pattern, relax::Value& root);
/// Of all such matches that `accept` agrees to the one with most operators, the earliest of several.
std::optional<PatternMatch> largest_match(const PatternNode& pattern, relax::Value& root,
                                          const std::function<bool(const PatternMatch&)>& accept);
/// The value that `pattern` means with the holes filled in; null if an attribute's value is none that it can have.
relax::Value* build_pattern(const PatternNode& pattern, const PatternMatch& match, const Site& site);

}  // namespace relaxc
