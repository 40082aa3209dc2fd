// online_softmax.cpp: softmax(scores) times values by blocks of keys, with memory for one block alone.
//
// A softmax needs the maximum of a row before its first power, so a block of rows (strip_mine_rows.cpp) keeps whole
// rows of scores. Where there are many keys those leave the cache, or few rows fit and each tile of keys and values
// that is loaded serves few of them. Here one loop over blocks of keys goes around the nests of a block of rows. Per
// row there is the maximum so far, and sums of powers that are relative to it: the denominator, and the products with
// the values. When a block brings a greater maximum, sums so far are multiplied by exp(before - now). What divides a
// row's powers by their sum divides the sums at the end instead (Milakov & Gimelshein 2018; Dao et al. 2022).
//
// Nothing is written by hand for attention: what makes the scores of a block, masks and caps included, are the nests
// that made them for the row, and each nest gets the schedule that its kind gets anyway. What a maximum and a power of
// it are is read from the nests (SoftmaxPlan), and every other use of a row of powers has to be a sum in which they are
// a factor; of anything else this step is refused.
//
// Rows that have seen no score but -inf have powers relative to 0 (all are 0 then), so that a later block does not meet
// a NaN; if it stays so, the sum is 0 and the row 0 / 0, NaN as by softmax, or 0 where powers of such rows were made 0.
// A NaN or inf among the scores makes the row NaN in both forms.
//
// Rounding: with u = 2^-24, T keys in B blocks and weights w >= 0 that add up to 1, a result is off by at most about
// (T + 3 B + c) u sum w |v| in this form and (T + c) u sum w |v| in the plain one: each block adds the rounding of one
// exp, one product and one sum to what was summed before. c is what the power, the quotient and the product take.
// Sums of powers times values are not divided before the end, so values above the greatest float / T may overflow.
#include "compiler/schedule/primitives/online_softmax.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "compiler/analysis/pattern.h"
#include "compiler/arith/walks.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/analysis/nests.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using analysis::Nest;
using tir::Indices;

namespace {}  // namespace

/// What becomes of a nest.
enum class Role : uint8_t {
  kBefore,   ///< not of the keys: once, before the blocks
  kFill,     ///< fills in the neutral element of a reduction over keys, which begins with it anyway
  kColumns,  ///< one element a key: for a block of keys at a time
  kTop,      ///< the maximum that powers are relative to
  kSum,      ///< a sum of powers, or of products with them: corrected where the maximum grows
  kReduce,   ///< another reduction over keys
  kShares,   ///< powers times what their row has in common: done to the sums instead
  kAfter,    ///< needs what reductions over all keys give
};

namespace {

bool is_number_zero(Expr e) {
  const auto* number = e.as<arith::FloatImm>();
  return number != nullptr && number->value == 0;
}

/// The subscript, if it is nothing but a variable.
Var var_at(const Indices& indices, size_t place) {
  return indices.size() == 2 ? Var(indices[place].as<arith::VarNode>()) : Var();
}

}  // namespace

/// Which nests of a block of rows are of keys, and how their results depend on the maximum.
class SoftmaxPlan {
 public:
  explicit SoftmaxPlan(const std::vector<Stmt>& parts) {
    for (Stmt part : parts) nests_.push_back(analysis::as_nest(part));
  }

  bool fits() { return are_nests() && find_powers() && find_columns() && give_roles(); }

  const std::vector<Nest>& nests() const { return nests_; }
  Role role(size_t i) const { return roles_[i]; }
  BufferRef top() const { return top_; }
  Expr keys() const { return keys_; }
  bool is_column(BufferRef buffer) const { return columns_.count(buffer) != 0; }
  bool is_powers(const Nest& nest) const { return nest.block == powers_->block; }
  /// The variable that runs over keys in a nest of them.
  Var key_of(const Nest& nest) const {
    if (is_column(nest.store->buffer)) return var_at(nest.store->indices, 1);
    for (const tir::IterVar& iter : nest.block->iters)
      if (iter.iter_kind == tir::IterKind::kReduce) return iter.var;
    return {};
  }
  /// Whether sums of this nest lack what their powers were to be multiplied by.
  bool has_share(const Nest& nest) const {
    auto found = shares_.find(nest.store->buffer);
    return found != shares_.end() && found->second.value;
  }
  /// What `sum`, of row `row`, is with that.
  Expr finished(const Nest& nest, Expr row, Expr sum) const {
    const Share& share = shares_.at(nest.store->buffer);
    const arith::Substitution at{{share.row, row}};
    Expr product = sum * arith::substitute(share.value, at);
    return share.empty ? arith::select(arith::substitute(share.empty, at), sum.context().zero(sum.dtype()), product)
                       : product;
  }

 private:
  /// What powers of a row are multiplied by, unless the row is empty, which makes them 0.
  struct Share {
    Expr value, empty;  ///< null: there is no such thing
    Var row;
  };

  bool are_nests() const {
    return std::all_of(nests_.begin(), nests_.end(), [](const Nest& nest) {
      return nest.block != nullptr && is_normal(nest) && nest.store->indices.size() == 2 &&
             nest.store->buffer->shape.size() == 2 && var_at(nest.store->indices, 0) && var_at(nest.store->indices, 1);
    });
  }

  const Nest* maker_of(BufferRef buffer, const Nest* before) const {
    const Nest* found = nullptr;
    for (const Nest& nest : nests_) {
      if (&nest == before) break;
      if (nest.store->buffer == buffer) found = &nest;
    }
    return found;
  }

  /// exp(x - top) behind a maximum of the same x.
  bool find_powers() {
    for (const Nest& nest : nests_) {
      const auto* power = nest.store->value.as<arith::Call>();
      if (nest.block->init || power == nullptr || power->intrinsic != arith::Intrinsic::k_exp) continue;
      const auto* shifted = power->args[0].as<arith::Sub>();
      const auto* top = shifted == nullptr ? nullptr : shifted->b.as<arith::Load>();
      if (top == nullptr || top->indices.size() != 2 || !(top->indices[0] == nest.store->indices[0])) continue;
      const Nest* maximum = maker_of(top->buffer, &nest);
      if (maximum == nullptr || !is_maximum(*maximum, shifted->a, nest)) continue;
      powers_ = &nest, maximum_ = maximum, top_ = top->buffer;
      return true;
    }
    return false;
  }

  bool is_maximum(const Nest& nest, Expr element, const Nest& powers) {
    if (!is_reduction(nest) || !top_is_neutral(nest)) return false;
    const Update update = update_of(*nest.store);
    std::vector<const tir::IterVar*> reduced;
    for (const tir::IterVar& iter : nest.block->iters)
      if (iter.iter_kind == tir::IterKind::kReduce) reduced.push_back(&iter);
    if (!update.value || update.kind != arith::ExprKind::kMax || reduced.size() != 1) return false;
    keys_ = reduced[0]->extent;
    return arith::substitute(update.value, {{var_at(nest.store->indices, 0), powers.store->indices[0]},
                                            {reduced[0]->var, powers.store->indices[1]}}) == element;
  }

  static bool top_is_neutral(const Nest& nest) {
    const auto* init = nest.block->init.as<tir::Store>()->value.as<arith::FloatImm>();
    return init != nullptr && init->value == -std::numeric_limits<double>::infinity();
  }

  bool is_made(BufferRef buffer) const {
    return std::any_of(nests_.begin(), nests_.end(), [&](const Nest& nest) { return nest.store->buffer == buffer; });
  }

  /// What has an element a key: what the maximum is of, what that is made of, and what is made of it.
  bool find_columns() {
    columns_.insert(powers_->store->buffer);
    for (bool grew = true; grew;) {
      grew = false;
      for (const Nest& nest : nests_) {
        const Var own = var_at(nest.store->indices, 1);
        const bool is_own = is_column(nest.store->buffer);
        for_each_access(Stmt(nest.block), [&](const Access& access) {
          if (access.is_store || !is_made(access.buffer) || !(var_at(access.indices, 1) == own)) return;
          if (is_own) grew |= columns_.insert(access.buffer).second;
          if (!is_own && is_column(access.buffer)) grew |= columns_.insert(nest.store->buffer).second;
        });
      }
    }
    return std::all_of(nests_.begin(), nests_.end(), [&](const Nest& nest) {
      return !is_column(nest.store->buffer) || arith::prove_equal(nest.store->buffer->shape[1], keys_);
    });
  }

  /// Whether columns are read in the row of the nest and at `key` alone; `any`: whether they are at all.
  bool reads_in_order(const Nest& nest, Var key, bool& any) const {
    bool in_order = true;
    for_each_access(Stmt(nest.block), [&](const Access& access) {
      if (!is_column(access.buffer)) return;
      any = true;
      in_order &= access.indices[0] == nest.store->indices[0] && key && access.indices[1] == key;
    });
    return in_order;
  }

  bool reads_any(Expr e, const std::set<BufferRef>& buffers) const {
    bool found = false;
    arith::for_each_node(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      found |= load != nullptr && buffers.count(load->buffer) != 0;
    });
    return found;
  }

  bool give_roles() {
    for (size_t i = 0; i < nests_.size(); ++i) {
      std::optional<Role> role = role_of(i);
      if (!role) return false;
      roles_.push_back(*role);
      const bool whole = *role == Role::kTop || *role == Role::kSum || *role == Role::kReduce || *role == Role::kAfter;
      if (whole) totals_.insert(nests_[i].store->buffer);
    }
    return true;
  }

  std::optional<Role> role_of(size_t i) {
    const Nest& nest = nests_[i];
    const bool fills = i + 1 < nests_.size() && is_reduction(nests_[i + 1]) && fills_for(nest, nests_[i + 1]);
    if (fills) return reduces_keys(nests_[i + 1]) ? Role::kFill : Role::kBefore;
    const bool in_columns = is_column(nest.store->buffer);
    bool reads_columns = false;
    const Var key = in_columns || reduces_keys(nest) ? key_of(nest) : Var();
    if (!reads_in_order(nest, key, reads_columns)) return {};
    if (&nest == maximum_) return Role::kTop;
    if (in_columns) return role_of_columns(nest);
    if (reads_columns) return role_of_reduction(nest);
    return reads_any(nest.store->value, totals_) ? Role::kAfter : Role::kBefore;
  }

  bool reduces_keys(const Nest& nest) const {
    if (!is_reduction(nest) || is_column(nest.store->buffer)) return false;
    size_t axes = 0;
    bool keys = false;
    for (const tir::IterVar& iter : nest.block->iters)
      if (iter.iter_kind == tir::IterKind::kReduce) ++axes, keys = arith::prove_equal(iter.extent, keys_);
    bool any = false;
    return axes == 1 && keys && (reads_in_order(nest, key_of(nest), any), any);
  }

  std::optional<Role> role_of_columns(const Nest& nest) {
    BufferRef own = nest.store->buffer;
    if (&nest == powers_) {
      powers_of_[own] = {};
      return Role::kColumns;
    }
    std::set<BufferRef> relative;
    for (const auto& [buffer, none] : powers_of_) relative.insert(buffer);
    if (!reads_any(nest.store->value, relative))
      return reads_any(nest.store->value, totals_) || powers_of_.count(own) != 0 ? std::nullopt
                                                                                 : std::optional(Role::kColumns);
    return nest.block->init ? std::nullopt : role_of_shares(nest, relative);
  }

  /// powers[row, key] * share(row), or 0 in rows of which a condition holds; in place.
  std::optional<Role> role_of_shares(const Nest& nest, const std::set<BufferRef>& relative) {
    const auto* select = nest.store->value.as<arith::Select>();
    if (select != nullptr && !is_number_zero(select->then_value)) return {};
    const Expr empty = select != nullptr ? select->condition : Expr();
    const auto* product = (select != nullptr ? select->else_value : nest.store->value).as<arith::Mul>();
    if (product == nullptr) return {};
    Expr power = product->a, share = product->b;
    const auto* load = power.as<arith::Load>();
    if (load == nullptr) std::swap(power, share), load = power.as<arith::Load>();
    if (load == nullptr || load->buffer != nest.store->buffer || relative.count(load->buffer) == 0) return {};
    auto is_of_row = [&](Expr e) { return !reads_any(e, columns_) && !depends_on(e, key_of(nest)); };
    if (!is_of_row(share) || (empty && !is_of_row(empty)) || powers_of_[load->buffer].value) return {};
    powers_of_[load->buffer] = {share, empty, var_at(nest.store->indices, 0)};
    return Role::kShares;
  }

  std::optional<Role> role_of_reduction(const Nest& nest) {
    const Update update = update_of(*nest.store);
    if (!update.value || !reduces_keys(nest) || !is_neutral(update.kind, nest.block->init.as<tir::Store>()->value))
      return {};
    std::set<BufferRef> relative;
    for (const auto& [buffer, none] : powers_of_) relative.insert(buffer);
    if (reads_any(update.value, totals_)) return {};
    if (!reads_any(update.value, relative)) return Role::kReduce;
    const DType dtype = nest.store->buffer->dtype;
    BufferRef power = one_factor(update.value, relative);
    if (update.kind != arith::ExprKind::kAdd || !dtype.is_float() || dtype.bits < 32 || power == nullptr) return {};
    shares_[nest.store->buffer] = powers_of_[power];
    return Role::kSum;
  }

  /// The one buffer of `relative` that is a factor of the product, if no other factor reads one.
  BufferRef one_factor(Expr product, const std::set<BufferRef>& relative) const {
    BufferRef found = nullptr;
    arith::for_each_reached(product, [&](Expr e) -> std::vector<Expr> {
      const auto* load = e.as<arith::Load>();
      if (load != nullptr && relative.count(load->buffer) != 0) found = load->buffer;
      const auto* both = e.as<arith::Mul>();
      if (both == nullptr) return {};
      const bool in_a = reads_any(both->a, relative), in_b = reads_any(both->b, relative);
      if (in_a == in_b) return {};
      return {in_a ? both->a : both->b};
    });
    return found;
  }

  std::vector<Nest> nests_;
  std::vector<Role> roles_;
  const Nest *powers_ = nullptr, *maximum_ = nullptr;
  BufferRef top_ = nullptr;
  Expr keys_;
  std::set<BufferRef> columns_, totals_;  ///< asked for membership only
  std::map<BufferRef, Share> powers_of_;  ///< columns relative to the maximum, and what their row has in common
  std::map<BufferRef, Share> shares_;     ///< of sums; looked up only
};

namespace {

/// The nests of a block of rows as nests before, in and behind a loop over blocks of keys.
class KeyBlocks {
 public:
  KeyBlocks(arith::Context& context, const SoftmaxPlan& plan, const arith::Facts& facts, int64_t size)
      : context_(context), build_(context), plan_(plan), facts_(facts), size_(size) {}

  /// Gives the statements for all of it; `loop` gets the loop over blocks.
  Stmt made(uint32_t& loop) {
    const Expr rows = plan_.top()->shape[0];
    correction_ = row_of("correction"), shift_ = row_of("shift");
    for (const Nest& nest : plan_.nests())
      if (BufferRef own = nest.store->buffer; plan_.is_column(own) && !has_block(own))
        blocks_.push_back({own, room(own->name + "_block", own->dtype, {rows, context_.index(size_)})});
    Stmt all = build_.loop("keys", arith::simplify(arith::ceildiv(plan_.keys(), context_.index(size_))), [&](Var step) {
      begin_ = step * size_;
      const bool even = arith::divisor(arith::simplify(plan_.keys()), facts_) % size_ == 0;
      width_ = even ? context_.index(size_) : arith::min(context_.index(size_), plan_.keys() - begin_);
      for (size_t i = 0; i < plan_.nests().size(); ++i) add(plan_.nests()[i], plan_.role(i));
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
  BufferRef row_of(std::string name) { return room(std::move(name), plan_.top()->dtype, plan_.top()->shape); }
  Expr of_row(BufferRef buffer, const Indices& at) { return build_.load(buffer, {at[0], context_.index(0)}); }

  void add(const Nest& nest, Role role) {
    switch (role) {
      case Role::kFill:
      case Role::kShares:
        return;
      case Role::kBefore:
        return before_.push_back(Stmt(nest.loops.front()));
      case Role::kAfter:
        return after_.push_back(Stmt(nest.loops.front()));
      case Role::kColumns:
        return blocks_of_keys_.push_back(of_block(nest));
      case Role::kTop:
      case Role::kSum:
      case Role::kReduce:
        return add_reduction(nest, role);
    }
  }

  /// The block's own reduction, and what makes it part of that over all keys.
  void add_reduction(const Nest& nest, Role role) {
    BufferRef whole = nest.store->buffer;
    BufferRef part = room(whole->name + "_part", whole->dtype, whole->shape);
    const Expr neutral = nest.block->init.as<tir::Store>()->value;
    before_.push_back(build_.compute(
        whole, [&](const Indices&) { return neutral; }, whole->name + "_begin"));
    Stmt of_part = redirect(context_, of_block(nest), whole, part, [](const Indices& at) { return std::optional(at); });
    blocks_of_keys_.push_back(of_part);
    if (role == Role::kTop) return add_top(whole, part);
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
    if (plan_.has_share(nest)) {
      auto shared = [&](const Indices& at) { return plan_.finished(nest, at[0], build_.load(whole, at)); };
      after_.push_back(build_.compute(whole, shared, whole->name + "_share"));
    }
  }

  void add_top(BufferRef top, BufferRef part) {
    const Expr lowest = context_.number(top->dtype, -std::numeric_limits<double>::infinity());
    auto grown = [&](const Indices& at) { return arith::max(build_.load(top, at), build_.load(part, at)); };
    auto correction = [&](const Indices& at) {
      Expr before = build_.load(top, at), now = grown(at);
      return arith::select(arith::eq(before, now), context_.number(top->dtype, 1),
                           arith::call(arith::Intrinsic::k_exp, {before - now}));
    };
    auto shift = [&](const Indices& at) {
      Expr now = build_.load(top, at);
      return arith::select(arith::eq(now, lowest), context_.zero(top->dtype), now);
    };
    blocks_of_keys_.push_back(build_.compute(correction_, correction, "correction"));
    blocks_of_keys_.push_back(build_.compute(top, grown, top->name + "_join"));
    blocks_of_keys_.push_back(build_.compute(shift_, shift, "shift"));
  }

  /// The nest over the keys of one block alone.
  Stmt of_block(const Nest& nest) {
    const Var key = plan_.key_of(nest), place = context_.var(key.name());
    Stmt s = Stmt(nest.loops.front());
    if (plan_.is_powers(nest))
      s = redirect(context_, s, plan_.top(), shift_, [](const Indices& at) { return std::optional(at); });
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
  const SoftmaxPlan& plan_;
  const arith::Facts& facts_;
  int64_t size_;
  std::vector<std::pair<BufferRef, BufferRef>> blocks_;  ///< columns, and those of one block of keys
  std::vector<BufferRef> rooms_;
  std::vector<Stmt> before_, blocks_of_keys_, after_;
  BufferRef correction_ = nullptr,
            shift_ = nullptr;  ///< by what sums so far are multiplied; what powers are relative to
  Expr begin_, width_;         ///< of a block of keys
};

/// `s` with `inner` in place of the sequence at its heart.
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
  SoftmaxPlan plan(statements_of(tree.loop(loop).body));
  return plan.fits() ? plan.keys() : Expr();
}

int64_t keys_of_block(const Tree& tree, uint32_t loop, int64_t fewest) {
  const Expr keys = softmax_keys(tree, loop);
  return fewest > 0 && keys && arith::bounds(keys, tree.facts()).upper >= fewest ? kKeysOfBlock : 0;
}

Legal<OnlineSoftmax::Facts> OnlineSoftmax::legal(const Tree& tree) const {
  const Facts plan = std::make_shared<SoftmaxPlan>(statements_of(tree.loop(loop).body));
  RELAXC_REQUIRE(plan->fits(),
                 fmt::format("loop '{}' is not around nests of rows that sum powers relative to a maximum",
                             loop_name(tree, loop)));
  RELAXC_REQUIRE(keys > 0, "a block has at least 1 key");
  return plan;
}

OnlineSoftmax::Made OnlineSoftmax::apply(Tree& tree, const Facts& plan) const {
  uint32_t made = 0;
  Stmt inner = KeyBlocks(tree.context(), *plan, tree.facts(), keys).made(made);
  tree.edit_loop(loop, [&](const tir::For& from) {
    tir::For around = from;
    around.body = with_statements(tree.context(), from.body, inner);
    return make_stmt(tree.context(), std::move(around));
  });
  return made;
}

}  // namespace relaxc::schedule
