// data_sizes.cpp: results whose size depends on data, as TVM has them.
//
// The definition of such an operator writes its elements one after another into buffers of the largest size, and the
// numbers that it found into buffers of one element. TVM gives a prim func memory of known size in the same way, so
// the operator becomes a call with these results. The numbers become symbols, by tensor_to_shape and a match_cast, and
// the elements are the first of the buffer.
#include "compiler/transform/tvm/data_sizes.h"

#include <algorithm>

#include "compiler/transform/tvm/definition.h"
#include "compiler/transform/tvm/packed.h"

namespace relaxc {
namespace {

using namespace relax;

Expr elements(Context& context, const std::vector<Expr>& dims) {
  Expr count = context.index(1);
  for (Expr dim : dims) count = count * dim;
  return count;
}

/// Returns the first elements of `room` as a tensor of type `info`.
Result<Value*> take_first(GraphBuilder& builder, Value* room, const TensorInfo& info) {
  Context& context = builder.context();
  Value *all = builder.shape({elements(context, room->shape())}), *none = builder.shape({context.index(0)});
  Value* used = builder.shape({elements(context, *info.shape)});
  RELAXC_TRY(Value * flat, builder.call("reshape", {room, all}));
  RELAXC_TRY(Value * first, builder.call("strided_slice", {flat, none, used}, {{"axes", std::vector<int64_t>{0}}}));
  return builder.call("reshape", {first, builder.shape(*info.shape)});
}

/// Gives `var` the value that `number` holds, a tensor of one element.
Status bind(GraphBuilder& builder, Value* number, Var var) {
  RELAXC_TRY(Value * shape, builder.call("tensor_to_shape", {number}));
  shape->op->binds.clear();
  shape->info = shape_info(builder.context(), 1);
  RELAXC_TRY(shape, builder.match_cast(shape, shape_info(builder.context(), {var}), {var}));
  return Done{};
}

/// Replaces the operator `op` by a call of its definition.
Status call_definition(Module& module, GraphBuilder& builder, Op& op) {
  Context& context = module.context();
  arith::Substitution bounds;
  for (size_t i = 0; i < op.binds.size(); ++i)
    if (Expr bound = op.def->upper_bound(op, i)) bounds[op.binds[i]] = bound;
  std::vector<Value*> operands;
  tir::PrimFunc* function = add_definition(builder, op, operands);
  std::vector<Info> infos;
  for (const Value* result : op.results) infos.push_back(substitute(context, result->info, bounds));
  infos.resize(op.results.size() + op.binds.size(), tensor_info(context, {context.index(1)}, DType::i(64)));
  Op* call = builder.call_tir(function->name, std::move(operands), std::move(infos));
  for (size_t i = 0; i < op.binds.size(); ++i)
    RELAXC_DO(bind(builder, call->results[op.results.size() + i], op.binds[i]));
  for (size_t i = 0; i < op.results.size(); ++i) {
    Value* made = call->results[i];
    if (!same(made->info, op.results[i]->info)) {
      RELAXC_TRY(made, take_first(builder, made, op.results[i]->tensor()));
    }
    if (made->name.empty()) made->name = op.results[i]->name;
    op.results[i]->replace_all_uses_with(made);
  }
  return Done{};
}

/// Declares the results of `op` without the dims that it binds, which casts behind it name.
Status cast_results(Module& module, GraphBuilder& builder, Op& op) {
  std::vector<Var> binds = std::move(op.binds);
  op.binds.clear();
  for (Value* result : op.results) {
    Info whole = result->info;
    result->info = without(module.context(), whole, binds);
    if (same(result->info, whole)) continue;
    std::vector<Use> uses = result->uses();
    RELAXC_TRY(Value * named, builder.match_cast(result, whole, symbols_of(whole)));
    for (const Use& use : uses) use.user->set_operand(use.index, named);
  }
  return Done{};
}

}  // namespace

Status read_sizes_of_data(Module& module, const OpTable& ops, Diagnostics& diag) {
  for (Function* function : module.functions()) {
    std::vector<const Op*> replaced;
    for (Op* op : ops_of(function->body(), true)) {
      if (op->binds.empty() || op->kind == OpKind::kMatchCast || !op->regions.empty()) continue;
      bool kernel = op->kind == OpKind::kOperator && op->def->role == Role::kKernel;
      if (kernel) {
        GraphBuilder builder(module, ops, op, diag);
        RELAXC_DO(call_definition(module, builder, *op));
        replaced.push_back(op);
      } else {
        GraphBuilder builder = builder_after(module, ops, *op, diag);
        RELAXC_DO(cast_results(module, builder, *op));
      }
    }
    erase_ops(function->body(),
              [&](Op* op) { return std::find(replaced.begin(), replaced.end(), op) != replaced.end(); });
  }
  return Done{};
}

}  // namespace relaxc
