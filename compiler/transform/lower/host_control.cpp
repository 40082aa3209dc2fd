// host_control.cpp: branches.
//
// Branches whose results differ in shape write into one memory, large enough for both, and leave the dims that the
// taken branch had in a small buffer, from which the code after the If binds its symbols.
#include <utility>

#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

/// Results that kernels of `region` make are written to `targets` (null: none) at once; says which.
std::vector<bool> HostFunction::tell_targets(const Region& region, const std::vector<BufferRef>& targets) {
  const std::vector<Value*>& results = region.results();
  std::vector<bool> told(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (targets[i] == nullptr || results[i] == nullptr) continue;
    const Op* producer = results[i]->op;
    bool here = producer != nullptr && producer->block != nullptr && producer->block->parent == &region;
    told[i] = here && producer->kind == OpKind::kCallTir && producer->binds.empty() &&
              destinations_.emplace(results[i], targets[i]).second;
  }
  return told;
}

/// One region as a statement; its results go to `targets` (each a memory of any layout), its dims to `dims_to`.
Status HostFunction::lower_branch(const Op& op, const Region& region, const std::vector<BufferRef>& targets,
                                  BufferRef dims_to, tir::Stmt& body) {
  Diagnostics& diag = this->diag();
  Steps steps(build_), *outer = std::exchange(steps_, &steps);
  ++depth_;
  const std::vector<Value*>& results = region.results();
  std::vector<bool> told = tell_targets(region, targets);
  Status done = lower_region(region);
  if (done) {
    for (size_t i = 0; i < results.size(); ++i)
      if (!told[i]) copy(buffer(*results[i]), seen_as(targets[i], results[i]->name, dims(results[i]->info)));
    for (size_t k = 0; k < op.binds.size(); ++k) {
      Expr at = build_.index(static_cast<int64_t>(k));
      steps.add(build_.store(dims_to, {at}, arith::cast(DType::i(64), joined_dim(op, region, op.binds[k]))));
    }
    body = steps.finish();
  }
  steps_ = outer;
  --depth_;
  if (!done) return diag.failed();
  return Done{};
}

/// What `symbol`, which the If binds, is at the end of `region`.
Expr HostFunction::joined_dim(const Op& op, const Region& region, Var symbol) {
  for (size_t i = 0; i < op.results.size(); ++i) {
    std::vector<Expr> joined = relax_dims(op.results[i]->info), here = dims(region.results()[i]->info);
    for (size_t axis = 0; axis < joined.size(); ++axis)
      if (joined[axis] == symbol) return here[axis];
  }
  RELAXC_UNREACHABLE("a symbol of an If is no dim of its results");
}

Status HostFunction::lower_if(Op& op) {
  Diagnostics& diag = this->diag();
  RELAXC_CHECK(op.regions.size() == 2, "an If has two regions");
  for (Value* result : op.results)
    if (result->info->as<TensorInfo>() == nullptr)
      return diag.error(op.location, Kind::unsupported, "branches that give {} instead of tensors",
                        to_string(result->info));
  Expr condition = truth(*op.operand(0));

  // Bytes are reserved by bounds of both branches, which only their own symbols know; so branches come first.
  std::vector<BufferRef> targets;
  BufferRef dims_to = nullptr;
  Steps inside(build_), *outer = std::exchange(steps_, &inside);
  if (!op.binds.empty())
    dims_to = build_.buffer("joined_dims", DType::i(64), {build_.index(static_cast<int64_t>(op.binds.size()))},
                            tir::Scope::kGlobal, WeightLayout::kAlignment);
  for (Value* result : op.results) {
    auto chosen = destinations_.find(result);
    BufferRef room = build_.buffer(result->name + "_room", result->dtype(), {context().var("room")},
                                   tir::Scope::kGlobal, WeightLayout::kAlignment);
    targets.push_back(chosen == destinations_.end() ? room : chosen->second);
  }
  tir::Stmt bodies[2];
  std::vector<Expr> sizes(op.results.size());
  std::vector<Expr> bounds(op.binds.size());
  auto widen = [](Expr& bound, Expr more, bool first) {
    bound = first ? more : bound && more ? arith::max(bound, more) : Expr();
  };
  bool failed = false;
  for (size_t branch = 0; branch < 2 && !failed; ++branch) {
    failed = !lower_branch(op, *op.regions[branch], targets, dims_to, bodies[branch]);
    if (failed) break;
    for (size_t i = 0; i < op.results.size(); ++i) {
      Expr count = context().index(1);
      for (Expr dim : dims(op.regions[branch]->results()[i]->info)) count = count * dim;
      widen(sizes[i], symbols_.bounded(count), branch == 0);
    }
    for (size_t k = 0; k < op.binds.size(); ++k)
      widen(bounds[k], symbols_.bounded(joined_dim(op, *op.regions[branch], op.binds[k])), branch == 0);
  }
  steps_ = outer;
  if (failed) return diag.failed();

  if (dims_to != nullptr) steps_->alloc(dims_to);
  std::map<BufferRef, BufferRef> rooms;
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (destinations_.count(op.results[i]) != 0) continue;
    if (!sizes[i])
      return diag.error(op.location, Kind::unbounded, "a branch gives '{}' a size that has no bound before the run",
                        op.results[i]->name);
    rooms[targets[i]] =
        build_.buffer(targets[i]->name, targets[i]->dtype, {sizes[i]}, tir::Scope::kGlobal, WeightLayout::kAlignment);
    targets[i] = rooms[targets[i]];
    steps_->alloc(targets[i]);
  }
  tir::Rewriter rewriter;
  rewriter.on_buffer = [&](BufferRef b) { return rooms.count(b) != 0 ? rooms.at(b) : b; };
  for (tir::Stmt& body : bodies) body = tir::rewrite(context(), body, rewriter);
  steps_->add(build_.branch(condition, bodies[0], bodies[1]));
  for (size_t k = 0; k < op.binds.size(); ++k)
    bind_from_data(op.binds[k], build_.load(dims_to, {build_.index(static_cast<int64_t>(k))}), bounds[k]);
  for (size_t i = 0; i < op.results.size(); ++i)
    slot(*op.results[i]).buffer = seen_as(targets[i], op.results[i]->name, dims(op.results[i]->info));
  return Done{};
}

}  // namespace relaxc::lower
