// lazy.h: finds the nodes of expressions that are needed only on one side of a select, an `and` or an `or`.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::tir {

/// A reason to compute a node: guard `from` (-1: none) is open and `condition`, unless null, evaluates to `holds`.
struct Way {
  int from = -1;
  arith::Expr condition;
  bool holds = true;

  bool operator==(const Way&) const = default;
};

/// The conditions under which the nodes of some expressions are needed. A guard is open if one of its ways is; `from`
/// of a way is an earlier guard, so nested selects share the conditions that they have in common.
struct LazyNodes {
  std::vector<std::vector<Way>> guards;
  std::unordered_map<arith::Expr, int> guard_of;  ///< index into `guards`; nodes that are always needed have none
};

/// Returns when the nodes of `roots` are needed. `order`: these nodes, each once, operands before their users.
///
/// The ways of a guard must be evaluated in order, with short circuit, since a condition may itself be lazy.
LazyNodes lazy_nodes(const std::vector<arith::Expr>& roots, const std::vector<arith::Expr>& order);

/// Whether each guard can be computed once, before the nodes of `order` for which `wait` is true: no condition of a
/// guard reads, directly or through other guards, a node that waits for it.
bool guards_come_first(const LazyNodes& lazy, const std::vector<arith::Expr>& order,
                       const std::function<bool(arith::Expr)>& wait);

}  // namespace relaxc::tir
