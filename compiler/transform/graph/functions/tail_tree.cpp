// tail_tree.cpp: finds the calls of a function by itself in tail position, and what precedes them.
#include "compiler/transform/graph/functions/tail_tree.h"

#include "compiler/relax/callable.h"
#include "compiler/relax/effects.h"

namespace relaxc {

using namespace relax;

namespace {

void add_tail_calls(const Region& region, std::vector<Op*>& found) {
  std::vector<Op*> ops = ops_of(region);
  if (ops.empty() || !in_tail_position(*ops.back())) return;
  if (ops.back()->kind == OpKind::kCallFunction) found.push_back(ops.back());
  if (ops.back()->kind != OpKind::kIf) return;
  for (const Region* side : ops.back()->regions) add_tail_calls(*side, found);
}

}  // namespace

std::vector<Op*> tail_calls(const Function& function) {
  std::vector<Op*> found;
  add_tail_calls(function.body(), found);
  return found;
}

TailTree::TailTree(const Module& module, const Function& function) : module_(module), function_(function) {
  for (Op* call : tail_calls(function))
    if (call->callee == function.name && call_set_.insert(call).second) calls_.push_back(call);
  find_trees(function.body());
}

TailTree::Leaf TailTree::kind(const std::vector<Op*>& ops) const {
  if (ops.empty()) return Leaf::kExit;
  if (call_set_.count(ops.back()) != 0) return Leaf::kCall;
  return trees_.count(ops.back()) != 0 ? Leaf::kTree : Leaf::kExit;
}

/// Runs before the body is taken from its region: after that nothing is in tail position.
void TailTree::find_trees(const Region& region) {
  std::vector<Op*> ops = ops_of(region);
  bool tree = !ops.empty() && ops.back()->kind == OpKind::kIf && in_tail_position(*ops.back()) &&
              (has_call(*ops.back()->regions[0]) || has_call(*ops.back()->regions[1]));
  if (!tree) return;
  trees_.insert(ops.back());
  for (const Region* side : ops.back()->regions) find_trees(*side);
}

bool TailTree::has_call(const Region& region) const {
  for (const Op* op : ops_of(region, true))
    if (call_set_.count(op) != 0) return true;
  return false;
}

bool TailTree::has_exit(const Region& region) const {
  std::vector<Op*> ops = ops_of(region);
  Leaf leaf = kind(ops);
  if (leaf != Leaf::kTree) return leaf == Leaf::kExit;
  return has_exit(*ops.back()->regions[0]) || has_exit(*ops.back()->regions[1]);
}

bool TailTree::is_pure(const Op& op) const {
  std::set<std::string> seen;
  return is_pure(op, seen);
}

bool TailTree::is_pure(const Op& op, std::set<std::string>& seen) const {
  if (op.regions.empty() && has_effect(op)) return false;
  if (op.kind == OpKind::kCallFunction && !is_pure(op.callee, seen)) return false;
  for (const Region* region : op.regions)
    for (const Op* inner : ops_of(*region, true))
      if (inner->regions.empty() && !is_pure(*inner, seen)) return false;
  return true;
}

/// Calls of the function itself do not count as pure: what runs again at one depth runs twice as often at the next.
bool TailTree::is_pure(const std::string& function, std::set<std::string>& seen) const {
  if (function == function_.name) return false;
  if (!seen.insert(function).second) return true;
  for (const Op* op : ops_of(module_.find_function(function)->body(), true))
    if (op->regions.empty() && !is_pure(*op, seen)) return false;
  return true;
}

bool TailTree::runs_again(const Region& region) const {
  std::vector<Op*> ops = ops_of(region);
  if (kind(ops) != Leaf::kTree) return true;
  for (size_t i = 0; i + 1 < ops.size(); ++i)
    if (!is_pure(*ops[i]) && !ops[i]->results.empty()) return false;
  return runs_again(*ops.back()->regions[0]) && runs_again(*ops.back()->regions[1]);
}

}  // namespace relaxc
