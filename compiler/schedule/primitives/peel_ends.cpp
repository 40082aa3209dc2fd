// peel_ends.cpp: see peel_ends.h.
//
// A condition on a sum of a multiple of the loop's variable and of variables inside of the loop is replaced by one on
// the largest such sum. That gives the range of iterations in which it holds; the ranges of all conditions meet.
#include "compiler/schedule/primitives/peel_ends.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// Collects the range of iterations of a loop in which conditions on its variable hold.
class CommonRange {
 public:
  explicit CommonRange(const For& loop) : loop_(loop), begin_(loop.min.context().index(0)), end_(loop.extent) {
    tir::for_each_stmt(loop.body, [&](Stmt s) {
      if (const auto* inner = s.as<For>()) loops_.push_back(inner), inside_.push_back(inner->var);
      if (const auto* let = s.as<tir::Let>()) inside_.push_back(let->var);
      const auto* block = s.as<tir::Block>();
      if (block == nullptr) return;
      for (const tir::IterVar& axis : block->iters) inside_.push_back(axis.var);
    });
  }

  PeelEnds::Facts run() {
    tir::for_each_stmt(loop_.body, [&](Stmt s) {
      const auto* branch = s.as<tir::If>();
      if (branch == nullptr) return;
      for (Expr one : arith::conjuncts(branch->condition))
        if (std::find(held_.begin(), held_.end(), one) == held_.end() && narrow(one)) held_.push_back(one);
    });
    const Expr zero = begin_.context().index(0);
    return {held_, begin_, arith::simplify(arith::max(zero, end_ - begin_))};
  }

 private:
  /// Takes the iterations out of the range in which `condition` may not hold; false if it says nothing of them.
  bool narrow(Expr condition) {
    const auto* less = condition.as<arith::Lt>();
    const auto* most = condition.as<arith::Le>();
    if ((less == nullptr && most == nullptr) || has_load(condition)) return false;
    const Expr left = less != nullptr ? less->a : most->a, right = less != nullptr ? less->b : most->b;
    if (!left.dtype().is_index() || !depends_on(condition, loop_.var)) return false;
    const std::optional<Expr> excess = largest(arith::simplify(left - right + (less != nullptr ? 1 : 0)));
    const std::optional<int64_t> step = excess ? step_of(*excess, loop_.var) : std::nullopt;
    if (!step || *step == 0) return false;
    const Expr first = arith::simplify(arith::substitute(*excess, {{loop_.var, begin_.context().index(0)}}));
    // first + step * i <= 0
    if (*step > 0)
      end_ = arith::simplify(arith::min(end_, arith::floordiv(begin_.context().index(0) - first, *step) + 1));
    else
      begin_ = arith::simplify(arith::max(begin_, arith::ceildiv(first, -*step)));
    return true;
  }

  /// The largest value of `e` in an iteration of the loop; nullopt if it is not known outside of it.
  std::optional<Expr> largest(Expr e) const {
    for (size_t i = loops_.size(); i-- > 0;) {
      const For& inner = *loops_[i];
      if (!depends_on(e, inner.var)) continue;
      const std::optional<int64_t> step = step_of(e, inner.var);
      if (!step) return {};
      const Expr at = *step > 0 ? inner.min + inner.extent - 1 : inner.min;
      e = arith::simplify(arith::substitute(e, {{inner.var, at}}));
    }
    const bool known = std::none_of(inside_.begin(), inside_.end(), [&](Var var) { return depends_on(e, var); });
    return known && !has_load(e) ? std::optional(e) : std::nullopt;
  }

  const For& loop_;
  std::vector<const For*> loops_;  ///< inside of it, outermost first
  std::vector<Var> inside_;        ///< variables that its body binds
  std::vector<Expr> held_;
  Expr begin_, end_;
};

/// `s` where these conditions hold.
Stmt without(Context& context, Stmt s, const std::vector<Expr>& conditions) {
  const auto ask = [&](Stmt inner) {
    const auto* branch = inner.as<tir::If>();
    if (branch == nullptr) return inner;
    Expr left;
    for (Expr one : arith::conjuncts(branch->condition))
      if (std::find(conditions.begin(), conditions.end(), one) == conditions.end())
        left = left ? arith::logical_and(left, one) : one;
    if (!left) return branch->then_body;
    return left == branch->condition ? inner : tir::Builder(context).branch(left, branch->then_body, branch->else_body);
  };
  return tir::rewrite(context, s, {.on_expr = {}, .on_stmt = ask, .on_buffer = {}});
}

}  // namespace

Legal<PeelEnds::Facts> PeelEnds::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_LEGAL(runs_together(tree, loop));
  const For& from = tree.loop(loop);
  RELAXC_REQUIRE(from.min.is_constant(0) && from.loop_kind == tir::LoopKind::kSerial,
                 fmt::format("loop '{}' does not begin with 0, or is parallel", loop_name(tree, loop)));
  PeelEnds::Facts found = CommonRange(from).run();
  RELAXC_REQUIRE(!found.conditions.empty() && !found.count.is_constant(0),
                 fmt::format("there are no iterations of loop '{}' in which conditions on '{}' are known to hold",
                             loop_name(tree, loop), from.var.name()));
  return found;
}

PeelEnds::Made PeelEnds::apply(Tree& tree, const Facts& facts) const {
  Copies copies;
  Context& context = tree.context();
  tree.edit_loop(loop, [&](const For& from) {
    const Var end = context.var(from.var.name() + "_t");
    const Expr other = arith::select(arith::lt(end, facts.begin), end, end + facts.count);
    const Stmt rest = tir::substitute(context, fresh_copy(context, from.body, copies), {{from.var, other}});
    For inside = from;
    inside.extent = facts.count;
    const Stmt body = without(context, from.body, facts.conditions);
    inside.body = tir::substitute(context, body, {{from.var, from.var + facts.begin}});
    For ends = new_loop(context, end, arith::simplify(from.extent - facts.count), rest);
    return tir::Builder(context).seq({make_stmt(context, std::move(inside)), make_stmt(context, std::move(ends))});
  });
  return copies;
}

}  // namespace relaxc::schedule
