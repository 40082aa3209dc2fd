// reduction_tile.cpp: tiles of a reduction's result, and the order of the loops around and inside of them.
//
// Rows of a tile share the vectors that are loaded, its columns the scalars; the tile model (tile.h) says how many of
// each fit the registers and keep the adders busy. What is left open, if the bits are the same, is a choice to tune.
#include "compiler/schedule/strategies/reduction.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/dot.h"
#include "compiler/schedule/primitives/factor_out.h"
#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/prefetch.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/reorder.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/sink.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/stage_loads.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/use_fma.h"
#include "compiler/schedule/primitives/vectorize.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kMostRows = 16;         ///< of a tile
constexpr double kManyCaches = 8;         ///< of the second level, so that results go to memory
constexpr double kFarCaches = 2;          ///< of the second level, so that an operand comes from beyond it
constexpr int64_t kRunShare = 2;          ///< the operand of a run has one by this of the second level
constexpr int64_t kRegistersOfImage = 4;  ///< not for sums, where all of an image is in registers
constexpr int64_t kRegistersOfTaps = 3;   ///< for loads that begin early, where taps are unrolled

double elements_of(BufferRef buffer) {
  double count = 1;
  for (Expr dim : buffer->shape)
    if (const int64_t* known = dim.constant()) count *= static_cast<double>(*known);
  return count;
}

}  // namespace

Legal<bool> Reduction::tile() {
  uint32_t unrolled = axis_to_unroll();
  RELAXC_STEP(const bool ordered, choose_order(unrolled));
  if (!ordered) return false;
  Expr value = schedule::update_of(store()).value;
  RELAXC_LEGAL(contract_results());
  RELAXC_STEP(const uint32_t scaled, factor_out());
  RELAXC_LEGAL(apply(s_, StageLoads{block_, vector_}));
  if (scaled != 0) RELAXC_LEGAL(apply(s_, StageLoads{scaled, vector_}));
  RELAXC_LEGAL(order_reduction(unrolled, scaled != 0));
  if (target_.has_fma) RELAXC_LEGAL(apply(s_, UseFma{block_}));
  if (target_.has_fma && scaled != 0) RELAXC_LEGAL(apply(s_, UseFma{scaled}));
  TileShape shape = choose_tile(unrolled, value);
  const bool from_afar = reads_from_afar();
  if (unrolled != 0) RELAXC_LEGAL(pack_along(unrolled, shape.unrolled));
  RELAXC_LEGAL(pack_along(vector_, shape.vectors * lanes_));
  bool vector_outside = spatial_.size() < 2 || position(vector_) < position(unrolled) || unrolled == 0;
  if (unrolled == 0) {
    RELAXC_LEGAL(cut_vector(vector_, shape.vectors));
  } else if (vector_outside) {
    RELAXC_STEP(const std::vector<AxisPart> rows, cut_axis(s_, unrolled, shape.unrolled));
    RELAXC_STEP(const std::vector<Copies> bodies, cut_vector(vector_, shape.vectors));
    for (const Copies& copies : bodies)
      for (const AxisPart& part : rows) add_unrolled(part.inner, copies);
  } else {
    RELAXC_LEGAL(cut_vector(vector_, shape.vectors));
    std::vector<uint32_t> lanes = lane_loops_, groups = group_loops_;
    RELAXC_STEP(const std::vector<AxisPart> rows, cut_axis(s_, unrolled, shape.unrolled));
    for (const AxisPart& part : rows) {
      add_unrolled(part.inner, {});
      if (part.copies.loops.empty()) continue;
      for (uint32_t loop : lanes) lane_loops_.push_back(part.copies.loops.at(loop));
      for (uint32_t loop : groups) group_loops_.push_back(part.copies.loops.at(loop));
    }
  }
  for (uint32_t loop : lane_loops_) {
    RELAXC_LEGAL(apply(s_, Vectorize{loop}));
    if (from_afar) RELAXC_LEGAL(apply(s_, Prefetch{loop, target_.prefetch_bytes}));
    RELAXC_LEGAL(apply(s_, Sink{loop}));
  }
  // Vectors innermost: a broadcast is needed once for all of them, and its register is free again.
  for (uint32_t loop : row_loops_) {
    RELAXC_LEGAL(apply(s_, Unroll{loop}));
    RELAXC_LEGAL(apply(s_, Jam{loop}));
  }
  for (uint32_t loop : group_loops_) {
    RELAXC_LEGAL(apply(s_, Unroll{loop}));
    RELAXC_LEGAL(apply(s_, Jam{loop}));
  }
  for (BufferRef packed : packed_) RELAXC_LEGAL(apply(s_, SimplifySubscripts{packed}));
  return !lane_loops_.empty() && words_are_packed();
}

TileShape Reduction::tile_of_image(uint32_t unrolled) const {
  const int64_t vectors = (*s_.loop(image_).extent.constant() + lanes_ - 1) / lanes_;
  const int64_t* all = unrolled == 0 ? nullptr : s_.loop(unrolled).extent.constant();
  int64_t rows = all == nullptr ? 1 : (target_.vector_registers - kRegistersOfImage) / vectors;
  while (rows > 1 && *all % rows != 0) --rows;
  return {std::max<int64_t>(rows, 1), vectors};
}

TileShape Reduction::choose_tile(uint32_t unrolled, Expr value) {
  if (image_ != 0) return tile_of_image(unrolled);
  constexpr size_t kMostTiles = 6;
  Target registers = target_;  // taps of a copy are unrolled, and their loads begin early
  if (sliding_.vector != 0) registers.vector_registers -= kRegistersOfTaps;
  bool single = is_strided(vector_) || sliding_.rows != 0 || words_of_.in_lanes;
  std::vector<TileShape> tiles = good_tiles(registers, unrolled == 0 ? Expr() : s_.loop(unrolled).extent,
                                            s_.loop(vector_).extent, lanes_, single ? 1 : kMostVectors, most_rows(),
                                            terms(), unrolled == 0 ? 0 : work_of_vector(value, unrolled), kMostTiles);
  std::vector<std::string> names;
  for (const TileShape& tile : tiles) names.push_back(fmt::format("{}x{}", tile.unrolled, tile.vectors));
  return tiles[choices_.pick("tile", std::move(names))];
}

int64_t Reduction::most_rows() const {
  if (sliding_.rows == 0) return kMostRows;
  return std::max<int64_t>(1, (target_.vector_registers - 2 - *s_.loop(sliding_.taps).extent.constant()) / 2);
}

double Reduction::work_of_vector(Expr value, uint32_t rows) const {
  Var vector = s_.loop(vector_).var, row = s_.loop(rows).var;
  double count = 0;
  Expr made = value;
  if (std::optional<arith::Dot4> dot = arith::as_dot4(value)) {
    // An instruction takes bytes out of their words, but for two vectors of 16-bit numbers.
    if (target_.dots.of(target_.vector_bits) == DotProduct::kPairs) count += target_.pair_dot_operations;
    made = dot->b;
  }
  arith::for_each_node(made, [&](Expr e) {
    bool computes = !e.dtype().is_index() && !arith::operands(e).empty() && e.as<arith::Load>() == nullptr;
    if (computes && !(e == value) && depends_on(e, vector) && !depends_on(e, row)) count += 1;
  });
  return count;
}

Legal<uint32_t> Reduction::factor_out() {
  constexpr int64_t kFewTerms = 8;
  int64_t terms = 1;
  uint32_t at = 0;
  Expr factor;
  for (size_t i = reduced_.size(); i-- > 0;) {
    Expr common = common_factor(s_, block_, reduced_[i]);
    if (!common || (factor && !(common == factor))) break;
    const int64_t* extent = s_.loop(reduced_[i]).extent.constant();
    terms *= extent != nullptr ? *extent : kFewTerms;
    if (terms >= kFewTerms) at = reduced_[i], factor = common;
  }
  if (at == 0) return uint32_t{0};
  RELAXC_LEGAL(apply(s_, Reassociate{block_}));
  return apply(s_, FactorOut{block_, at});
}

double Reduction::terms() const {
  double count = 1;
  for (uint32_t loop : reduced_)
    if (const int64_t* extent = s_.loop(loop).extent.constant()) count *= static_cast<double>(*extent);
  return count;
}

bool Reduction::is_strided(uint32_t loop) const {
  bool found = false;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
    if (packable_axis(access, s_.loop(loop).var)) return;
    auto step = step_of(access.buffer, access.indices, s_.loop(loop).var);
    found |= !step || (*step != 0 && *step != 1);
  });
  return found;
}

bool Reduction::reads_from_afar() const {
  if (sliding_.vector != 0 || reduced_.size() != 1 || target_.l2_bytes == 0) return false;
  bool found = false;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    const Var vector = s_.loop(vector_).var;
    if (access.is_store || access.buffer->scope == tir::Scope::kLocal || packable_axis(access, vector)) return;
    const double bytes = elements_of(access.buffer) * access.buffer->dtype.bytes();
    found |= step_of(access.buffer, access.indices, vector) == 1 &&
             bytes >= kFarCaches * static_cast<double>(target_.l2_bytes);
  });
  return found;
}

void Reduction::add_unrolled(uint32_t loop, const Copies& copies) {
  if (loop == 0) return;
  auto copy = copies.loops.find(loop);
  row_loops_.push_back(copy == copies.loops.end() ? loop : copy->second);
}

Legal<std::vector<Copies>> Reduction::cut_vector(uint32_t loop, int64_t vectors) {
  std::vector<Copies> bodies;
  // Of an extent that only its multiple is known of, a few vectors less may leave no rest.
  bool open = s_.loop(loop).extent.constant() == nullptr;
  for (int64_t fewer = vectors; open && fewer * 2 > vectors; --fewer)
    if (known_divisor(s_, loop) % (fewer * lanes_) == 0) {
      vectors = fewer;
      break;
    }
  RELAXC_STEP(const std::vector<VectorPart> parts, cut_vectors(s_, loop, vectors, lanes_, tail_of(target_)));
  for (const VectorPart& part : parts) {
    if (part.group != 0) group_loops_.push_back(part.group);
    if (part.lanes != 0) lane_loops_.push_back(part.lanes);
    bodies.push_back(part.copies);
  }
  return bodies;
}

std::ptrdiff_t Reduction::position(uint32_t loop) const {
  return std::find(spatial_.begin(), spatial_.end(), loop) - spatial_.begin();
}

double Reduction::elements_along(uint32_t loop) const {
  double total = 0;
  for (BufferRef buffer : operands_along(loop)) total += elements_of(buffer);
  return total;
}

Legal<bool> Reduction::choose_order(uint32_t unrolled) {
  if (unrolled == 0 || spatial_.size() < 2) return true;
  bool rows_outside = elements_along(unrolled) > elements_along(vector_);
  std::vector<std::string> names{"rows outside", "columns outside"};
  if (!rows_outside) std::swap(names[0], names[1]);
  bool other = choices_.pick("order", names) == 1;
  bool done = false;
  if (other) {
    RELAXC_STEP(done, order_spatial(unrolled, !rows_outside));
  }
  if (!done) {
    RELAXC_STEP(done, order_spatial(unrolled, rows_outside));
  }
  if (done && other == rows_outside) RELAXC_LEGAL(write_in_runs(unrolled));
  return done;
}

Legal<> Reduction::write_in_runs(uint32_t unrolled) {
  auto at = std::find(spatial_.begin(), spatial_.end(), vector_);
  if (!writes_much(unrolled) || s_.loop(vector_).extent.constant() == nullptr) return Done{};
  // Short rows that lie one behind the other in the result make a run together.
  int64_t row = *s_.loop(vector_).extent.constant(), inner = 1;
  if (row >= target_.memory_run_elements || at == spatial_.begin() || !follow_each_other(*(at - 1), row))
    row = 1;
  else
    --at, ++inner;
  const int64_t length = length_of_runs(*at, row);
  std::vector<uint32_t> moved(at, spatial_.end());
  if (length == 0 || !can_reorder(s_, moved)) return Done{};
  if (!s_.loop(*at).extent.is_constant(length)) {
    RELAXC_STEP(SplitLoops runs, apply(s_, Split{*at, length, Tail::kPeel}));
    *at++ = runs.outer;
    moved[0] = runs.inner;
    if (inner == 1) vector_ = runs.inner;
  }
  std::rotate(moved.begin(), moved.begin() + inner, moved.end());
  RELAXC_LEGAL(apply(s_, Reorder{moved}));
  spatial_.erase(at, spatial_.end());
  spatial_.insert(spatial_.end(), moved.begin(), moved.end());
  return Done{};
}

bool Reduction::writes_much(uint32_t unrolled) const {
  const int64_t* rows = s_.loop(unrolled).extent.constant();
  if (sliding_.vector != 0 || rows == nullptr) return false;
  if (terms() > target_.memory_store_cycles * target_.fma_per_cycle) return false;
  const std::vector<BufferRef> streams = streams_along(unrolled);
  double bytes = 0;
  for (BufferRef buffer : streams) bytes += elements_of(buffer) * buffer->dtype.bytes();
  return *rows * static_cast<int64_t>(streams.size()) > kMostRows &&
         bytes > kManyCaches * static_cast<double>(target_.l2_bytes);
}

bool Reduction::follow_each_other(uint32_t loop, int64_t row) const {
  return s_.loop(loop).extent.constant() != nullptr &&
         step_of(store().buffer, store().indices, s_.loop(loop).var) == row;
}

int64_t Reduction::length_of_runs(uint32_t loop, int64_t unit) const {
  const int64_t extent = *s_.loop(loop).extent.constant();
  int64_t bytes = static_cast<int64_t>(terms()) * unit * store().buffer->dtype.bytes(), found = 0;
  for (int64_t length = std::min(target_.l2_bytes / kRunShare / bytes, extent);
       length * unit >= target_.memory_run_elements; --length)
    if (extent % length == 0 && (found == 0 || (unit == 1 && found % lanes_ != 0 && length % lanes_ == 0)))
      found = length;
  return found;
}

std::vector<BufferRef> Reduction::streams_along(uint32_t unrolled) const {
  std::vector<BufferRef> found;
  for_each_access(inner_body(), [&](const Access& access) {
    bool columns = false, rows = false;
    for (Expr index : access.indices) {
      columns |= depends_on(index, s_.loop(vector_).var);
      rows |= depends_on(index, s_.loop(unrolled).var);
    }
    bool memory = access.buffer->scope != tir::Scope::kLocal && !unseen(access.buffer);
    bool known = std::find(found.begin(), found.end(), access.buffer) != found.end();
    if (columns && rows && memory && !known) found.push_back(access.buffer);
  });
  return found;
}

Legal<bool> Reduction::order_spatial(uint32_t unrolled, bool rows_outside) {
  std::vector<uint32_t> order, between;
  auto along_outer = operands_along(rows_outside ? unrolled : vector_);
  for (uint32_t loop : spatial_) {
    if (loop == unrolled || loop == vector_) continue;
    bool dependent = s_.loop(loop).extent.is_constant(1);  // no matter where it stands
    for (BufferRef b : operands_along(loop))
      dependent |= std::find(along_outer.begin(), along_outer.end(), b) != along_outer.end();
    (dependent ? order : between).push_back(loop);
  }
  order.push_back(rows_outside ? unrolled : vector_);
  order.insert(order.end(), between.begin(), between.end());
  order.push_back(rows_outside ? vector_ : unrolled);
  // What stays in front need not be touched, whatever stands between it and the rest.
  auto first = std::mismatch(order.begin(), order.end(), spatial_.begin()).first;
  std::vector<uint32_t> moved(first, order.end());
  if (moved.empty()) return true;
  if (!can_reorder(s_, moved)) return false;
  RELAXC_LEGAL(apply(s_, Reorder{moved}));
  spatial_ = order;
  return true;
}

bool Reduction::collides(uint32_t loop) const {
  const int64_t* extent = s_.loop(loop).extent.constant();
  bool found = false;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || packable_axis(access, s_.loop(vector_).var)) return;
    auto along = step_of(access.buffer, access.indices, s_.loop(vector_).var);
    auto step = step_of(access.buffer, access.indices, s_.loop(loop).var);
    if (along == 1 && step && *step != 0) found |= *step * access.buffer->dtype.bytes() % target_.l1_period_bytes == 0;
  });
  return found && (extent == nullptr || *extent > target_.l1_ways);
}

Legal<> Reduction::order_reduction(uint32_t unrolled, bool factored) {
  if (sliding_.taps != 0) return unroll_taps();
  if (image_ != 0) {
    for (uint32_t loop : reduced_) RELAXC_LEGAL(apply(s_, Unroll{loop}));
    return Done{};
  }
  if (reduced_.size() < 2 || factored) return Done{};
  std::vector<uint32_t> order, inner;
  for (uint32_t loop : reduced_) {
    bool decides = false;
    tir::for_each_stmt(s_.loop(reduced_[0]).body, [&](Stmt s) {
      if (const auto* branch = s.as<tir::If>()) decides |= depends_on(branch->condition, s_.loop(loop).var);
    });
    (decides || meets(loop, unrolled) ? order : inner).push_back(loop);
  }
  if (std::any_of(inner.begin(), inner.end(), [&](uint32_t loop) { return collides(loop); })) return Done{};
  order.insert(order.end(), inner.begin(), inner.end());
  if (order != reduced_ && !inner.empty()) RELAXC_LEGAL(reorder_reduction(order));
  return Done{};
}

bool Reduction::meets(uint32_t tap, uint32_t unrolled) const {
  bool found = false;
  if (unrolled == 0) return found;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    for (Expr index : access.indices)
      found |= depends_on(index, s_.loop(tap).var) && depends_on(index, s_.loop(unrolled).var);
  });
  return found;
}

Legal<bool> Reduction::reorder_reduction(const std::vector<uint32_t>& order) {
  const Tree before = s_;
  RELAXC_LEGAL(apply(s_, Reassociate{block_}));
  if (!can_reorder(s_, order)) return s_ = before, false;
  RELAXC_LEGAL(apply(s_, Reorder{order}));
  reduced_ = order;
  return true;
}

Legal<> Reduction::unroll_taps() {
  std::vector<uint32_t> order = reduced_;
  auto at = std::find(order.begin(), order.end(), sliding_.taps);
  std::rotate(at, at + 1, order.end());
  if (order != reduced_) {
    RELAXC_STEP(const bool done, reorder_reduction(order));
    if (!done) return Done{};
  }
  RELAXC_LEGAL(apply(s_, Unroll{sliding_.taps}));
  if (sliding_.phases != 0 && has_several_tiles()) RELAXC_LEGAL(apply(s_, Unroll{sliding_.phases}));
  return Done{};
}

bool Reduction::has_several_tiles() const {
  return *s_.loop(sliding_.rows).extent.constant() > most_rows() || *s_.loop(vector_).extent.constant() > lanes_;
}

}  // namespace relaxc::schedule
