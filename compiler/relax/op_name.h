// op_name.h: the identity of an operator.
//
// Passes, expansions and importers name operators everywhere: "is this an add", "call permute_dims". As strings such
// names were looked up at run time, and a wrong one was found only when a model took that path. An OpName is the
// operator's index in the list of all names, which CMake gathers from the tables of compiler/ops
// (cmake/relaxc_op_names.cmake). A literal is converted at compile time, and the C++ compiler refuses one that is not
// in the list; two names are compared as numbers.
//
// Rejected: an enumerator for each operator. "nn.conv" is how the text IR and the documentation write it, and everyone
// would have to learn a second spelling of every name.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace relaxc::relax {

/// The names of all operators, in byte order.
inline constexpr std::string_view kOpNames[] = {
#define OP(name) name,
#include "compiler/relax/op_name_list.inc"
#undef OP
};

/// Identifies an operator of compiler/ops.
class OpName {
 public:
  /// Converts a literal: `op.is("nn.conv")`. A name that no operator has does not compile.
  consteval OpName(const char* literal)
      : index_(place_of(literal)) {  // NOLINT: implicit, so that a name is the literal
    if (index_ == kNone) no_operator_has_the_name(literal);
  }
  /// Converts text that is known only at run time, such as a parser's.
  static constexpr std::optional<OpName> find(std::string_view text) {
    uint16_t index = place_of(text);
    return index == kNone ? std::nullopt : std::optional(OpName(index, Index{}));
  }

  constexpr std::string_view text() const { return kOpNames[index_]; }
  /// The index in kOpNames.
  constexpr size_t index() const { return index_; }
  /// Compares by byte order of the names.
  friend constexpr auto operator<=>(OpName, OpName) = default;

 private:
  struct Index {};
  constexpr OpName(uint16_t index, Index) : index_(index) {}

  static constexpr uint16_t kNone = 0xFFFF;
  static constexpr uint16_t place_of(std::string_view text) {
    const auto* found = std::lower_bound(std::begin(kOpNames), std::end(kOpNames), text);
    bool here = found != std::end(kOpNames) && *found == text;
    return here ? static_cast<uint16_t>(found - std::begin(kOpNames)) : kNone;
  }
  /// Not constexpr, so that the C++ compiler names this function if a literal is not a name.
  static void no_operator_has_the_name(std::string_view) {}

  uint16_t index_;
};

}  // namespace relaxc::relax

/// Messages print an operator as its name.
template <>
struct fmt::formatter<relaxc::relax::OpName> : fmt::formatter<std::string_view> {
  template <typename Format>
  auto format(relaxc::relax::OpName name, Format& out) const {
    return fmt::formatter<std::string_view>::format(name.text(), out);
  }
};
