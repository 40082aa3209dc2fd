// schedule_calls_for_memory.cpp: orders independent calls of a host function so that they take less memory.
//
// The problem: calls are in the order of the source. If branches are independent, another order may hold fewer tensors
// at one time, and no placement can reduce the memory of tensors that are live at one time.
//
// The method: host functions are reordered, not the graph, since only now memory is exact: which values are views,
// which are written in place into a concatenation, what kernels need as scratch. Calls between two statements that must
// stay in place (guards, branches, loops, whatever has effects) form a stretch. Two calls of a stretch keep their order
// if one writes bytes that the other accesses. The stretch that takes most memory is given the order that plan/order.h
// finds; then the next one, until one of them cannot be improved. Without a gain nothing moves: the source's order is
// good for caches, and is what people expect to see.
//
// Rejected: ordering the Relax graph before lowering (lowering decides on views and in-place concatenations, so their
// memory would have to be guessed).
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compiler/arith/simplify.h"
#include "compiler/plan/order.h"
#include "compiler/plan/storage.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_facts.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

constexpr size_t kMostInStretch = 512;  ///< calls that are ordered together; the search keeps sets of them
constexpr int64_t kOtherSizes[] = {1, 16};

/// Returns the parameters that a prim func writes; nothing if it calls others, since its loops do not show all then.
std::optional<std::set<size_t>> written_by(const tir::PrimFunc& function) {
  std::map<BufferRef, size_t> param_of;
  for (size_t i = 0; i < function.params.size(); ++i)
    if (function.params[i].buffer != nullptr) param_of[function.params[i].buffer] = i;
  std::set<size_t> written;
  bool calls = false;
  tir::for_each_stmt(function.body, [&](Stmt s) {
    calls |= s.as<tir::Invoke>() != nullptr;
    if (const auto* view = s.as<tir::View>(); view != nullptr && param_of.count(view->base) != 0)
      param_of[view->buffer] = param_of.at(view->base);
    if (const auto* store = s.as<tir::Store>(); store != nullptr && param_of.count(store->buffer) != 0)
      written.insert(param_of.at(store->buffer));
  });
  return calls ? std::nullopt : std::optional(written);
}

class CallOrder {
 public:
  CallOrder(const relax::Module& module, const interface::Object& object, tir::PrimFunc& host)
      : module_(module),
        host_(host),
        build_(module.context()),
        calls_(lower::calls_of(module)),
        facts_(lower::facts_of(module, object, host)),
        prover_(module.context(), facts_) {
    const interface::Entry* entry = lower::entry_of(object, host);
    one_memory_ = entry == nullptr || std::any_of(entry->outputs.begin(), entry->outputs.end(),
                                                  [](const interface::Tensor& output) { return output.pair >= 0; });
    for (const tir::Param& param : host.params)
      if (param.buffer != nullptr && param.buffer->scope == tir::Scope::kGlobal) params_.insert(param.buffer);
    tir::for_each_stmt(host.body, [&](Stmt s) {
      if (const auto* view = s.as<tir::View>(); view != nullptr && view->base != nullptr)
        views_[view->buffer] = {view->base, view->byte_offset};
      if (const auto* alloc = s.as<tir::Alloc>(); alloc != nullptr && alloc->buffer->scope == tir::Scope::kGlobal)
        allocations_.insert(alloc->buffer);
    });
  }

  Changed run() {
    tir::Rewriter rewriter;  // visits the innermost suites first
    rewriter.on_stmt = [&](Stmt s) {
      if (const auto* branch = s.as<tir::If>()) {
        // In this order whichever compiler builds relaxc: C++ leaves open which argument is evaluated first.
        const Stmt otherwise = ordered(branch->else_body);
        return build_.branch(branch->condition, ordered(branch->then_body), otherwise);
      }
      if (const auto* loop = s.as<tir::While>()) return build_.loop_while(loop->condition, ordered(loop->body));
      if (const auto* loop = s.as<tir::For>()) {
        tir::For copy = *loop;
        copy.body = ordered(loop->body);
        return Stmt(build_.context().arena().make<tir::For>(std::move(copy)));
      }
      return s;
    };
    Stmt body = ordered(tir::rewrite(module_.context(), host_.body, rewriter));
    if (changed_ == Changed::kYes) host_.body = body;
    return changed_;
  }

 private:
  struct Seen {
    BufferRef base = nullptr;
    Expr byte_offset;
  };
  struct Access {
    BufferRef root = nullptr, buffer = nullptr;
    Expr begin, end;  ///< the range of bytes in the root
    bool writes = false;
    int64_t typical_begin = 0, typical_end = 0;  ///< for typical symbols; proofs are tried only if these are disjoint
  };
  /// A statement, or the head of an Alloc, a View or a Let, whose body is the rest of the suite.
  struct Item {
    Stmt s;
    std::vector<Access> accesses;  ///< of the statement and of those inside of it
    bool moves = false;
    bool shows() const { return s.as<tir::Alloc>() != nullptr || (s.as<tir::View>() != nullptr && moves); }
  };
  /// Items in [begin, end) that may be reordered.
  struct Stretch {
    size_t begin = 0, end = 0;
    std::vector<size_t> steps;  ///< indices of those that are no Alloc or View, in order
    int64_t peak = 0;
  };
  struct Span {
    size_t first = 0, last = 0;  ///< the first and the last item that names a memory
  };

  Stmt ordered(Stmt suite) {
    if (!suite) return suite;
    list(suite);
    std::vector<int64_t> live = live_before();
    std::vector<Stretch> left = stretches();
    for (Stretch& stretch : left) weigh(stretch, live[stretch.begin]);
    bool moved = false;
    while (!left.empty()) {
      auto top = std::max_element(left.begin(), left.end(),
                                  [](const Stretch& a, const Stretch& b) { return a.peak < b.peak; });
      if (!lower_peak(*top)) break;
      left.erase(top);
      moved = true;
    }
    if (!moved) return suite;
    changed_ = Changed::kYes;
    return as_suite();
  }

  // Suites as lists of items.

  void list(Stmt suite) {
    items_.clear(), spans_.clear(), own_.clear();
    for (std::vector<Stmt> left{suite}; !left.empty();) {
      Stmt s = left.back();
      left.pop_back();
      if (const auto* seq = s.as<tir::Seq>()) {
        left.insert(left.end(), seq->body.rbegin(), seq->body.rend());
        continue;
      }
      items_.push_back(item(s));
      for (const Access& access : items_.back().accesses)
        spans_.emplace(access.root, Span{items_.size() - 1, 0}).first->second.last = items_.size() - 1;
      if (const auto* alloc = s.as<tir::Alloc>()) {
        if (allocated(alloc->buffer)) own_.insert(alloc->buffer);
        left.push_back(alloc->body);
      }
      if (const auto* view = s.as<tir::View>()) left.push_back(view->body);
      if (const auto* let = s.as<tir::Let>()) left.push_back(let->body);
    }
  }

  /// Returns the bytes of the arena that are live before each item.
  std::vector<int64_t> live_before() const {
    std::vector<int64_t> live(items_.size() + 1);
    for (const auto& [root, span] : spans_) {
      live[span.first + 1] += arena_bytes(root);
      live[span.last + 1] -= arena_bytes(root);
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    return live;
  }

  Item item(Stmt s) const {
    Item item;
    item.s = s;
    auto loads = [&](Stmt from) {
      for (Expr e : tir::expressions(from))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* load = node.as<arith::Load>()) item.accesses.push_back(access(load->buffer, false));
        });
    };
    bool head = s.as<tir::Alloc>() != nullptr || s.as<tir::View>() != nullptr || s.as<tir::Let>() != nullptr;
    if (head)
      loads(s);
    else
      tir::for_each_stmt(s, [&](Stmt inner) {
        loads(inner);
        if (const auto* store = inner.as<tir::Store>()) item.accesses.push_back(access(store->buffer, true));
        if (const auto* invoke = inner.as<tir::Invoke>())
          for (size_t i = 0; i < invoke->args.size(); ++i)
            if (const auto* buffer = std::get_if<BufferRef>(&invoke->args[i]))
              item.accesses.push_back(access(*buffer, writes(*invoke, i)));
      });
    const auto* invoke = s.as<tir::Invoke>();
    const auto* view = s.as<tir::View>();
    item.moves = s.as<tir::Alloc>() != nullptr || s.as<tir::Store>() != nullptr ||
                 (view != nullptr && view->base != nullptr && item.accesses.empty()) ||
                 (invoke != nullptr && written(*invoke) != nullptr);
    for (const Access& access : item.accesses) {
      // An address that is computed at run time may point anywhere.
      bool known = allocated(access.root) || params_.count(access.root) != 0;
      item.moves &= known || access.root->scope != tir::Scope::kGlobal;
    }
    return item;
  }

  bool allocated(BufferRef buffer) const { return allocations_.count(buffer) != 0; }

  /// Returns the parameters that a kernel of the module writes; null if the call must stay where it is.
  const std::set<size_t>* written(const tir::Invoke& invoke) const {
    const tir::PrimFunc* callee = module_.find_prim_func(invoke.callee);
    if (invoke.external || invoke.runtime || callee == nullptr || callee->is_host()) return nullptr;
    auto [known, fresh] = written_.emplace(callee, std::nullopt);
    if (fresh) known->second = written_by(*callee);
    return known->second ? &*known->second : nullptr;
  }
  bool writes(const tir::Invoke& invoke, size_t argument) const {
    const std::set<size_t>* params = written(invoke);
    return params == nullptr || params->count(argument) != 0;
  }

  Access access(BufferRef buffer, bool writes) const {
    Access access{.root = buffer, .buffer = buffer, .begin = build_.context().index(0), .end = {}, .writes = writes};
    for (auto view = views_.find(buffer); view != views_.end(); view = views_.find(access.root)) {
      access.root = view->second.base;
      access.begin = access.begin + view->second.byte_offset;
    }
    access.end = access.begin + tir::byte_size(build_.context(), *buffer);
    access.typical_begin = typical(access.begin), access.typical_end = typical(access.end);
    return access;
  }

  int64_t typical(Expr bytes) const { return at(plan::kTypical).of(bytes).value_or(0); }

  /// Returns the values of expressions where all symbols have a typical size.
  arith::Evaluation& at(int64_t size) const {
    auto value_of = [this, size](arith::Var var) { return plan::typical(facts_, var, size); };
    return at_.try_emplace(size, value_of).first->second;
  }

  // Dependencies between items.

  bool must_keep_order(const Access& a, const Access& b) const {
    if (!a.writes && !b.writes) return false;
    if (one_memory_ && params_.count(a.root) != 0 && params_.count(b.root) != 0) return true;
    if (a.root != b.root) return false;
    const int64_t *a_begin = a.begin.constant(), *a_end = a.end.constant();
    const int64_t *b_begin = b.begin.constant(), *b_end = b.end.constant();
    if (a_begin != nullptr && a_end != nullptr && b_begin != nullptr && b_end != nullptr)
      return *a_begin < *b_end && *b_begin < *a_end;
    if (a.buffer == b.buffer || a.begin == b.begin) return true;
    constexpr int64_t kMostSteps = 1 << 20;  // budget of proofs for a function: unproved pairs keep their order
    auto ends_before = [&](const Access& x, const Access& y) {
      return x.typical_end <= y.typical_begin && prover_.steps() < kMostSteps && prover_.proves_le(x.end, y.begin);
    };
    return !ends_before(a, b) && !ends_before(b, a);
  }

  /// A stretch as the search takes it: steps, the memories they touch, and which of these live before and after it.
  struct Problem {
    std::vector<plan::Step> steps;
    std::vector<BufferRef> roots;
    std::vector<bool> before, after;
  };

  Problem problem_of(const Stretch& stretch) const {
    Problem problem;
    std::map<BufferRef, uint32_t> number;
    auto number_of = [&](BufferRef root) {
      auto [at, fresh] = number.emplace(root, problem.roots.size());
      if (fresh) {
        const Span& span = spans_.at(root);
        problem.roots.push_back(root);
        problem.before.push_back(span.first < stretch.begin), problem.after.push_back(span.last >= stretch.end);
      }
      return at->second;
    };
    for (size_t i : stretch.steps) {
      plan::Step step;
      std::set<uint32_t> touched;
      for (const Access& access : items_[i].accesses) touched.insert(number_of(access.root));
      step.touches.assign(touched.begin(), touched.end());
      if (const auto* invoke = items_[i].s.as<tir::Invoke>())
        for (auto [from, to] : calls_.in_place(*invoke)) {
          auto old = std::get<BufferRef>(invoke->args.at(from)), made = std::get<BufferRef>(invoke->args.at(to));
          if (allocated(old) && allocated(made) && bytes_at(old, plan::kTypical) == bytes_at(made, plan::kTypical))
            step.in_place.emplace_back(number_of(old), number_of(made));
        }
      problem.steps.push_back(std::move(step));
    }
    return problem;
  }

  void add_dependencies(const Stretch& stretch, Problem& problem) const {
    std::map<BufferRef, std::vector<std::pair<uint32_t, const Access*>>> earlier;  // accesses so far, by memory
    for (uint32_t k = 0; k < stretch.steps.size(); ++k) {
      std::set<uint32_t> after;
      for (const Access& access : items_[stretch.steps[k]].accesses) {
        bool param = one_memory_ && params_.count(access.root) != 0;
        auto& others = earlier[param ? nullptr : access.root];
        for (const auto& [other, their] : others)
          if (other != k && after.count(other) == 0 && must_keep_order(access, *their)) after.insert(other);
        others.emplace_back(k, &access);
      }
      problem.steps[k].after.assign(after.begin(), after.end());
    }
  }

  int64_t bytes_at(BufferRef buffer, int64_t size) const {
    auto bytes = at(size).of(tir::byte_size(build_.context(), *buffer));
    return std::clamp<int64_t>(bytes.value_or(0), 0, INT64_MAX / 4096);
  }

  /// Returns the bytes of `root` in the arena; 0 if it is allocated around the suite and so lives in any order.
  int64_t arena_bytes(BufferRef root, int64_t size = plan::kTypical) const {
    return own_.count(root) != 0 ? bytes_at(root, size) : 0;
  }

  /// Returns the memories with the arena's bytes only, or also with outputs', which may hold scratch until written.
  std::vector<plan::Memory> memories_at(const Problem& problem, int64_t size, bool with_params) const {
    std::vector<plan::Memory> memories;
    for (size_t i = 0; i < problem.roots.size(); ++i) {
      bool param = params_.count(problem.roots[i]) != 0;
      int64_t bytes = with_params && param ? bytes_at(problem.roots[i], size) : arena_bytes(problem.roots[i], size);
      memories.push_back({bytes, problem.before[i], problem.after[i] || param});
    }
    return memories;
  }

  // The search for an order.

  std::vector<Stretch> stretches() const {
    std::vector<Stretch> found;
    for (size_t i = 0; i < items_.size();) {
      Stretch stretch{i, i, {}};
      for (; stretch.end < items_.size() && items_[stretch.end].moves && stretch.steps.size() < kMostInStretch;
           ++stretch.end)
        if (!items_[stretch.end].shows()) stretch.steps.push_back(stretch.end);
      i = std::max(stretch.end, i + 1);
      if (stretch.steps.size() > 1) found.push_back(std::move(stretch));
    }
    return found;
  }

  /// Sets the peak of a stretch: the most bytes that are live in it, including those that live on both sides of it.
  void weigh(Stretch& stretch, int64_t live_at_begin) const {
    Problem problem = problem_of(stretch);
    int64_t around = live_at_begin;
    for (size_t i = 0; i < problem.roots.size(); ++i)
      if (problem.before[i]) around -= arena_bytes(problem.roots[i]);
    stretch.peak = around + peak(problem, as_written(problem), plan::kTypical, false);
  }

  static std::vector<uint32_t> as_written(const Problem& problem) {
    std::vector<uint32_t> order(problem.steps.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }
  int64_t peak(const Problem& problem, const std::vector<uint32_t>& order, int64_t size, bool with_params) const {
    return plan::peak_of(problem.steps, memories_at(problem, size, with_params), order);
  }

  /// Reorders a stretch if this lowers its peak and raises it neither at other sizes nor with outputs counted.
  bool lower_peak(const Stretch& stretch) {
    Problem problem = problem_of(stretch);
    add_dependencies(stretch, problem);
    std::vector<uint32_t> old = as_written(problem);
    auto order = plan::find_lower_order(problem.steps, memories_at(problem, plan::kTypical, false));
    if (!order || peak(problem, *order, plan::kTypical, true) > peak(problem, old, plan::kTypical, true)) return false;
    for (int64_t size : kOtherSizes)
      if (peak(problem, *order, size, false) > peak(problem, old, size, false)) return false;
    std::vector<Item> moved;
    for (size_t i = stretch.begin; i < stretch.end; ++i)
      if (items_[i].shows()) moved.push_back(items_[i]);
    for (uint32_t step : *order) moved.push_back(items_[stretch.steps[step]]);
    std::move(moved.begin(), moved.end(), items_.begin() + static_cast<std::ptrdiff_t>(stretch.begin));
    return true;
  }

  Stmt as_suite() {
    std::vector<Stmt> behind;  // the statements after an item, last one first
    for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
      auto rest = [&] {
        std::reverse(behind.begin(), behind.end());
        return build_.seq(std::exchange(behind, {}));
      };
      if (const auto* alloc = item->s.as<tir::Alloc>())
        behind.push_back(build_.alloc(alloc->buffer, rest()));
      else if (const auto* view = item->s.as<tir::View>())
        behind.push_back(build_.view(view->buffer, view->base, view->byte_offset, rest()));
      else if (const auto* let = item->s.as<tir::Let>())
        behind.push_back(build_.let(let->var, let->value, rest()));
      else
        behind.push_back(item->s);
    }
    std::reverse(behind.begin(), behind.end());
    return build_.seq(std::move(behind));
  }

  const relax::Module& module_;
  tir::PrimFunc& host_;
  mutable tir::Builder build_;
  plan::Calls calls_;
  arith::Facts facts_;
  mutable arith::Prover prover_;
  mutable std::map<int64_t, arith::Evaluation> at_;  ///< by size
  bool one_memory_ = true;                           ///< parameters may share memory: a state, or arguments of a caller
  std::set<BufferRef> params_, allocations_;         // looked up only
  std::map<BufferRef, Seen> views_;                  // looked up only
  mutable std::map<const tir::PrimFunc*, std::optional<std::set<size_t>>> written_;  // looked up only
  std::vector<Item> items_;                                                          ///< of the current suite
  std::set<BufferRef> own_;          ///< allocations of the current suite; looked up only
  std::map<BufferRef, Span> spans_;  ///< sums over it do not depend on its order
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> schedule_calls_for_memory(relax::Module& module, PassContext& context) {
  RELAXC_CHECK(context.object != nullptr, "ordering needs the object's entries");
  Changed changed = Changed::kNo;
  for (tir::PrimFunc* function : module.prim_funcs())
    if (function->is_host()) changed |= CallOrder(module, *context.object, *function).run();
  return changed;
}

}  // namespace relaxc
