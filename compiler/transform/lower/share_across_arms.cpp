// share_across_arms.cpp: see share_across_arms.h.
//
// A select whose arms read memory becomes branches, since a subscript may be outside of its buffer where the condition
// does not hold. A value that both arms need is then computed in each of them, and in each arm of a nested select:
// twenty nested `where` make a million copies. So a shared value that reads memory is kept in a local, computed once,
// under a guard that says whether any arm needs it.
//
// Locals cost memory traffic, and the selects of ordinary kernels share a load or two. So this is done only where there
// are many more copies than nodes. Copies are counted as a backend would make them, up to a limit.
#include "compiler/transform/lower/share_across_arms.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/arith/walks.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/lazy.h"
#include "compiler/tir/visit.h"

namespace relaxc {
namespace {

using arith::Expr;

/// Returns whether `e` evaluates some operands only if others say so: a select, an And or an Or.
bool is_select(Expr e) {
  return e.as<arith::Select>() != nullptr || e.as<arith::And>() != nullptr || e.as<arith::Or>() != nullptr;
}

/// The nodes of one value, operands first, with the number of uses of each, and those that read memory.
struct Nodes {
  std::vector<Expr> order;
  std::unordered_set<Expr> reading;
  std::unordered_map<Expr, int> uses;
  size_t selects = 0;  ///< the number of selects that read memory

  explicit Nodes(Expr value) {
    arith::for_each_node(value, [&](Expr e) {
      order.push_back(e);
      bool reads = e.as<arith::Load>() != nullptr || e.as<arith::Extern>() != nullptr;
      for (Expr operand : arith::operands(e)) ++uses[operand], reads |= reading.count(operand) != 0;
      if (reads) reading.insert(e);
      selects += is_select(e) && reads ? 1 : 0;
    });
  }
};

/// Counts the nodes that a backend computes if it reuses values within an arm of a select, but not across arms.
class Copies {
 public:
  explicit Copies(const Nodes& nodes) : nodes_(nodes), most_(32 * nodes.order.size()) {}

  bool are_too_many() {
    compute(nodes_.order.back());
    return count_ > most_;
  }

 private:
  void compute(Expr e) {
    if (count_ > most_ || !known_.insert(e).second) return;
    log_.push_back(e);
    ++count_;
    const std::vector<Expr> parts = arith::operands(e);
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool apart = i > 0 && is_select(e) && nodes_.reading.count(e) != 0;
      const size_t mark = log_.size();
      compute(parts[i]);
      for (; apart && log_.size() > mark; log_.pop_back()) known_.erase(log_.back());
    }
  }

  const Nodes& nodes_;
  const size_t most_;
  size_t count_ = 0;
  std::unordered_set<Expr> known_;
  std::vector<Expr> log_;
};

tir::Stmt with_locals(arith::Context& context, tir::Stmt s);

/// Rewrites one store. Guards are computed before the nodes that they guard, and their conditions read locals. If there
/// is no such order, since a condition reads a node that it guards, conditions are computed from the original nodes.
class Sharing {
 public:
  Sharing(arith::Context& context, const tir::Store& store, const Nodes& nodes)
      : context_(context), build_(context), store_(store), nodes_(nodes) {
    lazy_ = tir::lazy_nodes({store.value}, nodes.order);
    guards_.resize(lazy_.guards.size(), nullptr);
    guards_come_first_ = tir::guards_come_first(lazy_, nodes.order, [&](Expr e) { return is_shared(e); });
  }

  tir::Stmt run() {
    Expr value = now(store_.value);
    parts_.push_back(build_.store(store_.buffer, store_.indices, value));
    tir::Stmt s = build_.seq(std::move(parts_));
    for (size_t i = locals_.size(); i-- > 0;) s = build_.alloc(locals_[i], s);
    return s;
  }

 private:
  bool is_shared(Expr e) const {
    auto uses = nodes_.uses.find(e);
    return uses != nodes_.uses.end() && uses->second > 1 && nodes_.reading.count(e) != 0 && !e.dtype().is_index();
  }

  tir::BufferRef local(const char* name, DType dtype) {
    locals_.push_back(build_.buffer(name, dtype, {}, tir::Scope::kLocal));
    return locals_.back();
  }

  /// Returns the node that replaces `e`; the nodes that it needs are made first.
  Expr now(Expr e) {
    auto is_known = [&](Expr node) { return now_.count(node) != 0; };
    if (!is_known(e))
      arith::for_each_node(
          e, [&](Expr node) { return arith::operands_except(node, is_known); },
          [&](Expr node) {
            if (!is_known(node)) make(node);
          });
    return now_.at(e);
  }

  void make(Expr e) {
    std::vector<Expr> from = arith::operands(e), to = from;
    for (Expr& operand : to) operand = now_.at(operand);
    Expr same = from == to ? e : arith::with_operands(e, to);
    Expr made = is_shared(e) ? shared(e, same) : same;
    now_[e] = made;
  }

  Expr shared(Expr e, Expr value) {
    auto guard = lazy_.guard_of.find(e);
    tir::BufferRef wanted = guard == lazy_.guard_of.end() ? nullptr : guard_of(guard->second);
    tir::BufferRef kept = local("shared", e.dtype());
    tir::Stmt fill = build_.store(kept, {}, value);
    if (wanted != nullptr) {
      parts_.push_back(build_.store(kept, {}, context_.zero(e.dtype())));
      fill = build_.branch(build_.load(wanted, {}), fill);
    }
    parts_.push_back(fill);
    return build_.load(kept, {});
  }

  /// Returns a local that is true if an arm with nodes behind the guard is taken; stored at its first use.
  tir::BufferRef guard_of(int which) {
    if (guards_[static_cast<size_t>(which)] != nullptr) return guards_[static_cast<size_t>(which)];
    Expr open;
    for (const tir::Way& way : lazy_.guards[static_cast<size_t>(which)]) {
      Expr taken = way.from >= 0 ? build_.load(guard_of(way.from), {}) : Expr();
      if (way.condition) {
        Expr asked = guards_come_first_ ? now(way.condition) : alone(way.condition, way.from, taken);
        if (!way.holds) asked = arith::logical_not(asked);
        taken = taken ? arith::logical_and(taken, asked) : asked;
      }
      open = open ? arith::logical_or(open, taken) : taken;
    }
    tir::BufferRef kept = local("wanted", DType::boolean());
    parts_.push_back(build_.store(kept, {}, open));
    return guards_[static_cast<size_t>(which)] = kept;
  }

  /// Returns `condition`, needed only behind the guard `from` (`taken`), without locals that wait for guards.
  Expr alone(Expr condition, int from, Expr taken) {
    auto [known, is_new] = alone_.emplace(std::pair(from, condition.node()), condition);
    if (!is_new) return known->second;
    tir::BufferRef kept = local("asked", DType::boolean());
    tir::Stmt plain = build_.store(kept, {}, condition), s = with_locals(context_, plain);
    if (s == plain) {
      locals_.pop_back();
      return condition;
    }
    if (taken) {
      parts_.push_back(build_.store(kept, {}, context_.zero(DType::boolean())));
      s = build_.branch(taken, s);
    }
    parts_.push_back(s);
    return known->second = build_.load(kept, {});
  }

  arith::Context& context_;
  tir::Builder build_;
  const tir::Store& store_;
  const Nodes& nodes_;
  tir::LazyNodes lazy_;
  bool guards_come_first_ = true;
  std::map<std::pair<int, const arith::Node*>, Expr> alone_;
  std::unordered_map<Expr, Expr> now_;  ///< the nodes that replace others
  std::vector<tir::BufferRef> guards_;  ///< null: not computed yet
  std::vector<tir::BufferRef> locals_;
  std::vector<tir::Stmt> parts_;
};

tir::Stmt with_locals(arith::Context& context, tir::Stmt s) {
  const auto* store = s.as<tir::Store>();
  if (store == nullptr) return s;
  const Nodes nodes(store->value);
  return nodes.selects > 1 && Copies(nodes).are_too_many() ? Sharing(context, *store, nodes).run() : s;
}

}  // namespace

tir::Stmt share_across_arms(arith::Context& context, tir::Stmt root) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](tir::Stmt s) { return with_locals(context, s); };
  return tir::rewrite(context, root, rewriter);
}

}  // namespace relaxc
