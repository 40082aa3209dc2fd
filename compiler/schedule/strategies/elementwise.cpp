// elementwise.cpp: schedules nests without a reduction.
//
// These are bound by memory; what matters is that every load and store is a whole vector. Axes that are adjacent in all
// operands are fused, so that a last dim of 3 does not leave 13 of 16 lanes empty. If an operand is transposed, its
// elements for one vector are in as many cache lines, and their neighbours in these lines are needed by the next
// iterations of an outer loop. If all operands are contiguous along that loop, squares of elements are transposed in
// registers; otherwise a line's worth of its iterations goes inside of the loop over vectors. If the last axis has only
// a few elements, which are apart in an operand (channels of a picture that become the last axis), lanes are along the
// axis before it, and each stores its few elements side by side. The same is done for copies of an element if some
// adjacent results are copies (an image that is enlarged by an integer).
//
// exp, erf, tanh and similar functions are chains of some twenty dependent operations of four cycles each. The reorder
// window of a core holds three or four such chains, which do not fill its arithmetic units. So an iteration takes two
// vectors, as one of twice the lanes; these share the loads of constants. Measured on Zen 3: exp, erf and tanh take
// 0.73 to 0.8 of the time, a softmax 0.9.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/analysis/pattern.h"
#include "compiler/arith/math.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/nests.h"
#include "compiler/schedule/primitives/bind_axes.h"
#include "compiler/schedule/primitives/chunk.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/vectorize.h"
#include "compiler/schedule/strategies/parts/estimate.h"
#include "compiler/schedule/strategies/parts/register_transpose.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr int64_t kFew = 8;    ///< maximum elements of the last axis that lanes along the one before store side by side
constexpr int64_t kLines = 2;  ///< cache lines that are read from a row before the next rows
constexpr int32_t kRegistersOfPairs = 16;  ///< vector registers needed for two chains, each of which needs five

/// Whether an operand's elements are not adjacent along the loop.
bool reads_strided(const Tree& s, uint32_t block, const tir::For& loop) {
  bool apart = false;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, loop.var);
    apart |= !access.is_store && (!step || *step > 1 || *step < 0);
  });
  return apart;
}

/// Whether the loop has fewer iterations than half a vector: then strided elements are faster one by one than in lanes.
bool is_short(const tir::For& loop, int64_t lanes) {
  const int64_t* extent = loop.extent.constant();
  return extent != nullptr && *extent * 2 < lanes;
}

/// Whether along `across` all loads are contiguous or invariant, and consecutive iterations store adjacent elements.
bool is_whole_along(const Tree& s, uint32_t block, const tir::For& across, int64_t few) {
  bool whole = true;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, across.var);
    whole &= access.is_store ? step == few : step && (*step == 0 || *step == 1);
  });
  return whole;
}

/// The loop before the last, if lanes may be along it and store all of the few elements along the last; else 0.
uint32_t loop_across(const Tree& s, const std::vector<uint32_t>& loops) {
  if (loops.size() < 2) return 0;
  const uint32_t across = loops[loops.size() - 2], last = loops.back();
  const int64_t* few = s.loop(last).extent.constant();
  return few != nullptr && *few <= kFew && can_reorder(s, {across, last}) ? across : 0;
}

/// How many adjacent results along the last loop read the same element of each operand; 0 if it is no fixed number.
int64_t repeats_along(const Tree& s, uint32_t block, const tir::For& last) {
  int64_t times = 0;
  bool all = true;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    for (Expr index : access.indices) {
      if (access.is_store || !depends_on(index, last.var)) continue;
      const auto* divided = index.as<arith::FloorDiv>();
      const int64_t* by = divided != nullptr && divided->a == last.var ? divided->b.constant() : nullptr;
      all &= by != nullptr && *by >= 2 && *by <= kFew && (times == 0 || times == *by);
      if (all) times = *by;
    }
  });
  return all && times != 0 && known_divisor(s, last.id) % times == 0 ? times : 0;
}

/// Whether the loop has enough iterations for a vector.
bool holds_vector(const tir::For& loop, int64_t lanes) {
  const int64_t* extent = loop.extent.constant();
  return extent == nullptr || *extent >= lanes;
}

/// Puts lanes along `across`, and unrolls the inner loop, which is short.
Legal<> store_side_by_side(Tree& s, uint32_t across, uint32_t last, int64_t lanes) {
  RELAXC_STEP(const SplitLoops split, apply(s, Split{across, lanes, Tail::kPeel}));
  RELAXC_LEGAL(apply(s, Vectorize{split.inner}));
  return apply(s, Unroll{last});
}

/// Puts lanes along the elements that are repeated, so that each lane stores all of its copies.
Legal<> repeat_side_by_side(Tree& s, uint32_t block, uint32_t last, int64_t times, int64_t lanes) {
  RELAXC_STEP(const SplitLoops copies, apply(s, Split{last, times, Tail::kPeel}));
  std::vector<BufferRef> read;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    if (!access.is_store) read.push_back(access.buffer);
  });
  for (BufferRef buffer : read) RELAXC_LEGAL(apply(s, SimplifySubscripts{buffer}));
  return store_side_by_side(s, copies.outer, copies.inner, lanes);
}

/// The loop along which an operand is contiguous that is not contiguous along the last one; 0 if there is none.
uint32_t loop_along_lines(const Tree& s, uint32_t block, const std::vector<uint32_t>& loops, int64_t line_bytes,
                          int64_t& elements) {
  uint32_t found = 0;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, s.loop(loops.back()).var);
    if (access.is_store || found != 0 || (step && (*step == 0 || *step == 1))) return;
    for (uint32_t loop : loops)
      if (loop != loops.back() && step_of(access.buffer, access.indices, s.loop(loop).var) == 1)
        found = loop, elements = line_bytes * 8 / access.buffer->dtype.bits;
  });
  return found;
}

/// Whether each operand is contiguous or invariant along `loop`.
bool reads_whole_along(const Tree& s, uint32_t block, const tir::For& loop) {
  bool whole = true;
  for_each_access(Stmt(&s.block(block)), [&](const Access& access) {
    std::optional<int64_t> step = step_of(access.buffer, access.indices, loop.var);
    whole &= access.is_store || (step && (*step == 0 || *step == 1));
  });
  return whole;
}

/// Whether squares can be transposed. `moved` are the loops from the one for lanes to the last one.
bool fits_squares(const Tree& s, uint32_t block, std::vector<uint32_t> moved, int64_t lanes) {
  if (square_tile_of(s, moved.front(), moved.back(), lanes) == 0) return false;
  if (!reads_whole_along(s, block, s.loop(moved.front()))) return false;
  std::rotate(moved.begin(), moved.begin() + 1, moved.end());
  return can_reorder(s, moved);
}

/// Moves a line's worth of iterations of `along` inside of the loop over vectors.
Legal<> read_lines_once(Tree& s, uint32_t along, int64_t elements, std::vector<uint32_t> loops,
                        const SplitLoops& vectors) {
  loops.back() = vectors.outer;
  auto at = std::find(loops.begin(), loops.end(), along);
  std::vector<uint32_t> moved(at, loops.end());
  if (vectors.outer == 0 || !can_reorder(s, moved)) return Done{};
  const int64_t* extent = s.loop(along).extent.constant();
  if (extent != nullptr && *extent <= elements) {
    std::rotate(moved.begin(), moved.begin() + 1, moved.end());
    return apply(s, Reorder{moved});
  }
  if (known_divisor(s, along) % elements == 0) {
    RELAXC_STEP(SplitLoops lines, apply(s, Split{along, elements, Tail::kPeel}));
    moved[0] = lines.outer;
    moved.push_back(lines.inner);
  } else {
    RELAXC_STEP(moved[0], apply(s, Chunk{along, elements}));
    moved.push_back(s.loop(moved[0]).body.as<tir::For>()->id);
  }
  return apply(s, Reorder{moved});
}

/// Whether elements are computed by a function that is a long chain of dependent operations.
bool has_long_chain(Stmt nest) {
  bool found = false;
  tir::for_each_stmt(nest, [&](Stmt s) {
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        const auto* call = node.as<arith::Call>();
        found |= call != nullptr && arith::is_long_chain(call->intrinsic);
      });
  });
  return found;
}

/// Vectorizes two vectors at a time, and the rest one at a time.
Legal<> vectorize_in_pairs(Tree& s, uint32_t loop, int64_t lanes, Tail tail) {
  RELAXC_STEP(const SplitLoops pairs, apply(s, Split{loop, 2 * lanes, Tail::kPeel}));
  RELAXC_LEGAL(apply(s, Vectorize{pairs.inner}));
  if (pairs.tail == 0) return Done{};
  RELAXC_STEP(const SplitLoops rest, apply(s, Split{pairs.tail, lanes, tail}));
  return rest.inner != 0 ? apply(s, Vectorize{rest.inner}) : Legal<>(Done{});
}

// ---- the plan

struct ElementwiseNest {
  uint32_t block = 0;
  std::vector<uint32_t> loops;
  int64_t lanes = 1;
  bool in_pairs = false;  ///< an iteration computes two vectors of `lanes` elements
};

Legal<ElementwiseNest> match_elementwise(const Draft& draft) {
  const Tree& s = draft.tree;
  const analysis::Nest nest = analysis::as_nest(s.root());
  RELAXC_FITS(nest.block != nullptr && !nest.loops.empty(), "it is not a nest of loops around one block");
  RELAXC_FITS(is_normal(nest) && !nest.block->init, "it reduces, or its axes are not its loops");
  ElementwiseNest found{.block = nest.block->id, .loops = {}, .lanes = lanes_of(*draft.target, s.root())};
  RELAXC_FITS(found.lanes >= 2, "the target has no vectors");
  found.in_pairs = draft.target->vector_registers >= kRegistersOfPairs && has_long_chain(s.root());
  for (const tir::For* loop : nest.loops) found.loops.push_back(loop->id);
  return found;
}

/// Vectorizes the last of the loops, or the one before a few last elements.
struct VectorNest {
  ElementwiseNest nest;
  int64_t line_bytes = 0;
  Tail tail = Tail::kPeel;

  std::string text() const {
    return fmt::format("{}vectors of {} along what is contiguous in the result", nest.in_pairs ? "pairs of " : "",
                       nest.lanes);
  }
  Legal<> carry_out(Draft& draft) const {
    Tree& s = draft.tree;
    std::vector<uint32_t> loops = nest.loops;
    RELAXC_LEGAL(apply(s, BindAxes{}));
    RELAXC_LEGAL(fuse_neighbours(s, loops));
    const auto& store = *s.block(nest.block).body.as<tir::Store>();
    const tir::For& last = s.loop(loops.back());
    RELAXC_FITS(step_of(store.buffer, store.indices, last.var) == 1 && !last.extent.is_constant(1),
                "the result is not contiguous along the last loop");
    const bool apart = reads_strided(s, nest.block, last), is_too_short = apart && is_short(last, nest.lanes);
    const uint32_t across = apart ? loop_across(s, loops) : 0;
    RELAXC_FITS(across != 0 || !is_too_short, "a few strided elements are read faster one by one");
    RELAXC_LEGAL(apply(s, StageLoads{nest.block, 0}));
    const int64_t times = repeats_along(s, nest.block, last);
    const int64_t* extent = last.extent.constant();
    if (times != 0 && (extent == nullptr || *extent >= times * nest.lanes))
      return repeat_side_by_side(s, nest.block, loops.back(), times, nest.lanes);
    return vectorize(draft, loops, across, is_too_short);
  }

 private:
  /// Chooses the axis of lanes, after loads are staged.
  Legal<> vectorize(Draft& draft, const std::vector<uint32_t>& loops, uint32_t across, bool is_too_short) const {
    Tree& s = draft.tree;
    const int64_t few = across == 0 ? 0 : *s.loop(loops.back()).extent.constant();
    if (across != 0 && is_whole_along(s, nest.block, s.loop(across), few) && holds_vector(s.loop(across), nest.lanes))
      return store_side_by_side(s, across, loops.back(), nest.lanes);
    RELAXC_FITS(!is_too_short, "a few strided elements are read faster one by one");
    int64_t elements = 0;
    const uint32_t along = loop_along_lines(s, nest.block, loops, line_bytes, elements);
    if (along != 0) {
      const std::vector<uint32_t> moved(std::find(loops.begin(), loops.end(), along), loops.end());
      if (fits_squares(s, nest.block, moved, nest.lanes))
        return transpose_in_registers(s, moved, nest.lanes, kLines * elements);
    }
    if (along == 0 && nest.in_pairs && holds_vector(s.loop(loops.back()), 2 * nest.lanes))
      return vectorize_in_pairs(s, loops.back(), nest.lanes, tail);
    RELAXC_STEP(const SplitLoops split, apply(s, Split{loops.back(), nest.lanes, tail}));
    RELAXC_FITS(split.inner != 0, "the last loop is shorter than a vector");
    if (along != 0) RELAXC_LEGAL(read_lines_once(s, along, elements, loops, split));
    return apply(s, Vectorize{split.inner});
  }
};

double elementwise_cycles(const Draft& draft, const ElementwiseNest& nest) {
  return cycles_of(draft.tree.root(), nest.lanes, *draft.target) / static_cast<double>(nest.lanes);
}

Legal<VectorNest> plan_elementwise(const Draft& draft, const ElementwiseNest& nest) {
  return VectorNest{nest, draft.target->line_bytes, tail_of(*draft.target)};
}

}  // namespace

std::span<const Strategy> elementwise_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "elementwise",
               .stage = Stage::kNests,
               .priority = 10,
               .doc = "A nest that computes each element once: axes that are contiguous everywhere are fused, and "
                      "vectors run along the contiguous axis of the result. Transposes go through square tiles in "
                      "registers.",
               .propose = propose<match_elementwise, kForExplanation<elementwise_cycles>, plan_elementwise>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
