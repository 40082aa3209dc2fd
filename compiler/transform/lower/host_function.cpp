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
      build_(shared.module.context()),
      symbols_(function.facts),
      nodes_(form == Form::kEntry && !calls_functions(function) ? own_nodes_ : shared.nodes) {}

std::vector<Expr> HostFunction::relax_dims(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) {
    RELAXC_CHECK(tensor->shape.has_value(), "a tensor of unknown shape");
    return *tensor->shape;
  }
  if (const auto* shape = info->as<ShapeInfo>()) {
    RELAXC_CHECK(shape->dims.has_value(), "a shape of unknown dims");
    return *shape->dims;
  }
  return {};
}

std::vector<Expr> HostFunction::numbers(Info info) {
  const auto* prim = info->as<PrimInfo>();
  return prim != nullptr && prim->value ? std::vector<Expr>{prim->value} : relax_dims(info);
}

BufferRef HostFunction::buffer(const Value& value) {
  BufferRef found = slot(value).buffer;
  RELAXC_CHECK(found != nullptr, "'" + value.name + "' has no memory");
  return found;
}

Expr HostFunction::scalar(const Value& value) {
  const auto* prim = value.info->as<PrimInfo>();
  if (prim != nullptr && prim->value) return symbols_.known(prim->value);
  ConstantRef data = constant_of(&value);
  if (data != nullptr && data->elements() == 1 && !data->dtype().is_float())  // it can bound what depends on it
    return context().imm(data->dtype(), decode_integer(data->dtype(), data->to_vector().data()));
  BufferRef memory = buffer(value);
  return build_.load(memory, tir::Indices(memory->shape.size(), build_.index(0)));
}

Expr HostFunction::truth(const Value& value) {
  Expr e = scalar(value);
  return e.dtype() == DType::boolean() ? e : arith::ne(e, context().zero(e.dtype()));
}

BufferRef HostFunction::allocate(const std::string& name, DType dtype, const std::vector<Expr>& shape) {
  require_extents(shape);
  if (symbols_.of_entry(shape)) {
    BufferRef made = build_.buffer(name, dtype, shape, tir::Scope::kGlobal, WeightLayout::kAlignment);
    steps_->alloc(made);
    return made;
  }
  Expr bound = symbols_.bounded(elements_of(shape));
  if (!bound) return claim(name, dtype, shape);
  BufferRef room = build_.buffer(name + "_room", dtype, {bound}, tir::Scope::kGlobal, WeightLayout::kAlignment);
  steps_->alloc(room);
  return view_as(room, name, dtype, shape);
}

BufferRef HostFunction::produce(const Value& value) {
  if (BufferRef part = produce_part(value)) return part;
  auto chosen = destinations_.find(&value);
  if (chosen == destinations_.end())
    return allocate(value.name.empty() ? "t" : value.name, value.dtype(), dims(value.info));
  std::vector<Expr> shape = dims(value.info);
  for (const Output& output : outputs_)
    if (output.buffer == chosen->second) require_capacity(output, shape);
  return seen_as(chosen->second, value.name.empty() ? "t" : value.name, shape);
}

/// An output whose size depends on data is laid out by its true dims, never by those of its bound.
BufferRef HostFunction::seen_as(BufferRef output, const std::string& name, const std::vector<Expr>& shape) {
  auto limited = capacities_.find(output);
  if (limited != capacities_.end()) require_room(elements_of(shape), limited->second);
  require_extents(shape);
  if (output->shape == shape && symbols_.of_entry(shape)) return output;
  return view_as(output, name, output->dtype, shape);
}

BufferRef HostFunction::view_as(BufferRef base, const std::string& name, DType dtype, std::vector<Expr> shape,
                                Expr byte_offset) {
  require_extents(shape);
  BufferRef seen = build_.buffer(name, dtype, std::move(shape), base->scope, byte_offset ? 0 : base->alignment);
  steps_->view(seen, base, byte_offset ? byte_offset : build_.index(0));
  bases_[seen] = base;
  return seen;
}

bool HostFunction::aliases(BufferRef buffer, BufferRef base) const {
  while (buffer != base) {
    auto it = bases_.find(buffer);
    if (it == bases_.end()) return false;
    buffer = it->second;
  }
  return true;
}

void HostFunction::copy(BufferRef from, BufferRef to) {
  tir::Invoke invoke = copy_call(shared_, from, to);
  invoke.trace_node = nodes_.kernel(invoke.callee);
  steps_->add(build_.invoke(std::move(invoke)));
}

std::string HostFunction::here() const {
  return op_ != nullptr ? origin_text(*op_) : "function '" + function_.name + "'";
}

void HostFunction::require(Expr condition, tir::Guard record, const Found& found) {
  require_named(condition, std::move(record), here() + ": " + sentence(found));
}

void HostFunction::require_named(Expr condition, tir::Guard record, const std::string& text) {
  condition = symbols_.known(condition);
  bool at_entry = depth_ == 0 && symbols_.of_entry(condition);
  if (symbols_.proves(condition, at_entry)) return;
  symbols_.assume(condition, at_entry);
  record.condition = condition;
  record.expected = symbols_.known(record.expected), record.actual = symbols_.known(record.actual);
  bool located = at_entry && record.tensor >= 0;
  if (record.error_node < 0 && !located) record.error_node = nodes_.number(text);
  if (at_entry) {
    guards_.push_back(std::move(record));
    return;
  }
  // A number below 32 promises that nothing was written, which holds no longer.
  if (record.code < kDataCapacity) record.code = kDataBound;
  steps_->add(build_.guard(std::move(record)));
}

Found HostFunction::exact_dim(size_t axis, const std::string& tensor) {
  return {Finding::kExact, fmt::format("dim {}{}", axis, tensor.empty() ? "" : " of '" + tensor + "'")};
}

int32_t HostFunction::node_of_kernel(const Op& op, const tir::PrimFunc& kernel) {
  return tir::has_guards(kernel.body) ? nodes_.number(call_text(op, kernel)) : -1;
}

void HostFunction::add_guard(tir::Guard record, const Found& found) {
  record.error_node = node_of(found);
  steps_->add(build_.guard(std::move(record)));
}

void HostFunction::require_equal(Expr expected, Expr actual, size_t axis, const Found& found) {
  expected = symbols_.known(expected), actual = symbols_.known(actual);
  if (expected == actual) return;
  tir::Guard record;
  record.code = kDerivedDim;
  record.axis = static_cast<int32_t>(axis);
  record.expected = expected, record.actual = actual;
  require(arith::eq(expected, actual), std::move(record), found);
}

void HostFunction::bind_from_data(Var var, Expr value, Expr upper_bound, bool is_size) {
  steps_->let(var, arith::cast(var.dtype(), value));
  guard_declared(var, is_size);
  symbols_.add_data(var, upper_bound, is_size);
}

void HostFunction::require_room(Expr elements, Expr capacity) {
  tir::Guard record;
  record.code = kDimBounds;
  record.expected = capacity, record.actual = elements;
  require(arith::le(elements, capacity), std::move(record), {Finding::kRoom});
}

/// What the program declares of a symbol is relied on from here on, by memory planning and by simplification; the data
/// must keep to it. That a size is not negative needs no check, for a kernel counted it.
void HostFunction::guard_declared(Var var, bool is_size) {
  if (!var.dtype().is_index()) return;
  arith::Range range = function_.facts.range_of(var);
  auto guard = [&](Expr condition, int64_t limit, Finding finding) {
    tir::Guard record;
    record.condition = condition;
    record.code = kDataBound;
    record.expected = build_.index(limit), record.actual = var;
    add_guard(std::move(record), {finding, "'" + var.name() + "'"});
  };
  if (range.has_upper()) guard(arith::le(var, build_.index(range.upper)), range.upper, Finding::kAtMost);
  bool counted = is_size && range.lower <= 0;
  if (range.has_lower() && !counted) guard(arith::ge(var, build_.index(range.lower)), range.lower, Finding::kAtLeast);
  arith::Congruence residue = function_.facts.congruence_of(var);
  if (residue.modulus > 1)
    guard(arith::eq(arith::floormod(var, residue.modulus), residue.remainder), residue.modulus, Finding::kMultiple);
}

Status HostFunction::lower_region(const Region& region) {
  choose_parts(region);
  for (Op* op : ops_of(region)) RELAXC_DO(lower_op(*op));
  return Done{};
}

Status HostFunction::lower_op(Op& op) {
  const Op* around = std::exchange(op_, &op);
  Status done = lower_kind(op);
  op_ = around;
  return done;
}

Status HostFunction::lower_kind(Op& op) {
  for (const Requirement& requirement : op.requirements) {
    tir::Guard record;
    record.code = requirement.code;
    record.expected = requirement.expected, record.actual = requirement.actual;
    require_named(requirement.condition, std::move(record), located_text(op, requirement));
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
      for (Value* field : op.operands()) slot(*op.result()).fields.push_back(slot(*field));
      return Done{};
    case OpKind::kTupleGet:
      slots_[op.result()] = Slot(slot(*op.operand(0)).fields.at(static_cast<size_t>(op.attrs.integer("index"))));
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
  BufferRef memory = build_.buffer(value.name.empty() ? "c" : value.name, value.dtype(), value.shape(),
                                   tir::Scope::kWeights, WeightLayout::kAlignment);
  constants_.emplace_back(memory, shared_.weights.place(op.constant));
  slot(value).buffer = memory;
  return Done{};
}

Status HostFunction::lower_view(Op& op) {
  const Value& value = *op.result();
  BufferRef base = buffer(*op.operand(0));
  auto chosen = destinations_.find(&value);
  if (chosen != destinations_.end() && destinations_.count(op.operand(0)) != 0)
    slot(value).buffer = seen_as(chosen->second, value.name.empty() ? "t" : value.name, dims(value.info));
  else
    slot(value).buffer = view_as(base, value.name.empty() ? base->name : value.name, value.dtype(), dims(value.info));
  return Done{};
}

/// A slice that is read where it lies.
Status HostFunction::lower_part(Op& op) {
  const Value& value = *op.result();
  BufferRef base = buffer(*op.operand(0));
  slot(value).buffer = view_as(base, value.name.empty() ? base->name : value.name, value.dtype(), dims(value.info),
                               symbols_.known(*contiguous_part(op)));
  return Done{};
}

/// Shapes made of tensors, tensors made of shapes: by what goes in and comes out, whatever the operator is called.
Status HostFunction::lower_host_op(Op& op) {
  const Value& value = *op.result();
  if (value.info->as<TensorInfo>() != nullptr) {
    std::vector<Expr> elements;
    for (Value* operand : op.operands()) {
      if (operand == nullptr) continue;
      if (operand->info->as<PrimInfo>() != nullptr) elements.push_back(scalar(*operand));
      for (Expr dim : dims(operand->info)) elements.push_back(dim);
    }
    BufferRef memory = produce(value);
    for (size_t i = 0; i < elements.size(); ++i) {
      tir::Indices at(memory->shape.size(), build_.index(static_cast<int64_t>(i)));
      steps_->add(build_.store(memory, at, arith::cast(memory->dtype, elements[i])));
    }
    slot(value).buffer = memory;
    return Done{};
  }
  for (size_t i = 0; i < op.binds.size(); ++i) {
    if (symbols_.in_scope(op.binds[i])) continue;  // an entry symbol that `values` reads
    BufferRef memory = buffer(*op.operand(0));
    tir::Indices at(memory->shape.size(), build_.index(static_cast<int64_t>(i)));
    bind_from_data(op.binds[i], build_.load(memory, at), {}, false);
  }
  return Done{};
}

Status HostFunction::lower_shape_function(Op& op) {
  bool known = true;
  for (Var var : op.binds) known &= symbols_.in_scope(var);
  if (known) return Done{};  // entry symbols that `values` asks for
  Expr count = build_.index(static_cast<int64_t>(dims(op.result()->info).size()));
  BufferRef answer = allocate(op.callee, DType::i(64), {count});
  tir::Invoke invoke;
  invoke.callee = op.callee, invoke.external = true, invoke.error_node = node_of_call();
  for (Value* operand : op.operands()) {
    if (operand->info->as<TensorInfo>() != nullptr) invoke.args.push_back(buffer(*operand));
    if (operand->info->as<PrimInfo>() != nullptr) invoke.args.push_back(arith::cast(DType::index(), scalar(*operand)));
    for (Expr dim : operand->info->as<ShapeInfo>() != nullptr ? dims(operand->info) : std::vector<Expr>{})
      invoke.args.push_back(dim);
  }
  invoke.args.push_back(answer);
  steps_->add(build_.invoke(std::move(invoke)));
  std::vector<Expr> shape = relax_dims(op.result()->info);
  for (size_t i = 0; i < shape.size(); ++i) {
    Expr value = build_.load(answer, {build_.index(static_cast<int64_t>(i))});
    const auto* var = shape[i].as<arith::VarNode>();
    if (var != nullptr && !symbols_.in_scope(Var(var)))
      bind_from_data(Var(var), value, {}, false);
    else
      require_equal(shape[i], arith::cast(DType::index(), value), i, exact_dim(i));
  }
  return Done{};
}

}  // namespace relaxc::lower
