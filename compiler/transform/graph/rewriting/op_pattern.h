// op_pattern.h: patterns of operators as text, which are matched in a graph and built into it.
//
// A pattern is an expression of operators with holes:
//
//   multiply(x, sigmoid(x))                      the same value at every x
//   divide(x, 1.41421356)                        a constant whose elements are all this number, rounded to its dtype
//   add(v, #epsilon)                             a constant whose elements are all one number, bound to a name
//   multiply(x, %gamma)                          a constant of any elements
//   reshape(x, _)                                any value, such as a shape
//   mean[axis:axes, keepdims=true](x)            attributes that are bound to a name, or must have a value
//   (sqrt(x) | power(x, 0.5))                    either; the first with which all else matches
//   @square(x)                                   a named part from a table, with x in place of its ?
//
// Operands of commutative operators match in either order. Strides, dilations and paddings of windows are compared and
// named in full: a number for each spatial dim, and for each side. The patterns of relaxc are tables of its passes;
// users write theirs into files (graph/external/pattern_file.h), so errors in a text are reported with their position.
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
  /// An attribute that must have `value` as it is printed, or whose value is bound to `variable`.
  struct Attr {
    std::string name, value, variable;
    size_t at = 0;  ///< byte offset in the text
  };
  Kind kind = kOperator;
  std::string name;
  std::optional<relax::OpName> op;  ///< if it is a kOperator
  double number = 0;
  std::vector<Attr> attrs;
  std::vector<PatternNode> operands;
  size_t at = 0;  ///< byte offset in the text
};

/// Why a text is not a pattern, as a sentence, and the byte offset of the error.
struct PatternFault {
  size_t at = 0;
  std::string text;
  std::optional<std::string> unknown_operator = {};  ///< its name, if that is the error
};

/// A named part of patterns; `?` in the text stands for its one operand.
struct PatternPart {
  std::string_view name, text;
};

/// What the holes of a pattern are bound to.
struct PatternMatch {
  std::map<std::string, relax::Value*> values;
  std::map<std::string, relax::AttrValue> attrs;  ///< also of kAnyNumber
  std::vector<const relax::Op*> ops;              ///< all that matched, the root first
};

/// Reads all of `text` as a pattern.
std::variant<PatternNode, PatternFault> read_pattern(std::string_view text, std::span<const PatternPart> parts = {});
/// Does the same for a pattern of relaxc's own, where a fault is an internal error.
PatternNode parse_pattern(std::string_view text, std::span<const PatternPart> parts = {});
/// Returns how `pattern` matches `root`, if it does and nothing outside reads what is between its holes and the root.
std::optional<PatternMatch> match_pattern(const PatternNode& pattern, relax::Value& root);
/// Returns, of all such matches that `accept` accepts, the one with most operators, the earliest of several.
std::optional<PatternMatch> largest_match(const PatternNode& pattern, relax::Value& root,
                                          const std::function<bool(const PatternMatch&)>& accept);
/// Builds the value of `pattern` with the holes filled in; null if an attribute cannot have the value of its hole.
relax::Value* build_pattern(const PatternNode& pattern, const PatternMatch& match, const Site& site);

}  // namespace relaxc
