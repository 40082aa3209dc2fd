// known.cpp: finds the facts that checks in a function establish.
//
// A check that depends only on symbols of the parameters is a guard of the entry, which fails before anything runs: so
// it holds for every op of the function. It is used only for the ops after it nevertheless, since the interpreter
// checks where the check is written. Lowering learns from its own guards, those about data included (lower/symbols.h).
//
// Rejected: storing facts in the function. A fact would outlive the op that checks it, or prove that op superfluous.
#include "compiler/relax/known.h"

#include <algorithm>

#include "compiler/arith/walks.h"
#include "compiler/relax/effects.h"

namespace relaxc::relax {
namespace {

constexpr size_t kFirstOps = 512;  ///< ops that a query visits at most, so that its cost is bounded
constexpr size_t kMostFacts = 32;  ///< conditions that a query returns at most, since each slows all proofs down

class Checks {
 public:
  explicit Checks(const Function& function) : function_(function) {}

  std::vector<Expr> before(const Op* stop) {
    size_t seen = 0;
    for (const Block* block : function_.body().blocks)
      for (const Op* op : block->ops) {
        if (op == stop || ++seen > kFirstOps || found_.size() >= kMostFacts) return std::move(found_);
        take(*op);
      }
    return std::move(found_);
  }

 private:
  void take(const Op& op) {
    if (op.kind == OpKind::kAssert) {
      const auto* prim = op.operand(0)->info->as<PrimInfo>();
      if (prim != nullptr && prim->value && !after_effect()) add(prim->value);
    } else if (op.kind == OpKind::kMatchCast) {
      equal(op.operand(0)->info, op.result()->info);
    } else {
      passed_.push_back(&op);
    }
  }

  /// Whether an op that was passed may have a side effect; assertions after one are not used.
  bool after_effect() {
    for (const Op* op : passed_) {
      bool calls = op->kind == OpKind::kCallFunction || op->kind == OpKind::kCallClosure;
      after_effect_ = after_effect_ || calls || has_effect(*op);
    }
    passed_.clear();
    return after_effect_;
  }

  void equal(Info a, Info b) {
    if (a == nullptr || b == nullptr || a->kind != b->kind) return;
    if (const auto* x = a->as<TensorInfo>()) equal(x->shape, b->as<TensorInfo>()->shape);
    if (const auto* x = a->as<ShapeInfo>()) equal(x->dims, b->as<ShapeInfo>()->dims);
    if (const auto* x = a->as<PrimInfo>()) equal(x->value, b->as<PrimInfo>()->value);
    if (const auto* x = a->as<TupleInfo>()) {
      const std::vector<Info>& fields = b->as<TupleInfo>()->fields;
      for (size_t i = 0; i < x->fields.size() && i < fields.size(); ++i) equal(x->fields[i], fields[i]);
    }
  }
  void equal(const std::optional<std::vector<Expr>>& a, const std::optional<std::vector<Expr>>& b) {
    for (size_t i = 0; a && b && i < a->size() && i < b->size(); ++i) equal((*a)[i], (*b)[i]);
  }
  void equal(Expr a, Expr b) {
    if (!a || !b || !a.dtype().is_index() || !b.dtype().is_index() || a == b) return;
    if (is_decided(b) && is_decided(a)) add(arith::eq(a, b));  // `b` is mostly a name that the cast introduces
  }

  void add(Expr condition) {
    if (condition.constant() == nullptr && is_decided(condition)) found_.push_back(condition);
  }

  /// Whether `e` depends only on the function's own symbols and loads nothing. Each op asks for each cast before it, so
  /// the walk ends at the first node that says no.
  bool is_decided(Expr e) const {
    auto decides = [&](Expr node) {
      const auto& symbols = function_.symbols;
      if (node.as<arith::VarNode>() != nullptr) return std::find(symbols.begin(), symbols.end(), node) != symbols.end();
      return node.as<arith::Load>() == nullptr;
    };
    bool decided = decides(e);
    if (!decided || e.as<arith::VarNode>() != nullptr) return decided;
    arith::for_each_reached(e, [&](Expr node) {
      decided = decided && decides(node);
      return decided ? arith::operands(node) : std::vector<Expr>();
    });
    return decided;
  }

  const Function& function_;
  bool after_effect_ = false;
  std::vector<const Op*> passed_;  ///< ops that were passed but not tested for effects yet
  std::vector<Expr> found_;
};

}  // namespace

const arith::Facts& known_facts(const Region& region, const Op* before, arith::Facts& room) {
  const Function& function = *region.function;
  const Region* around = &region;
  while (around->parent_op != nullptr) {
    before = around->parent_op;
    if (before->block == nullptr) break;
    around = before->block->parent;
  }
  std::vector<Expr> checked = Checks(function).before(before);
  if (checked.empty()) return function.facts;
  room = function.facts;
  for (Expr condition : checked) room.assume(condition);
  return room;
}

}  // namespace relaxc::relax
