// fold_constants.cpp: evaluates operators whose operands are all constant.
//
// The operator's own definition is run through the Evaluator, so a folded value has the bits that the kernel would have
// computed. A budget keeps a ConstantOfShape of a gigabyte from being stored: a result may have at most 64 KiB, or be
// no larger than what it replaces.
//
// Results that take long to compute are stored up to a larger limit: a Fourier basis of some megabytes is a sine for
// each element, which no run should compute again. A fill, a range or a broadcast of that size is not stored, since
// reading it back costs as much. So ops beyond the budget wait until their users are known: those that end in a result
// that is worth its memory, or is small, are folded, and intermediate results are dropped.
//
// A transpose of more than that is not run: models of gigabytes have many, and all results would be held until they are
// written. It becomes a constant whose bytes are computed then. If a constant has other users in its own order, it
// would be in the object twice, so that one keeps its transpose.
#include "compiler/transform/graph/fold_constants.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/relax/builder.h"
#include "compiler/relax/evaluate_op.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/graph/moves/lazy_constant_transpose.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr int64_t kMostWork = 200'000'000;  // bytes of a result: a second or two of interpretation

/// Returns whether the definition calls functions (sin, exp, …) or reduces for its elements.
bool is_expensive(Context& context, const Op& op) {
  bool expensive = false;
  tir::PrimFunc function = define_op(context, op, "asked");
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    if (const auto* block = s.as<tir::Block>())
      for (const tir::IterVar& iter : block->iters) expensive |= iter.iter_kind == tir::IterKind::kReduce;
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) { expensive |= node.as<arith::Call>() != nullptr; });
  });
  return expensive;
}

int64_t result_bytes(const Op& op) {
  int64_t bytes = 0;
  for (const Value* result : op.results) bytes += static_bytes(*result).value_or(0);
  return bytes;
}

/// The ops of one function that can be folded: some at once, others only if that pays.
class Folds {
 public:
  Folds(Context& context, int64_t budget, int64_t large) : context_(context), budget_(budget), large_(large) {}

  /// Returns whether all operands are constant, or will be once the waiting ops are folded.
  bool computable(const Op& op, bool with_waiting) const {
    if (op.kind != OpKind::kOperator || op.def->define == nullptr || !op.def->pure || !op.binds.empty()) return false;
    for (const Value* operand : op.operands()) {
      if (operand == nullptr) continue;
      bool tensor = operand->info->as<TensorInfo>() != nullptr;
      if (!tensor && !symbols_of(operand->info).empty()) return false;
      if (tensor && !is_constant(operand) && !(with_waiting && is_waiting(operand))) return false;
    }
    for (const Value* result : op.results) {
      std::optional<int64_t> bytes = static_bytes(*result);
      if (!bytes || *bytes > kMostWork) return false;
    }
    return !op.operands().empty();
  }

  /// Returns whether the op's results can be computed now and are small enough to be stored in any case.
  bool at_once(const Op& op) const {
    if (!computable(op, false)) return false;
    int64_t in = 0;
    for (const Value* operand : op.operands())
      if (is_constant(operand)) in += operand->op->constant->byte_size();
    return result_bytes(op) <= std::max(in, budget_);
  }

  /// Records an op that is not folded at once.
  void wait(Op& op) {
    if (!computable(op, true) || result_bytes(op) > large_) return;
    bool expensive = is_expensive(context_, op);
    for (const Value* operand : op.operands()) expensive |= is_waiting(operand) && waiting_.at(operand->op);
    waiting_.emplace(&op, expensive);
    order_.push_back(&op);
  }

  /// Returns the waiting ops that are to be folded, in order.
  std::vector<Op*> worth_it() const {
    std::unordered_set<const Op*> wanted;
    std::vector<Op*> list;
    for (auto op = order_.rbegin(); op != order_.rend(); ++op) {
      bool stored = false;
      for (const Value* result : (*op)->results)
        for (const Use& use : result->uses()) stored |= waiting_.count(use.user) == 0;
      bool pays = waiting_.at(*op) || result_bytes(**op) <= budget_;
      if ((!stored || !pays) && wanted.count(*op) == 0) continue;
      list.push_back(*op);
      for (const Value* operand : (*op)->operands())
        if (is_waiting(operand)) wanted.insert(operand->op);
    }
    std::reverse(list.begin(), list.end());
    return list;
  }

 private:
  bool is_waiting(const Value* value) const {
    return value != nullptr && value->op != nullptr && waiting_.count(value->op) != 0;
  }

  Context& context_;
  int64_t budget_, large_;
  std::unordered_map<const Op*, bool> waiting_;  ///< true if it, or what it is made of, takes long to compute
  std::vector<Op*> order_;
};

/// Evaluates the op and replaces its results by constants. Returns false if the definition refused (an index out of
/// range): the program keeps the operator, which then fails at run time.
bool fold(Module& module, PassContext& context, Op& op) {
  std::optional<std::vector<ConstantRef>> results = evaluate_op(module.context(), op, context.evaluator);
  if (!results) return false;
  GraphBuilder builder(module, context.ops, &op, context.diag);
  for (size_t i = 0; i < op.results.size(); ++i)
    op.results[i]->replace_all_uses_with(builder.constant(std::move((*results)[i]), op.results[i]->name));
  return true;
}

/// Returns whether the op widens integers that are stored in 8 bits or less: `dequantize`, or the first step of its
/// expansion.
bool widens_stored(const Op& op) {
  if (op.kind != OpKind::kOperator || op.operands().empty() || op.results.size() != 1) return false;
  const Value* operand = op.operand(0);
  if (operand == nullptr || operand->info->as<TensorInfo>() == nullptr) return false;
  return op.is("dequantize") || (op.is("astype") && operand->dtype().is_integer() && operand->dtype().bits <= 8);
}

bool is_large_transpose(const Op& op, int64_t budget) {
  if (op.kind != OpKind::kOperator || !op.is("permute_dims")) return false;
  const Value* operand = op.operand(0);
  return is_constant(operand) && operand->has_one_use() && operand->op->constant->byte_size() > budget;
}

void transpose_late(Module& module, PassContext& context, Op& op) {
  ConstantRef source = op.operand(0)->op->constant;
  size_t rank = source->shape().size();
  std::vector<size_t> order;
  for (int64_t axis : op.attrs.ints("axes"))
    order.push_back(static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis));
  for (size_t i = rank; order.size() < rank; --i) order.push_back(i - 1);  // no axes: reversed
  GraphBuilder builder(module, context.ops, &op, context.diag);
  op.result()->replace_all_uses_with(builder.constant(lazy_constant_transpose(source, order), op.result()->name));
}

}  // namespace

Changed evaluate_constants(relax::Module& module, PassContext& context, StoredConstants stored) {
  Changed changed = Changed::kNo;
  int64_t budget = context.option(kFoldBudget), large = context.option(kFoldLarge);
  for (Function* function : module.functions()) {
    Folds folds(module.context(), budget, large);
    for (Op* op : ops_of(function->body(), true)) {
      if (stored == StoredConstants::kKeep && widens_stored(*op)) continue;
      if (is_large_transpose(*op, budget)) {
        transpose_late(module, context, *op);
        changed = Changed::kYes;
      } else if (folds.at_once(*op)) {
        if (fold(module, context, *op)) changed = Changed::kYes;
      } else {
        folds.wait(*op);
      }
    }
    for (Op* op : folds.worth_it())
      if (folds.computable(*op, false) && fold(module, context, *op)) changed = Changed::kYes;
  }
  return changed;
}

Result<Changed> fold_constants(relax::Module& module, PassContext& context) {
  return evaluate_constants(module, context, StoredConstants::kFold);
}

}  // namespace relaxc
