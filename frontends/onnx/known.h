// known.h: integer tensors whose contents are known at compile time, as expressions.
//
// Shape, Gather, Concat, Mul and the like compute shapes as int64 tensors. Each such value has a list of index
// expressions in addition to (or instead of) the tensor: so Reshape sees `[n, 4 * m]` and not a run-time tensor. A
// small integer constant is the special case in which all elements are numbers.
#pragma once

#include <optional>
#include <vector>

#include "compiler/arith/simplify.h"
#include "compiler/relax/constant.h"

namespace relaxc::frontend {

/// The longest tensor whose contents are followed. Shapes have few elements; 64 is what `bind` may read of an input
/// (docs/abi.md), and pads, roi or index lists of that size occur.
constexpr int64_t kMostKnown = 64;

struct Known {
  DType dtype = DType::i(64);  ///< int64, int32 or bool; elements are always index expressions
  std::vector<int64_t> shape;
  std::vector<arith::Expr> elements;  ///< row-major

  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  /// Returns all elements as numbers; nullopt if one is not constant.
  std::optional<std::vector<int64_t>> constants() const;
  static bool follows(DType dtype) { return dtype == DType::i(64) || dtype == DType::i(32) || dtype.is_bool(); }
};

/// Returns the contents of a small integer or bool constant.
std::optional<Known> known_constant(arith::Context& context, const relax::ConstantData& data);
/// Returns known contents without symbols as a constant.
relax::ConstantRef constant_of(const Known& known);

}  // namespace relaxc::frontend
