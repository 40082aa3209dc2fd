// replaced_value.cpp: which ops read the last value of a carried tensor, and when.
#include "compiler/transform/lower/host/replaced_value.h"

#include <algorithm>
#include <map>
#include <set>

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns the op directly in `region` that is or contains `op`; null if `op` is outside of `region`.
const Op* op_of(const Region& region, const Op* op) {
  while (op != nullptr && !op->is_yield && op->block->parent != &region) op = op->block->parent->parent_op;
  return op;
}

/// Returns whether the kernel that `op` calls may write its only result over operand `operand`.
bool writes_over(const tir::PrimFunc& kernel, const Op& op, size_t operand) {
  bool tensors = std::all_of(op.operands().begin(), op.operands().end(),
                             [](const Value* v) { return v != nullptr && v->info->as<TensorInfo>() != nullptr; });
  if (op.results.size() != 1 || !tensors) return false;
  for (size_t i = 0; i <= operand; ++i)
    if (kernel.params.at(i).buffer == nullptr) return false;
  const std::vector<size_t>& inputs = kernel.memory.in_place;
  return std::find(inputs.begin(), inputs.end(), operand) != inputs.end();
}

}  // namespace

bool replaces_value(HostLowering& host, const Op& loop, size_t k) {
  const Region& body = *loop.regions[0];
  Value &last = *body.arguments[k + 1], &next = *body.results()[k + 1];
  const Op* maker = host.destinations.can_write(next, body);
  if (maker == nullptr || maker->kind != OpKind::kCallTir || maker->results.size() != 1) return false;
  const std::vector<Expr> wanted = host.shapes.dims(next.info);
  if (host.shapes.dims(last.info) != wanted) return false;
  tir::PrimFunc& kernel = *host.shared.module.find_prim_func(maker->callee);
  std::map<const Op*, size_t> place;
  for (const Op* one : ops_of(body)) place.emplace(one, place.size());
  bool over = false;
  std::set<const Value*> seen{&last};
  for (std::vector<const Value*> left{&last}; !left.empty();) {
    const Value& value = *left.back();
    left.pop_back();
    for (const Use& use : value.uses()) {
      const Op* around = use.user->is_yield ? nullptr : op_of(body, use.user);
      if (around == nullptr || place.at(around) > place.at(maker)) return false;
      if (around == maker) {
        if (use.user != maker || !writes_over(kernel, *maker, use.index)) return false;
        over = true;
      }
      if (use.user->kind == OpKind::kCallTir) continue;
      for (const Value* result : use.user->results)  // they may be views of it
        if (seen.insert(result).second) left.push_back(result);
    }
  }
  if (over) kernel.noalias = false;
  return true;
}

}  // namespace relaxc::lower
