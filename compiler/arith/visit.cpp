// visit.cpp: walks and rebuilds expressions. All walks are iterative, so deep inputs do not overflow the stack.
#include "compiler/arith/visit.h"

#include <algorithm>

#include "compiler/arith/operand_list.h"
#include "compiler/arith/substituter.h"
#include "compiler/arith/walks.h"

namespace relaxc::arith {

std::vector<Expr> operands(Expr e) {
  OperandList list(e);
  return {list.begin(), list.end()};
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

namespace {

/// `e` with the operands `to`; `e` itself if they are equal to its own.
Expr rebuilt(Expr e, const std::vector<Expr>& to) {
  OperandList from(e);
  return std::equal(from.begin(), from.end(), to.begin(), to.end()) ? e : with_operands(e, to);
}

}  // namespace

void for_each_node(Expr root, const std::function<void(Expr)>& f) {
  struct Frame {
    Expr e;
    OperandList operands;
    size_t next = 0;
  };
  VisitedNodes met;
  met.insert(root);
  std::vector<Frame> stack;
  stack.reserve(8);
  stack.push_back({root, OperandList(root)});
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.operands.size()) {
      Expr child = top.operands[top.next++];
      if (met.insert(child)) stack.push_back({child, OperandList(child)});
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
    std::vector<Expr> to = operands(e);
    for (Expr& operand : to) operand = done.at(operand);
    done[e] = rewrite_node(rebuilt(e, to));
  });
  return done.at(root);
}

namespace {

/// What replaces `node`, whose operands are replaced by those in `done`.
Expr replaced(Expr node, const Substitution& replacements, const std::unordered_map<Expr, Expr>& done) {
  auto found = replacements.find(node);
  if (found != replacements.end()) return found->second;
  std::vector<Expr> to = operands(node);
  for (Expr& operand : to) operand = done.at(operand);
  return rebuilt(node, to);
}

}  // namespace

Expr substitute(Expr e, const Substitution& replacements) {
  if (replacements.empty()) return e;
  std::unordered_map<Expr, Expr> done;
  for_each_node(e, [&](Expr node) { done[node] = replaced(node, replacements, done); });
  return done.at(e);
}

void Substituter::add(Expr from, Expr to) {
  if (done_.count(from) != 0) done_.clear();
  replacements_[from] = to;
}

Expr Substituter::of(Expr e) {
  if (replacements_.empty()) return e;
  if (auto known = done_.find(e); known != done_.end()) return known->second;
  auto unknown = [&](Expr node) { return operands_except(node, [&](Expr part) { return done_.count(part) != 0; }); };
  for_each_node(e, unknown, [&](Expr node) { done_[node] = replaced(node, replacements_, done_); });
  return done_.at(e);
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
