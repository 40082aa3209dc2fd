// fold.h: arithmetic on known contents, for the converters that models compute shapes with.
#pragma once

#include <functional>

#include "frontends/onnx/converter.h"

namespace relaxc::frontend {

/// The result of one element; a null Expr where it is not followed (an overflow, a division whose sign is not known).
using ScalarFold = Expr (*)(Node& node, Expr a, Expr b);

/// Output 0 as `fold` of the elements of inputs 0 and 1, which broadcast; its dtype is bool if `gives_bool`, else that
/// of input 0. False if the inputs are not known.
bool fold_binary(Node& node, ScalarFold fold, bool gives_bool = false);
/// The same of all inputs in turn, for variadic operators.
bool fold_variadic(Node& node, ScalarFold fold);
/// Every element of input 0 on its own.
bool fold_unary(Node& node, Expr (*fold)(Node& node, Expr a), DType dtype);

/// The elements of `known` broadcast to `shape`; nothing if they do not fit.
std::optional<std::vector<Expr>> broadcast_known(const Known& known, const std::vector<int64_t>& shape);
/// The shape that two broadcast to; nothing if they do not fit.
std::optional<std::vector<int64_t>> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b);

// Scalar folds. Numbers are folded with the wrap-around excluded; symbols are taken to be within int64, as dims are.
Expr fold_add(Node& node, Expr a, Expr b);
Expr fold_sub(Node& node, Expr a, Expr b);
Expr fold_mul(Node& node, Expr a, Expr b);
Expr fold_div(Node& node, Expr a, Expr b);  ///< truncates
Expr fold_mod(Node& node, Expr a, Expr b);  ///< the sign of b
Expr fold_min(Node& node, Expr a, Expr b);
Expr fold_max(Node& node, Expr a, Expr b);
/// A comparison or a condition as 0 or 1: a number where it is decided, else a select.
Expr fold_bool(Node& node, Expr condition);

}  // namespace relaxc::frontend
