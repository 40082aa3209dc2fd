// region.cpp: see region.h.
#include "compiler/schedule/analysis/region.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/schedule/analysis/legality.h"

namespace relaxc::schedule {
namespace {

using tir::For;

class Hull {
 public:
  Hull(Stmt s, BufferRef buffer) : s_(s), buffer_(buffer) {
    tir::for_each_stmt(s, [&](Stmt inner) {
      if (const auto* loop = inner.as<For>()) bind(*loop);
      if (const auto* block = inner.as<tir::Block>())  // parents come first
        for (const auto& [axis, value] : bindings(*block)) axes_[axis] = arith::substitute(value, axes_);
    });
  }

  std::optional<Region> run() {
    const size_t rank = buffer_->shape.size();
    region_.begin.resize(rank), low_.assign(rank, INT64_MAX), high_.assign(rank, INT64_MIN);
    bool known = true, any = false;
    for_each_access(s_, [&](const Access& access) {
      if (access.buffer != buffer_) return;
      any = true;
      for (size_t dim = 0; known && dim < rank; ++dim) known = add(dim, arith::substitute(access.indices[dim], axes_));
    });
    if (!any || !known) return {};
    for (size_t dim = 0; dim < rank; ++dim) {
      int64_t extent = 0;
      if (__builtin_sub_overflow(high_[dim], low_[dim], &extent) || __builtin_add_overflow(extent, 1, &extent))
        return {};
      const int64_t* all = buffer_->shape[dim].constant();
      const bool whole = all != nullptr && extent >= *all;
      Context& context = buffer_->shape[dim].context();
      region_.begin[dim] = whole ? context.index(0) : arith::simplify(region_.begin[dim] + low_[dim]);
      region_.extent.push_back(whole ? *all : extent);
      if (uses_variable_of(region_.begin[dim], s_)) return {};
    }
    return region_;
  }

 private:
  using Context = arith::Context;

  void bind(const For& loop) {
    inner_.insert(loop.var);
    first_[loop.var] = loop.min;
    const int64_t most = arith::bounds(loop.extent, facts_).upper;
    if (loop.min.is_constant(0) && most != INT64_MAX) facts_.bound(loop.var, {0, std::max<int64_t>(most, 1) - 1});
  }

  /// Extends the box by one access. Boxes start at the subscripts of the first access in the first iterations.
  bool add(size_t dim, Expr index) {
    if (has_load(index)) return false;
    if (!region_.begin[dim]) region_.begin[dim] = arith::simplify(arith::substitute(index, first_));
    const Expr rest = arith::simplify(index - region_.begin[dim], facts_);
    for (Expr var : arith::free_vars(rest))
      if (inner_.count(var) == 0) return false;
    const arith::Range range = arith::bounds(rest, facts_);
    low_[dim] = std::min(low_[dim], range.lower), high_[dim] = std::max(high_[dim], range.upper);
    return range.lower != INT64_MIN && range.upper != INT64_MAX;
  }

  const Stmt s_;
  const BufferRef buffer_;
  std::unordered_set<Expr> inner_;    // variables of loops in `s_`
  arith::Substitution first_, axes_;  // first values of loop variables, and values of axes of blocks
  arith::Facts facts_;
  Region region_;
  std::vector<int64_t> low_, high_;
};

/// Whether `loops` visit each element of the box exactly once along each dim: 32 * o + i with i < 32, for example.
bool counts(const std::vector<const For*>& loops, const std::vector<Expr>& indices, const Region& region) {
  std::vector<bool> used(loops.size());
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    std::vector<std::pair<int64_t, size_t>> steps;
    arith::Substitution first;
    for (size_t i = 0; i < loops.size(); ++i) {
      const std::optional<int64_t> step = step_of(indices[dim], loops[i]->var);
      if (!step || *step < 0 || (*step > 0 && used[i])) return false;
      if (*step > 0) steps.emplace_back(*step, i), used[i] = true;
      first[loops[i]->var] = loops[i]->min;
    }
    if (!arith::prove_equal(arith::substitute(indices[dim], first), region.begin[dim])) return false;
    std::sort(steps.begin(), steps.end());
    int64_t covered = 1;
    for (const auto& [step, i] : steps) {
      if (step > covered) return false;
      covered = step * (*loops[i]->extent.constant() - 1) + covered;
    }
    if (covered < region.extent[dim]) return false;
  }
  return true;
}

bool fills(Stmt s, BufferRef buffer, const Region& region, std::vector<const For*>& around) {
  if (const auto* seq = s.as<tir::Seq>()) {
    for (Stmt part : seq->body)
      if (is_used(part, buffer)) return fills(part, buffer, region, around);
    return false;
  }
  if (const auto* alloc = s.as<tir::Alloc>()) return fills(alloc->body, buffer, region, around);
  if (const auto* loop = s.as<For>()) {
    const int64_t* extent = loop->extent.constant();
    around.push_back(loop);
    return extent != nullptr && *extent > 0 && fills(loop->body, buffer, region, around);
  }
  if (const auto* block = s.as<tir::Block>())
    return block->iters.empty() && !block->init && !block->predicate && fills(block->body, buffer, region, around);
  const auto* store = s.as<tir::Store>();
  if (store == nullptr || store->buffer != buffer || first_use(s, buffer) != FirstUse::kStore) return false;
  // Outer loops around more than this nest start again before everything is stored, so they do not count.
  const auto more = std::find_if(around.rbegin(), around.rend(), [&](const For* loop) {
    return loop->body.as<For>() == nullptr && loop->body.node() != s.node() && loop->body.as<tir::Block>() == nullptr;
  });
  return counts({more.base(), around.end()}, store->indices, region);
}

}  // namespace

std::optional<Region> region_of(Stmt s, BufferRef buffer) {
  return Hull(s, buffer).run();
}

bool fills(Stmt s, BufferRef buffer, const Region& region) {
  std::vector<const For*> around;
  return fills(s, buffer, region, around);
}

Expr inside(BufferRef buffer, const std::vector<Expr>& at, const arith::Facts& facts) {
  Expr all;
  auto add = [&](Expr condition) {
    if (!arith::prove(condition, facts)) all = all ? arith::logical_and(all, condition) : condition;
  };
  for (size_t dim = 0; dim < at.size(); ++dim) {
    add(arith::le(at[dim].context().index(0), at[dim]));
    add(arith::lt(at[dim], buffer->shape[dim]));
  }
  return all;
}

}  // namespace relaxc::schedule
