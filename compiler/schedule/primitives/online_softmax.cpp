// online_softmax.cpp: softmax(scores) times values by blocks of keys, with memory for one block only.
//
// A softmax needs the maximum of a row before its first exponential, so a block of rows (strip_mine_rows.cpp) keeps
// whole rows of scores. With many keys these do not fit the cache, or few rows fit and each loaded tile of keys and
// values serves few of them. Here one loop over blocks of keys surrounds the nests of a block of rows.
// For each row there are the maximum so far, and sums of exponentials relative to it: the denominator, and the products
// with the values. When a block has a greater maximum, the sums so far are multiplied by exp(before - now). If a row's
// exponentials are divided by their sum, the sums are divided at the end instead (Milakov & Gimelshein 2018; Dao et al.
// 2022).
//
// Nothing is specific to attention: the nests that computed scores for a row, with masks and caps, now compute them for
// a block, and each nest gets the schedule that its kind gets anyway. The maximum and the exponentials relative to it
// are recognized in the nests (analysis/softmax_roles.h), and every other use of a row of exponentials must be a sum in
// which they are a factor; otherwise this step is refused.
//
// Rows that have had no score except -inf use exponentials relative to 0 (all are 0 then), so that a later block does
// not produce a NaN; if it stays so, the sum is 0 and the row 0 / 0, a NaN as for softmax, or 0 where exponentials of
// such rows were set to 0. A NaN or inf among the scores makes the row NaN in both forms.
//
// Rounding: with u = 2^-24, T keys in B blocks and weights w >= 0 that add up to 1, the error of a result is at most
// about (T + 3 B + c) u sum w |v| in this form and (T + c) u sum w |v| in the plain one: each block adds the
// rounding of one exp, one product and one sum to the sums so far. c is for the exponential, the quotient and the
// product. Sums of exponentials times values are divided only at the end, so values above the greatest float / T may
// overflow.
#include "compiler/schedule/primitives/online_softmax.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/analysis/softmax_roles.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using analysis::Nest;
using tir::Indices;

namespace {

/// Turns the nests of a block of rows into nests before, in and after a loop over blocks of keys.
class KeyBlocks {
 public:
  KeyBlocks(arith::Context& context, const SoftmaxRoles& roles, const arith::Facts& facts, int64_t size)
      : context_(context), build_(context), roles_(roles), facts_(facts), size_(size) {}

  /// Returns all statements; sets `loop` to the loop over blocks.
  Stmt made(uint32_t& loop) {
    const Expr rows = roles_.row_max()->shape[0];
    correction_ = row_of("correction"), shift_ = row_of("shift");
    for (const Nest& nest : roles_.nests())
      if (BufferRef own = nest.store->buffer; roles_.is_column(own) && !has_block(own))
        blocks_.push_back({own, room(own->name + "_block", own->dtype, {rows, context_.index(size_)})});
    Stmt all =
        build_.loop("keys", arith::simplify(arith::ceildiv(roles_.keys(), context_.index(size_))), [&](Var step) {
          begin_ = step * size_;
          const bool even = arith::divisor(arith::simplify(roles_.keys()), facts_) % size_ == 0;
          width_ = even ? context_.index(size_) : arith::min(context_.index(size_), roles_.keys() - begin_);
          for (size_t i = 0; i < roles_.nests().size(); ++i) add(roles_.nests()[i], roles_.role(i));
          return build_.seq(blocks_of_keys_);
        });
    loop = all.as<tir::For>()->id;
    before_.push_back(all);
    before_.insert(before_.end(), after_.begin(), after_.end());
    Stmt s = build_.seq(before_);
    for (size_t i = rooms_.size(); i-- > 0;) s = build_.alloc(rooms_[i], s);
    return s;
  }

 private:
  bool has_block(BufferRef column) const {
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& one) { return one.first == column; });
  }
  BufferRef room(std::string name, DType dtype, std::vector<Expr> shape) {
    rooms_.push_back(build_.buffer(std::move(name), dtype, std::move(shape)));
    return rooms_.back();
  }
  BufferRef row_of(std::string name) { return room(std::move(name), roles_.row_max()->dtype, roles_.row_max()->shape); }
  Expr of_row(BufferRef buffer, const Indices& at) { return build_.load(buffer, {at[0], context_.index(0)}); }

  void add(const Nest& nest, Role role) {
    switch (role) {
      case Role::kFill:
      case Role::kNormalize:
        return;
      case Role::kBefore:
        return before_.push_back(Stmt(nest.loops.front()));
      case Role::kAfter:
        return after_.push_back(Stmt(nest.loops.front()));
      case Role::kColumns:
        return blocks_of_keys_.push_back(of_block(nest));
      case Role::kRowMax:
      case Role::kSum:
      case Role::kReduce:
        return add_reduction(nest, role);
    }
  }

  /// Adds the block's own reduction, and the nest that combines it with that over all keys.
  void add_reduction(const Nest& nest, Role role) {
    BufferRef whole = nest.store->buffer;
    BufferRef part = room(whole->name + "_part", whole->dtype, whole->shape);
    const Expr neutral = nest.block->init.as<tir::Store>()->value;
    before_.push_back(build_.compute(
        whole, [&](const Indices&) { return neutral; }, whole->name + "_begin"));
    Stmt of_part = redirect(context_, of_block(nest), whole, part, [](const Indices& at) { return std::optional(at); });
    blocks_of_keys_.push_back(of_part);
    if (role == Role::kRowMax) return add_row_max(whole, part);
    const arith::ExprKind kind = update_of(*nest.store).kind;
    auto joined = [&](const Indices& at) {
      Expr before = build_.load(whole, at), own = build_.load(part, at);
      if (role == Role::kSum) return before * of_row(correction_, at) + own;
      return kind == arith::ExprKind::kMax   ? arith::max(before, own)
             : kind == arith::ExprKind::kMin ? arith::min(before, own)
             : kind == arith::ExprKind::kMul ? before * own
                                             : before + own;
    };
    blocks_of_keys_.push_back(build_.compute(whole, joined, whole->name + "_join"));
    if (roles_.has_normalizer(nest)) {
      auto normalized = [&](const Indices& at) { return roles_.finished(nest, at[0], build_.load(whole, at)); };
      after_.push_back(build_.compute(whole, normalized, whole->name + "_normalized"));
    }
  }

  void add_row_max(BufferRef row_max, BufferRef part) {
    const Expr lowest = context_.number(row_max->dtype, -std::numeric_limits<double>::infinity());
    auto grown = [&](const Indices& at) { return arith::max(build_.load(row_max, at), build_.load(part, at)); };
    auto correction = [&](const Indices& at) {
      Expr before = build_.load(row_max, at), now = grown(at);
      return arith::select(arith::eq(before, now), context_.number(row_max->dtype, 1),
                           arith::call(arith::Intrinsic::k_exp_nonpositive, {before - now}));
    };
    auto shift = [&](const Indices& at) {
      Expr now = build_.load(row_max, at);
      return arith::select(arith::eq(now, lowest), context_.zero(row_max->dtype), now);
    };
    blocks_of_keys_.push_back(build_.compute(correction_, correction, "correction"));
    blocks_of_keys_.push_back(build_.compute(row_max, grown, row_max->name + "_join"));
    blocks_of_keys_.push_back(build_.compute(shift_, shift, "shift"));
  }

  /// The nest for the keys of one block.
  Stmt of_block(const Nest& nest) {
    const Var key = roles_.key_of(nest), place = context_.var(key.name());
    Stmt s = Stmt(nest.loops.front());
    if (roles_.is_exps(nest))
      s = redirect(context_, s, roles_.row_max(), shift_, [](const Indices& at) { return std::optional(at); });
    for (const auto& [column, block] : blocks_)
      s = redirect(context_, s, column, block, [&](const Indices& at) -> std::optional<Indices> {
        return Indices{at[0], place};
      });
    const tir::IterVar& iter = *std::find_if(nest.block->iters.begin(), nest.block->iters.end(),
                                             [&](const tir::IterVar& one) { return one.var == key; });
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](Stmt inner) {
      if (const auto* loop = inner.as<tir::For>(); loop != nullptr && loop->var == iter.binding) {
        tir::For fewer = *loop;
        fewer.extent = width_;
        return make_stmt(context_, std::move(fewer));
      }
      if (const auto* block = inner.as<tir::Block>()) {
        tir::Block own = *block;
        for (tir::IterVar& one : own.iters)
          if (one.var == key) one.var = place, one.extent = width_;
        own.body = tir::substitute(context_, own.body, {{key, begin_ + place}});
        if (own.init) own.init = tir::substitute(context_, own.init, {{key, begin_ + place}});
        return make_stmt(context_, std::move(own));
      }
      return inner;
    };
    return tir::rewrite(context_, s, rewriter);
  }

  arith::Context& context_;
  tir::Builder build_;
  const SoftmaxRoles& roles_;
  const arith::Facts& facts_;
  int64_t size_;
  std::vector<std::pair<BufferRef, BufferRef>> blocks_;  ///< buffers of columns, and their parts for one block of keys
  std::vector<BufferRef> rooms_;
  std::vector<Stmt> before_, blocks_of_keys_, after_;
  BufferRef correction_ = nullptr,
            shift_ = nullptr;  ///< factor of the sums so far; what exponents are relative to
  Expr begin_, width_;         ///< of a block of keys
};

/// `s` with `inner` in place of the sequence inside of its allocations, lets and views.
Stmt with_statements(Context& context, Stmt s, Stmt inner) {
  auto around = [&](auto node) {
    node.body = with_statements(context, node.body, inner);
    return make_stmt(context, std::move(node));
  };
  if (const auto* alloc = s.as<tir::Alloc>()) return around(*alloc);
  if (const auto* let = s.as<tir::Let>()) return around(*let);
  if (const auto* view = s.as<tir::View>()) return around(*view);
  return inner;
}

}  // namespace

Expr softmax_keys(const Tree& tree, uint32_t loop) {
  SoftmaxRoles roles(statements_of(tree.loop(loop).body));
  return roles.fits() ? roles.keys() : Expr();
}

Legal<OnlineSoftmax::Facts> OnlineSoftmax::legal(const Tree& tree) const {
  const Facts roles = std::make_shared<SoftmaxRoles>(statements_of(tree.loop(loop).body));
  RELAXC_REQUIRE(roles->fits(), fmt::format("loop '{}' is not around nests of rows that sum exps relative to a maximum",
                                            loop_name(tree, loop)));
  RELAXC_REQUIRE(keys > 0, "a block has at least 1 key");
  return roles;
}

OnlineSoftmax::Made OnlineSoftmax::apply(Tree& tree, const Facts& roles) const {
  uint32_t made = 0;
  Stmt inner = KeyBlocks(tree.context(), *roles, tree.facts(), keys).made(made);
  tree.edit_loop(loop, [&](const tir::For& from) {
    tir::For around = from;
    around.body = with_statements(tree.context(), from.body, inner);
    return make_stmt(tree.context(), std::move(around));
  });
  return made;
}

}  // namespace relaxc::schedule
