// simple_ops.cpp: constants, views, and operators that move numbers between shapes and tensors.
#include "compiler/transform/lower/host/op_lowering.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Stores a tensor of few elements, one by one.
void store_elements(HostLowering& host, const Op& op) {
  tir::Builder& build = host.at.build();
  const Value& value = *op.result();
  std::vector<Expr> elements;
  for (Value* operand : op.operands()) {
    if (operand == nullptr) continue;
    if (operand->info->as<PrimInfo>() != nullptr) elements.push_back(host.values.scalar(*operand));
    for (Expr dim : host.shapes.dims(operand->info)) elements.push_back(dim);
  }
  BufferRef memory = host.destinations.produce(value);
  for (size_t i = 0; i < elements.size(); ++i) {
    tir::Indices at(memory->shape.size(), build.index(static_cast<int64_t>(i)));
    host.at.add(build.store(memory, at, arith::cast(memory->dtype, elements[i])));
  }
  host.values.slot(value).buffer = memory;
}

}  // namespace

Status lower_constant(HostLowering& host, Op& op) {
  const Value& value = *op.result();
  host.values.slot(value).buffer =
      host.memory.constant(value.name.empty() ? "c" : value.name, value.dtype(), value.shape(), op.constant);
  return Done{};
}

Status lower_view(HostLowering& host, Op& op) {
  const Value& value = *op.result();
  BufferRef base = host.values.buffer(*op.operand(0)), chosen = host.destinations.of(value);
  std::vector<Expr> shape = host.shapes.dims(value.info);
  host.values.slot(value).buffer =
      chosen != nullptr && host.destinations.of(*op.operand(0)) != nullptr
          ? host.memory.view_of_output(chosen, value.name.empty() ? "t" : value.name, shape)
          : host.memory.view_as(base, value.name.empty() ? base->name : value.name, value.dtype(), shape);
  return Done{};
}

Status lower_part(HostLowering& host, Op& op) {
  const Value& value = *op.result();
  BufferRef base = host.values.buffer(*op.operand(0));
  const Expr offset = host.shapes.symbols().known(*contiguous_part(op));
  host.values.slot(value).buffer = host.memory.view_as(base, value.name.empty() ? base->name : value.name,
                                                       value.dtype(), host.shapes.dims(value.info), offset);
  return Done{};
}

Status lower_host_op(HostLowering& host, Op& op) {
  tir::Builder& build = host.at.build();
  if (op.result()->info->as<TensorInfo>() != nullptr) {
    store_elements(host, op);
    return Done{};
  }
  for (size_t i = 0; i < op.binds.size(); ++i) {
    if (host.shapes.symbols().in_scope(op.binds[i])) continue;  // an entry symbol, which is read before the call
    BufferRef memory = host.values.buffer(*op.operand(0));
    tir::Indices at(memory->shape.size(), build.index(static_cast<int64_t>(i)));
    host.shapes.bind_from_data(op.binds[i], build.load(memory, at), {}, false);
  }
  return Done{};
}

Status lower_shape_function(HostLowering& host, Op& op) {
  tir::Builder& build = host.at.build();
  const Symbols& symbols = host.shapes.symbols();
  bool known = true;
  for (Var var : op.binds) known &= symbols.in_scope(var);
  if (known) return Done{};  // entry symbols, which are computed before the call
  Expr count = build.index(static_cast<int64_t>(host.shapes.dims(op.result()->info).size()));
  BufferRef answer = host.memory.allocate(op.callee, DType::i(64), {count});
  tir::Invoke invoke;
  invoke.callee = op.callee, invoke.external = true, invoke.error_node = host.origins.of_call();
  for (Value* operand : op.operands()) {
    if (operand->info->as<TensorInfo>() != nullptr) invoke.args.push_back(host.values.buffer(*operand));
    if (operand->info->as<PrimInfo>() != nullptr) pass_scalar(host, invoke, host.values.scalar(*operand));
    for (Expr dim : operand->info->as<ShapeInfo>() != nullptr ? host.shapes.dims(operand->info) : std::vector<Expr>{})
      invoke.args.push_back(dim);
  }
  invoke.args.push_back(answer);
  host.at.add(build.invoke(std::move(invoke)));
  std::vector<Expr> shape = relax_dims(op.result()->info);
  for (size_t i = 0; i < shape.size(); ++i) {
    Expr value = build.load(answer, {build.index(static_cast<int64_t>(i))});
    const auto* var = shape[i].as<arith::VarNode>();
    if (var != nullptr && !symbols.in_scope(Var(var)))
      host.shapes.bind_from_data(Var(var), value, {}, false);
    else
      host.shapes.require_equal(shape[i], arith::cast(DType::index(), value), i, exact_dim(i));
  }
  return Done{};
}

}  // namespace relaxc::lower
