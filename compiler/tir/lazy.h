// lazy.h: what an expression computes only where a select, an `and` or an `or` asks for it.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::tir {

/// One way to come to a node: past the guard `from` (-1: from outside), and then where `condition` is `holds`.
struct Way {
  int from = -1;
  arith::Expr condition;
  bool holds = true;

  bool operator==(const Way&) const = default;
};

/// When the nodes of some expressions are computed. A guard is open if one of its ways is; it names guards in front of
/// it only, so that what they have in common is said once, however deep selects are in selects.
struct LazyNodes {
  std::vector<std::vector<Way>> guards;
  std::unordered_map<arith::Expr, int> guard_of;  ///< index into `guards`; nodes that are always computed have none
};

/// `order`: the distinct nodes of `roots`, operands before what uses them.
///
/// A way is to be asked from left to right, as C does: its condition may itself be lazy.
LazyNodes lazy_nodes(const std::vector<arith::Expr>& roots, const std::vector<arith::Expr>& order);

/// Whether guards can be computed once, each before the nodes of `order` that `wait` for theirs: no guard asks a
/// condition that reads, maybe behind other guards, what the guard is for.
bool guards_come_first(const LazyNodes& lazy, const std::vector<arith::Expr>& order,
                       const std::function<bool(arith::Expr)>& wait);

}  // namespace relaxc::tir
