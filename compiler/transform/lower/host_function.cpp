// host_function.cpp: regions, and the ops that call nothing.
//
// The problem: a graph of values becomes code that runs from top to bottom, in which shapes are computed, checked and
// used like any other numbers, and no byte is copied that need not be.
//
// The method: one walk in the order of the graph. Shapes are expressions already, so most of the shape program is
// nothing at all; a Let appears only where the data brings a new number. Views cost an address. A result that is
// returned is written to the caller's memory by the kernel that makes it.
//
// Rejected: a bytecode of shape registers as other Relax compilers have it (a machine in the runtime, and dims that no
// pass can see through).
#include "compiler/transform/lower/host_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/relax/origin_text.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc::lower {

using namespace relax;

namespace {

bool calls_functions(const Function& function) {
  std::vector<Op*> ops = ops_of(function.body(), true);
  return std::any_of(ops.begin(), ops.end(), [](const Op* op) { return op->kind == OpKind::kCallFunction; });
}

}  // namespace

HostFunction::HostFunction(Shared& shared, Function& function, Form form)
    : shared_(shared),
      function_(function),
      form_(form),
      at_(shared.module.context()),
      build_(at_.build()),
      origins_(form == Form::kEntry && !calls_functions(function) ? nullptr : &shared.nodes, function),
      shapes_(at_, origins_, function.facts),
      symbols_(shapes_.symbols()),
      heap_(at_, shapes_, origins_),
      memory_(shared, at_, shapes_, heap_, origins_),
      values_(at_, shapes_) {}

BufferRef HostFunction::produce(const Value& value) {
  if (BufferRef part = produce_part(value)) return part;
  auto chosen = destinations_.find(&value);
  if (chosen == destinations_.end())
    return memory_.allocate(value.name.empty() ? "t" : value.name, value.dtype(), shapes_.dims(value.info));
  std::vector<Expr> shape = shapes_.dims(value.info);
  for (const Output& output : outputs_)
    if (output.buffer == chosen->second) require_capacity(output, shape);
  return memory_.seen_as(chosen->second, value.name.empty() ? "t" : value.name, shape);
}

Status HostFunction::lower_region(const Region& region) {
  choose_parts(region);
  for (Op* op : ops_of(region)) RELAXC_DO(lower_op(*op));
  return Done{};
}

Status HostFunction::lower_op(Op& op) {
  Origins::Current current(origins_, op);
  return lower_kind(op);
}

Status HostFunction::lower_kind(Op& op) {
  for (const Requirement& requirement : op.requirements) {
    tir::Guard record;
    record.code = requirement.code;
    record.expected = requirement.expected, record.actual = requirement.actual;
    shapes_.require_named(requirement.condition, std::move(record), located_text(op, requirement));
  }
  switch (op.kind) {
    case OpKind::kOperator:
      if (op.is("concat")) return lower_concat(op);
      if (contiguous_part(op)) return lower_part(op);
      return op.def->role == Role::kView ? lower_view(op) : lower_host_op(op);
    case OpKind::kConstant:
      return lower_constant(op);
    case OpKind::kShape:
    case OpKind::kPrim:
      return Done{};
    case OpKind::kTuple:
      for (Value* field : op.operands()) values_.slot(*op.result()).fields.push_back(values_.slot(*field));
      return Done{};
    case OpKind::kTupleGet:
      values_.slot(*op.result()) =
          Slot(values_.slot(*op.operand(0)).fields.at(static_cast<size_t>(op.attrs.integer("index"))));
      return Done{};
    case OpKind::kMatchCast:
      return lower_match_cast(op);
    case OpKind::kCallTir:
      return call_tir(op);
    case OpKind::kCallFunction:
      return call_function(op);
    case OpKind::kMakeClosure:
    case OpKind::kCallClosure:
      RELAXC_UNREACHABLE("resolve_closures leaves no callable");
    case OpKind::kCallExternal:
      return call_external(op);
    case OpKind::kShapeFunction:
      return lower_shape_function(op);
    case OpKind::kCallInplace:
      return call_inplace(op);
    case OpKind::kAssert:
      return lower_assert(op);
    case OpKind::kPrint:
      return lower_print(op);
    case OpKind::kIf:
      return lower_if(op);
    case OpKind::kLoop:
      return lower_loop(op);
  }
  RELAXC_UNREACHABLE();
}

Status HostFunction::lower_constant(Op& op) {
  const Value& value = *op.result();
  values_.slot(value).buffer =
      memory_.constant(value.name.empty() ? "c" : value.name, value.dtype(), value.shape(), op.constant);
  return Done{};
}

Status HostFunction::lower_view(Op& op) {
  const Value& value = *op.result();
  BufferRef base = values_.buffer(*op.operand(0));
  auto chosen = destinations_.find(&value);
  if (chosen != destinations_.end() && destinations_.count(op.operand(0)) != 0)
    values_.slot(value).buffer =
        memory_.seen_as(chosen->second, value.name.empty() ? "t" : value.name, shapes_.dims(value.info));
  else
    values_.slot(value).buffer =
        memory_.view_as(base, value.name.empty() ? base->name : value.name, value.dtype(), shapes_.dims(value.info));
  return Done{};
}

/// A slice that is read where it lies.
Status HostFunction::lower_part(Op& op) {
  const Value& value = *op.result();
  BufferRef base = values_.buffer(*op.operand(0));
  values_.slot(value).buffer = memory_.view_as(base, value.name.empty() ? base->name : value.name, value.dtype(),
                                               shapes_.dims(value.info), symbols_.known(*contiguous_part(op)));
  return Done{};
}

/// Shapes made of tensors, tensors made of shapes: by what goes in and comes out, whatever the operator is called.
Status HostFunction::lower_host_op(Op& op) {
  const Value& value = *op.result();
  if (value.info->as<TensorInfo>() != nullptr) {
    std::vector<Expr> elements;
    for (Value* operand : op.operands()) {
      if (operand == nullptr) continue;
      if (operand->info->as<PrimInfo>() != nullptr) elements.push_back(values_.scalar(*operand));
      for (Expr dim : shapes_.dims(operand->info)) elements.push_back(dim);
    }
    BufferRef memory = produce(value);
    for (size_t i = 0; i < elements.size(); ++i) {
      tir::Indices at(memory->shape.size(), build_.index(static_cast<int64_t>(i)));
      at_.add(build_.store(memory, at, arith::cast(memory->dtype, elements[i])));
    }
    values_.slot(value).buffer = memory;
    return Done{};
  }
  for (size_t i = 0; i < op.binds.size(); ++i) {
    if (symbols_.in_scope(op.binds[i])) continue;  // an entry symbol that `values` reads
    BufferRef memory = values_.buffer(*op.operand(0));
    tir::Indices at(memory->shape.size(), build_.index(static_cast<int64_t>(i)));
    shapes_.bind_from_data(op.binds[i], build_.load(memory, at), {}, false);
  }
  return Done{};
}

Status HostFunction::lower_shape_function(Op& op) {
  bool known = true;
  for (Var var : op.binds) known &= symbols_.in_scope(var);
  if (known) return Done{};  // entry symbols that `values` asks for
  Expr count = build_.index(static_cast<int64_t>(shapes_.dims(op.result()->info).size()));
  BufferRef answer = memory_.allocate(op.callee, DType::i(64), {count});
  tir::Invoke invoke;
  invoke.callee = op.callee, invoke.external = true, invoke.error_node = origins_.of_call();
  for (Value* operand : op.operands()) {
    if (operand->info->as<TensorInfo>() != nullptr) invoke.args.push_back(values_.buffer(*operand));
    if (operand->info->as<PrimInfo>() != nullptr)
      invoke.args.push_back(arith::cast(DType::index(), values_.scalar(*operand)));
    for (Expr dim : operand->info->as<ShapeInfo>() != nullptr ? shapes_.dims(operand->info) : std::vector<Expr>{})
      invoke.args.push_back(dim);
  }
  invoke.args.push_back(answer);
  at_.add(build_.invoke(std::move(invoke)));
  std::vector<Expr> shape = relax_dims(op.result()->info);
  for (size_t i = 0; i < shape.size(); ++i) {
    Expr value = build_.load(answer, {build_.index(static_cast<int64_t>(i))});
    const auto* var = shape[i].as<arith::VarNode>();
    if (var != nullptr && !symbols_.in_scope(Var(var)))
      shapes_.bind_from_data(Var(var), value, {}, false);
    else
      shapes_.require_equal(shape[i], arith::cast(DType::index(), value), i, exact_dim(i));
  }
  return Done{};
}

}  // namespace relaxc::lower
