// lanes.cpp: a conservative analysis of a vectorized loop's body.
//
// The difficult case is an element that several lanes update (a reduction into a uniform element, a
// histogram): vector code would lose updates. It cannot happen if the store's flat offset has a constant
// non-zero step from lane to lane, or if the body never reads the buffer that it stores to; all other such
// loops run serially.
#include "compiler/tir/lanes.h"

#include <algorithm>

#include "compiler/arith/angle.h"
#include "compiler/arith/walks.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir {
namespace {

using Step = Lanes::Step;

Step sum(Step a, Step b) {
  int64_t out = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &out) ? Step(out) : std::nullopt;
}

Step product(Step a, Step b) {
  if (a == Step(0) || b == Step(0)) return 0;
  int64_t out = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &out) ? Step(out) : std::nullopt;
}

}  // namespace

Lanes::Lanes(const For& loop, bool shared_locals) {
  bool calls = false;  // whether there are external functions, which take one lane
  for_each_stmt(loop.body, [&](Stmt s) {
    for (Expr e : expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) read_.insert(load->buffer);
        calls |= node.as<arith::Extern>() != nullptr && !arith::is_angle_call(node);
      });
    if (const auto* alloc = s.as<Alloc>()) private_.insert(alloc->buffer);
    if (const auto* store = s.as<Store>()) written_.insert(store->buffer);
  });
  if (shared_locals) shared_ = private_;
  for (size_t before = shared_.size() + 1; shared_.size() < before;) {
    before = shared_.size();
    steps_ = {{loop.var, 1}};
    together_ = !calls && allowed(loop.body);
    assign_lanes(loop.body, true);
  }
}

/// Removes from the shared locals those to which lanes would store different values, or not all of them. `even`: all
/// lanes reach `s`.
void Lanes::assign_lanes(Stmt s, bool even) {
  if (!s || shared_.empty()) return;
  auto is_same = [&](Expr e) { return step(e) == Step(0); };
  visit(
      s,
      [&](const Seq& n) {
        for (Stmt part : n.body) assign_lanes(part, even);
      },
      [&](const For& n) { assign_lanes(n.body, even); },
      [&](const If& n) {
        const bool both = even && is_same(n.condition);
        assign_lanes(n.then_body, both);
        assign_lanes(n.else_body, both);
      },
      [&](const Let& n) { assign_lanes(n.body, even); }, [&](const Alloc& n) { assign_lanes(n.body, even); },
      [&](const Store& n) {
        if (!even || !is_same(n.value) || !std::all_of(n.indices.begin(), n.indices.end(), is_same))
          shared_.erase(n.buffer);
      },
      [&](const Block& n) {
        assign_lanes(n.init, even && has_even_axes(n));
        assign_lanes(n.body, even && has_even_axes(n));
      },
      [](const auto&) {});
}

bool Lanes::has_even_axes(const Block& block) const {
  if (block.predicate && step(block.predicate) != Step(0)) return false;
  return std::all_of(block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
    Step grows = step(iter.binding);
    return grows && (*grows == 0 || !block.init || iter.iter_kind != IterKind::kReduce);
  });
}

bool Lanes::allowed(Stmt s) {
  if (!s) return true;
  return visit(
      s, [&](const Seq& n) { return all_allowed(n.body); },
      [&](const For& n) {
        steps_[n.var] = 0;
        return step(n.min) == Step(0) && step(n.extent) == Step(0) && allowed(n.body);
      },
      [&](const While&) { return false; }, [&](const Break&) { return false; }, [&](const Continue&) { return false; },
      [&](const If& n) { return allowed(n.then_body) && allowed(n.else_body); },
      [&](const Let& n) {
        steps_[n.var] = step(n.value);
        return allowed(n.body);
      },
      [&](const Alloc& n) { return n.buffer->scope == Scope::kLocal && n.buffer->strides.empty() && allowed(n.body); },
      [&](const View&) { return false; }, [&](const Store& n) { return store_allowed(n); },
      [&](const Block& n) {
        for (const IterVar& iter : n.iters) steps_[iter.var] = step(iter.binding);
        return allowed(n.init) && allowed(n.body);
      },
      [&](const Guard&) { return false; }, [&](const Invoke&) { return false; });
}

bool Lanes::all_allowed(const std::vector<Stmt>& body) {
  for (Stmt s : body)
    if (!allowed(s)) return false;
  return true;
}

bool Lanes::store_allowed(const Store& s) const {
  if (private_.count(s.buffer) != 0) return true;
  Step total = step(s.buffer, s.indices);
  if (total == Step(0)) return false;
  return total.has_value() || read_.count(s.buffer) == 0;
}

Step Lanes::step(BufferRef buffer, const std::vector<Expr>& indices) const {
  Step total = 0, scale = 1;
  for (size_t i = indices.size(); i-- > 0;) {
    if (!buffer->strides.empty()) {
      const int64_t* stride = buffer->strides[i].constant();
      scale = stride != nullptr ? Step(*stride) : std::nullopt;
    }
    total = sum(total, product(step(indices[i]), scale));
    if (buffer->strides.empty()) {
      const int64_t* dim = buffer->shape[i].constant();
      scale = dim != nullptr ? product(scale, *dim) : std::nullopt;
    }
  }
  return total;
}

Step Lanes::step(Expr e) const {
  if (auto it = steps_.find(e); it != steps_.end()) return it->second;
  auto known = [&](Expr node) { return steps_.count(node) != 0; };
  arith::for_each_node(
      e, [&](Expr node) { return arith::operands_except(node, known); },
      [&](Expr node) { steps_[node] = computed_step(node); });
  return steps_.at(e);
}

/// The step of `e`, given the steps of its operands.
Step Lanes::computed_step(Expr e) const {
  auto step = [&](Expr operand) { return steps_.at(operand); };
  if (e->kind == arith::ExprKind::kVar || e.constant() != nullptr) return 0;
  if (const auto* load = e.as<arith::Load>()) {
    if (!is_shared(load->buffer) && written_.count(load->buffer) != 0) return std::nullopt;
    if (is_private(load->buffer)) return std::nullopt;
    for (Expr index : load->indices)
      if (step(index) != Step(0)) return std::nullopt;
    return 0;
  }
  if (const auto* add = e.as<arith::Add>()) return sum(step(add->a), step(add->b));
  if (const auto* sub = e.as<arith::Sub>()) return sum(step(sub->a), product(step(sub->b), -1));
  if (const auto* mul = e.as<arith::Mul>()) {
    Step a = step(mul->a), b = step(mul->b);
    if (mul->b.constant() != nullptr) return product(a, *mul->b.constant());
    if (mul->a.constant() != nullptr) return product(b, *mul->a.constant());
    return a == Step(0) && b == Step(0) ? Step(0) : std::nullopt;
  }
  for (Expr operand : arith::operands(e))
    if (step(operand) != Step(0)) return std::nullopt;
  return 0;
}

}  // namespace relaxc::tir
