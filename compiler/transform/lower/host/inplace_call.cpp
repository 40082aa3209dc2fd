// inplace_call.cpp: calls that write a result to the memory of an operand.
//
// An operand that is overwritten keeps its value for later readers. Its memory is reused only if a kernel or external
// function called in this region computed it, this is its only use, and it has no destination; else it is copied.
#include "compiler/relax/op_def.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns whether `op`, the only reader of `value`, may overwrite its memory.
bool may_take(const HostLowering& host, const Value* value, const Op& op) {
  while (true) {
    if (value->op == nullptr || !value->has_one_use() || value->op->block->parent != op.block->parent) return false;
    const Op& maker = *value->op;
    bool view = (maker.kind == OpKind::kOperator && maker.def->role == Role::kView) || maker.kind == OpKind::kMatchCast;
    if (!view) break;
    value = maker.operand(0);
  }
  OpKind kind = value->op->kind;
  bool own = kind == OpKind::kCallTir || kind == OpKind::kCallExternal || kind == OpKind::kCallInplace;
  return own && host.destinations.of(*value) == nullptr;
}

/// Gives each result that replaces an operand its memory, which holds the operand's elements.
void take_places(HostLowering& host, const Op& op) {
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0) continue;
    const Value &taken = *op.operand(static_cast<size_t>(indices[i])), &result = *op.results[i];
    std::vector<Expr> from = host.shapes.dims(taken.info), to = host.shapes.dims(result.info);
    for (size_t axis = 0; axis < from.size(); ++axis)
      host.shapes.require_equal(from[axis], to[axis], axis, exact_dim(axis, result.name));
    if (host.destinations.of(result) == nullptr && may_take(host, &taken, op)) {
      host.values.slot(result).buffer = host.values.buffer(taken);
      continue;
    }
    BufferRef memory = host.destinations.produce(result);
    host.memory.copy(host.values.buffer(taken), memory);
    host.values.slot(result).buffer = memory;
  }
}

}  // namespace

Status call_inplace(HostLowering& host, Op& op) {
  take_places(host, op);
  return op.attrs.flag("external") ? call_external(host, op) : call_tir(host, op);
}

}  // namespace relaxc::lower
