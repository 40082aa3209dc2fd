// prefetching.cpp: see prefetching.h.
//
// The problem: with channels apart, each term of a sum reads other lines of the map, and of weights that are packed for
// vectors of channels. What a tile reads does not stay in the first level of cache to the next tile if sums are long.
// Its lines then come from the second level, of which many cores read half a line a cycle and whose latency the few
// multiplications of a term do not hide: 1x1 convolutions at 7x7 reached two thirds of the limit.
//
// The method: each term asks for the lines of one that is some terms later. Behind the last term this asks for what
// nothing reads, which costs less than a condition.
//
// Maps that do not fit the second level are read side by side, a vector of each channel for a tile. Each vector asks
// for the line some bytes after it, which must stay in the first level until a later tile reads it: the more channels,
// the fewer bytes. A map of open size is taken to be as large, if the first level has room for a line of each channel.
// 1 KiB ahead, as few channels need it, took 1.4 to 1.6 of the time for 32 and 96 channels on a Zen 3.
//
// Where an image is so small that all that a block of terms reads of it stays in the first level, blocks of terms do
// more, and nothing is prefetched (sum_blocks.h).
#include "compiler/schedule/strategies/parts/prefetching.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/primitives/prefetch_iterations.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/register_tile.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kTileOfL1 = 0.5;     ///< maximum share of the first level for what a tile reads, to stay there
constexpr double kLeastOfAhead = 2;   ///< terms, relative to those ahead of which lines are asked for
constexpr double kAheadOfL1 = 0.375;  ///< maximum share of the first level for what was asked for and not yet read

/// How far ahead each channel's line may be asked for so that all lines stay in the first level until they are read.
int64_t bytes_ahead(const Draft& draft) {
  const Target& target = *draft.target;
  const double most = kAheadOfL1 * static_cast<double>(target.l1_bytes) / ReductionView(draft).terms();
  return target.line_bytes == 0 ? 0 : static_cast<int64_t>(most) / target.line_bytes * target.line_bytes;
}

/// Whether vectors come from channels whose maps do not fit the cache, each read once per row of tiles: there are more
/// streams than the processor's prefetcher follows.
bool reads_from_afar(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const int64_t l2 = draft.target->l2_bytes;
  if (form.sliding.vector != 0 || form.reduced.size() != 1 || l2 == 0) return false;
  const ReductionView view(draft);
  const Var vector = view.var(form.vector);
  const bool assumes_large = bytes_ahead(draft) > 0;
  bool found = false;
  for_each_access(view.summed(), [&](const Access& access) {
    if (access.is_store || access.buffer->scope == tir::Scope::kLocal || view.packable_axis(access, vector)) return;
    const double elements =
        assumes_large ? assumed_elements_of(access.buffer, draft.tree.facts()) : elements_of(access.buffer);
    const double bytes = elements * access.buffer->dtype.bytes();
    found |= step_of(access.buffer, access.indices, vector) == 1 && bytes >= kFarCaches * static_cast<double>(l2);
  });
  return found;
}

/// What a tile reads for one term of its sums.
struct TermReads {
  double bytes = 0;       ///< whole lines, where a term reads others than the term before it
  bool by_lines = false;  ///< whether it does so of some operand
};

class TermQuestions {
 public:
  TermQuestions(const Draft& draft, const TileShape& shape)
      : form_(draft.reduction),
        view_(draft),
        line_(static_cast<double>(draft.target->line_bytes)),
        columns_(static_cast<double>(shape.vectors * form_.lanes)),
        rows_(static_cast<double>(shape.unrolled)) {}

  TermReads reads() const {
    TermReads total;
    for_each_access(view_.summed(), [&](const Access& access) {
      if (access.is_store || access.buffer->scope == tir::Scope::kLocal) return;
      const TermReads own = reads_of(access);
      total.bytes += own.bytes, total.by_lines |= own.by_lines;
    });
    return total;
  }

 private:
  TermReads reads_of(const Access& access) const {
    const double size = access.buffer->dtype.bytes();
    const Var term = view_.var(form_.reduced[0]), vector = view_.var(form_.vector);
    const Var row = form_.unrolled != 0 ? view_.var(form_.unrolled) : Var();
    if (view_.packable_axis(access, vector)) return {columns_ * size, columns_ * size >= line_};
    if (row && view_.packable_axis(access, row)) return {rows_ * size, rows_ * size >= line_};
    const bool along_columns = step_of(access.buffer, access.indices, vector) == 1;
    const bool along_rows = row && step_of(access.buffer, access.indices, row) == 1;
    const auto step = step_of(access.buffer, access.indices, term);
    const double distance = step ? std::abs(static_cast<double>(*step)) * size : line_;  // open: a map's size
    const double adjacent = along_columns ? columns_ : along_rows ? rows_ : 1;
    const double apart = !along_rows && row && step_of(access.buffer, access.indices, row) != 0 ? rows_ : 1;
    // Where rows are apart, each is a stream of its own that moves by a term.
    if (distance < line_) return {std::max(distance, adjacent * size) * apart, false};
    return {(line_ + (adjacent - 1) * size) * apart, true};
  }

  const ReductionForm& form_;
  const ReductionView view_;
  const double line_, columns_, rows_;
};

}  // namespace

Prefetching prefetching_of(const Draft& draft, const TileShape& shape, bool vectors_inside) {
  Prefetching plan;
  const Target& target = *draft.target;
  const ReductionForm& form = draft.reduction;
  if (reads_from_afar(draft)) {
    plan.bytes =
        std::clamp(bytes_ahead(draft), std::min(target.line_bytes, target.prefetch_bytes), target.prefetch_bytes);
    return plan;
  }
  if (target.prefetch_terms < 1 || form.reduced.size() != 1 || form.image != 0) return plan;
  const ReductionView view(draft);
  TileShape in_turns = shape;
  const int64_t* columns = view.extent(form.vector);
  if (vectors_inside && columns != nullptr) in_turns.vectors = (*columns + form.lanes - 1) / form.lanes;
  const TermReads reads = TermQuestions(draft, in_turns).reads();
  if (view.terms() < kLeastOfAhead * static_cast<double>(target.prefetch_terms)) return plan;
  const double bytes = reads.bytes * view.terms();
  if (reads.by_lines && bytes > kTileOfL1 * static_cast<double>(target.l1_bytes)) plan.terms = target.prefetch_terms;
  return plan;
}

Legal<> prefetch_terms(Tree& tree, int64_t terms) {
  std::vector<uint32_t> sums;
  const auto in_lanes = [&](Stmt inner) {
    const auto* loop = inner.as<tir::For>();
    if (loop != nullptr && loop->loop_kind == tir::LoopKind::kSerial) sums.push_back(loop->id);
  };
  tir::for_each_stmt(tree.root(), [&](Stmt s) {
    const auto* loop = s.as<tir::For>();
    if (loop != nullptr && loop->loop_kind == tir::LoopKind::kVectorized) tir::for_each_stmt(loop->body, in_lanes);
  });
  for (uint32_t loop : sums) RELAXC_LEGAL(apply(tree, PrefetchIterations{loop, terms}));
  return Done{};
}

}  // namespace relaxc::schedule
