// reduction.cpp: the rule for everything that reduces: matrix products, convolutions, pools, sums.
//
// They differ in how their operands are subscripted, and that is all the rule looks at. An axis of the result along
// which every operand is contiguous or constant goes into vector lanes. An axis along which the vector operand does not
// change is unrolled, so that each loaded vector is used once a row of the tile: for a matrix product these are columns
// and rows, for a convolution pixels and output channels. If no axis of the result is contiguous (a row sum, a product
// with a transposed matrix), the reduction axis itself goes into lanes.
//
// A tile begins with the neutral element and ends with its consumers, so neither makes a pass over memory. Padding is a
// branch around a load into a local, hoisted by turning the loops of its condition outwards. Method: Goto & van de
// Geijn 2008 for the tile; Zhang et al. 2018 (high performance zero-memory overhead direct convolutions) for
// convolution as the same thing.
#include "compiler/schedule/strategies/reduction.h"

#include <algorithm>

#include "compiler/schedule/primitives/bind_axes.h"
#include "compiler/schedule/primitives/contract.h"
#include "compiler/schedule/primitives/decompose_reduction.h"
#include "compiler/schedule/primitives/drop_unit_loop.h"
#include "compiler/schedule/primitives/fuse.h"
#include "compiler/schedule/primitives/reverse_compute_at.h"
#include "compiler/schedule/primitives/stage_loads.h"

namespace relaxc::schedule {
namespace {

constexpr double kMostUnrolledTerms = 25;
constexpr int64_t kLeastRowsPerVector = 3;  ///< two do not pay for loads under a mask that cross lines of cache
constexpr double kSingleVector = 1.15;      ///< of the time of vectors side by side, which share their scalars
constexpr double kMostOfOnce = 0.1;         ///< of a step, at most: what is done once an element
constexpr double kLanesOfTerms = 1.5;       ///< of the time of a tile: sums whose terms are in lanes
constexpr double kMostCost = 8;             ///< of whole vectors everywhere, so that vectors pay at all

}  // namespace

Legal<bool> Reduction::run() {
  if (!collect_loops()) return false;
  RELAXC_LEGAL(apply(s_, DecomposeReduction{block_, reduced_[0]}));
  RELAXC_LEGAL(apply(s_, BindAxes{}));
  for (Stmt consumer : group_.consumers)
    RELAXC_LEGAL(apply(s_, ReverseComputeAt{analysis::as_nest(consumer).block->id, spatial_.back(), spatial_}));
  RELAXC_LEGAL(drop_unit_loops(spatial_));
  RELAXC_LEGAL(drop_unit_loops(reduced_));
  if (lanes_ < 2) return in_scalars();
  RELAXC_LEGAL(fuse_neighbours(s_, spatial_));
  RELAXC_LEGAL(fuse_neighbours(s_, reduced_));
  if (!update_of(store())) return false;
  RELAXC_LEGAL(use_dot_products());
  if (words_ == nullptr && room_ && s_.may_allocate()) {
    RELAXC_STEP(sliding_, slide_over_copy(s_, block_, spatial_, reduced_, target_, lanes_, !constants_.empty()));
  }
  RELAXC_LEGAL(apply(s_, StageLoads{block_, 0}));
  if (sliding_.vector == 0 && words_ == nullptr) RELAXC_LEGAL(fold_small_image());
  if (!choose() || (in_lanes_ && words_ != nullptr)) return false;
  return in_lanes_ ? reduce_lanes() : tile();
}

Legal<bool> Reduction::in_scalars() {
  if (spatial_.empty() || !update_of(store())) return false;
  RELAXC_LEGAL(contract_results());
  return true;
}

bool Reduction::collect_loops() {
  for (const tir::For* loop : nest_.loops) {
    auto axis = std::find_if(nest_.block->iters.begin(), nest_.block->iters.end(),
                             [&](const tir::IterVar& iter) { return iter.binding == loop->var; });
    bool reduces = axis->iter_kind == tir::IterKind::kReduce;
    if (!reduces && !reduced_.empty()) return false;
    (reduces ? reduced_ : spatial_).push_back(loop->id);
  }
  return !reduced_.empty() && (!spatial_.empty() || group_.consumers.empty());
}

Legal<> Reduction::drop_unit_loops(std::vector<uint32_t>& loops) {
  for (size_t i = loops.size(); i-- > 0 && loops.size() > 1;) {
    if (!s_.loop(loops[i]).extent.is_constant(1)) continue;
    RELAXC_LEGAL(apply(s_, DropUnitLoop{loops[i]}));
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return Done{};
}

Legal<> Reduction::use_dot_products() {
  if (target_.dots.of(target_.vector_bits) == DotProduct::kNone) return Done{};
  uint32_t last = reduced_.back();
  std::optional<WordsOf> of = can_tensorize_dot4(s_, block_, last);
  if (!of) return Done{};
  if (!is_packable(original(of->buffer))) return Done{};
  words_of_ = *of;
  words_of_.buffer = original(of->buffer);
  RELAXC_STEP(words_, apply(s_, TensorizeDot4{block_, last}));
  RELAXC_LEGAL(drop_unit_loops(reduced_));
  return Done{};
}

double Reduction::cost(uint32_t loop, bool reduces) const {
  const tir::For& node = s_.loop(loop);
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
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    if (access.buffer == result) return;
    add(access, 1);
    if (!reduces && lies_across_lines(access, node.var)) bad += target_.split_line_steps;
  });
  // What is done once an element counts the less the more terms its sum has; what only the group sees is in registers.
  const double soon = target_.scatter_reload_cycles * target_.fma_per_cycle;
  const double scattered = s_.is_used_elsewhere(result) ? soon : scattered_terms(target_);
  const double once = std::min(kMostOfOnce, scattered / target_.gather_steps / terms());
  if (!reduces)
    for_each_access(inner_body(), [&](const Access& access) {
      if (!unseen(access.buffer)) add(access, once);
    });
  double waste = 1;
  if (const int64_t* extent = node.extent.constant())
    waste = static_cast<double>((*extent + lanes_ - 1) / lanes_ * lanes_) / static_cast<double>(*extent) *
            (!reduces && *extent <= lanes_ ? kSingleVector : 1);
  return (1 + bad) * waste * (reduces ? kLanesOfTerms : 1);
}

bool Reduction::lies_across_lines(const Access& access, Var along) const {
  if (access.buffer->scope == tir::Scope::kLocal || packable_axis(access, along)) return false;
  if (step_of(access.buffer, access.indices, along) != 1) return false;
  return std::any_of(reduced_.begin(), reduced_.end(), [&](uint32_t loop) {
    auto step = step_of(access.buffer, access.indices, s_.loop(loop).var);
    return step && *step > lanes_ && *step % lanes_ != 0;
  });
}

Legal<> Reduction::fold_small_image() {
  if (spatial_.size() < 2 || tail_of(target_) != Tail::kMask || terms() > kMostUnrolledTerms) return Done{};
  auto known = [&](uint32_t loop) { return s_.loop(loop).extent.constant() != nullptr; };
  const uint32_t rows = *(spatial_.end() - 2), columns = spatial_.back();
  if (!known(rows) || !known(columns) || !std::all_of(reduced_.begin(), reduced_.end(), known)) return Done{};
  const int64_t height = *s_.loop(rows).extent.constant(), width = *s_.loop(columns).extent.constant();
  const int64_t vectors = (height * width + lanes_ - 1) / lanes_;
  if (vectors == 0 || vectors > kMostVectors || height < kLeastRowsPerVector * vectors) return Done{};
  if (!can_fuse(s_.loop(rows), s_.loop(columns), true)) return Done{};
  RELAXC_STEP(image_, apply(s_, Fuse{rows, columns}));
  spatial_.pop_back();
  spatial_.back() = image_;
  return Done{};
}

bool Reduction::choose() {
  if (sliding_.vector != 0 || image_ != 0) {
    vector_ = sliding_.vector != 0 ? sliding_.vector : image_;
    return true;
  }
  double best = kMostCost;
  for (size_t i = spatial_.size(); i-- > 0;)
    if (double c = cost(spatial_[i], false); c < best) best = c, vector_ = spatial_[i];
  uint32_t last = reduced_.back();
  if (double c = cost(last, true); c < best && contiguous_in(last)) in_lanes_ = true;
  return in_lanes_ || vector_ != 0;
}

bool Reduction::contiguous_in(uint32_t loop) const {
  bool found = false;
  for_each_access(Stmt(&s_.block(block_)), [&](const Access& access) {
    found |= !access.is_store && step_of(access.buffer, access.indices, s_.loop(loop).var) == 1;
  });
  const auto* body = s_.loop(loop).body.as<tir::Block>();  // and not a load into a local before it
  return found && body != nullptr && body->id == block_;
}

std::vector<BufferRef> Reduction::operands_along(uint32_t loop) const {
  std::vector<BufferRef> found;
  Var var = s_.loop(loop).var;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
    for (Expr index : access.indices)
      if (depends_on(index, var)) return found.push_back(access.buffer);
  });
  return found;
}

uint32_t Reduction::axis_to_unroll() const {
  if (sliding_.rows != 0) return sliding_.rows;
  auto along_vector = operands_along(vector_);
  uint32_t best = 0;
  std::ptrdiff_t most = 0;
  for (uint32_t loop : spatial_) {
    if (loop == vector_ || s_.loop(loop).extent.is_constant(1)) continue;
    auto along = operands_along(loop);
    auto reused = std::count_if(along_vector.begin(), along_vector.end(),
                                [&](BufferRef b) { return std::find(along.begin(), along.end(), b) == along.end(); });
    if (reused >= most && !along_vector.empty() && reused > 0) most = reused, best = loop;
  }
  if (best != 0) return best;
  // Nothing is shared along any axis. One of known extent leaves no rows over.
  auto at = std::find(spatial_.begin(), spatial_.end(), vector_);
  for (auto it = at; it != spatial_.begin(); --it)
    if (const int64_t* extent = s_.loop(*(it - 1)).extent.constant(); extent != nullptr && *extent > 1)
      return *(it - 1);
  return at == spatial_.begin() ? 0 : *(at - 1);
}

Legal<> Reduction::contract_results() {
  BufferRef result = store().buffer;
  std::vector<BufferRef> scalars{result};
  for (BufferRef b : group_.unseen)
    if (b->id != original(result)->id) scalars.push_back(current(b));
  for (BufferRef b : scalars) RELAXC_LEGAL(apply(s_, Contract{b, spatial_.back(), b != result || unseen(result)}));
  return Done{};
}

BufferRef Reduction::original(BufferRef buffer) const {
  BufferRef base = buffer;
  for (bool again = true; again;) {
    again = false;
    tir::for_each_stmt(s_.root(), [&](Stmt s) {
      const auto* view = s.as<tir::View>();
      if (view != nullptr && view->buffer == base) base = view->base, again = true;
    });
  }
  return base;
}

BufferRef Reduction::current(BufferRef buffer) const {
  BufferRef found = buffer;
  for_each_access(inner_body(), [&](const Access& access) {
    if (original(access.buffer) == buffer) found = access.buffer;
  });
  return found;
}

bool Reduction::unseen(BufferRef result) const {
  return std::find(group_.unseen.begin(), group_.unseen.end(), original(result)) != group_.unseen.end();
}

Legal<bool> schedule_reduction(Tree& s, const ReductionGroup& group, const Target& target, bool room,
                               Choices& choices) {
  return Reduction(s, group, target, room, choices).run();
}

}  // namespace relaxc::schedule
