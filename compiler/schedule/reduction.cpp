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
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/schedule/access.h"
#include "compiler/schedule/rule_parts.h"
#include "compiler/schedule/tile.h"
#include "compiler/schedule/window_rule.h"

namespace relaxc::schedule {

using analysis::Nest;

namespace {

constexpr int64_t kMostVectors = 8;  ///< side by side in a tile
constexpr int64_t kMostRows = 16;    ///< of a tile

class Reduction {
 public:
  Reduction(Context& context, const ReductionGroup& group, const Target& target, const arith::Facts& facts, Stmt root,
            Choices& choices)
      : context_(context),
        target_(target),
        choices_(choices),
        group_(group),
        nest_(analysis::as_nest(group.reduction)),
        s_(context, root, facts),
        lanes_(lanes_of(target, group.reduction)),
        block_(nest_.block->id) {}

  bool run() {
    if (!collect_loops()) return false;
    s_.bind_axes();
    s_.decompose_reduction(block_, reduced_[0]);
    for (Stmt consumer : group_.consumers)
      s_.reverse_compute_at(analysis::as_nest(consumer).block->id, spatial_.back(), spatial_);
    drop_unit_loops(spatial_);
    drop_unit_loops(reduced_);
    if (lanes_ < 2) return in_scalars();
    fuse_neighbours(s_, spatial_);
    fuse_neighbours(s_, reduced_);
    if (!update_of(store())) return false;
    use_dot_products();
    if (words_ == nullptr && group_.may_allocate)
      sliding_ = slide_over_copy(s_, block_, spatial_, reduced_, target_, lanes_);
    s_.stage_loads(block_, 0);
    return choose() && (in_lanes_ ? words_ == nullptr && reduce_lanes() : tile());
  }

  /// Without vectors an element is a scalar from its neutral element to what its consumers make of it: sums never lie
  /// in memory, of which such machines have little. Their order is the written one.
  bool in_scalars() {
    if (spatial_.empty() || !update_of(store())) return false;
    contract_results();
    return true;
  }

  Stmt root() const { return s_.root(); }
  const std::string& trace() const { return s_.trace(); }
  const std::vector<PackedParam>& packed() const { return packed_; }

 private:
  const tir::Store& store() const { return *s_.block(block_).body.as<tir::Store>(); }
  static bool update_of(const tir::Store& store) { return static_cast<bool>(schedule::update_of(store).value); }

  /// Spatial loops come first, then those of the reduction.
  bool collect_loops() {
    for (const tir::For* loop : nest_.loops) {
      auto axis = std::find_if(nest_.block->iters.begin(), nest_.block->iters.end(),
                               [&](const tir::IterVar& iter) { return iter.binding == loop->var; });
      bool reduces = axis->iter_kind == tir::IterKind::kReduce;
      if (!reduces && !reduced_.empty()) return false;
      (reduces ? reduced_ : spatial_).push_back(loop->id);
    }
    return !reduced_.empty() && (!spatial_.empty() || group_.consumers.empty());
  }

  /// Loops of one iteration keep neighbours from being fused: those of a 1x1 filter the rows and columns of an image.
  /// One is left where there are no others.
  void drop_unit_loops(std::vector<uint32_t>& loops) {
    for (size_t i = loops.size(); i-- > 0 && loops.size() > 1;) {
      if (!s_.loop(loops[i]).extent.is_constant(1)) continue;
      s_.drop_unit_loop(loops[i]);
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// Products of bytes are summed four at a time where one operand is a constant that can be packed for it.
  void use_dot_products() {
    if (target_.dots.of(target_.vector_bits) == DotProduct::kNone) return;
    uint32_t last = reduced_.back();
    std::optional<WordsOf> of = s_.can_tensorize_dot4(block_, last);
    if (!of) return;
    const auto& constants = group_.constants;
    if (std::find(constants.begin(), constants.end(), original(of->buffer)) == constants.end()) return;
    words_of_ = *of;
    words_of_.buffer = original(of->buffer);
    words_ = s_.tensorize_dot4(block_, last);
    drop_unit_loops(reduced_);
  }

  // ---- choosing axes

  /// What it costs to have the loop's axis in vector lanes, relative to whole vectors everywhere.
  double cost(uint32_t loop, bool reduces) const {
    const tir::For& node = s_.loop(loop);
    if (const int64_t* extent = node.extent.constant(); extent != nullptr && *extent <= 1) return 1e9;
    double bad = 0;
    auto add = [&](const Access& access, double weight) {
      if (access.buffer->scope == tir::Scope::kLocal) return;
      if (!reduces && packable_axis(access, node.var)) return;
      auto step = step_of(access.buffer, access.indices, node.var);
      if (!step || (*step != 0 && *step != 1)) bad += weight * (step && *step > 1 && *step <= 4 ? 3 : 10);
    };
    BufferRef result = store().buffer;
    for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
      if (access.buffer != result) add(access, 1);
    });
    if (!reduces) for_each_access(inner_body(), [&](const Access& access) { add(access, 0.1); });
    double waste = 1;
    if (const int64_t* extent = node.extent.constant())
      waste = static_cast<double>((*extent + lanes_ - 1) / lanes_ * lanes_) / static_cast<double>(*extent);
    return (1 + bad) * waste * (reduces ? 1.5 : 1);
  }

  Stmt inner_body() const { return spatial_.empty() ? s_.root() : s_.loop(spatial_.back()).body; }

  bool choose() {
    if (sliding_.vector != 0) {
      vector_ = sliding_.vector;
      return true;
    }
    double best = 8;
    for (size_t i = spatial_.size(); i-- > 0;)
      if (double c = cost(spatial_[i], false); c < best) best = c, vector_ = spatial_[i];
    uint32_t last = reduced_.back();
    if (double c = cost(last, true); c < best && contiguous_in(last)) in_lanes_ = true;
    return in_lanes_ || vector_ != 0;
  }

  /// The update reads something along the loop (else lanes would do the same thing).
  bool contiguous_in(uint32_t loop) const {
    bool found = false;
    for_each_access(Stmt(&s_.block(block_)), [&](const Access& access) {
      found |= !access.is_store && step_of(access.buffer, access.indices, s_.loop(loop).var) == 1;
    });
    const auto* body = s_.loop(loop).body.as<tir::Block>();  // and not a load into a local before it
    return found && body != nullptr && body->id == block_;
  }

  /// Operands of the reduction step that change along `loop`.
  std::vector<BufferRef> operands_along(uint32_t loop) const {
    std::vector<BufferRef> found;
    Var var = s_.loop(loop).var;
    for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
      if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
      for (Expr index : access.indices)
        if (depends_on(index, var)) return found.push_back(access.buffer);
    });
    return found;
  }

  /// The axis along which most operands of the vector stay the same.
  uint32_t axis_to_unroll() const {
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

  // ---- tiles of the result

  bool tile() {
    uint32_t unrolled = axis_to_unroll();
    if (!choose_order(unrolled)) return false;
    Expr value = schedule::update_of(store()).value;
    contract_results();
    uint32_t scaled = factor_out();
    s_.stage_loads(block_, vector_);
    if (scaled != 0) s_.stage_loads(scaled, vector_);
    order_reduction(scaled != 0);
    if (target_.has_fma) s_.use_fma(block_);
    if (target_.has_fma && scaled != 0) s_.use_fma(scaled);
    TileShape shape = choose_tile(unrolled, value);
    if (unrolled != 0) pack_along(unrolled, shape.unrolled);
    pack_along(vector_, shape.vectors * lanes_);
    bool vector_outside = spatial_.size() < 2 || position(vector_) < position(unrolled) || unrolled == 0;
    if (unrolled == 0) {
      cut_vector(vector_, shape.vectors);
    } else if (vector_outside) {
      std::vector<AxisPart> rows = cut_axis(s_, unrolled, shape.unrolled);
      for (const Copies& copies : cut_vector(vector_, shape.vectors))
        for (const AxisPart& part : rows) add_unrolled(part.inner, copies);
    } else {
      cut_vector(vector_, shape.vectors);
      std::vector<uint32_t> lanes = lane_loops_, groups = group_loops_;
      for (const AxisPart& part : cut_axis(s_, unrolled, shape.unrolled)) {
        add_unrolled(part.inner, {});
        if (part.copies.loops.empty()) continue;
        for (uint32_t loop : lanes) lane_loops_.push_back(part.copies.loops.at(loop));
        for (uint32_t loop : groups) group_loops_.push_back(part.copies.loops.at(loop));
      }
    }
    for (uint32_t loop : lane_loops_) s_.vectorize(loop), s_.sink(loop);
    // Vectors innermost: a broadcast is needed once for all of them, and its register is free again.
    for (uint32_t loop : row_loops_) s_.unroll(loop), s_.jam(loop);
    for (uint32_t loop : group_loops_) s_.unroll(loop), s_.jam(loop);
    for (const PackedParam& param : packed_) s_.simplify_subscripts(param.packed);
    return !lane_loops_.empty() && words_are_packed();
  }

  /// Elements of the result are computed alike in any tile.
  TileShape choose_tile(uint32_t unrolled, Expr value) {
    constexpr size_t kMostTiles = 6;
    Target registers = target_;  // taps of a copy are unrolled, and their loads begin early
    if (sliding_.vector != 0) registers.vector_registers -= 3;
    bool single = is_strided(vector_) || sliding_.rows != 0 || words_of_.in_lanes;
    std::vector<TileShape> tiles = good_tiles(
        registers, unrolled == 0 ? Expr() : s_.loop(unrolled).extent, s_.loop(vector_).extent, lanes_,
        single ? 1 : kMostVectors, most_rows(), terms(), unrolled == 0 ? 0 : work_of_vector(value, unrolled), kMostTiles);
    std::vector<std::string> names;
    for (const TileShape& tile : tiles) names.push_back(fmt::format("{}x{}", tile.unrolled, tile.vectors));
    return tiles[choices_.pick("tile", std::move(names))];
  }

  /// Rows that several taps read take a register each until the last of them has.
  int64_t most_rows() const {
    if (sliding_.rows == 0) return kMostRows;
    return std::max<int64_t>(1, (target_.vector_registers - 2 - *s_.loop(sliding_.taps).extent.constant()) / 2);
  }

  /// Operations on what changes along the vector and not from row to row: they are done once for all rows.
  double work_of_vector(Expr value, uint32_t rows) const {
    Var vector = s_.loop(vector_).var, row = s_.loop(rows).var;
    double count = 0;
    arith::for_each_node(value, [&](Expr e) {
      bool computes = !e.dtype().is_index() && !arith::operands(e).empty() && e.as<arith::Load>() == nullptr;
      if (computes && !(e == value) && depends_on(e, vector) && !depends_on(e, row)) count += 1;
    });
    return count;
  }

  /// Factors that many terms share are applied to the sum of those terms. Gives the block that does it; 0: there are
  /// none.
  uint32_t factor_out() {
    constexpr int64_t kFewTerms = 8;
    int64_t terms = 1;
    uint32_t at = 0;
    Expr factor;
    for (size_t i = reduced_.size(); i-- > 0;) {
      Expr common = s_.common_factor(block_, reduced_[i]);
      if (!common || (factor && !(common == factor))) break;
      const int64_t* extent = s_.loop(reduced_[i]).extent.constant();
      terms *= extent != nullptr ? *extent : kFewTerms;
      if (terms >= kFewTerms) at = reduced_[i], factor = common;
    }
    return at == 0 ? 0 : s_.factor_out(block_, at);
  }

  /// Iterations of the reduction, about: what is not known is left out.
  double terms() const {
    double count = 1;
    for (uint32_t loop : reduced_)
      if (const int64_t* extent = s_.loop(loop).extent.constant()) count *= static_cast<double>(*extent);
    return count;
  }

  /// Some operand is read with gaps: its vectors are put together from several, with a mask for each where there is
  /// padding, so every one of them should meet as many rows as possible.
  bool is_strided(uint32_t loop) const {
    bool found = false;
    for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
      if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
      if (packable_axis(access, s_.loop(loop).var)) return;
      auto step = step_of(access.buffer, access.indices, s_.loop(loop).var);
      found |= !step || (*step != 0 && *step != 1);
    });
    return found;
  }

  void add_unrolled(uint32_t loop, const Copies& copies) {
    if (loop == 0) return;
    auto copy = copies.loops.find(loop);
    row_loops_.push_back(copy == copies.loops.end() ? loop : copy->second);
  }

  /// Gives the copies that were made of what was inside of the vectorized axis, the original (no copies) first.
  std::vector<Copies> cut_vector(uint32_t loop, int64_t vectors) {
    std::vector<Copies> bodies;
    // Of an extent that only its multiple is known of, a few vectors less may leave no rest.
    bool open = s_.loop(loop).extent.constant() == nullptr;
    for (int64_t fewer = vectors; open && fewer * 2 > vectors; --fewer)
      if (s_.known_divisor(loop) % (fewer * lanes_) == 0) {
        vectors = fewer;
        break;
      }
    for (const VectorPart& part : cut_vectors(s_, loop, vectors, lanes_, tail_of(target_))) {
      if (part.group != 0) group_loops_.push_back(part.group);
      if (part.lanes != 0) lane_loops_.push_back(part.lanes);
      bodies.push_back(part.copies);
    }
    return bodies;
  }

  std::ptrdiff_t position(uint32_t loop) const {
    return std::find(spatial_.begin(), spatial_.end(), loop) - spatial_.begin();
  }

  /// Elements of the operands that change along a loop, about: dims that are not known are left out.
  double elements_along(uint32_t loop) const {
    double total = 0;
    for (BufferRef buffer : operands_along(loop)) {
      double count = 1;
      for (Expr dim : buffer->shape)
        if (const int64_t* known = dim.constant()) count *= static_cast<double>(*known);
      total += count;
    }
    return total;
  }

  /// The larger operand is gone through once, by the outer of the two loops, unless the choice is another.
  bool choose_order(uint32_t unrolled) {
    if (unrolled == 0 || spatial_.size() < 2) return true;
    bool rows_outside = elements_along(unrolled) > elements_along(vector_);
    std::vector<std::string> names{"rows outside", "columns outside"};
    if (!rows_outside) std::swap(names[0], names[1]);
    bool other = choices_.pick("order", names) == 1;
    return (other && order_spatial(unrolled, !rows_outside)) || order_spatial(unrolled, rows_outside);
  }

  /// Loops on which the inner one's operand does not depend stand between the two. False if views between the loops
  /// (where axes were fused) keep them in their order.
  bool order_spatial(uint32_t unrolled, bool rows_outside) {
    std::vector<uint32_t> order, between;
    auto along_rows = operands_along(unrolled);
    for (uint32_t loop : spatial_) {
      if (loop == unrolled || loop == vector_) continue;
      bool dependent = s_.loop(loop).extent.is_constant(1);  // no matter where it stands
      for (BufferRef b : operands_along(loop))
        dependent |= std::find(along_rows.begin(), along_rows.end(), b) != along_rows.end();
      (rows_outside && !dependent ? between : order).push_back(loop);
    }
    order.push_back(rows_outside ? unrolled : vector_);
    order.insert(order.end(), between.begin(), between.end());
    order.push_back(rows_outside ? vector_ : unrolled);
    // What stays in front need not be touched, whatever stands between it and the rest.
    auto first = std::mismatch(order.begin(), order.end(), spatial_.begin()).first;
    std::vector<uint32_t> moved(first, order.end());
    if (moved.empty()) return true;
    if (!s_.can_reorder(moved)) return false;
    s_.reorder(moved);
    spatial_ = order;
    return true;
  }

  /// The result and what only the group sees become scalars of an iteration.
  void contract_results() {
    BufferRef result = store().buffer;
    std::vector<BufferRef> scalars{result};
    for (BufferRef b : group_.unseen)
      if (b->id != original(result)->id) scalars.push_back(current(b));
    for (BufferRef b : scalars) s_.contract(b, spatial_.back(), b == result ? !unseen(result) : false);
  }
  /// Fusing loops gives buffers new shapes through views; the views' bases tell which buffer it was.
  BufferRef original(BufferRef buffer) const {
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
  BufferRef current(BufferRef buffer) const {
    BufferRef found = buffer;
    for_each_access(inner_body(), [&](const Access& access) {
      if (original(access.buffer) == buffer) found = access.buffer;
    });
    return found;
  }
  bool unseen(BufferRef result) const {
    return std::find(group_.unseen.begin(), group_.unseen.end(), original(result)) != group_.unseen.end();
  }

  /// The vectors that one iteration after the other reads fall into the same sets of the first level of cache, and
  /// there are too many of them to stay until the next tap of a filter wants them.
  bool collides(uint32_t loop) const {
    constexpr int64_t kSetPeriod = 4096, kWays = 12;
    const int64_t* extent = s_.loop(loop).extent.constant();
    bool found = false;
    for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
      if (access.buffer->scope == tir::Scope::kLocal || packable_axis(access, s_.loop(vector_).var)) return;
      auto along = step_of(access.buffer, access.indices, s_.loop(vector_).var);
      auto step = step_of(access.buffer, access.indices, s_.loop(loop).var);
      if (along == 1 && step && *step != 0) found |= *step * access.buffer->dtype.bytes() % kSetPeriod == 0;
    });
    return found && (extent == nullptr || *extent > kWays);
  }

  /// Loops of the reduction on which a branch depends go outwards, so that it is decided once for the inner ones.
  void order_reduction(bool factored) {
    if (sliding_.taps != 0) return unroll_taps();
    if (reduced_.size() < 2 || factored) return;
    std::vector<uint32_t> order, inner;
    for (uint32_t loop : reduced_) {
      bool decides = false;
      tir::for_each_stmt(s_.loop(reduced_[0]).body, [&](Stmt s) {
        if (const auto* branch = s.as<tir::If>()) decides |= depends_on(branch->condition, s_.loop(loop).var);
      });
      (decides ? order : inner).push_back(loop);
    }
    if (std::any_of(inner.begin(), inner.end(), [&](uint32_t loop) { return collides(loop); })) return;
    order.insert(order.end(), inner.begin(), inner.end());
    if (order == reduced_ || inner.empty() || !s_.can_reorder(order)) return;
    s_.allow_reassociation(block_);
    s_.reorder(order);
    reduced_ = order;
  }

  /// Taps that meet in rows are innermost and unrolled, so that a row that was loaded serves all of them.
  void unroll_taps() {
    std::vector<uint32_t> order = reduced_;
    auto at = std::find(order.begin(), order.end(), sliding_.taps);
    std::rotate(at, at + 1, order.end());
    if (order != reduced_) {
      if (!s_.can_reorder(order)) return;
      s_.allow_reassociation(block_);
      s_.reorder(order);
      reduced_ = order;
    }
    s_.unroll(sliding_.taps);
  }

  // ---- packed constants

  bool is_packable(BufferRef buffer) const {
    const auto& constants = group_.constants;
    return buffer == words_ || std::find(constants.begin(), constants.end(), buffer) != constants.end();
  }

  /// The dim of a constant along which panels for `var` can be made: one that `var` alone subscripts, in a constant
  /// that is read at one place.
  std::optional<size_t> packable_axis(const Access& access, Var var) const {
    BufferRef base = original(access.buffer);
    if (access.is_store || !is_packable(base)) return {};
    std::optional<size_t> axis;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      if (access.buffer->shape[i].constant() == nullptr) return {};
      if (access.indices[i] == var)
        axis = i;
      else if (depends_on(access.indices[i], var))
        return {};
    }
    bool alone = true;
    for_each_access(s_.root(), [&](const Access& other) {
      if (original(other.buffer) == base) alone &= other.buffer == access.buffer && other.indices == access.indices;
    });
    return alone ? axis : std::nullopt;
  }

  bool words_are_packed() const {
    return words_ == nullptr || std::any_of(packed_.begin(), packed_.end(),
                                            [&](const PackedParam& one) { return one.param == words_of_.buffer; });
  }

  void pack_along(uint32_t loop, int64_t panel) {
    if (panel < 2) return;
    while (pack_next(loop, panel)) {
    }
  }

  /// Packs a constant that is not; false: there is none.
  bool pack_next(uint32_t loop, int64_t panel) {
    Var var = s_.loop(loop).var;
    std::optional<PackedParam> found;
    for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
      auto axis = packable_axis(access, var);
      if (!axis || found || access.indices.size() < 2 || is_packed(access.buffer)) return;
      found = PackedParam{original(access.buffer), access.buffer, {{}, *axis, panel, {}, -1}};
      if (access.buffer == words_) {
        found->param = words_of_.buffer;
        found->packing.words_axis = static_cast<int64_t>(words_of_.axis);
        found->packing.words_extent = words_of_.extent;
      }
      for (Expr dim : access.buffer->shape) found->packing.shape.push_back(*dim.constant());
      // Axes of the reduction come last, in the order of its loops.
      std::vector<std::pair<std::ptrdiff_t, size_t>> others;
      for (size_t i = 0; i < access.indices.size(); ++i) {
        auto at = std::find_if(reduced_.begin(), reduced_.end(),
                               [&](uint32_t id) { return depends_on(access.indices[i], s_.loop(id).var); });
        if (i != *axis) others.push_back({at == reduced_.end() ? -1 : at - reduced_.begin(), i});
      }
      std::sort(others.begin(), others.end());
      for (auto& [position, i] : others) found->packing.order.push_back(i);
    });
    if (!found) return false;
    found->packed = s_.pack(found->packed, found->packing);
    packed_.push_back(*found);
    return true;
  }

  bool is_packed(BufferRef buffer) const {
    return std::any_of(packed_.begin(), packed_.end(), [&](const PackedParam& one) { return one.packed == buffer; });
  }

  // ---- the reduction in lanes

  /// Several elements of the result share what they load: of two axes of a product with a transposed matrix, each
  /// loaded vector is used once a row or column of the tile.
  bool reduce_lanes() {
    if (!spatial_.empty()) contract_results();
    s_.allow_reassociation(block_);
    std::vector<uint32_t> shared;  // innermost first
    for (size_t i = spatial_.size(); i-- > 0 && shared.size() < 2;)
      if (some_operand_stays(spatial_[i]) && !s_.loop(spatial_[i]).extent.is_constant(1)) shared.push_back(spatial_[i]);
    int64_t size = shared.size() == 2 && target_.vector_registers < 32 ? 3 : 4;
    std::vector<LanePart> parts{{block_, reduced_.back(), 1}};
    std::vector<uint32_t> unrolled;
    for (uint32_t loop : shared) {
      std::vector<LanePart> inner = std::move(parts);
      std::vector<uint32_t> inner_unrolled = std::move(unrolled);
      parts.clear(), unrolled.clear();
      for (const AxisPart& axis : cut_axis(s_, loop, size)) {
        auto here = [](const std::map<uint32_t, uint32_t>& copies, uint32_t id) {
          auto copy = copies.find(id);
          return copy == copies.end() ? id : copy->second;
        };
        int64_t times = axis.inner == 0 ? 1 : *s_.loop(axis.inner).extent.constant();
        for (const LanePart& part : inner)
          parts.push_back(
              {here(axis.copies.blocks, part.block), here(axis.copies.loops, part.loop), part.elements * times});
        for (uint32_t one : inner_unrolled) unrolled.push_back(here(axis.copies.loops, one));
        if (axis.inner != 0) unrolled.push_back(axis.inner);
      }
    }
    for (const LanePart& part : parts)
      s_.reduce_in_lanes(part.block, part.loop, lane_count(part), lanes_, target_.has_fma);
    for (uint32_t loop : unrolled) s_.unroll(loop), s_.jam(loop);
    return true;
  }

  /// Some elements of the result that are computed together.
  struct LanePart {
    uint32_t block, loop;
    int64_t elements;
  };

  /// As many lanes as hide the latency of additions, and no more than there are terms.
  int64_t lane_count(const LanePart& part) const {
    int64_t wide = lanes_ * std::max<int64_t>(1, 4 / part.elements);
    const int64_t* extent = s_.loop(part.loop).extent.constant();
    while (extent != nullptr && wide > lanes_ && *extent < wide) wide /= 2;
    return wide;
  }

  bool some_operand_stays(uint32_t loop) const {
    auto along = operands_along(loop);
    bool stays = false;
    for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
      if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
      stays |= std::find(along.begin(), along.end(), access.buffer) == along.end();
    });
    return stays;
  }

  Context& context_;
  const Target& target_;
  Choices& choices_;
  const ReductionGroup& group_;
  Nest nest_;
  Schedule s_;
  int64_t lanes_;
  uint32_t block_;
  std::vector<uint32_t> spatial_, reduced_;
  uint32_t vector_ = 0;
  bool in_lanes_ = false;
  Sliding sliding_;
  std::vector<uint32_t> lane_loops_, group_loops_, row_loops_;
  std::vector<PackedParam> packed_;
  BufferRef words_ = nullptr;  ///< what dot products read in place of words_of_
  WordsOf words_of_;
};

}  // namespace

Stmt schedule_reduction(Context& context, const ReductionGroup& group, const Target& target, const arith::Facts& facts,
                        std::string& trace, std::vector<PackedParam>& packed, Choices& choices) {
  std::vector<Stmt> parts{group.reduction};
  parts.insert(parts.end(), group.consumers.begin(), group.consumers.end());
  Reduction rule(context, group, target, facts, tir::Builder(context).seq(std::move(parts)), choices);
  if (!rule.run()) return {};
  trace += rule.trace();
  packed.insert(packed.end(), rule.packed().begin(), rule.packed().end());
  return rule.root();
}

}  // namespace relaxc::schedule
