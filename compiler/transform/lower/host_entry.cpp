// host_entry.cpp: parameters, entry symbols, and the finished prim func.
//
// Entry symbols are all numbers that shapes may need before the first byte is touched: dims of inputs, and values of
// small inputs (a Reshape's target, a shape parameter, what a pure shape function makes of these).
#include <algorithm>

#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kMaxValues = 64;  ///< elements of an input that may decide shapes (docs/abi.md)

/// The parameter that `value` is, seen through views; null if it is none.
const Value* parameter_below(const Value* value) {
  while (value->op != nullptr) {
    bool view = value->op->kind == OpKind::kOperator && value->op->def->role == Role::kView;
    bool cast = value->op->kind == OpKind::kMatchCast && !opens_object(*value->op);
    if (!view && !cast) return nullptr;
    value = value->op->operand(0);
  }
  return value->region != nullptr && value->region->parent_op == nullptr ? value : nullptr;
}

/// The input of few elements that `value` is, seen through views; null if it is none.
const Value* small_input_below(const Value* value) {
  const Value* source = parameter_below(value);
  if (source == nullptr || source->info->as<TensorInfo>() == nullptr) return nullptr;
  int64_t elements = 1;
  for (Expr dim : source->shape()) {
    const int64_t* size = dim.constant();
    if (size == nullptr || *size > kMaxValues) return nullptr;
    elements *= *size;
  }
  return elements <= kMaxValues ? source : nullptr;
}

std::set<BufferRef> named_buffers(Context& context, tir::Stmt body) {
  std::set<BufferRef> named;
  tir::Rewriter look;
  look.on_buffer = [&](BufferRef buffer) {
    named.insert(buffer);
    return buffer;
  };
  (void)tir::rewrite(context, body, look);
  return named;
}

}  // namespace

/// Sizes and dtypes that neither the program nor a pass has found by now are the program's fault.
Status HostFunction::check_known() {
  auto unknown = [](Info info, auto&& self) -> const TensorInfo* {
    const auto* tensor = info->as<TensorInfo>();
    if (tensor != nullptr && (!tensor->shape || !tensor->dtype)) return tensor;
    if (const auto* tuple = info->as<TupleInfo>())
      for (Info field : tuple->fields)
        if (const TensorInfo* found = self(field, self)) return found;
    return nullptr;
  };
  size_t errors = diag().error_count();
  auto check = [&](const Value& value, Location location) {
    const TensorInfo* found = unknown(value.info, unknown);
    if (found == nullptr) return;
    diag().error(location, found->dtype ? Kind::unbounded : Kind::dtype_mismatch,
                 "'{}' is {}: its {} must be known to compile it; an annotation or a match_cast can give it",
                 value.name, to_string(value.info), found->dtype ? "shape" : "dtype");
  };
  for (const Value* argument : function_.body().arguments) check(*argument, function_.location);
  for (const Op* op : ops_of(function_.body(), true))
    for (const Value* result : op->results) check(*result, op->location);
  if (diag().error_count() > errors) return diag().failed();
  return Done{};
}

Status HostFunction::run() {
  RELAXC_DO(check_known());
  InsertionPoint::Nested whole(at_, is_recursive() ? 1 : 0);  // a call's guards cannot be asked before it
  if (is_recursive()) static_cast<void>(heap_.buffer());
  for (Value* argument : function_.body().arguments) {
    size_t first = inputs_.size();
    values_.slot(*argument) = add_parameter(argument->name, argument->info);
    if (argument->info->as<TupleInfo>() == nullptr) inputs_[first].value = argument;
  }
  RELAXC_DO(add_symbols());
  list_outputs();
  RELAXC_DO(pair_states());
  make_outputs();
  choose_destinations();
  RELAXC_DO(lower_region(function_.body()));
  RELAXC_DO(write_outputs());
  publish(whole.finish());
  return Done{};
}

Slot HostFunction::add_parameter(const std::string& name, Info info) {
  Slot made;
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i)
      made.fields.push_back(add_parameter(name + "_" + std::to_string(i), tuple->fields[i]));
    return made;
  }
  if (const auto* tensor = info->as<TensorInfo>()) {
    made.buffer = build_.buffer(name, *tensor->dtype, *tensor->shape);
  } else if (const auto* prim = info->as<PrimInfo>()) {
    made.buffer = build_.buffer(name, stored_dtype(prim->dtype), {});
  } else {
    Expr count = build_.index(static_cast<int64_t>(relax_dims(info).size()));
    made.buffer = build_.buffer(name, DType::i(64), {count});
  }
  inputs_.push_back({.name = name, .info = info, .buffer = made.buffer});
  return made;
}

Status HostFunction::add_symbols() {
  Diagnostics& diag = this->diag();
  for (Var var : function_.symbols)
    if (var.dtype().is_index()) symbols_.add_entry(var);
  // Dims of tensors first: what they give need not be read from data, wherever among the parameters they stand.
  std::vector<Var> sourced;
  for (bool tensors : {true, false})
    for (const Input& input : inputs_)
      if ((input.info->as<TensorInfo>() != nullptr) == tensors) add_symbols_of(input, sourced);
  for (Var var : symbols_.entry())
    if (std::find(sourced.begin(), sourced.end(), var) == sourced.end())
      return diag.error(function_.location, Kind::unbound_name,
                        "symbol '{}' of '{}' is no dim of a parameter by itself, so nothing gives its value",
                        var.name(), function_.name);
  if (is_recursive()) return Done{};  // a call gives what its arguments say; the rest is read in the body
  for (const Repeated& number : repeated_) {
    tir::Guard record;
    record.tensor = number.input, record.axis = number.axis, record.symbol = shapes_.our_symbol(number.expected);
    record.code = number.expected.constant() != nullptr ? kStaticDim
                  : record.symbol >= 0                  ? kSymbolEquality
                                                        : kDerivedDim;
    record.expected = number.expected, record.actual = number.read;
    shapes_.require(
        arith::eq(number.expected, number.read), std::move(record),
        exact_dim(static_cast<size_t>(std::max(number.axis, 0)), inputs_[static_cast<size_t>(number.input)].name));
  }
  for (Op* op : ops_of(function_.body())) add_value_symbols(*op);
  for (Op* op : ops_of(function_.body())) add_called_symbols(*op);
  // A number of iterations is read before it is known whether the loop is reached; any number will do then.
  for (Op* op : ops_of(function_.body(), true)) add_trip_count(*op);
  return Done{};
}

/// The symbols that `input` is the first to give.
void HostFunction::add_symbols_of(const Input& input, std::vector<Var>& sourced) {
  bool tensor = input.info->as<TensorInfo>() != nullptr;
  std::vector<Expr> list = numbers(input.info);
  if (!list.empty() && !list[0].dtype().is_index()) return read_scalar(input);
  for (size_t i = 0; i < list.size(); ++i) {
    const auto* node = list[i].as<arith::VarNode>();
    if (node == nullptr || std::find(sourced.begin(), sourced.end(), Var(node)) != sourced.end()) {
      if (tensor) continue;  // the caller's dims are compared by the tables of the interface
      Var read = context().var(input.name + "_" + std::to_string(i));
      sourced.push_back(read);
      symbols_.add_entry(read);
      read_values_.push_back({.var = read, .buffer = input.buffer, .element = static_cast<int64_t>(i)});
      repeated_.push_back({list[i], read, static_cast<int32_t>(&input - inputs_.data()), static_cast<int32_t>(i)});
      continue;
    }
    sourced.push_back(Var(node));
    if (!symbols_.in_scope(Var(node))) symbols_.add_entry(Var(node));
    if (!tensor) read_values_.push_back({.var = Var(node), .buffer = input.buffer, .element = static_cast<int64_t>(i)});
  }
}

/// A scalar that is no dim has its value from the call on, and nothing before that needs it.
void HostFunction::read_scalar(const Input& input) {
  const auto* node = input.info->as<PrimInfo>()->value.as<arith::VarNode>();
  RELAXC_CHECK(node != nullptr, "a scalar parameter that is an expression");
  if (!symbols_.in_scope(Var(node))) shapes_.bind_from_data(Var(node), build_.load(input.buffer, {}), {}, false);
}

/// Symbols that `op` binds to elements of a small input, or that a shape function makes of entry symbols, are entry
/// symbols as well.
void HostFunction::add_value_symbols(Op& op) {
  if (op.kind == OpKind::kOperator && op.def->role == Role::kHost && op.operand(0) != nullptr) {
    const Value* source = small_input_below(op.operand(0));
    if (source == nullptr) return;
    for (size_t i = 0; i < op.binds.size(); ++i) {
      symbols_.add_entry(op.binds[i]);
      read_values_.push_back(
          {.var = op.binds[i], .buffer = values_.buffer(*source), .element = static_cast<int64_t>(i)});
    }
  }
  if (op.kind == OpKind::kShapeFunction) {
    std::vector<Expr> asked;
    for (Value* operand : op.operands()) {
      if (operand->info->as<ShapeInfo>() == nullptr || !symbols_.of_entry(shapes_.dims(operand->info))) return;
      for (Expr dim : shapes_.dims(operand->info)) asked.push_back(dim);
    }
    const std::vector<Expr> shape = relax_dims(op.result()->info);
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto* node = shape[i].as<arith::VarNode>();
      if (node == nullptr || symbols_.in_scope(Var(node))) continue;
      symbols_.add_entry(Var(node));
      read_values_.push_back({.var = Var(node), .element = static_cast<int64_t>(i), .function = &op, .asked = asked});
    }
  }
}

/// What a callee reads from an argument that is a small input of ours, our own entry reads.
void HostFunction::add_called_symbols(const Op& op) {
  auto known = op.kind == OpKind::kCallFunction ? shared_.callees.find(op.callee) : shared_.callees.end();
  if (known == shared_.callees.end()) return;
  const HostCallee& callee = known->second;
  size_t leaf = 0;
  for (const Value* operand : op.operands()) {
    if (operand->info->as<TensorInfo>() == nullptr) {
      leaf += leaf_count(operand->info);
      continue;
    }
    const Value* source = small_input_below(operand);
    for (size_t k = 0; k < callee.values.size() && source != nullptr; ++k) {
      const ValueSymbol& value = callee.values[k];
      if (value.buffer != callee.inputs[leaf]) continue;
      Var ours = context().var(value.var.name());
      function_.facts.bound(ours, callee.function->facts.range_of(value.var));
      symbols_.add_entry(ours);
      called_values_[{&op, k}] = ours;
      read_values_.push_back({.var = ours, .buffer = values_.buffer(*source), .element = value.element});
    }
    ++leaf;
  }
}

/// A trip count that is an input is an entry symbol, wherever the loop stands, so that it can bound what the loop
/// carries.
void HostFunction::add_trip_count(Op& op) {
  if (op.kind != OpKind::kLoop || op.operand(0) == nullptr) return;
  const Value* source = parameter_below(op.operand(0));
  if (source == nullptr || source->info->as<TensorInfo>() == nullptr) return;
  Var trips = context().var(source->name);
  symbols_.add_entry(trips);
  trip_counts_[&op] = trips;
  read_values_.push_back({.var = trips, .buffer = values_.buffer(*source)});
}

std::vector<Expr> HostFunction::output_dims(const Output& output) const {
  if (output.info->as<PrimInfo>() != nullptr) return {};
  std::vector<Expr> shape = shapes_.dims(output.info);
  if (output.info->as<ShapeInfo>() != nullptr) return {context().index(static_cast<int64_t>(shape.size()))};
  return shape;
}

void HostFunction::make_outputs() {
  for (Output& output : outputs_) {
    const auto* tensor = output.info->as<TensorInfo>();
    const auto* prim = output.info->as<PrimInfo>();
    DType dtype = tensor != nullptr ? *tensor->dtype : prim != nullptr ? stored_dtype(prim->dtype) : DType::i(64);
    output.buffer = build_.buffer(output.name, dtype, output_dims(output));
    output.first_dim = num_out_dims_;
    num_out_dims_ += output.buffer->shape.size();
  }
  arena_ = build_.buffer("arena", DType::u(8), {build_.index(0)}, tir::Scope::kGlobal, WeightLayout::kAlignment);
  out_dims_ = build_.buffer("out_dims", DType::i(64), {build_.index(static_cast<int64_t>(num_out_dims_))});
}

bool HostCallee::claims(size_t index, size_t first_dim) const {
  const auto* tensor = outputs[index]->as<TensorInfo>();
  size_t rank = tensor == nullptr ? 0 : tensor->shape->size();
  return std::any_of(bounds.begin() + static_cast<std::ptrdiff_t>(first_dim),
                     bounds.begin() + static_cast<std::ptrdiff_t>(first_dim + rank), [](Expr e) { return !e; });
}

/// What symbols that are only names of other expressions stand for is seen.
Info HostFunction::known(Info info) const {
  arith::Substitution values;
  for (Var var : symbols_of(info))
    if (Expr value = symbols_.known(Expr(var)); !(value == var)) values.emplace(var, value);
  return values.empty() ? info : substitute(context(), info, values);
}

/// The body gets its constants, and outputs whose dims were not yet known get the shape of their bound.
void HostFunction::publish(tir::Stmt body) {
  body = memory_.with_constants(body);
  HostCallee callee;
  callee.function = &function_;
  const HostCallee* announced = is_recursive() ? &shared_.callees.at(function_.name) : nullptr;
  callee.name =
      announced != nullptr ? shared_.bodies.at(function_.name) : shared_.module.unique_name(function_.name + "_call");
  callee.guards = shapes_.guards();
  callee.symbols = symbols_.entry(), callee.values = read_values_;
  for (const Input& input : inputs_) callee.inputs.push_back(input.buffer);
  std::map<BufferRef, BufferRef> bounded;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    std::vector<Expr> shape;
    size_t first = callee.bounds.size();
    for (Expr dim : output_dims(output)) {
      callee.bounds.push_back(announced != nullptr ? announced->bounds[callee.bounds.size()] : symbols_.bounded(dim));
      shape.push_back(callee.bounds.back() ? callee.bounds.back() : build_.index(INT64_MAX));
    }
    callee.outputs.push_back(known(output.info));  // the names of data alone stay unknown to callers
    callee.numbers.emplace_back();
    if (output.info->as<TensorInfo>() == nullptr)
      for (Expr number : numbers(output.info)) callee.numbers.back().push_back(symbols_.bounded(number));
    if (form_ == Form::kShared && callee.claims(i, first)) {
      BufferRef block = heap_.block_buffer(output.name);
      body = heap_.claim_views(body, output.buffer, block);
      output.buffer = block;
      continue;
    }
    if (shape == output.buffer->shape) continue;
    bounded[output.buffer] = build_.buffer(output.name, output.buffer->dtype, shape);
    output.buffer = bounded[output.buffer];
  }
  tir::Rewriter rewriter;
  rewriter.on_buffer = [&](BufferRef b) { return bounded.count(b) != 0 ? bounded.at(b) : b; };
  if (!bounded.empty()) body = tir::rewrite(context(), body, rewriter);
  if (heap_.is_needed() && form_ == Form::kEntry) body = heap_.begun_around(body);
  callee.needs_heap = heap_.is_needed();

  callee.read = named_buffers(context(), body);
  shared_.module.add_prim_func(host_prim_func(callee.name, body));
  if (!function_.is_private && !entry_is_missing()) add_entry(callee.name);
  if (form_ == Form::kShared && announced == nullptr) shared_.callees.emplace(function_.name, std::move(callee));
}

/// What all host functions take: inputs, outputs, arena, weights, out_dims, perhaps the heap, entry symbols.
tir::PrimFunc HostFunction::host_prim_func(const std::string& name, tir::Stmt body) {
  tir::PrimFunc host;
  host.name = name;
  host.host.arena = inputs_.size() + outputs_.size();
  host.rounding = function_.rounding;
  host.noalias = false;  // a state's output may be its input's memory
  for (const Input& input : inputs_) host.params.push_back({input.buffer, {}});
  for (const Output& output : outputs_) host.params.push_back({output.buffer, {}});
  for (BufferRef memory : {arena_, shared_.weights_buffer, out_dims_}) host.params.push_back({memory, {}});
  if (heap_.is_needed() && form_ == Form::kShared) host.params.push_back({heap_.buffer(), {}});
  // What nothing bounds is more than any memory has; anything else, more than was planned. plan_memory takes the
  // code away where no size can overflow.
  host.checks.overflow_code = heap_.is_needed() ? kOutOfMemory : kDataBound;
  for (Var var : symbols_.entry()) host.params.push_back({nullptr, var});
  host.body = body;
  host.location = function_.location;
  tir::collect_symbols(host);
  RELAXC_CHECK(host.symbols.empty(), "'" + host.symbols.front().name() + "' is no entry symbol of " + function_.name);
  return host;
}

}  // namespace relaxc::lower
