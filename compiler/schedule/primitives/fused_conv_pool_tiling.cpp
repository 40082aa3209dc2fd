// fused_conv_pool_tiling.cpp: computes a map and the pool over its windows together, a few rows at a time.
//
// A convolution over a large image writes a map of many megabytes, and the pool that follows reads it back to keep a
// quarter: 32 maps of 900x120 are 13.8 MB. Here a loop over blocks of rows of the result surrounds all nests, and each
// block starts with the rows of the map that its windows cover, in memory for these rows only. The nests of a block
// then get the schedules that they would get anyway.
//
// If windows overlap, a block needs the last rows of the one before. They are computed again, which keeps blocks
// independent of each other. Rows outside of the map are not part of a block: the first and the last block start and
// end where the map does, and the pool's own condition excludes what is outside. Each element is computed as before, so
// results have the same bits.
//
// If the number of rows is open, there are two loops: one over blocks whose windows are all inside of the map, which
// therefore need no condition, and one over the rows that are left, each a block of its own.
//
// Rejected: compute_at, which keeps the map's size and adds a branch before every row that no strategy for reductions
// understands; a ring of rows that blocks pass on, which would make them sequential; and a last block that begins
// early, for which an image of open height may have too few rows.
#include "compiler/schedule/primitives/fused_conv_pool_tiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/analysis/nests.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

namespace {

using analysis::Nest;
using tir::Indices;

/// The subscripts of the only load of `buffer` in `e`, without clamps that a condition around it makes unnecessary;
/// empty if there is no load or several.
Indices subscripts_of(Expr e, BufferRef buffer) {
  const arith::Load* load = nullptr;
  Expr condition;
  size_t count = 0;
  arith::for_each_node(e, [&](Expr node) {
    if (const auto* select = node.as<arith::Select>()) condition = select->condition;
    const auto* one = node.as<arith::Load>();
    if (one != nullptr && one->buffer == buffer) load = one, ++count;
  });
  if (count != 1) return {};
  Indices indices = load->indices;
  for (Expr& index : indices)
    if (condition) index = without_clamps(index, condition);
  return indices;
}

/// Some rows of the map or of the result, in the loop over blocks.
struct BlockRows {
  Expr first, count;
};

/// Blocks of as many rows of the result each.
struct RowBlocks {
  Expr number;              ///< for each one of the batch
  int64_t rows = 1;         ///< of a block
  Expr before;              ///< rows of the result before the first block
  Expr covered;             ///< rows of the map that a block needs
  bool inside_map = false;  ///< whether all of its windows are inside of the map
};

std::optional<int64_t> known(Expr e) {
  const int64_t* value = e.constant();
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

}  // namespace

class MapWindows {
 public:
  MapWindows(const Tree& tree) : context_(tree.context()), facts_(tree.facts()), build_(context_) {
    Stmt kernel = tree.root();
    for (; kernel.as<tir::Alloc>() != nullptr; kernel = kernel.as<tir::Alloc>()->body)
      temporaries_.push_back(kernel.as<tir::Alloc>()->buffer);
    if (const auto* seq = kernel.as<tir::Seq>()) parts_ = seq->body;
  }

  bool fits() { return collect() && find_pool() && agrees() && keeps_places(); }
  WindowedMap map() const {
    const Expr row_bytes = elements(map_, row_) * int64_t{map_->dtype.bytes()};
    return {known(result_->shape[row_]), known(map_->shape[row_]), known(row_bytes), step_, span_, terms()};
  }

  /// The kernel as loops over blocks of `count` rows, which must divide the number of rows if that is known.
  Stmt cut(int64_t count, std::vector<uint32_t>& loops) {
    const Expr rows = result_->shape[row_], map_rows = map_->shape[row_], zero = context_.index(0);
    const int64_t covered = (count - 1) * step_ + span_;
    if (known(rows) && known(map_rows)) {
      const int64_t blocks = *known(rows) / count, last = *known(map_rows) - map().rows_read(count);
      const bool inside = base_ >= 0 && (blocks - 1) * count * step_ + base_ <= last;
      return over({context_.index(blocks), count, zero, context_.index(map().rows_read(count)), inside}, loops);
    }
    Expr whole = arith::floordiv(map_rows - (base_ + covered), count * step_) + 1;
    whole = arith::simplify(arith::max(zero, arith::min(arith::floordiv(rows, count), whole)), facts_);
    const Expr done = arith::simplify(whole * count, facts_), left = arith::simplify(rows - done, facts_);
    const Expr few = arith::simplify(arith::min(map_rows, context_.index(span_)), facts_);
    const Stmt blocks = over({whole, count, zero, context_.index(covered), true}, loops);
    return build_.seq({blocks, over({left, 1, done, few, false}, loops)});
  }

 private:
  struct Own {
    BufferRef from, to;
    Expr first;  ///< first row
  };

  Stmt over(const RowBlocks& blocks, std::vector<uint32_t>& loops) {
    own_.clear();
    batch_ = context_.var("batch");
    Var block = context_.var("block"), row_block = context_.var("row_block"), first_row = context_.var("first_row");
    const Expr first = arith::simplify(row_block * blocks.rows + blocks.before, facts_);
    const Expr begin = arith::simplify(first * step_ + base_, facts_), last = map_->shape[row_] - blocks.covered;
    const BlockRows of_map{blocks.inside_map ? begin : first_row, blocks.covered};
    const BlockRows of_result{first, context_.index(blocks.rows)};
    arith::Facts facts = facts_;
    if (blocks.inside_map) facts.assume(arith::le(begin + blocks.covered, map_->shape[row_]));
    std::vector<BufferRef> scratch;
    for (BufferRef buffer : temporaries_)
      scratch.push_back(add_own(buffer, is_of_map(buffer) ? of_map : of_result, false));
    BufferRef own_result = add_own(result_, of_result, true);
    std::vector<Stmt> made;
    for (size_t i = 0; i < nests_.size(); ++i)
      made.push_back(of_block(nests_[i], i < pool_ ? of_map : of_result, facts));
    Expr place = batch_ * elements(result_, 0) + first * strides_of(result_)[row_];
    Stmt s = build_.view(own_result, result_, arith::simplify(place * int64_t{result_->dtype.bytes()}, facts_),
                         build_.seq(std::move(made)));
    if (!blocks.inside_map)
      s = build_.let(first_row, arith::simplify(arith::max(context_.index(0), arith::min(begin, last)), facts_), s);
    s = build_.let(row_block, arith::simplify(arith::floormod(block, blocks.number), facts_), s);
    s = build_.let(batch_, arith::simplify(arith::floordiv(block, blocks.number), facts_), s);
    for (size_t i = scratch.size(); i-- > 0;) s = build_.alloc(scratch[i], s);
    const Expr all = arith::simplify(result_->shape[0] * blocks.number, facts_);
    tir::For loop = *build_.loop(block, context_.index(0), all, s).as<tir::For>();
    loop.annotations[kIndependent] = 1;
    loops.push_back(loop.id);
    return make_stmt(context_, std::move(loop));
  }

  bool collect() {
    if (parts_.size() < 2) return false;
    for (Stmt part : parts_) {
      nests_.push_back(analysis::as_nest(part));
      if (nests_.back().block == nullptr || !is_normal(nests_.back()) || own_axes(nests_.back()).size() < 3)
        return false;
    }
    result_ = nests_.back().store->buffer;
    return result_->strides.empty() && !is_temporary(result_);
  }

  bool is_temporary(BufferRef buffer) const {
    return std::find(temporaries_.begin(), temporaries_.end(), buffer) != temporaries_.end();
  }

  /// Finds the only nest that reads another nest's result at other subscripts than its own, and reads its windows.
  bool find_pool() {
    for (size_t i = 0; i < nests_.size(); ++i)
      for_each_access(Stmt(nests_[i].block), [&](const Access& access) {
        if (access.is_store || !is_temporary(access.buffer) || analysis::reads_at_own_index(nests_[i], access.buffer))
          return;
        several_ |= map_ != nullptr && (map_ != access.buffer || pool_ != i);
        map_ = access.buffer, pool_ = i;
      });
    if (map_ == nullptr || several_ || !map_->strides.empty()) return false;
    return read_windows(nests_[pool_]);
  }

  bool read_windows(const Nest& pool) {
    const Indices at = subscripts_of(pool.store->value, map_);
    const std::vector<Var> axes = own_axes(pool);
    if (at.empty() || at.size() != axes.size()) return false;
    row_ = static_cast<size_t>(std::mismatch(at.begin(), at.end(), axes.begin()).first - at.begin());
    if (row_ == 0 || row_ + 1 >= at.size()) return false;  // along the last axis there are no rows
    arith::Substitution none;
    span_ = 1;
    for (const tir::IterVar& iter : pool.block->iters) {
      auto by = schedule::step_of(at[row_], iter.var);
      const int64_t* extent = iter.extent.constant();
      none[iter.var] = context_.index(0);
      if (!by || *by < 0) return false;
      if (iter.var == axes[row_]) {
        step_ = *by;
      } else if (*by > 0) {
        if (extent == nullptr) return false;
        span_ += *by * (*extent - 1);
      }
    }
    Expr base = arith::simplify(arith::substitute(at[row_], none));
    if (base.constant() == nullptr || step_ == 0) return false;
    base_ = *base.constant();
    return true;
  }

  /// Whether the map has as many dims as the result and the same batch, none of them is empty, and windows begin inside
  /// of the map, if its rows are open.
  bool agrees() const {
    for (BufferRef buffer : {map_, result_})
      if (buffer->shape.size() != map_->shape.size() || known(elements(buffer, 0)).value_or(1) < 1) return false;
    const bool open = !known(map_->shape[row_]) || !known(result_->shape[row_]);
    return (base_ >= 0 || !open) && arith::prove_equal(map_->shape[0], result_->shape[0]);
  }

  /// Whether nests before the pool compute buffers of the map's shape and the others buffers of the result's, each
  /// element from the same element of such buffers.
  bool keeps_places() const {
    for (size_t i = 0; i < nests_.size(); ++i) {
      BufferRef made = nests_[i].store->buffer, like = i < pool_ ? map_ : result_;
      if (!(is_temporary(made) || made == result_) || !same_dims(made, like)) return false;
      bool keeps = i < pool_ ? made != result_ : !is_of_map(made);
      for_each_access(Stmt(nests_[i].block), [&](const Access& access) {
        if (i >= pool_ && is_temporary(access.buffer) && is_of_map(access.buffer))
          keeps &= i == pool_ && access.buffer == map_;
        keeps &= access.is_store || access.buffer != result_ || made == result_;
      });
      if (!keeps) return false;
    }
    return true;
  }

  static bool same_dims(BufferRef a, BufferRef b) {
    return std::equal(a->shape.begin(), a->shape.end(), b->shape.begin(), b->shape.end(),
                      [](Expr p, Expr q) { return arith::prove_equal(p, q); });
  }
  bool is_of_map(BufferRef buffer) const {
    return std::any_of(nests_.begin(), nests_.begin() + static_cast<std::ptrdiff_t>(pool_),
                       [&](const Nest& nest) { return nest.store->buffer == buffer; });
  }

  /// Elements of one batch entry, in all dims but one; `except` 0: in all.
  Expr elements(BufferRef buffer, size_t except) const {
    Expr count = context_.index(1);
    for (size_t d = 1; d < buffer->shape.size(); ++d)
      if (d != except) count = count * buffer->shape[d];
    return arith::simplify(count, facts_);
  }
  std::vector<Expr> strides_of(BufferRef buffer) const {
    std::vector<Expr> strides(buffer->shape.size(), context_.index(1));
    for (size_t d = buffer->shape.size() - 1; d-- > 0;)
      strides[d] = arith::simplify(strides[d + 1] * buffer->shape[d + 1], facts_);
    return strides;
  }

  /// The maximum number of terms that are summed for an element of the map.
  double terms() const {
    double most = 0;
    for (size_t i = 0; i < pool_; ++i) {
      double count = 1;
      for (const tir::IterVar& iter : nests_[i].block->iters)
        if (const int64_t* extent = iter.extent.constant(); iter.iter_kind == tir::IterKind::kReduce && extent)
          count *= static_cast<double>(*extent);
      most = std::max(most, count);
    }
    return most;
  }

  /// Replaces `from` in the nests of a block by a buffer for some of its rows, of one batch entry.
  BufferRef add_own(BufferRef from, const BlockRows& rows, bool in_place) {
    std::vector<Expr> shape(from->shape.begin() + 1, from->shape.end());
    shape[row_ - 1] = rows.count;
    tir::Buffer own = *build_.buffer(from->name + "_rows", from->dtype, std::move(shape));
    if (in_place)
      for (size_t d = 1; d < from->shape.size(); ++d) own.strides.push_back(strides_of(from)[d]);
    own_.push_back({from, context_.arena().make<tir::Buffer>(std::move(own)), rows.first});
    return own_.back().to;
  }

  /// The nest for the rows of one block.
  Stmt of_block(const Nest& nest, const BlockRows& rows, arith::Facts facts) {
    const std::vector<Var> axes = own_axes(nest);
    tir::Block block = *nest.block;
    block.id = 0;
    block.iters.clear();
    arith::Substitution at{{axes[0], batch_}};
    std::vector<tir::For> around;
    for (const tir::For* loop : nest.loops) {
      tir::IterVar iter = *std::find_if(nest.block->iters.begin(), nest.block->iters.end(),
                                        [&](const tir::IterVar& one) { return one.binding == loop->var; });
      if (iter.var == axes[0]) continue;
      Var axis = context_.var(iter.var.name());
      const bool is_row = iter.var == axes[row_];
      at[iter.var] = is_row ? arith::simplify(rows.first + axis) : Expr(axis);
      if (is_row) iter.extent = rows.count;
      tir::For& inner = around.emplace_back(*loop);
      inner.id = context_.next_id() + 1;
      inner.var = context_.var(loop->var.name());
      inner.extent = iter.extent;
      iter.var = axis, iter.binding = inner.var;
      block.iters.push_back(iter);
    }
    for (const tir::IterVar& iter : block.iters)
      if (auto extent = known(iter.extent)) facts.bound(iter.var, {0, *extent - 1});
    block.body = moved(block.body, at, facts);
    if (block.init) block.init = moved(block.init, at, facts);
    Stmt s = build_.block(std::move(block));
    for (size_t i = around.size(); i-- > 0;) {
      around[i].body = s;
      s = make_stmt(context_, around[i]);
    }
    return s;
  }

  Stmt moved(Stmt s, const arith::Substitution& at, const arith::Facts& facts) {
    s = without_known_conditions(tir::substitute(context_, s, at), facts);
    for (const Own& own : own_)
      s = redirect(context_, s, own.from, own.to, [&](const Indices& from) -> std::optional<Indices> {
        Indices inside(from.begin() + 1, from.end());
        inside[row_ - 1] = arith::simplify(from[row_] - own.first);
        return inside;
      });
    return s;
  }

  /// Removes from selects which conditions hold where the rows of a block are all inside of the map.
  Stmt without_known_conditions(Stmt s, const arith::Facts& facts) {
    tir::Rewriter rewriter;
    rewriter.on_expr = [&](Expr e) {
      return arith::rewrite(e, [&](Expr node) {
        const auto* select = node.as<arith::Select>();
        if (select == nullptr) return node;
        return context_.select(arith::simplify(select->condition, facts),
                               without_clamps(select->then_value, select->condition), select->else_value);
      });
    };
    return tir::rewrite(context_, s, rewriter);
  }

  arith::Context& context_;
  const arith::Facts& facts_;
  tir::Builder build_;
  std::vector<Stmt> parts_;
  std::vector<BufferRef> temporaries_;
  std::vector<Nest> nests_;
  BufferRef result_ = nullptr, map_ = nullptr;  ///< `map_`: what the windows are over
  size_t pool_ = 0;                             ///< index of the nest that reduces windows
  bool several_ = false;                        ///< there is more than one such nest
  size_t row_ = 0;                              ///< the axis of rows
  int64_t step_ = 0, span_ = 0, base_ = 0;      ///< window i covers `span_` rows from i * `step_` + `base_` on
  Var batch_;
  std::vector<Own> own_;
};

std::optional<WindowedMap> windowed_map_of(const Tree& tree) {
  MapWindows windows(tree);
  return tree.may_allocate() && windows.fits() ? std::optional(windows.map()) : std::nullopt;
}

Legal<FusedConvPoolTiling::Facts> FusedConvPoolTiling::legal(const Tree& tree) const {
  const Facts windows = std::make_shared<MapWindows>(tree);
  RELAXC_REQUIRE(tree.may_allocate() && tree.is_whole() && windows->fits(),
                 "the kernel does not reduce windows of a map that it computes itself, or has no scratch memory");
  const std::optional<int64_t> all = windows->map().rows;
  RELAXC_REQUIRE(rows > 0 && (!all || *all % rows == 0),
                 fmt::format("{} does not divide the {} rows of the result", rows, all.value_or(0)));
  return windows;
}

FusedConvPoolTiling::Made FusedConvPoolTiling::apply(Tree& tree, const Facts& windows) const {
  std::vector<uint32_t> loops;
  tree.set_root(windows->cut(rows, loops));
  return loops;
}

}  // namespace relaxc::schedule
