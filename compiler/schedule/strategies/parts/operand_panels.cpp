// operand_panels.cpp: see operand_panels.h.
//
// The problem: a 1x1 convolution reads as many maps side by side as it has channels. Maps that are far apart are more
// streams than a processor's prefetcher follows; and where they are a multiple of a large power of two apart, as in
// images of 640x640, their lines fall into the same sets of the first level of cache, which keeps none of them until
// the next rows read it.
//
// The method: a panel of columns, of all channels, is copied to contiguous scratch memory of half of the first level
// before all rows of the result read it, as Goto & van de Geijn 2008 pack panels of a matrix. While a panel is copied,
// the lines of the next one are prefetched.
//
// Rejected: longer panels, of a part of the second level, from which each row of tiles reads them again (docs/
// performance.md, maps whose channels share sets of the cache).
#include "compiler/schedule/strategies/parts/operand_panels.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "compiler/schedule/primitives/cache_read.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/strategies/parts/prefetching.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/register_tile.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kShareOfL1 = 2;     ///< a panel takes 1 / this of the first level
constexpr int64_t kShareOfWays = 2;   ///< lines that a tile reads may take 1 / this of the ways of a set
constexpr int64_t kLeastRows = 8;     ///< of the result, that read a panel
constexpr int64_t kLeastVectors = 4;  ///< of a row of a panel, so that lines are copied whole
constexpr int64_t kLeastPanels = 8;   ///< fewer are a small image

using Loops = std::vector<uint32_t>;

class PanelQuestions {
 public:
  explicit PanelQuestions(const Draft& draft)
      : draft_(draft), form_(draft.reduction), target_(*draft.target), view_(draft) {}

  OperandPanels answer() {
    if (!fits_form() || !find_stream()) return {};
    const int64_t terms = *view_.extent(form_.reduced[0]);
    if (!(distance_ ? shares_sets(terms) : may_be_large())) return {};
    const int64_t most = target_.l1_bytes / kShareOfL1 / (terms * stream_->buffer->dtype.bytes());
    const int64_t columns = columns_of(most / form_.lanes * form_.lanes);
    return columns < kLeastVectors * form_.lanes ? OperandPanels{} : OperandPanels{stream_->buffer, columns};
  }

 private:
  bool fits_form() const {
    const bool plain = form_.reduced.size() == 1 && form_.words == nullptr && form_.sliding.vector == 0 &&
                       form_.sliding.scalars == 0 && form_.unrolled != 0;
    if (!plain || !form_.room || !draft_.tree.may_allocate() || !has_caches() || draft_.options->little_memory)
      return false;
    const int64_t* rows = view_.extent(form_.unrolled);
    return view_.extent(form_.reduced[0]) != nullptr && rows != nullptr && *rows >= kLeastRows &&
           can_reorder(draft_.tree, loops_from(form_, form_.vector));
  }

  /// Microcontrollers, whose memory has no second level, have no room for copies either.
  bool has_caches() const { return target_.line_bytes != 0 && target_.l2_bytes > target_.l1_bytes; }

  /// Finds the only operand that changes along the vector, contiguous there and apart along the terms.
  bool find_stream() {
    const Var vector = view_.var(form_.vector), row = view_.var(form_.unrolled), term = view_.var(form_.reduced[0]);
    bool single = true;
    for_each_access(view_.summed(), [&](const Access& access) {
      const auto changes = [&](Var var) {
        return std::any_of(access.indices.begin(), access.indices.end(), [&](Expr e) { return depends_on(e, var); });
      };
      if (access.is_store || access.buffer->scope == tir::Scope::kLocal || !changes(vector)) return;
      if (access.buffer == view_.store().buffer) return;
      const bool is_stream = step_of(access.buffer, access.indices, vector) == 1 && !changes(row);
      single &= !stream_ && is_stream && !view_.packable_axis(access, vector);
      stream_ = access;
    });
    if (!single || !stream_) return false;
    distance_ = step_of(stream_->buffer, stream_->indices, term);
    return !distance_ || std::abs(*distance_) * stream_->buffer->dtype.bytes() >= target_.page_bytes;
  }

  /// An open map may be of any size, and is taken to be one whose channels share sets if it may be large.
  bool may_be_large() const {
    const double bytes = assumed_elements_of(stream_->buffer, draft_.tree.facts()) * stream_->buffer->dtype.bytes();
    return bytes >= kFarCaches * static_cast<double>(target_.l2_bytes);
  }

  /// Whether lines of all terms take too many of the ways of the sets of the first level that they fall into.
  bool shares_sets(int64_t terms) const {
    const int64_t apart = std::gcd(*distance_ * stream_->buffer->dtype.bytes(), target_.l1_period_bytes);
    const int64_t places = target_.l1_period_bytes / std::max(apart, target_.line_bytes);
    return terms * kShareOfWays > places * target_.l1_ways;
  }

  /// The most columns of a panel, at most `most`, of which all panels have as many; 0 if there is no such number.
  int64_t columns_of(int64_t most) const {
    const int64_t* all = view_.extent(form_.vector);
    if (all == nullptr) return most;
    int64_t columns = *all < kLeastPanels * most ? 0 : most;
    while (columns > 0 && *all % columns != 0) columns -= form_.lanes;
    return columns;
  }

  const Draft& draft_;
  const ReductionForm& form_;
  const Target& target_;
  const ReductionView view_;
  std::optional<Access> stream_;
  std::optional<int64_t> distance_;  ///< elements from a term to the next; nullopt if that is open
};

/// Divides the vectorized loop, which becomes the one inside of a panel. Returns the loop over panels.
Legal<uint32_t> divide(Draft& draft, int64_t columns) {
  Tree& tree = draft.tree;
  const Loops& spatial = draft.reduction.spatial;
  uint32_t& vector = draft.reduction.vector;
  if (tree.loop(vector).extent.constant() != nullptr) {
    RELAXC_STEP(const SplitLoops made, apply(tree, Split{vector, columns, Tail::kPeel}));
    vector = made.inner;
    return made.outer;
  }
  for (uint32_t outer : Loops(spatial.begin(), std::find(spatial.begin(), spatial.end(), vector)))
    if (tree.loop(outer).extent.constant() == nullptr) draft.open_blocks.push_back(outer);
  RELAXC_STEP(const uint32_t panels, apply(tree, Chunk{vector, columns}));
  vector = tree.loop(panels).body.as<tir::For>()->id;
  draft.open_blocks.push_back(panels);
  return panels;
}

}  // namespace

OperandPanels operand_panels_of(const Draft& draft) {
  return PanelQuestions(draft).answer();
}

Legal<> copy_panels(Draft& draft, const OperandPanels& panels) {
  Tree& tree = draft.tree;
  ReductionForm& form = draft.reduction;
  const auto at = std::find(form.spatial.begin(), form.spatial.end(), form.vector);
  Loops inside = loops_from(form, form.vector);
  RELAXC_STEP(*at, divide(draft, panels.columns));
  inside[0] = form.vector;
  std::rotate(inside.begin(), inside.begin() + 1, inside.end());
  RELAXC_LEGAL(apply(tree, Reorder{inside}));
  form.spatial.erase(at + 1, form.spatial.end());
  form.spatial.insert(form.spatial.end(), inside.begin(), inside.end());
  RELAXC_STEP(const uint32_t along, apply(tree, CacheRead{panels.operand, inside[0]}));
  RELAXC_STEP(const SplitLoops vectors, apply(tree, Split{along, form.lanes, Tail::kPeel}));
  RELAXC_LEGAL(apply(tree, Vectorize{vectors.inner}));
  RELAXC_LEGAL(apply(tree, Prefetch{vectors.inner, panels.columns * panels.operand->dtype.bytes()}));
  return Done{};
}

}  // namespace relaxc::schedule
