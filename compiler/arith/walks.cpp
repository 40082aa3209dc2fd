// walks.cpp: see walks.h.
#include "compiler/arith/walks.h"

#include "compiler/arith/operand_list.h"

namespace relaxc::arith {

std::vector<Expr> eager_operands(Expr e) {
  std::vector<Expr> list = operands(e);
  if (e->kind == ExprKind::kSelect || e->kind == ExprKind::kAnd || e->kind == ExprKind::kOr) list.resize(1);
  return list;
}

void for_each_node(Expr root, const std::function<std::vector<Expr>(Expr)>& next, const std::function<void(Expr)>& f) {
  struct Frame {
    Expr e;
    std::vector<Expr> next;
    size_t done = 0;
  };
  VisitedNodes met;
  met.insert(root);
  std::vector<Frame> stack{{root, next(root), 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.done < top.next.size()) {
      Expr child = top.next[top.done++];
      if (met.insert(child)) stack.push_back({child, next(child), 0});
    } else {
      Expr done = top.e;
      stack.pop_back();
      f(done);
    }
  }
}

void for_each_reached(Expr root, const std::function<std::vector<Expr>(Expr)>& f) {
  VisitedNodes met;
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    Expr e = stack.back();
    stack.pop_back();
    if (!met.insert(e)) continue;
    std::vector<Expr> next = f(e);
    stack.insert(stack.end(), next.rbegin(), next.rend());
  }
}

std::vector<Expr> conjuncts(Expr condition) {
  std::vector<Expr> found;
  for_each_reached(condition, [&](Expr e) {
    if (const auto* both = e.as<And>()) return std::vector<Expr>{both->b, both->a};
    found.push_back(e);
    return std::vector<Expr>{};
  });
  return found;
}

}  // namespace relaxc::arith
