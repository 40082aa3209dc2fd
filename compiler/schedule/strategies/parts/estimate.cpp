// estimate.cpp: see estimate.h.
#include "compiler/schedule/strategies/parts/estimate.h"

#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/strategies/parts/vectors.h"

namespace relaxc::schedule {

namespace {

/// The least work of a task, relative to handing it to a waiting worker (docs/performance.md).
constexpr double kWorkOfStart = 10;

/// The time of one evaluation of `e` in nanoseconds.
double cost_of(Expr e, const MachineModel& model) {
  double total = 0;
  arith::for_each_node(e, [&](Expr node) {
    if (const auto* load = node.as<arith::Load>())
      total += load->buffer->scope == tir::Scope::kLocal ? 0 : model.access_nanoseconds;
    else if (const auto* call = node.as<arith::Call>())
      total += call->intrinsic == arith::Intrinsic::k_fma ? model.operation_nanoseconds : model.call_nanoseconds;
    else if (!node.dtype().is_index() && !arith::operands(node).empty())
      total += model.operation_nanoseconds;
  });
  return total;
}

/// Counts of a statement's operations and accesses.
struct WorkCounts {
  double operations = 0, accesses = 0;
};

void count_work(Expr e, const MachineModel& model, WorkCounts& counts) {
  arith::for_each_node(e, [&](Expr node) {
    if (const auto* load = node.as<arith::Load>())
      counts.accesses += load->buffer->scope == tir::Scope::kLocal ? 0 : 1;
    else if (const auto* call = node.as<arith::Call>(); call != nullptr && call->intrinsic != arith::Intrinsic::k_fma)
      counts.operations += model.call_nanoseconds / model.operation_nanoseconds;
    else if (!node.dtype().is_index() && !arith::operands(node).empty())
      counts.operations += 1;
  });
}

}  // namespace

double extent_of(const tir::For& loop, int64_t lanes) {
  const int64_t* extent = loop.extent.constant();
  double count = extent != nullptr ? static_cast<double>(std::max<int64_t>(*extent, 0)) : kUnknownExtent;
  return loop.loop_kind == tir::LoopKind::kVectorized ? std::max(1.0, count / static_cast<double>(lanes)) : count;
}

double cycles_of(Stmt s, int64_t lanes, const MachineModel& model) {
  WorkCounts own;
  if (const auto* store = s.as<tir::Store>()) {
    count_work(store->value, model, own);
    own.accesses += store->buffer->scope == tir::Scope::kLocal ? 0 : 1;
  }
  if (const auto* let = s.as<tir::Let>()) count_work(let->value, model, own);
  double total = std::max(own.operations / model.fma_per_cycle, own.accesses / model.loads_per_cycle);
  for (Stmt child : tir::children(s)) total += cycles_of(child, lanes, model);
  const auto* loop = s.as<tir::For>();
  return loop == nullptr || loop->extent.constant() == nullptr ? total : total * extent_of(*loop, lanes);
}

double terms_of(Stmt nest) {
  double terms = 1;
  for (const tir::For* loop : analysis::as_nest(nest).loops)
    if (const int64_t* extent = loop->extent.constant()) terms *= static_cast<double>(std::max<int64_t>(*extent, 0));
  return terms;
}

double min_task_nanoseconds(const Target& target) {
  return kWorkOfStart * target.task_start_nanoseconds;
}

double nanoseconds(Stmt s, int64_t lanes, const MachineModel& model) {
  double total = 0;
  if (const auto* store = s.as<tir::Store>())
    total = model.operation_nanoseconds + (store->buffer->scope == tir::Scope::kLocal ? 0 : model.access_nanoseconds) +
            cost_of(store->value, model);
  if (const auto* let = s.as<tir::Let>()) total = cost_of(let->value, model);
  for (Stmt child : tir::children(s)) total += nanoseconds(child, lanes, model);
  if (const auto* loop = s.as<tir::For>()) total *= extent_of(*loop, lanes);
  return total;
}

double nanoseconds(Stmt s, const Target& target) {
  return nanoseconds(s, lanes_of(target, s), target);
}

int64_t profitable_tasks(Stmt body, Expr times, const Target& target) {
  const int64_t* known = times.constant();
  double count = known != nullptr ? static_cast<double>(*known) : kUnknownExtent;
  double total = count * nanoseconds(body, target);
  if (total < 2 * min_task_nanoseconds(target)) return 1;
  double most = static_cast<double>(target.task_slots);
  if (known != nullptr) most = std::min(most, count);
  return std::max<int64_t>(1,
                           static_cast<int64_t>(std::min(most, std::max(2.0, total / min_task_nanoseconds(target)))));
}

}  // namespace relaxc::schedule
