// schedule.h: the primitives that change how a kernel runs and not what it computes.
//
// A Schedule holds one statement tree; a primitive replaces it by another with the same meaning, and writes a line of
// the trace. Trees are immutable, so a copy of a Schedule is a free checkpoint. Loops and blocks are named by id. A
// primitive whose conditions do not hold is a bug of the rule that calls it: rules ask first (query functions in
// access.h).
//
// Register blocking is not one big step but three small ones: `contract` makes the result a scalar that lives in one
// iteration, `split` cuts the loops, and `jam` pushes the loops of a tile inwards, past the reduction, which gives the
// scalar one dim a loop. Rejected: the block-and-region machinery of TVM's TensorIR, which must deduce from regions
// what is plain while a kernel is still one perfect nest.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/schedule/packing.h"
#include "compiler/schedule/window.h"
#include "compiler/tir/builder.h"

namespace relaxc::schedule {

using arith::Context;
using arith::Expr;
using arith::Var;
using tir::BufferRef;
using tir::Stmt;

/// What happens to the iterations that do not fill a whole tile. kPeel: a loop of their own. kMask: one more tile whose
/// surplus iterations do nothing that can be seen: their stores are predicated, and so are their loads from memory.
enum class Tail : uint8_t { kPeel, kMask };

/// Loops and blocks, and the copies of them that a primitive made.
struct Copies {
  std::map<uint32_t, uint32_t> loops, blocks;
};

/// The loops that a split made; 0: there is none.
struct SplitLoops {
  uint32_t outer = 0, inner = 0, tail = 0;
  Copies copies;  ///< what the tail has in place of what is in the body
};

/// The operand of which tensorize_dot4 makes words, and along which axis.
struct WordsOf {
  BufferRef buffer = nullptr;
  size_t axis = 0;
  int64_t extent = 0;     ///< bytes along the axis
  bool in_lanes = false;  ///< the other operand's bytes are put together for each lane
};

/// The copy that cache_window made: its block, and its loop along a row.
struct CachedWindow {
  uint32_t block = 0, along = 0;
};

class Schedule {
 public:
  /// `facts`: of the kernel's symbols, at every call.
  Schedule(Context& context, Stmt root, arith::Facts facts = {})
      : context_(context), build_(context), root_(root), facts_(std::move(facts)) {}

  Stmt root() const { return root_; }
  /// One line a primitive.
  const std::string& trace() const { return trace_; }
  const tir::For& loop(uint32_t id) const;
  const tir::Block& block(uint32_t id) const;
  /// The greatest number that is known to divide the extent of the loop.
  int64_t known_divisor(uint32_t loop) const;

  // ---- loops (loops.cpp)

  /// for i in n → for o in n/factor, for k in factor; see Tail for the rest, which there is none of where n is known
  /// to be a multiple.
  SplitLoops split(uint32_t loop, int64_t factor, Tail tail);
  /// Two perfectly nested loops become one. Accesses `x[…, i + c, j + d, …]` of compact buffers whose dim at j is the
  /// inner extent see the two dims as one, through a view. Needs can_fuse, where conditions may be.
  uint32_t fuse(uint32_t outer, uint32_t inner);
  /// Puts perfectly nested loops into this order, outermost first. Their iterations must be independent, or the
  /// reduction that they belong to marked (`reassociate`).
  void reorder(const std::vector<uint32_t>& loops);
  /// Whether the loops stand directly inside each other, nothing between them.
  bool can_reorder(const std::vector<uint32_t>& loops) const;
  /// A loop of one iteration goes away; its variable becomes its first value.
  void drop_unit_loop(uint32_t loop);
  void vectorize(uint32_t loop);
  void unroll(uint32_t loop);
  /// Iterations in any order, on any cores. Needs has_independent_iterations.
  void parallel(uint32_t loop);
  /// for i in n → for o in ceildiv(n, size), for k in min(size, n - o * size): the same iterations in the same order,
  /// and no code twice. Gives the outer loop, which is parallel if the loop was.
  uint32_t chunk(uint32_t loop, int64_t size);
  /// Two perfectly nested loops become one, whose variable is divided to get theirs. If the outer one is parallel, so
  /// is the result, and the inner one's iterations must be independent.
  uint32_t collapse(uint32_t outer, uint32_t inner);
  /// Pushes a loop of independent iterations and constant extent inwards around the innermost statements, past
  /// sequences, allocations and inner loops (unroll-and-jam). Locals that differ between its iterations get a dim.
  void jam(uint32_t loop);
  /// The same, but stays around allocations: the loop then runs around whole bodies of the innermost loops.
  void sink(uint32_t loop);

  // ---- blocks (blocks.cpp)

  /// Replaces the axes of every block without init by what they are bound to, and lets the block have none.
  void bind_axes();
  /// The init of a reduction becomes a block of its own before its reduction loops (`loop`: the outermost of them).
  void decompose_reduction(uint32_t block, uint32_t loop);
  /// Moves the nest around `block` (an element-wise consumer of what `loop` computes at the same index) to the end of
  /// the body of `loop`; `axes` are the loops around `loop` and it itself that its own loops run with.
  void reverse_compute_at(uint32_t block, uint32_t loop, const std::vector<uint32_t>& axes);
  /// In the body of `loop`, one element of `buffer` is computed and used, always at one index: it becomes a local
  /// scalar. `keep`: the element is stored to memory at the end as well.
  void contract(BufferRef buffer, uint32_t loop, bool keep);
  /// Loads in the taken arm of a select whose other arm is a number go through a local scalar; the condition becomes a
  /// branch, in which subscripts lose the clamps that it implies. So do the loads that depend on the variable of `loop`
  /// (0: no others).
  void stage_loads(uint32_t block, uint32_t loop);
  /// a * b + c with one rounding, where the block adds a product to its own element. Changes bits.
  void use_fma(uint32_t block);
  /// Steps of four of the reduction over `loop` become one dot product of bytes: own += i32(a[…]) * i32(b[…, k, …])
  /// with a uint8 and b int8. Either k is a's last axis, of a multiple of four; or it is a window of two to four taps
  /// over an outer axis, and both operands' last axis is a channel, which is to go into lanes. Words of b along its
  /// axis at k take the place of b; the caller provides them. Exact: sums of int32 may be done in any order. Needs
  /// can_tensorize_dot4.
  BufferRef tensorize_dot4(uint32_t block, uint32_t loop);
  /// Whether it can be done, and then of which buffer and axis words are wanted.
  std::optional<WordsOf> can_tensorize_dot4(uint32_t block, uint32_t loop) const;
  /// A reduction over `loop` into one element becomes `lanes` partial reductions in a local, which are then joined
  /// pairwise. Changes the order of the reduction: the block must carry the annotation `reassociate`.
  /// What does not fill `lanes` iterations is done in steps of `vector` lanes, and one by one. `fma`: a sum of products
  /// rounds each step once, as with use_fma.
  void reduce_in_lanes(uint32_t block, uint32_t loop, int64_t lanes, int64_t vector, bool fma);
  /// Factors of what the block sums that stay the same while `loop` runs multiply the sum of that loop instead of each
  /// term. Changes bits and marks the block. Gives the block that multiplies, behind the loop. Needs a common_factor.
  uint32_t factor_out(uint32_t block, uint32_t loop);
  /// The product of those factors; null: there are none, or no others, or it is no sum of products of floats.
  Expr common_factor(uint32_t block, uint32_t loop) const;
  /// Allows that the order of a block's reduction changes.
  void allow_reassociation(uint32_t block);
  /// Every access of `buffer` reads a packed copy of it instead, which is returned; the caller provides its contents.
  BufferRef pack(BufferRef buffer, const Packing& packing);
  /// Before `loop`, which stands outside of all loops of the window, a copy of what they read of it, in scratch memory:
  /// contiguous along `vector`, of which `lanes` iterations at once are to be done, and with its border filled in. The
  /// block reads the copy.
  CachedWindow cache_window(uint32_t block, uint32_t loop, uint32_t vector, const Window& window, int64_t lanes);
  /// Scratch memory that each iteration of a serial loop has becomes one for all of them.
  void lift_allocs(uint32_t loop);
  /// Simplifies the subscripts of `buffer` by what the loops around say of their variables.
  void simplify_subscripts(BufferRef buffer);
  /// A nest that computes one element a point is computed where it is read instead, and goes away.
  void inline_nest(uint32_t block);

 private:
  std::vector<const tir::For*> perfect_nest(const std::vector<uint32_t>& loops) const;
  template <typename F>
  void edit_loop(uint32_t id, F f);
  template <typename F>
  void edit_block(uint32_t id, F f);
  void set_kind(uint32_t loop, tir::LoopKind kind, const char* name);
  void note(std::string line);
  void add_view(BufferRef view, BufferRef base);
  Stmt fresh_copy(Stmt s, Copies& copies);
  Stmt masked(Stmt s, Var var, Expr condition);
  tir::For made_loop(Var var, Expr extent, Stmt body);

  Context& context_;
  tir::Builder build_;
  Stmt root_;
  arith::Facts facts_;
  std::string trace_;
};

}  // namespace relaxc::schedule
