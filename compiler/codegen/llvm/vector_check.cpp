// vector_check.cpp: a conservative walk over a vectorized loop's body.
//
// The one question that needs thought is an element that several lanes update (a reduction into a uniform place, a
// histogram): vector code would lose updates. It cannot happen where the flat subscript of the store moves by a known
// non-zero step from lane to lane, nor where the body never reads the buffer that it stores to; everything else runs
// serially.
#include "compiler/codegen/llvm/vector_check.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/visit.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {
namespace {

using arith::Expr;
using Step = std::optional<int64_t>;  ///< how much a value grows from lane to lane; nothing: not by a constant

class Check {
 public:
  bool run(const tir::For& loop) {
    steps_[loop.var] = 1;
    tir::for_each_stmt(loop.body, [&](tir::Stmt s) {
      for (Expr e : tir::expressions(s))
        arith::for_each_node(e, [&](Expr node) {
          if (const auto* load = node.as<arith::Load>()) read_.insert(load->buffer);
          calls_ |= node.as<arith::Extern>() != nullptr;
        });
      if (const auto* alloc = s.as<tir::Alloc>()) private_.insert(alloc->buffer);
    });
    return !calls_ && allowed(loop.body);
  }

 private:
  bool allowed(tir::Stmt s) {
    if (!s) return true;
    return tir::visit(
        s, [&](const tir::Seq& n) { return all_allowed(n.body); },
        [&](const tir::For& n) {
          steps_[n.var] = 0;
          return step(n.min) == Step(0) && step(n.extent) == Step(0) && allowed(n.body);
        },
        [&](const tir::While&) { return false; }, [&](const tir::Break&) { return false; },
        [&](const tir::Continue&) { return false; },
        [&](const tir::If& n) { return allowed(n.then_body) && allowed(n.else_body); },
        [&](const tir::Let& n) {
          steps_[n.var] = step(n.value);
          return allowed(n.body);
        },
        [&](const tir::Alloc& n) {
          return n.buffer->scope == tir::Scope::kLocal && n.buffer->strides.empty() && allowed(n.body);
        },
        [&](const tir::View&) { return false; }, [&](const tir::Store& n) { return store_allowed(n); },
        [&](const tir::Block& n) {
          for (const tir::IterVar& iter : n.iters) steps_[iter.var] = step(iter.binding);
          return allowed(n.init) && allowed(n.body);
        },
        [&](const tir::Guard&) { return false; }, [&](const tir::Invoke&) { return false; });
  }

  bool all_allowed(const std::vector<tir::Stmt>& body) {
    for (tir::Stmt s : body)
      if (!allowed(s)) return false;
    return true;
  }

  bool store_allowed(const tir::Store& s) {
    if (private_.count(s.buffer) != 0) return true;
    Step total = 0, scale = 1;
    for (size_t i = s.indices.size(); i-- > 0;) {
      if (!s.buffer->strides.empty()) {
        const int64_t* stride = s.buffer->strides[i].constant();
        scale = stride != nullptr ? Step(*stride) : std::nullopt;
      }
      total = sum(total, product(step(s.indices[i]), scale));
      if (s.buffer->strides.empty()) {
        const int64_t* dim = s.buffer->shape[i].constant();
        scale = scale && dim != nullptr ? Step(*scale * *dim) : std::nullopt;
      }
    }
    if (total == Step(0)) return false;
    return total.has_value() || read_.count(s.buffer) == 0;
  }

  static Step sum(Step a, Step b) { return a && b ? Step(*a + *b) : std::nullopt; }
  static Step product(Step a, Step b) {
    if (a == Step(0) || b == Step(0)) return 0;
    return a && b ? Step(*a * *b) : std::nullopt;
  }

  /// Zero only if the value is certainly the same in all lanes.
  Step step(Expr e) {
    if (auto it = steps_.find(e); it != steps_.end()) return it->second;
    if (e->kind == arith::ExprKind::kVar || e.constant() != nullptr) return 0;
    if (e->kind == arith::ExprKind::kLoad) return std::nullopt;
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

  std::unordered_map<Expr, Step> steps_;
  std::unordered_set<tir::BufferRef> read_, private_;
  bool calls_ = false;  ///< of external functions, which take one lane
};

}  // namespace

bool can_vectorize(const tir::For& loop) {
  return Check().run(loop);
}

}  // namespace relaxc::codegen_llvm
