// schedule.h: the primitives that change how a kernel runs and not what it computes.
//
// A Schedule holds one statement tree; a primitive replaces it by another with the same meaning, and writes a step of
// the trace, with all of its arguments: whoever applies the steps again (trace.h) gets the same tree. Trees are
// immutable, so a copy of a Schedule is a free checkpoint. Loops and blocks are named by id. A primitive looks at its
// own conditions and throws IllegalStep where they do not hold, so that an edited trace is refused and never computes
// something else; for a rule that is a bug, so rules ask first (query functions in access.h).
//
// Of a kernel of several nests primitives see those in focus, as if there were no others: rules work on one group of
// nests after the other, and names stay short.
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
#include "compiler/schedule/illegal_step.h"
#include "compiler/schedule/packing.h"
#include "compiler/schedule/region.h"
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

/// What pool_rows made: the loops along a row of windows, and along one of the result.
struct PooledRows {
  uint32_t places = 0, columns = 0;
};

/// The tiles of a result that minimal filtering computes: F(rows, 3) of each column and F(columns, 3) of each row; so
/// many of them one below the other make a block.
struct FilterTiles {
  int64_t rows = 0;
  int64_t columns = 1;  ///< 1: taps along a row stay terms of the sums
  int64_t count = 0;

  bool in_both_dims() const { return columns > 1; }
};

/// What minimal_filter made: the loops along columns of data and of results, those along the tiles of a row, and the
/// block of the sums.
struct FilterNests {
  std::vector<uint32_t> columns, across;
  uint32_t sums = 0;
};

/// The copy that cache_window made: its block, and its loop along a row.
struct CachedWindow {
  uint32_t block = 0, along = 0;
};

/// A constant operand that may be packed: as a parameter, or as a primitive wants it in the parameter's place.
struct Operand {
  BufferRef buffer = nullptr;  ///< what nests read
  BufferRef param = nullptr;   ///< what it is made of
  Packing made;                ///< how, but for the panels
};

/// Statements one behind the other that were taken out of a tree to be worked on.
struct Cutout {
  Stmt whole;               ///< the tree as it was; null: nothing was taken out
  std::vector<Stmt> taken;  ///< what stands in it where the result belongs
};

/// What of a Schedule changes.
struct ScheduleState {
  Stmt root_;       ///< what primitives see
  Cutout section_;  ///< out of the kernel
  Cutout focus_;    ///< out of the section, or else of the kernel
  std::string trace_;
  std::vector<Operand> operands_;
  std::vector<PackedParam> packed_;
};

class Schedule : private ScheduleState {
 public:
  /// \param facts         of the kernel's symbols, at every call
  /// \param constants     parameters that may be packed
  /// \param may_allocate  somebody gives the kernel scratch memory
  Schedule(Context& context, Stmt root, arith::Facts facts = {}, const std::vector<BufferRef>& constants = {},
           bool may_allocate = true);
  Schedule(const Schedule&) = default;
  /// Back to a checkpoint, of the same kernel.
  Schedule& operator=(const Schedule& other);

  Stmt root() const { return root_; }
  /// One line a step.
  const std::string& trace() const { return trace_; }
  const tir::For& loop(uint32_t id) const;
  const tir::Block& block(uint32_t id) const;
  /// The greatest number that is known to divide the extent of the loop.
  int64_t known_divisor(uint32_t loop) const;
  Context& context() const { return context_; }
  const arith::Facts& facts() const { return facts_; }
  bool may_allocate() const { return may_allocate_; }
  /// Constants that only what is in focus reads.
  std::vector<BufferRef> own_constants() const;
  const std::vector<PackedParam>& packed() const { return packed_; }
  /// Throws IllegalStep if there is a constant that a step wants in another form and none has packed.
  void require_packed() const;
  /// Whether nobody reads what is stored to `buffer` but the nests in focus: it is memory of the kernel.
  bool is_unseen(BufferRef buffer) const;
  /// Whether what is not in focus reads or writes `buffer`.
  bool is_used_elsewhere(BufferRef buffer) const { return is_accessed_outside(memory_of(buffer)); }
  /// The buffer behind all views.
  BufferRef memory_of(BufferRef buffer) const;

  // ---- names (names.cpp): the variable of a loop, the name of a block or buffer; of several that are called alike
  // the second in the order of the program is "i#2". Those that find throw IllegalStep where there is nothing.

  std::string loop_name(uint32_t id) const;
  std::string loop_names(const std::vector<uint32_t>& ids) const;
  std::string block_name(uint32_t id) const;
  std::string buffer_name(BufferRef buffer) const;
  uint32_t loop_named(std::string_view name) const;
  uint32_t block_named(std::string_view name) const;
  BufferRef buffer_named(std::string_view name) const;

  // ---- focus (focus.cpp)

  /// Of the statements that the kernel is a sequence of, those from `begin` to before `end` are the whole kernel for
  /// steps that follow. What a step costs grows with what it sees, so a kernel of very many nests goes by sections, the
  /// last one first: the places of those before it stay what they were.
  void section(size_t begin, size_t end);
  /// Primitives see the nests of these blocks of the kernel, which stand one behind the other.
  void focus(const std::vector<uint32_t>& blocks);
  /// Primitives see the whole kernel again, or the section.
  void focus_all();
  /// Primitives see the whole kernel again in any case.
  void leave_section();
  uint32_t block_of_kernel(std::string_view name) const;

  // ---- loops (loops.cpp, chunk.cpp, jam.cpp)

  /// for i in n → for o in n/factor, for k in factor; see Tail for the rest, which there is none of where n is known
  /// to be a multiple.
  SplitLoops split(uint32_t loop, int64_t factor, Tail tail);
  /// Two perfectly nested loops become one. Accesses `x[…, i + c, j + d, …]` of compact buffers whose dim at j is the
  /// inner extent see the two dims as one, through a view. Needs can_fuse, where conditions may be.
  uint32_t fuse(uint32_t outer, uint32_t inner);
  /// Splits perfectly nested loops into tiles of these sizes, with the loops over tiles outside; what does not fill one
  /// is masked.
  void tile(const std::vector<uint32_t>& loops, const std::vector<int64_t>& sizes);
  /// The loop runs a multiple of so many times; what there is too much of does nothing.
  void pad_to(uint32_t loop, int64_t multiple);
  /// Puts perfectly nested loops into this order, outermost first. Their iterations must be independent, or the
  /// reduction that they belong to marked (`reassociate`).
  void reorder(const std::vector<uint32_t>& loops);
  /// Whether the loops stand directly inside each other, nothing between them.
  bool can_reorder(const std::vector<uint32_t>& loops) const;
  /// A loop of one iteration goes away; its variable becomes its first value.
  void drop_unit_loop(uint32_t loop);
  void vectorize(uint32_t loop);
  /// With each vector of a vectorized loop that is read from memory, asks for the line that lies `bytes` behind it.
  void prefetch(uint32_t loop, int64_t bytes);
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

  // ---- blocks and what they write (blocks.cpp, placement.cpp, staging.cpp)

  /// Replaces the axes of every block without init by what they are bound to, and lets the block have none.
  void bind_axes();
  /// The init of a reduction becomes a block of its own before its reduction loops (`loop`: the outermost of them).
  void decompose_reduction(uint32_t block, uint32_t loop);
  /// The nest around `block`, which computes memory of this kernel's own that only `loop` reads, goes: each iteration
  /// of `loop` begins with the part of it that it reads.
  void compute_at(uint32_t block, uint32_t loop);
  /// What `loop` reads of the buffer is copied before it to scratch memory, where it is contiguous.
  void cache_read(BufferRef buffer, uint32_t loop);
  /// What `loop` stores to the buffer goes to scratch memory, and from there to the buffer when the loop has ended.
  void cache_write(BufferRef buffer, uint32_t loop);
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
  /// Every access of a constant reads a copy of it in panels instead, which is returned; see Packing.
  BufferRef pack(BufferRef buffer, size_t axis, int64_t panel, const std::vector<size_t>& order);
  /// Before `loop`, which stands outside of all loops of the window, a copy of what they read of it, in scratch memory:
  /// contiguous along `vector`, of which `lanes` iterations at once are to be done, and with its border filled in. The
  /// block reads the copy.
  /// `spatial` and `reduced`: the loops of the result and of the reduction, of which the window is found (window_of).
  CachedWindow cache_window(uint32_t block, uint32_t loop, uint32_t vector, const std::vector<uint32_t>& spatial,
                            const std::vector<uint32_t>& reduced, int64_t lanes);
  /// Scratch memory that each iteration of a serial loop has becomes one for all of them.
  void lift_allocs(uint32_t loop);
  /// Simplifies the subscripts of `buffer` by what the loops around say of their variables.
  void simplify_subscripts(BufferRef buffer);
  /// A nest that computes one element a point is computed where it is read instead, and goes away.
  void inline_nest(uint32_t block);

  // ---- nests (pool_rows.cpp, minimal_filter.cpp, row_blocks.cpp, online_softmax.cpp, window_blocks.cpp,
  // merge_rows.cpp)

  /// The pool in focus and its consumers, in blocks of `rows` rows of the result: the rows of its windows are reduced
  /// to one, and then windows along it. Changes the order of the reduction. Needs can_pool_rows.
  PooledRows pool_rows(uint32_t block, int64_t rows);
  /// The convolution in focus and its consumers by minimal filtering, as three nests: data at points, a sum of products
  /// there, results of the sums; `fma`: sums of data round once a step. Changes the order of sums and their rounding
  /// (winograd.h has the bound). Needs row_filter_of; the constant of the sums must be packed.
  FilterNests minimal_filter(uint32_t block, const FilterTiles& tiles, bool fma);
  /// The nests that compute rows from the same rows of what lies between become one loop over blocks of `rows` rows
  /// around all of them. Gives the loops over blocks: those of a whole number of rows, and the rest. Needs
  /// can_cut_rows.
  std::vector<uint32_t> row_blocks(int64_t rows);
  /// The nests in `loop`, which sum powers of scores relative to the maximum of their row, become a loop over blocks of
  /// `keys` scores with the maximum so far, around nests with memory for one block. Changes the order of sums and their
  /// rounding (online_softmax.cpp has the bound). Gives the loop over blocks. Needs softmax_keys.
  uint32_t online_softmax(uint32_t loop, int64_t keys);
  /// How many scores a row has; null: the loop is around something else.
  Expr softmax_keys(uint32_t loop) const;
  /// A reduction of windows of a map that the kernel computes itself becomes a loop over blocks of `rows` rows of the
  /// result, which begin with the rows of the map that they need. Gives the loop. Needs rows_of_window_block.
  uint32_t window_blocks(int64_t rows);
  /// Two nests one after the other over the same rows become one loop over rows, wherever no row depends on another;
  /// `first` and `second` are their row loops (row_loop). Needs can_merge_rows.
  void merge_rows(uint32_t first, uint32_t second);
  bool can_merge_rows(uint32_t first, uint32_t second) const;
  /// Of a loop around several nests: `rows` iterations of each nest at a time.
  void row_steps(uint32_t loop, int64_t rows);
  /// for i in n → for t in min(tasks, n), for k in (its share of n): at most so many pieces, at the same time. Gives
  /// the loop over a share.
  uint32_t share(uint32_t loop, int64_t tasks);

 private:
  std::vector<const tir::For*> perfect_nest(const std::vector<uint32_t>& loops) const;
  template <typename F>
  void edit_loop(uint32_t id, F f);
  template <typename F>
  void edit_block(uint32_t id, F f);
  void set_kind(uint32_t loop, tir::LoopKind kind, const char* name);
  void note(std::string line);
  void put_back(Cutout& cutout);
  std::vector<Stmt> trees() const;
  bool is_accessed_outside(BufferRef memory) const;
  void drop_fill(uint32_t block);
  Operand& own_operand(BufferRef buffer);
  bool is_read_besides(BufferRef buffer, const std::vector<Stmt>& readers) const;
  bool stays_apart(const std::vector<const tir::For*>& chain, Stmt moved);
  // Each throws IllegalStep.
  void require_marked(uint32_t block) const;
  void require_in_lanes(const tir::Block& from, const tir::For& loop, int64_t lanes, int64_t vector) const;
  void require_one_sum(const tir::Block& sum, const tir::For& loop) const;
  void require_jammable(uint32_t loop) const;
  void require_window(uint32_t block, const tir::For& outermost, uint32_t vector, const Window& window) const;
  void require_producer(Stmt nest) const;
  Region require_cacheable(BufferRef buffer, uint32_t loop) const;
  void require_plain(uint32_t loop) const;
  void require_in_order(uint32_t loop) const;
  void require_maskable(uint32_t loop) const;
  void require_few(uint32_t loop) const;
  void require_together(uint32_t loop) const;
  void require_parallelizable(uint32_t loop) const;
  /// Loops that `loop` stands in, of what is in focus.
  std::vector<const tir::For*> loops_around(uint32_t loop) const;
  bool stands_in(uint32_t loop, tir::LoopKind kind) const;
  /// Where the variables of all loops are.
  arith::Facts facts_of_loops() const;
  std::vector<const tir::For*> axes_of(Stmt nest) const;
  Stmt part_of(Stmt nest, const Region& region);
  BufferRef cache_of(BufferRef buffer, const Region& region);
  Stmt through(BufferRef cache, Stmt s, BufferRef buffer, const Region& region);
  Stmt copy_between(BufferRef buffer, BufferRef cache, const Region& region, bool to_cache);
  void add_view(BufferRef view, BufferRef base);
  Stmt fresh_copy(Stmt s, Copies& copies);
  Stmt masked(Stmt s, Var var, Expr condition);
  tir::For made_loop(Var var, Expr extent, Stmt body);

  Context& context_;
  tir::Builder build_;
  arith::Facts facts_;
  bool may_allocate_;
};

}  // namespace relaxc::schedule
