// infer.cpp: deduces the struct info of every value, in order.
//
// Frontends deduce types while they build, but from what is known at that moment; this pass deduces them again with all
// facts, and reports what is provably wrong in a whole program (a match_cast that can never hold, a return that does
// not fit).
#include "compiler/relax/known.h"
#include "compiler/relax/op_def.h"
#include "compiler/relax/origin_text.h"
#include "compiler/support/status_code.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Adds the fact that symbols which are dims of tensors are not negative.
void add_size_facts(Function& function, Info info) {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) add_size_facts(function, field);
  const auto* tensor = info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape) return;
  for (Expr dim : *tensor->shape)
    if (const auto* var = dim.as<arith::VarNode>()) function.facts.bound(arith::Var(var), arith::Range::at_least(0));
}

class Inference {
 public:
  Inference(Function& function, Diagnostics& diag) : function_(function), diag_(diag) {}

  Changed run() {
    for (Value* argument : function_.body().arguments) {
      add_size_facts(function_, argument->info);
      if (std::string wrong = impossible_size(argument->info); !wrong.empty())
        diag_.error(function_.location, Kind::overflow, "parameter '{}' is {}", argument->name, wrong);
    }
    for (Op* op : ops_of(function_.body(), true)) {
      std::vector<Info> before = infos(*op);
      if (!ready(*op)) continue;
      one(*op);
      for (Value* result : op->results)
        if (result->info != nullptr) add_size_facts(function_, result->info);
      for (size_t i = 0; i < before.size(); ++i)
        if (!same(before[i], op->results[i]->info)) changed_ = Changed::kYes;
    }
    return changed_;
  }

 private:
  static std::vector<Info> infos(const Op& op) {
    std::vector<Info> list;
    for (Value* result : op.results) list.push_back(result->info);
    return list;
  }

  /// Returns whether all operands have infos; failed deductions have been reported already.
  static bool ready(const Op& op) {
    for (Value* operand : op.operands())
      if (operand != nullptr && operand->info == nullptr) return false;
    return true;
  }

  void one(Op& op) {
    arith::Facts room;
    switch (op.kind) {
      case OpKind::kOperator:
        if (complete_op(op, diag_))
          static_cast<void>(bool(infer_op(function_, op, known_facts(*op.block->parent, &op, room), diag_)));
        break;
      case OpKind::kMatchCast:
        match_cast(op);
        break;
      case OpKind::kCallTir:
      case OpKind::kCallExternal:
      case OpKind::kCallInplace:
        declared_extents(op);
        break;
      default:
        break;  // typed when they are made
    }
  }

  /// Requires the results that a call declares to have extents that are not negative. Those that the callee decides are
  /// checked after the call.
  void declared_extents(Op& op) {
    arith::Facts room;
    const arith::Facts& facts = known_facts(*op.block->parent, &op, room);
    if (op.attrs.has("returned")) return;
    op.requirements.clear();
    for (Value* result : op.results) {
      const auto* tensor = result->info->as<TensorInfo>();
      if (std::string wrong = impossible_size(result->info); !wrong.empty())
        diag_.error(op.location, Kind::overflow, "a result of '{}' is {}", op.callee, wrong);
      if (tensor == nullptr || !tensor->shape) continue;
      for (Expr dim : *tensor->shape) {
        Expr zero = dim.context().index(0), condition = arith::le(zero, dim);
        arith::Truth truth = arith::decide(condition, facts);
        if (truth == arith::Truth::kFalse)
          diag_.error(op.location, Kind::shape_mismatch, "a result of '{}' has an extent of {}", op.callee,
                      arith::to_string(dim));
        else if (truth == arith::Truth::kUnknown)
          op.requirements.push_back({condition, kDerivedDim, zero, dim,
                                     origin_text(op) + ": " + sentence({Finding::kAtLeast, "a dim of the result"})});
      }
    }
  }

  void match_cast(Op& op) {
    if (std::string wrong = impossible_size(op.result()->info); !wrong.empty())
      diag_.error(op.location, Kind::overflow, "a match_cast gives {}", wrong);
    const auto* from = op.operand(0)->info->as<TensorInfo>();
    const auto* to = op.result()->info->as<TensorInfo>();
    if (from == nullptr || to == nullptr) return;
    if (from->dtype && to->dtype && from->dtype != to->dtype)
      diag_.error(op.location, Kind::dtype_mismatch, "match_cast to {} of a value of {} can never hold",
                  to_string(op.result()->info), to_string(op.operand(0)->info));
    else if (from->ndim >= 0 && to->ndim >= 0 && from->ndim != to->ndim)
      diag_.error(op.location, Kind::rank_mismatch, "match_cast to {} of a value of {} can never hold",
                  to_string(op.result()->info), to_string(op.operand(0)->info));
    else if (from->shape && to->shape)
      for (size_t i = 0; i < from->shape->size(); ++i) {
        const int64_t *a = (*from->shape)[i].constant(), *b = (*to->shape)[i].constant();
        if (a != nullptr && b != nullptr && *a != *b)
          diag_.error(op.location, Kind::shape_mismatch, "match_cast to dim {} of axis {}, which is {}", *b, i, *a);
      }
  }

  Function& function_;
  Diagnostics& diag_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> infer(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  size_t errors = context.diag.error_count();
  for (Function* function : module.functions()) changed |= Inference(*function, context.diag).run();
  if (context.diag.error_count() > errors) return context.diag.failed();
  return changed;
}

}  // namespace relaxc
