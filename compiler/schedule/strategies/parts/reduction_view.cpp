// reduction_view.cpp: see reduction_view.h.
#include "compiler/schedule/strategies/parts/reduction_view.h"

#include <algorithm>

#include "compiler/schedule/strategies/parts/vectors.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kSingleVector = 1.15;  ///< relative to the time of adjacent vectors, which share their scalars
constexpr double kMostOfOnce = 0.1;     ///< maximum share of a step for what is done once per element
constexpr double kLanesOfTerms = 1.5;   ///< relative to the time of a tile: sums whose terms are in lanes

}  // namespace

std::vector<uint32_t> loops_from(const ReductionForm& form, uint32_t first) {
  return {std::find(form.spatial.begin(), form.spatial.end(), first), form.spatial.end()};
}

double ReductionView::terms() const {
  double count = 1;
  for (uint32_t loop : form_.reduced)
    if (const int64_t* extent = tree_.loop(loop).extent.constant()) count *= static_cast<double>(*extent);
  return count;
}

double ReductionView::vector_steps() const {
  double steps = terms() / static_cast<double>(lanes_);
  for (uint32_t loop : form_.spatial)
    if (const int64_t* known = extent(loop)) steps *= static_cast<double>(*known);
  return steps;
}

double ReductionView::cost(uint32_t loop, bool reduces) const {
  const tir::For& node = tree_.loop(loop);
  if (const int64_t* extent = node.extent.constant(); extent != nullptr && *extent <= 1) return 1e9;
  double bad = 0;
  auto add = [&](const Access& access, double weight) {
    if (access.buffer->scope == tir::Scope::kLocal) return;
    if (!reduces && packable_axis(access, node.var)) return;
    auto step = step_of(access.buffer, access.indices, node.var);
    if (!step || (*step != 0 && *step != 1))
      bad += weight * (step && *step > 1 && *step <= 4 ? target_.strided_load_steps : target_.gather_steps);
  };
  BufferRef result = store().buffer;
  for_each_access(tree_.loop(form_.reduced[0]).body, [&](const Access& access) {
    if (access.buffer == result) return;
    add(access, 1);
    if (!reduces && crosses_cache_lines(access, node.var)) bad += target_.split_line_steps;
  });
  // Work once per element counts less the more terms its sum has; buffers of the group only are in registers.
  const double soon = target_.scatter_reload_cycles * target_.fma_per_cycle;
  const double scattered = tree_.is_used_elsewhere(result) ? soon : scattered_terms(target_);
  const double once = std::min(kMostOfOnce, scattered / target_.gather_steps / terms());
  if (!reduces)
    for_each_access(inner_body(), [&](const Access& access) {
      if (!non_escaping(access.buffer)) add(access, once);
    });
  double waste = 1;
  if (const int64_t* extent = node.extent.constant())
    waste = static_cast<double>((*extent + lanes_ - 1) / lanes_ * lanes_) / static_cast<double>(*extent) *
            (!reduces && *extent <= lanes_ ? kSingleVector : 1);
  return (1 + bad) * waste * (reduces ? kLanesOfTerms : 1);
}

bool ReductionView::crosses_cache_lines(const Access& access, Var along) const {
  if (access.buffer->scope == tir::Scope::kLocal || packable_axis(access, along)) return false;
  if (step_of(access.buffer, access.indices, along) != 1) return false;
  return std::any_of(form_.reduced.begin(), form_.reduced.end(), [&](uint32_t loop) {
    auto step = step_of(access.buffer, access.indices, tree_.loop(loop).var);
    return step && *step > lanes_ && *step % lanes_ != 0;
  });
}

bool ReductionView::contiguous_in(uint32_t loop) const {
  bool found = false;
  for_each_access(Stmt(&tree_.block(form_.block)), [&](const Access& access) {
    found |= !access.is_store && step_of(access.buffer, access.indices, tree_.loop(loop).var) == 1;
  });
  const auto* body = tree_.loop(loop).body.as<tir::Block>();  // and not a load into a local before it
  return found && body != nullptr && body->id == form_.block;
}

std::vector<BufferRef> ReductionView::operands_along(uint32_t loop) const {
  std::vector<BufferRef> found;
  Var var = tree_.loop(loop).var;
  for_each_access(tree_.loop(form_.reduced[0]).body, [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
    for (Expr index : access.indices)
      if (depends_on(index, var)) return found.push_back(access.buffer);
  });
  return found;
}

bool ReductionView::has_invariant_operand(uint32_t loop) const {
  auto along = operands_along(loop);
  bool stays = false;
  for_each_access(tree_.loop(form_.reduced[0]).body, [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
    stays |= std::find(along.begin(), along.end(), access.buffer) == along.end();
  });
  return stays;
}

BufferRef ReductionView::original(BufferRef buffer) const {
  BufferRef base = buffer;
  for (bool again = true; again;) {
    again = false;
    tir::for_each_stmt(tree_.root(), [&](Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view != nullptr && view->buffer == base) base = view->base, again = true;
    });
  }
  return base;
}

BufferRef ReductionView::current(BufferRef buffer) const {
  BufferRef found = buffer;
  for_each_access(inner_body(), [&](const Access& access) {
    if (original(access.buffer) == buffer) found = access.buffer;
  });
  return found;
}

bool ReductionView::non_escaping(BufferRef result) const {
  return std::find(form_.group.non_escaping.begin(), form_.group.non_escaping.end(), original(result)) !=
         form_.group.non_escaping.end();
}

bool ReductionView::is_packable(BufferRef buffer) const {
  const std::vector<BufferRef>& own = form_.constants;
  return buffer == form_.words || std::find(own.begin(), own.end(), buffer) != own.end();
}

std::optional<size_t> ReductionView::packable_axis(const Access& access, Var var) const {
  BufferRef base = original(access.buffer);
  if (access.is_store || !is_packable(base)) return {};
  std::optional<size_t> axis;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    if (access.buffer->shape[i].constant() == nullptr) return {};
    if (access.indices[i] == var)
      axis = i;
    else if (depends_on(access.indices[i], var))
      return {};
  }
  bool alone = true;
  for_each_access(tree_.root(), [&](const Access& other) {
    if (original(other.buffer) == base) alone &= other.buffer == access.buffer && other.indices == access.indices;
  });
  return alone ? axis : std::nullopt;
}

bool ReductionView::words_are_packed() const {
  const std::vector<PackedParam>& packed = tree_.packed();
  return form_.words == nullptr || std::any_of(packed.begin(), packed.end(), [&](const PackedParam& one) {
           return one.param == form_.words_of.buffer;
         });
}

}  // namespace relaxc::schedule
