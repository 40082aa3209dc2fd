// fold.h: arithmetic on known contents, for converters of operators in shape computations.
#pragma once

#include <functional>

#include "frontends/onnx/converter.h"

namespace relaxc::frontend {

/// Computes one element; null if it is not followed (an overflow, a division whose sign is not known).
using ScalarFold = Expr (*)(Node& node, Expr a, Expr b);

/// Sets output 0 to `fold` of the elements of inputs 0 and 1, which broadcast; its dtype is bool if `gives_bool`, else
/// that of input 0. Returns false if the inputs are not known.
bool fold_binary(Node& node, ScalarFold fold, bool gives_bool = false);
/// The same over all inputs from left to right, for variadic operators.
bool fold_variadic(Node& node, ScalarFold fold);
/// The same for each element of input 0.
bool fold_unary(Node& node, Expr (*fold)(Node& node, Expr a), DType dtype);

/// Returns the elements of `known` broadcast to `shape`; nullopt if they do not fit.
std::optional<std::vector<Expr>> broadcast_known(const Known& known, const std::vector<int64_t>& shape);
/// Returns the shape that two shapes broadcast to; nullopt if they do not fit.
std::optional<std::vector<int64_t>> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

// Scalar folds. Results of numbers that would wrap are not folded; symbols are assumed to be within int64, as dims are.
Expr fold_add(Node& node, Expr a, Expr b);
Expr fold_sub(Node& node, Expr a, Expr b);
Expr fold_mul(Node& node, Expr a, Expr b);
Expr fold_div(Node& node, Expr a, Expr b);  ///< truncates
Expr fold_mod(Node& node, Expr a, Expr b);  ///< with the sign of b
Expr fold_min(Node& node, Expr a, Expr b);
Expr fold_max(Node& node, Expr a, Expr b);
/// Returns a comparison or condition as 0 or 1: a number if it is decided, else a select.
Expr fold_bool(Node& node, Expr condition);

}  // namespace relaxc::frontend
