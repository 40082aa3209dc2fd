// reduction.h: the state of the rule for reductions, which its parts share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/tensorize_dot4.h"
#include "compiler/schedule/strategies/rule_parts.h"
#include "compiler/schedule/strategies/tile.h"
#include "compiler/schedule/strategies/window_rule.h"

namespace relaxc::schedule {

constexpr int64_t kMostVectors = 8;  ///< side by side in a tile

/// One reduction with its consumers, from naive loops to tiles; see reduction.cpp for the method.
class Reduction {
 public:
  /// \param room  there may be scratch memory, and constants may be packed
  Reduction(Tree& s, const ReductionGroup& group, const Target& target, bool room, Choices& choices)
      : target_(target),
        choices_(choices),
        group_(group),
        nest_(analysis::as_nest(group.reduction)),
        room_(room),
        constants_(room ? s.own_constants() : std::vector<BufferRef>{}),
        s_(s),
        lanes_(lanes_of(target, group.reduction)),
        block_(nest_.block->id) {}

  /// False: the rule does not apply, and nothing is to be taken from it.
  Legal<bool> run();

 private:
  const tir::Store& store() const { return *s_.block(block_).body.as<tir::Store>(); }
  static bool update_of(const tir::Store& store) { return static_cast<bool>(schedule::update_of(store).value); }
  Stmt inner_body() const { return spatial_.empty() ? s_.root() : s_.loop(spatial_.back()).body; }

  // ---- axes (reduction.cpp)

  /// Without vectors an element is a scalar from its neutral element to what its consumers make of it: sums never lie
  /// in memory, of which such machines have little. Their order is the written one.
  Legal<bool> in_scalars();
  /// Spatial loops come first, then those of the reduction.
  bool collect_loops();
  /// Loops of one iteration keep neighbours from being fused: those of a 1x1 filter the rows and columns of an image.
  /// One is left where there are no others.
  Legal<> drop_unit_loops(std::vector<uint32_t>& loops);
  /// Products of bytes are summed four at a time where one operand is a constant that can be packed for it.
  Legal<> use_dot_products();
  /// What it costs to have the loop's axis in vector lanes, relative to whole vectors everywhere.
  double cost(uint32_t loop, bool reduces) const;
  /// Rows of the operand that the reduction goes through begin at any place of a line of cache, so that most vectors
  /// along them lie in two.
  bool lies_across_lines(const Access& access, Var along) const;
  bool choose();
  /// The update reads something along the loop (else lanes would do the same thing).
  bool contiguous_in(uint32_t loop) const;
  /// Operands of the reduction step that change along `loop`.
  std::vector<BufferRef> operands_along(uint32_t loop) const;
  /// The axis along which most operands of the vector stay the same.
  uint32_t axis_to_unroll() const;
  /// A filter that slides over images of few pixels, whose rows are shorter than a vector, has rows and columns as one
  /// axis: all of an image is in registers, and which lanes a tap reads is known when compiling.
  Legal<> fold_small_image();
  /// The result and what only the group sees become scalars of an iteration.
  Legal<> contract_results();
  /// Fusing loops gives buffers new shapes through views; the views' bases tell which buffer it was.
  BufferRef original(BufferRef buffer) const;
  BufferRef current(BufferRef buffer) const;
  bool unseen(BufferRef result) const;

  // ---- tiles of the result (reduction_tile.cpp)

  Legal<bool> tile();
  /// Elements of the result are computed alike in any tile.
  TileShape choose_tile(uint32_t unrolled, Expr value);
  TileShape tile_of_image(uint32_t unrolled) const;
  /// Rows that several taps read take a register each until the last of them has.
  int64_t most_rows() const;
  /// Operations on what changes along the vector and not from row to row: they are done once for all rows.
  double work_of_vector(Expr value, uint32_t rows) const;
  /// Factors that many terms share are applied to the sum of those terms. Gives the block that does it; 0: there are
  /// none.
  Legal<uint32_t> factor_out();
  /// Iterations of the reduction, about: what is not known is left out.
  double terms() const;
  /// Some operand is read with gaps: its vectors are put together from several, with a mask for each where there is
  /// padding, so every one of them should meet as many rows as possible.
  bool is_strided(uint32_t loop) const;
  /// Vectors come from channels whose maps do not stay in a cache, each read once a row of tiles: more streams than the
  /// processor foresees by itself.
  bool reads_from_afar() const;
  void add_unrolled(uint32_t loop, const Copies& copies);
  /// Gives the copies that were made of what was inside of the vectorized axis, the original (no copies) first.
  Legal<std::vector<Copies>> cut_vector(uint32_t loop, int64_t vectors);
  std::ptrdiff_t position(uint32_t loop) const;
  /// Elements of the operands that change along a loop, about: dims that are not known are left out.
  double elements_along(uint32_t loop) const;
  /// The larger operand is gone through once, by the outer of the two loops, unless the choice is another.
  Legal<bool> choose_order(uint32_t unrolled);
  /// Where sums have so few terms that writing them takes longer than adding them up, one row of tiles after the other
  /// writes a long run of columns, whose operand stays in the second level of cache.
  Legal<> write_in_runs(uint32_t unrolled);
  bool writes_much(uint32_t unrolled) const;
  /// Iterations of the loop are rows of the result one behind the other.
  bool follow_each_other(uint32_t loop, int64_t row) const;
  /// Iterations of the loop that make a run; `unit`: elements of one. 0: there is no such number.
  int64_t length_of_runs(uint32_t loop, int64_t unit) const;
  /// What each row of the result reads and writes once: the result, and what is added to it.
  std::vector<BufferRef> streams_along(uint32_t unrolled) const;
  /// Loops on which the inner one's operand does not depend stand between the two. False if views between the loops
  /// (where axes were fused) keep them in their order.
  Legal<bool> order_spatial(uint32_t unrolled, bool rows_outside);
  /// The vectors that one iteration after the other reads fall into the same sets of the first level of cache, and
  /// there are too many of them to stay until the next tap of a filter wants them.
  bool collides(uint32_t loop) const;
  /// Loops of the reduction on which a branch depends go outwards, so that it is decided once for the inner ones; so do
  /// taps along the rows of a tile, whose scalars would else be kept in registers for the next tap.
  Legal<> order_reduction(uint32_t unrolled, bool factored);
  /// A subscript goes along both loops.
  bool meets(uint32_t tap, uint32_t unrolled) const;
  /// False: they stay as they are.
  Legal<bool> reorder_reduction(const std::vector<uint32_t>& order);
  /// Taps that meet in rows are innermost and unrolled, so that a row that was loaded serves all of them. Those of
  /// phases are unrolled around them, so that no address depends on the phase; for a single tile of a channel the code
  /// that comes of it, which loads all of the filter first, takes a fifth longer.
  Legal<> unroll_taps();
  /// Of the image of a channel, by which a depthwise filter goes.
  bool has_several_tiles() const;

  // ---- packed constants (reduction_packing.cpp)

  bool is_packable(BufferRef buffer) const;
  /// The dim of a constant along which panels for `var` can be made: one that `var` alone subscripts, in a constant
  /// that is read at one place.
  std::optional<size_t> packable_axis(const Access& access, Var var) const;
  bool words_are_packed() const;
  Legal<> pack_along(uint32_t loop, int64_t panel);
  /// Packs a constant that is not; false: there is none.
  Legal<bool> pack_next(uint32_t loop, int64_t panel);
  bool is_packed(BufferRef buffer) const;

  // ---- the reduction in lanes (reduction_lanes.cpp)

  /// Some elements of the result that are computed together.
  struct LanePart {
    uint32_t block, loop;
    int64_t elements;
  };
  /// Several elements of the result share what they load: of two axes of a product with a transposed matrix, each
  /// loaded vector is used once a row or column of the tile.
  Legal<bool> reduce_lanes();
  /// As many lanes as hide the latency of additions, and no more than there are terms.
  int64_t lane_count(const LanePart& part) const;
  bool some_operand_stays(uint32_t loop) const;

  const Target& target_;
  Choices& choices_;
  const ReductionGroup& group_;
  analysis::Nest nest_;
  const bool room_;
  const std::vector<BufferRef> constants_;  ///< parameters that may be packed
  Tree& s_;
  int64_t lanes_;
  uint32_t block_;
  std::vector<uint32_t> spatial_, reduced_;
  uint32_t vector_ = 0;
  uint32_t image_ = 0;  ///< the axis of all pixels of a small image
  bool in_lanes_ = false;
  Sliding sliding_;
  std::vector<uint32_t> lane_loops_, group_loops_, row_loops_;
  std::vector<BufferRef> packed_;
  BufferRef words_ = nullptr;  ///< what dot products read in place of words_of_
  WordsOf words_of_;
};

}  // namespace relaxc::schedule
