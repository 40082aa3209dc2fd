// sum_blocks.cpp: see sum_blocks.h.
//
// The problem: where output channels are in lanes, all tiles of a few channels read the same weights, and each its own
// pixels, of which a term needs less than a line. Weights and lines of long sums do not stay in the first level of
// cache from tile to tile, and the second gives half a line a cycle on many cores: of a tile of 5x2, 144 bytes for five
// cycles of multiplications.
//
// The method: if the image is small, what all tiles of a panel read for a block of terms fits the first level. Tiles
// take turns block by block (`block_sum`). On a Zen 3, 2048 channels by 512 of 7x7 then take 0.80 of the time that they
// take with lines prefetched, and nothing is left to prefetch.
//
// Rejected: blocks for weights alone, with pixels from the second level: no faster than prefetches.
#include "compiler/schedule/strategies/parts/sum_blocks.h"

#include <algorithm>

#include "compiler/schedule/primitives/block_sum.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kLeastTermsOfBlock = 64;  ///< fewer do not pay for loading and storing sums
constexpr double kLeastOfBlocks = 2;       ///< least size of a sum, relative to a block; prefetches suit others
constexpr double kEvenBlocks = 0.75;       ///< least size of blocks without remainder, relative to the largest

class BlockQuestions {
 public:
  BlockQuestions(const Draft& draft, int64_t panel)
      : form_(draft.reduction),
        tree_(draft.tree),
        view_(draft),
        panel_(panel),
        ranges_(facts_of_loops(draft.tree.root())) {}

  /// The loop over most terms.
  uint32_t longest() const {
    const auto shorter = [&](uint32_t a, uint32_t b) { return *view_.extent(a) < *view_.extent(b); };
    return *std::max_element(form_.reduced.begin(), form_.reduced.end(), shorter);
  }

  /// Bytes that all tiles of a panel read for one iteration of `loop`; negative if that is open.
  double bytes_of(uint32_t loop) const {
    arith::Facts ranges;
    arith::Substitution first;  // iteration of the loops around
    for (uint32_t other : form_.spatial) first[view_.var(other)] = tree_.context().index(0);
    first[view_.var(loop)] = tree_.context().index(0);
    std::vector<uint32_t> inside = loops_from(form_, form_.vector);
    inside.insert(inside.end(), form_.reduced.begin(), form_.reduced.end());
    for (uint32_t one : inside) {
      const int64_t most = one == form_.vector ? panel_ : arith::bounds(tree_.loop(one).extent, ranges_).upper;
      if (one == loop) continue;
      first.erase(view_.var(one));
      ranges.bound(view_.var(one), {0, most - 1});
    }
    double total = 0;
    bool is_known = true;
    for_each_access(view_.summed(), [&](const Access& access) {
      if (access.is_store || access.buffer->scope == tir::Scope::kLocal) return;
      double bytes = access.buffer->dtype.bytes();
      for (Expr index : access.indices) {
        const arith::Range range = arith::bounds(arith::simplify(arith::substitute(index, first)), ranges);
        is_known &= range.upper != INT64_MAX && range.lower != INT64_MIN;
        bytes *= static_cast<double>(range.upper) - static_cast<double>(range.lower) + 1;
      }
      total += bytes;
    });
    return is_known ? total : -1;
  }

 private:
  const ReductionForm& form_;
  const Tree& tree_;
  const ReductionView view_;
  const int64_t panel_;
  const arith::Facts ranges_;
};

/// The iterations of a block: as many as fit, in blocks of the same size where that takes few more of them.
int64_t size_of_blocks(int64_t terms, int64_t most) {
  for (int64_t size = most; static_cast<double>(size) >= kEvenBlocks * static_cast<double>(most); --size)
    if (terms % size == 0) return size;
  const int64_t blocks = (terms + most - 1) / most;
  return (terms + blocks - 1) / blocks;
}

}  // namespace

SumBlocks sum_blocks_of(const Draft& draft, const TileShape& shape) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  const int64_t most_bytes = draft.target->sum_block_bytes, panel = shape.vectors * form.lanes;
  const int64_t *columns = view.extent(form.vector), *rows = form.unrolled == 0 ? nullptr : view.extent(form.unrolled);
  const std::vector<uint32_t> inside = loops_from(form, form.vector);
  const bool has_rows = rows != nullptr && std::find(inside.begin(), inside.end(), form.unrolled) != inside.end();
  if (most_bytes == 0 || columns == nullptr || *columns % panel != 0 || !has_rows || form.image != 0) return {};
  if (form.words != nullptr || form.sliding.vector != 0) return {};
  for (uint32_t loop : form.reduced)
    if (view.extent(loop) == nullptr) return {};
  const BlockQuestions questions(draft, panel);
  const uint32_t loop = questions.longest();
  const auto terms = static_cast<double>(*view.extent(loop)), others = view.terms() / terms;
  const double bytes = questions.bytes_of(loop);
  if (bytes <= 0 || bytes * terms < kLeastOfBlocks * static_cast<double>(most_bytes)) return {};
  const int64_t most = static_cast<int64_t>(static_cast<double>(most_bytes) / bytes);
  if (static_cast<double>(most) * others < kLeastTermsOfBlock) return {};
  const int64_t size = size_of_blocks(*view.extent(loop), most);
  if (!BlockSum{form.vector, loop, size}.legal(draft.tree)) return {};
  return {loop, size, panel};
}

Legal<> block_sums(Draft& draft, const SumBlocks& blocks) {
  ReductionForm& form = draft.reduction;
  RELAXC_STEP(const SplitLoops panels, apply(draft.tree, Split{form.vector, blocks.panel, Tail::kPeel}));
  const auto at = std::find(form.spatial.begin(), form.spatial.end(), form.vector);
  *at = panels.inner;
  form.spatial.insert(at, panels.outer);
  form.vector = panels.inner;
  RELAXC_LEGAL(apply(draft.tree, BlockSum{form.vector, blocks.loop, blocks.size}));
  return Done{};
}

}  // namespace relaxc::schedule
