// sort.h: a stable merge sort of positions, as statements: n log n, with two lists of n positions as workspace.
#pragma once

#include <functional>

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// `before(a, b)`: whether the element at position a must be before the one at b (index expressions, 0..n-1).
using Before = std::function<Expr(Expr a, Expr b)>;

/// Sorts 0..n-1 and runs `use`, which may read `order` ([n], int64). Equal elements keep their order. Workspace: 16 n
/// bytes.
Stmt with_sorted(tir::Builder& b, Expr n, const Before& before, const std::function<Stmt(BufferRef order)>& use);

/// The same where it takes statements to compare, as of whole rows: `compare(a, b, flag)` stores into `flag` ([1],
/// int64) whether a must be before b.
using Compare = std::function<Stmt(Expr a, Expr b, BufferRef flag)>;
Stmt with_sorted(tir::Builder& b, Expr n, const Compare& compare, const std::function<Stmt(BufferRef order)>& use);

/// a before b in ascending (descending) order of their values; NaN counts as larger than all numbers.
Expr ordered(Expr a, Expr b, bool descending);

}  // namespace relaxc::ops
