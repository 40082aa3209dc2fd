// visit.cpp: walking and rebuilding. All walks are iterative, so depth of the input never becomes depth of the stack.
#include "compiler/arith/visit.h"

#include <algorithm>
#include <unordered_set>

namespace relaxc::arith {

std::vector<Expr> operands(Expr e) {
  using List = std::vector<Expr>;
  return visit(
      e, [](const IntImm&) { return List{}; }, [](const FloatImm&) { return List{}; },
      [](const VarNode&) { return List{}; },
      [](const Binary& n) {
        return List{n.a, n.b};
      },
      [](const Not& n) { return List{n.a}; },
      [](const Select& n) {
        return List{n.condition, n.then_value, n.else_value};
      },
      [](const Cast& n) { return List{n.value}; }, [](const Load& n) { return n.indices; },
      [](const Call& n) { return n.args; }, [](const Extern& n) { return n.args; });
}

Expr with_operands(Expr e, const std::vector<Expr>& to) {
  Context& context = e.context();
  return visit(
      e, [&](const IntImm&) { return e; }, [&](const FloatImm&) { return e; }, [&](const VarNode&) { return e; },
      [&](const Binary& n) { return context.binary(n.kind, to[0], to[1]); },
      [&](const Not&) { return context.negate(to[0]); },
      [&](const Select&) { return context.select(to[0], to[1], to[2]); },
      [&](const Cast& n) { return context.cast(n.dtype, to[0]); },
      [&](const Load& n) { return context.load(n.buffer, n.dtype, to); },
      [&](const Call& n) { return context.call(n.dtype, n.intrinsic, to); },
      [&](const Extern& n) { return context.external(n.dtype, n.name, to); });
}

void for_each_node(Expr root, const std::function<void(Expr)>& f) {
  struct Frame {
    Expr e;
    std::vector<Expr> operands;
    size_t next = 0;
  };
  std::unordered_set<Expr> seen{root};
  std::vector<Frame> stack{{root, operands(root), 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.operands.size()) {
      Expr child = top.operands[top.next++];
      if (seen.insert(child).second) stack.push_back({child, operands(child), 0});
    } else {
      Expr done = top.e;
      stack.pop_back();
      f(done);
    }
  }
}

Expr rewrite(Expr root, const std::function<Expr(Expr)>& rewrite_node) {
  std::unordered_map<Expr, Expr> done;
  for_each_node(root, [&](Expr e) {
    std::vector<Expr> from = operands(e), to = from;
    for (Expr& operand : to) operand = done.at(operand);
    done[e] = rewrite_node(from == to ? e : with_operands(e, to));
  });
  return done.at(root);
}

Expr substitute(Expr e, const Substitution& replacements) {
  if (replacements.empty()) return e;
  std::unordered_map<Expr, Expr> done;
  for_each_node(e, [&](Expr node) {
    auto found = replacements.find(node);
    if (found != replacements.end()) {
      done[node] = found->second;
      return;
    }
    std::vector<Expr> from = operands(node), to = from;
    for (Expr& operand : to) operand = done.at(operand);
    done[node] = from == to ? node : with_operands(node, to);
  });
  return done.at(e);
}

std::vector<Var> free_vars(Expr e) {
  std::vector<Var> vars;
  for_each_node(e, [&](Expr node) {
    if (const auto* var = node.as<VarNode>()) vars.push_back(Var(var));
  });
  std::sort(vars.begin(), vars.end(), [](Var a, Var b) { return a->id < b->id; });
  return vars;
}

}  // namespace relaxc::arith
