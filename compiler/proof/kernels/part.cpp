// part.cpp: see part.h.
//
// An iteration of a loop is left out if each store in it, to a buffer that outlives it, is to an element that is not
// needed. The condition for this compares the least and the greatest subscripts that the store has in the iteration,
// as expressions over the variables of the loop and of those around it, with the sets of needed.h.
#include "compiler/proof/kernels/part.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/analysis/pattern.h"
#include "compiler/arith/simplify.h"
#include "compiler/arith/walks.h"
#include "compiler/proof/kernels/needed.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"

namespace relaxc::proof {

namespace {

using arith::Expr;
using arith::Range;
using tir::For;
using tir::LoopKind;
using tir::Stmt;

struct Ends {
  Expr least, greatest;
};

/// Finds the ends of an expression while some of its variables take all of their values.
class EndsOf {
 public:
  using Found = std::optional<Ends>;  ///< nullopt if the ends are not known

  /// \param vary  the ranges of these variables
  explicit EndsOf(const std::unordered_map<Expr, Range>& vary) : vary_(vary) {}

  Found run(Expr e) const {
    return arith::fold<Found>(e, [this](Expr node, const std::vector<Found>& parts) { return ends(node, parts); });
  }

 private:
  Found ends(Expr e, const std::vector<Found>& parts) const {
    if (e.as<arith::VarNode>() != nullptr) return variable(e);
    if (e.as<arith::Load>() != nullptr) return std::nullopt;
    bool known = true, varies = false;
    for (const Found& part : parts) {
      known = known && part;
      varies = varies || (part && !(part->least == part->greatest));
    }
    if (!known) return std::nullopt;
    return varies ? of_operation(e, parts) : Ends{e, e};
  }

  Found variable(Expr e) const {
    const auto range = vary_.find(e);
    if (range == vary_.end()) return Ends{e, e};
    if (!range->second.has_lower() || !range->second.has_upper()) return std::nullopt;
    return Ends{e.context().index(range->second.lower), e.context().index(range->second.upper)};
  }

  static Found of_operation(Expr e, const std::vector<Found>& parts) {
    if (parts.size() != 2) return std::nullopt;
    const Ends &a = *parts[0], &b = *parts[1];
    switch (e->kind) {
      case arith::ExprKind::kAdd:
        return Ends{a.least + b.least, a.greatest + b.greatest};
      case arith::ExprKind::kSub:
        return Ends{a.least - b.greatest, a.greatest - b.least};
      case arith::ExprKind::kMin:
        return Ends{min(a.least, b.least), min(a.greatest, b.greatest)};
      case arith::ExprKind::kMax:
        return Ends{max(a.least, b.least), max(a.greatest, b.greatest)};
      case arith::ExprKind::kMul:
        if (const int64_t* factor = b.least == b.greatest ? b.least.constant() : nullptr) return product(a, *factor);
        if (const int64_t* factor = a.least == a.greatest ? a.least.constant() : nullptr) return product(b, *factor);
        return std::nullopt;
      case arith::ExprKind::kFloorDiv:
        if (!(b.least == b.greatest) || b.least.constant() == nullptr || *b.least.constant() <= 0) return std::nullopt;
        return Ends{floordiv(a.least, b.least), floordiv(a.greatest, b.least)};
      default:
        return std::nullopt;
    }
  }

  static Ends product(Ends ends, int64_t factor) {
    const Ends product{ends.least * factor, ends.greatest * factor};
    return factor >= 0 ? product : Ends{product.greatest, product.least};
  }

  const std::unordered_map<Expr, Range>& vary_;
};

/// Lets the loops of one form leave out iterations.
class LeaveOut {
 public:
  LeaveOut(const StoreSites& sites, const NeededElements& needed) : sites_(sites), needed_(needed) {}

  /// Returns the number of loops that may.
  size_t find() {
    for (const StoreSite& site : sites_.stores)
      for (size_t i = site.loops_around_buffer; i < site.loops.size(); ++i) note(site, i);
    for (auto it = conditions_.begin(); it != conditions_.end();)
      it = is_useful(it->second) ? std::next(it) : conditions_.erase(it);
    return conditions_.size();
  }

  Stmt apply(Stmt body) const {
    arith::Context& context = conditions_.begin()->second.needed.context();
    tir::Rewriter rewriter;
    rewriter.on_stmt = [&](Stmt s) {
      const auto* loop = s.as<For>();
      const auto condition = loop == nullptr ? conditions_.end() : conditions_.find(loop->id);
      if (condition == conditions_.end()) return s;
      auto* made = context.arena().make<For>(*loop);
      made->body = tir::Builder(context).branch(condition->second.needed, loop->body);
      return Stmt(made);
    };
    return tir::rewrite(context, body, rewriter);
  }

 private:
  /// When an iteration of a loop is needed; `needed` is null if it always is.
  struct Condition {
    const For* loop = nullptr;
    Expr needed;
    size_t terms = 0;
  };

  bool is_useful(const Condition& condition) const {
    if (!condition.needed || sites_.complete.count(condition.loop->id) != 0) return false;
    const std::vector<arith::Var> vars = arith::free_vars(condition.needed);
    return std::find(vars.begin(), vars.end(), condition.loop->var) != vars.end();
  }

  /// Adds a store to the condition of the `i`-th loop around it.
  void note(const StoreSite& site, size_t i) {
    const For& loop = *site.loops[i];
    if (loop.loop_kind == LoopKind::kVectorized || loop.loop_kind == LoopKind::kUnrolled) return;
    constexpr size_t kMostTerms = 64;
    Condition& known =
        conditions_.try_emplace(loop.id, Condition{&loop, loop.extent.context().boolean(false), 0}).first->second;
    if (!known.needed) return;
    const Expr more = needed_in(site, i);
    known.needed = known.loop == &loop && more && ++known.terms <= kMostTerms ? any(known.needed, more) : Expr();
  }

  static Expr any(Expr a, Expr b) {
    if (a == b || b.is_constant(0)) return a;
    return a.is_constant(0) ? b : logical_or(a, b);
  }
  static Expr all(Expr a, Expr b) { return a ? logical_and(a, b) : b; }

  /// Returns the condition for the store to reach a needed element in an iteration of its `i`-th loop; null if it
  /// always may.
  Expr needed_in(const StoreSite& site, size_t i) const {
    const auto needed = needed_.find(site.buffer);
    if (needed == needed_.end()) return site.loops[i]->extent.context().boolean(false);
    std::unordered_map<Expr, Range> vary;
    for (size_t k = i + 1; k < site.loops.size(); ++k)
      vary.emplace(site.loops[k]->var, site.facts.range_of(site.loops[k]->var));
    Expr condition;
    for (size_t d = 0; d < site.at.size(); ++d) {
      const std::optional<Ends> ends = EndsOf(vary).run(site.at[d]);
      if (ends && !is_every_index(needed->second[d])) condition = all(condition, meets(*ends, needed->second[d]));
    }
    return condition;
  }

  static Expr meets(Ends ends, const IndexSet& set) {
    Expr condition = ends.least.context().boolean(false);
    for (const Range range : set) {
      Expr one;
      if (range.has_upper()) one = le(ends.least, ends.least.context().index(range.upper));
      if (range.has_lower()) one = all(one, le(ends.least.context().index(range.lower), ends.greatest));
      condition = any(condition, one);
    }
    return condition;
  }

  const StoreSites& sites_;
  const NeededElements& needed_;
  std::unordered_map<uint32_t, Condition> conditions_;  ///< by the loop's id
};

class PartOf {
 public:
  PartOf(const ScheduledKernel& kernel, const std::vector<arith::Var>& scalars, const std::vector<int64_t>& values,
         uint32_t number)
      : whole_(kernel), number_(number) {
    for (size_t i = 0; i < scalars.size(); ++i)
      if (!scalars[i].dtype().is_float()) sizes_.bound(scalars[i], Range::exactly(values[i]));
  }

  std::optional<KernelPart> run() {
    KernelPart part{whole_, {}};
    const StoreSites before = store_sites(whole_.before, sizes_), after = store_sites(whole_.after, sizes_);
    const std::vector<tir::BufferRef> params = analysis::buffer_params(whole_.before);
    const std::vector<tir::BufferRef> scheduled = analysis::buffer_params(whole_.after);
    NeededElements of_before, of_after;
    for (size_t i = 0; i < params.size(); ++i) {
      part.elements.emplace_back();
      if (!stores(before, params[i]) && !stores(after, scheduled[i])) continue;
      if (!choose(params[i], after, scheduled[i], part.elements.back())) return std::nullopt;
      of_before[params[i]] = of_after[scheduled[i]] = chosen_;
    }
    leave_out(part.kernel.before, before, of_before);
    leave_out(part.kernel.after, after, of_after);
    return part;
  }

 private:
  static bool stores(const StoreSites& sites, tir::BufferRef buffer) {
    for (const StoreSite& site : sites.stores)
      if (site.buffer == buffer) return true;
    return sites.whole.count(buffer) != 0;
  }

  /// Chooses elements of a parameter; returns false if a dim is not known, or if it has too many elements for memory.
  ///
  /// \param stored  the parameter in the scheduled form, whose stores are among `sites`
  bool choose(tir::BufferRef buffer, const StoreSites& sites, tir::BufferRef stored, std::vector<int64_t>& positions) {
    constexpr int64_t kMostElements = int64_t{1} << 24;
    std::vector<int64_t> shape;
    int64_t elements = 1;
    chosen_.clear();
    for (const Expr dim : buffer->shape) {
      const Range count = arith::bounds(dim, sizes_);
      if (!count.is_exact() || __builtin_mul_overflow(elements, count.lower, &elements)) return false;
      chosen_.push_back(number_ == 0 ? chosen_indices(count.lower, borders(sites, stored, shape.size(), count.lower))
                                     : drawn_indices(count.lower, uint64_t{number_} << 32 | dims_++));
      shape.push_back(count.lower);
    }
    if (elements > kMostElements) return false;
    positions = positions_of(chosen_, shape);
    return true;
  }

  /// Returns the indices of a dim at which the elements that a store reaches begin, or have ended.
  static std::vector<int64_t> borders(const StoreSites& sites, tir::BufferRef buffer, size_t dim, int64_t count) {
    std::set<int64_t> found;
    for (const StoreSite& site : sites.stores) {
      if (site.buffer != buffer) continue;
      const Range range = arith::bounds(site.at[dim], site.facts);
      if (range.lower > 0 && range.lower < count) found.insert(range.lower);
      if (range.upper >= 0 && range.upper < count - 1) found.insert(range.upper + 1);
    }
    return {found.rbegin(), found.rend()};
  }

  void leave_out(tir::PrimFunc& form, const StoreSites& sites, const NeededElements& results) const {
    const NeededElements needed = needed_elements(sites, results, sizes_);
    LeaveOut loops(sites, needed);
    if (loops.find() > 0) form.body = loops.apply(form.body);
  }

  const ScheduledKernel& whole_;
  const uint32_t number_;
  uint32_t dims_ = 0;  ///< of results, for which indices were drawn
  arith::Facts sizes_;
  std::vector<IndexSet> chosen_;  ///< for each dim of the last parameter
};

}  // namespace

std::optional<KernelPart> part_of(const ScheduledKernel& kernel, const std::vector<arith::Var>& scalars,
                                  const std::vector<int64_t>& values, uint32_t number) {
  return PartOf(kernel, scalars, values, number).run();
}

}  // namespace relaxc::proof
