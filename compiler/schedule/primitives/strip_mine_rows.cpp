// strip_mine_rows.cpp: runs nests that pass on whole rows for a few rows at a time.
//
// Attention is a product, a softmax over its rows, and a product by these. With one nest after another, all scores of
// all heads are in memory, though a row of the result needs only one row of them: 12 heads of 4096 tokens take 805 MB.
// Here the outer axes and blocks of rows become one loop around all nests, and buffers between the nests have room for
// one block. The nests of a block then get the schedules that they would get anyway, so that masks, biases and whatever
// else is between the products need no strategy of their own.
//
// It does not look for attention: any rows that are expensive to recompute and needed whole are kept, including
// those that a resize mixes before it selects elements. Each element is computed as before, so results have the same
// bits.
//
// If rows are so long that few of them fit, or of unknown length, these blocks are divided into blocks of keys
// (online_softmax.cpp).
#include "compiler/schedule/primitives/strip_mine_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/analysis/nests.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

namespace {

using analysis::Nest;
using tir::Indices;

bool reduces(const Nest& nest) {
  return std::any_of(nest.block->iters.begin(), nest.block->iters.end(),
                     [](const tir::IterVar& iter) { return iter.iter_kind == tir::IterKind::kReduce; });
}

/// Nests that compute each row of the result from the same row of buffers in between, for a block of rows.
struct RowBlocks {
  std::vector<Stmt> parts;             ///< nests over the rows of one block, in terms of `outer`
  std::vector<BufferRef> temporaries;  ///< buffers between the nests of `parts`, for one block
  std::vector<Var> outer;              ///< variables of the axes outside of the rows, and of the block
  std::vector<Expr> extents;           ///< their extents
  BufferRef own_rows = nullptr;        ///< the rows of the result that a block writes
  Expr offset;                         ///< offset of these rows in bytes
};

}  // namespace

class RowStripMining {
 public:
  RowStripMining(arith::Context& context, Stmt kernel, const arith::Facts& facts)
      : context_(context), build_(context), facts_(facts) {
    for (; kernel.as<tir::Alloc>() != nullptr; kernel = kernel.as<tir::Alloc>()->body)
      temporaries_.push_back(kernel.as<tir::Alloc>()->buffer);
    if (const auto* seq = kernel.as<tir::Seq>()) parts_ = seq->body;
  }

  bool fits() { return collect() && separate() && keeps_rows(); }

  RowNests nests() const {
    RowNests found{whole_->shape[rows_ - 1], {}};
    for (const auto& [buffer, none] : between_) {
      if (buffer == whole_) continue;
      const int64_t* known = buffer->shape.back().constant();
      found.between.push_back({known != nullptr ? std::optional(*known) : std::nullopt, buffer->dtype.bytes()});
    }
    return found;
  }

  /// The kernel as loops over blocks of `count` rows, after nests that are not of rows. Sets `loops` to these loops.
  Stmt cut(int64_t count, std::vector<uint32_t>& loops) {
    Expr all = whole_->shape[rows_ - 1], rows = context_.index(count);
    std::vector<Stmt> made;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (!blocked_[i]) made.push_back(parts_[i]);
    auto add = [&](Expr rows_of_one, Expr begin, Expr blocks) {
      made.push_back(around(blocks_of(rows_of_one, begin, blocks)));
      loops.push_back(made.back().as<tir::For>()->id);
    };
    Expr full = arith::simplify(arith::floordiv(all, rows)), left = arith::simplify(arith::floormod(all, rows));
    if (!full.is_constant(0)) add(rows, context_.index(0), full);
    bool even = arith::divisor(arith::simplify(all), facts_) % count == 0;
    if (!even) add(left, arith::simplify(full * rows), arith::min(left, context_.index(1)));
    Stmt s = build_.seq(std::move(made));
    for (size_t i = temporaries_.size(); i-- > 0;) s = build_.alloc(temporaries_[i], s);
    return s;
  }

 private:
  bool collect() {
    if (parts_.size() < 2) return false;
    for (Stmt part : parts_) {
      nests_.push_back(analysis::as_nest(part));
      if (nests_.back().block == nullptr || !is_normal(nests_.back()) || own_axes(nests_.back()).empty()) return false;
    }
    whole_ = nests_.back().store->buffer;
    if (!whole_->strides.empty() || whole_->shape.size() < 2) return false;
    rows_ = whole_->shape.size() - 1;
    return true;
  }

  bool has_rows(BufferRef buffer) const {
    if (buffer->shape.size() != rows_ + 1 || !buffer->strides.empty()) return false;
    for (size_t i = 0; i < rows_; ++i)
      if (!arith::prove_equal(buffer->shape[i], whole_->shape[i], facts_)) return false;
    return true;
  }

  /// Whether all subscripts up to that of the row are the nest's own; a dim of one element has only one row.
  bool at_own_row(const Nest& nest, const Access& access) const {
    for (size_t i = 0; i < rows_; ++i)
      if (!(access.indices[i] == nest.store->indices[i]) && !access.buffer->shape[i].is_constant(1)) return false;
    return true;
  }

  /// Finds the nests of rows. A buffer that another nest reads at other rows than its own is not of rows.
  bool separate() {
    std::set<BufferRef> elsewhere;  // never iterated
    for (const Nest& nest : nests_)
      for_each_access(Stmt(nest.block), [&](const Access& access) {
        if (has_rows(access.buffer) && !(has_rows(nest.store->buffer) && at_own_row(nest, access)))
          elsewhere.insert(access.buffer);
      });
    for (const Nest& nest : nests_) {
      BufferRef result = nest.store->buffer;
      bool ours = result == whole_ || std::find(temporaries_.begin(), temporaries_.end(), result) != temporaries_.end();
      bool blocked = ours && has_rows(result) && elsewhere.count(result) == 0;
      if (!blocked && result == whole_) return false;
      blocked_.push_back(blocked);
      if (blocked && !is_between(result)) between_.push_back({result, nullptr});
    }
    for (size_t i = 0; i < nests_.size(); ++i)
      if (!blocked_[i] && reads_between(nests_[i])) return false;
    return true;
  }

  bool is_between(BufferRef buffer) const {
    return std::any_of(between_.begin(), between_.end(), [&](const auto& one) { return one.first == buffer; });
  }

  bool reads_between(const Nest& nest) const {
    bool found = false;
    for_each_access(Stmt(nest.block), [&](const Access& access) { found |= is_between(access.buffer); });
    return found;
  }

  /// Whether the nest reads more than its own row of a buffer: a product by a matrix, or a mix of several rows.
  bool reads_elsewhere(const Nest& nest) const {
    bool found = false;
    for_each_access(Stmt(nest.block), [&](const Access& access) {
      if (access.is_store) return;
      bool same_rank = access.indices.size() == rows_ + 1;
      found |= same_rank ? !at_own_row(nest, access) : reduces(nest) && access.indices.size() > 1;
    });
    return found;
  }

  /// Whether the nest reads more than one element of a row of `buffer`.
  bool reads_across(const Nest& nest, BufferRef buffer) const {
    bool found = false;
    for_each_access(Stmt(nest.block), [&](const Access& access) {
      found |= access.buffer == buffer && !(access.indices[rows_] == nest.store->indices[rows_]);
    });
    return found;
  }

  /// Whether there are rows that depend on more than the same row of other buffers, directly or indirectly, and that
  /// are needed whole: blocks save the memory of these.
  bool keeps_rows() const {
    std::set<BufferRef> made;  // never iterated
    for (const Nest& nest : nests_) {
      BufferRef row = nest.store->buffer;
      if (row == whole_ || !is_between(row)) continue;
      bool from_made = reads_elsewhere(nest);
      for_each_access(Stmt(nest.block), [&](const Access& access) { from_made |= made.count(access.buffer) != 0; });
      if (from_made) made.insert(row);
    }
    return std::any_of(nests_.begin(), nests_.end(), [&](const Nest& reader) {
      return std::any_of(made.begin(), made.end(), [&](BufferRef row) {
        return reader.store->buffer != row && !row->shape.back().is_constant(1) && reads_across(reader, row);
      });
    });
  }

  /// `count` blocks of `rows` rows, from row `begin` on, for each index of the outer axes.
  RowBlocks blocks_of(Expr rows, Expr begin, Expr count) {
    RowBlocks made;
    Expr place = context_.index(0);
    for (size_t i = 0; i + 1 < rows_; ++i) {
      made.outer.push_back(context_.var(fmt::format("outer{}", i)));
      made.extents.push_back(whole_->shape[i]);
      place = place * whole_->shape[i] + made.outer.back();
    }
    made.outer.push_back(context_.var("row_block"));
    made.extents.push_back(count);
    first_ = arith::simplify(begin + made.outer.back() * rows);
    made.offset = arith::simplify((place * whole_->shape[rows_ - 1] + first_) * whole_->shape.back() *
                                  int64_t{whole_->dtype.bytes()});
    for (auto& [buffer, own] : between_) {
      own = build_.buffer(buffer->name + "_rows", buffer->dtype, {rows, buffer->shape.back()});
      if (buffer == whole_)
        made.own_rows = own;
      else
        made.temporaries.push_back(own);
    }
    for (size_t i = 0; i < parts_.size(); ++i)
      if (blocked_[i]) made.parts.push_back(of_block(nests_[i], made, rows));
    return made;
  }

  /// The nest for the rows of one block.
  Stmt of_block(const Nest& nest, const RowBlocks& made, Expr rows_of_one) {
    std::vector<Var> axes = own_axes(nest);
    tir::Block block = *nest.block;
    block.id = 0;
    block.iters.clear();
    arith::Substitution at, loops;
    for (size_t i = 0; i + 1 < rows_; ++i) at[axes[i]] = made.outer[i];
    std::vector<tir::For> around;
    Var row;
    for (const tir::For* loop : nest.loops) {
      const tir::IterVar& iter = *std::find_if(nest.block->iters.begin(), nest.block->iters.end(),
                                               [&](const tir::IterVar& one) { return one.binding == loop->var; });
      if (at.count(iter.var) != 0) continue;
      tir::For& inner = around.emplace_back(*loop);
      inner.id = context_.next_id() + 1;
      inner.var = context_.var(loop->var.name());
      loops[loop->var] = inner.var;
      if (iter.var == axes[rows_ - 1]) inner.extent = rows_of_one;
    }
    for (tir::IterVar iter : nest.block->iters) {
      if (at.count(iter.var) != 0) continue;
      Var axis = context_.var(iter.var.name());
      bool rows = iter.var == axes[rows_ - 1];
      at[iter.var] = rows ? first_ + axis : axis;
      if (rows) row = axis, iter.extent = rows_of_one;
      iter.var = axis;
      iter.binding = arith::substitute(iter.binding, loops);
      block.iters.push_back(iter);
    }
    auto moved = [&](Stmt s) {
      for (const auto& [buffer, own] : between_)
        s = redirect(context_, s, buffer, own, [&](const Indices& from) -> std::optional<Indices> {
          return Indices{row, from.back()};
        });
      return tir::substitute(context_, s, at);
    };
    block.body = moved(block.body);
    if (block.init) block.init = moved(block.init);
    Stmt s = build_.block(std::move(block));
    for (size_t i = around.size(); i-- > 0;) {
      around[i].body = s;
      s = make_stmt(context_, around[i]);
    }
    return s;
  }

  /// One loop over all blocks: over the indices of the outer axes, and the blocks of rows of each.
  Stmt around(const RowBlocks& blocks) {
    Expr count = build_.index(1);
    for (Expr extent : blocks.extents) count = count * extent;
    Var number = context_.var("block");
    Expr place = number;
    std::vector<Expr> values(blocks.outer.size());
    for (size_t i = blocks.outer.size(); i-- > 0;) {
      values[i] = i == 0 ? place : arith::floormod(place, blocks.extents[i]);
      place = arith::floordiv(place, blocks.extents[i]);
    }
    Stmt s = build_.view(blocks.own_rows, whole_, blocks.offset, build_.seq(blocks.parts));
    for (size_t i = blocks.outer.size(); i-- > 0;) s = build_.let(blocks.outer[i], arith::simplify(values[i]), s);
    for (size_t i = blocks.temporaries.size(); i-- > 0;) s = build_.alloc(blocks.temporaries[i], s);
    tir::For loop = *build_.loop(number, build_.index(0), arith::simplify(count), s).as<tir::For>();
    loop.annotations[kIndependent] = 1;
    return make_stmt(context_, std::move(loop));
  }

  arith::Context& context_;
  tir::Builder build_;
  std::vector<Stmt> parts_;
  std::vector<BufferRef> temporaries_;
  const arith::Facts facts_;
  std::vector<Nest> nests_;
  std::vector<bool> blocked_;
  BufferRef whole_ = nullptr;
  size_t rows_ = 0;                                       ///< number of dims that select a row
  std::vector<std::pair<BufferRef, BufferRef>> between_;  ///< what nests of rows write, and its part for one block
  Expr first_;                                            ///< first row of a block
};

std::optional<RowNests> row_nests_of(const Tree& tree) {
  RowStripMining cutting(tree.context(), tree.root(), tree.facts());
  return cutting.fits() ? std::optional(cutting.nests()) : std::nullopt;
}

Legal<StripMineRows::Facts> StripMineRows::legal(const Tree& tree) const {
  const Facts cutting = std::make_shared<RowStripMining>(tree.context(), tree.root(), tree.facts());
  RELAXC_REQUIRE(tree.is_whole() && cutting->fits(),
                 "the kernel is not a sequence of nests over rows, some of which are needed as a whole in between");
  RELAXC_REQUIRE(rows > 0, "a block has at least 1 row");
  return cutting;
}

StripMineRows::Made StripMineRows::apply(Tree& tree, const Facts& cutting) const {
  std::vector<uint32_t> loops;
  tree.set_root(cutting->cut(rows, loops));
  return loops;
}

}  // namespace relaxc::schedule
