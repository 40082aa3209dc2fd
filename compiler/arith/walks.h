// walks.h: walks over the operands of expressions, each distinct node once and without recursion.
//
// Expressions share nodes: sixty doublings of one are a tree of 2^60 leaves. All code that visits operands uses the
// functions here and in visit.h; tests/tools/check_walks refuses functions that call themselves on operands, and
// worklists that do not remember visited nodes.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// Calls `f` once for every distinct node that is reachable by `next`, after the nodes of its `next(node)`. A caller
/// that caches results between walks leaves known nodes out of `next`.
void for_each_node(Expr e, const std::function<std::vector<Expr>(Expr)>& next, const std::function<void(Expr)>& f);
/// Calls `f` once for every distinct node that is reachable from `e`: a node before its operands, and those from left
/// to right. `f` returns the operands to visit.
void for_each_reached(Expr e, const std::function<std::vector<Expr>(Expr)>& f);

/// Returns the operands for which `known` is false.
template <typename Known>
std::vector<Expr> operands_except(Expr e, Known known) {
  std::vector<Expr> list = operands(e);
  std::erase_if(list, known);
  return list;
}
/// Returns the operands that are evaluated whenever `e` is: of a select, an `and` or an `or` only the first.
std::vector<Expr> eager_operands(Expr e);

/// Returns the conditions that `and` joins; `condition` itself if it is no conjunction.
std::vector<Expr> conjuncts(Expr condition);

/// Computes a value for `e` from the values of its operands, each distinct node once: `f(node, values)` receives them
/// in the order of operands(node).
template <typename T, typename F>
T fold(Expr e, F f) {
  std::unordered_map<Expr, T> values;
  for_each_node(e, [&](Expr node) {
    std::vector<T> parts;
    for (Expr operand : operands(node)) parts.push_back(values.at(operand));
    values.emplace(node, f(node, parts));
  });
  return values.at(e);
}

}  // namespace relaxc::arith
