// sort.h: statements that sort positions by a stable merge sort: n log n, with two lists of n positions as workspace.
#pragma once

#include <functional>

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// `before(a, b)`: whether the element at position a must precede the one at b (index expressions in [0, n)).
using Before = std::function<Expr(Expr a, Expr b)>;

/// Sorts [0, n) and then runs `use`, which may read `order` ([n], int64). Equal elements keep their order. Workspace:
/// 16 n bytes.
Stmt with_sorted(tir::Builder& b, Expr n, const Before& before, const std::function<Stmt(BufferRef order)>& use);

/// The same for comparisons that need statements, such as those of whole rows: `compare(a, b, flag)` stores to `flag`
/// ([1], int64) whether a must precede b.
using Compare = std::function<Stmt(Expr a, Expr b, BufferRef flag)>;
Stmt with_sorted(tir::Builder& b, Expr n, const Compare& compare, const std::function<Stmt(BufferRef order)>& use);

/// Returns whether a precedes b in ascending (descending) order; NaN counts as larger than all numbers.
Expr ordered(Expr a, Expr b, bool descending);

}  // namespace relaxc::ops
