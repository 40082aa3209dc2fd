// entry_symbols.cpp: dims of inputs first, then what is read from their elements.
#include "compiler/transform/lower/host/entry_symbols.h"

#include <algorithm>

#include "compiler/relax/op_def.h"

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kMaxValues = 64;  ///< elements of an input that may decide shapes (docs/abi.md)

/// Returns the parameter that `value` is, possibly through views; null if it is none.
const Value* parameter_below(const Value* value) {
  while (value->op != nullptr) {
    bool view = value->op->kind == OpKind::kOperator && value->op->def->role == Role::kView;
    bool cast = value->op->kind == OpKind::kMatchCast && !opens_object(*value->op);
    if (!view && !cast) return nullptr;
    value = value->op->operand(0);
  }
  return value->region != nullptr && value->region->parent_op == nullptr ? value : nullptr;
}

/// Returns the input of at most kMaxValues elements that `value` is, possibly through views; null if it is none.
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

}  // namespace

Status EntrySymbols::add(bool recursive) {
  RELAXC_DO(add_dims());
  if (recursive) return Done{};
  require_repeated();
  for (Op* op : ops_of(function_.body())) add_value_symbols(*op);
  for (Op* op : ops_of(function_.body())) add_called_symbols(*op);
  // A number of iterations is read before it is known whether the loop runs at all; if it does not, any number will do.
  for (Op* op : ops_of(function_.body(), true)) add_trip_count(*op);
  return Done{};
}

Status EntrySymbols::add_dims() {
  for (Var var : function_.symbols)
    if (var.dtype().is_index()) symbols_.add_entry(var);
  // Dims of tensors come first: symbols that they give need not be read from data, whatever the order of parameters.
  std::vector<Var> sourced;
  for (bool tensors : {true, false})
    for (const Input& input : signature_.inputs())
      if ((input.info->as<TensorInfo>() != nullptr) == tensors) add_symbols_of(input, sourced);
  for (Var var : symbols_.entry())
    if (std::find(sourced.begin(), sourced.end(), var) == sourced.end())
      return shared_.context.diag.error(function_.location, Kind::unbound_name,
                                        "symbol '{}' of '{}' is not a dim of a parameter by itself, so its value "
                                        "is unknown",
                                        var.name(), function_.name);
  return Done{};
}

/// Adds the symbols that `input` is the first to define.
void EntrySymbols::add_symbols_of(const Input& input, std::vector<Var>& sourced) {
  bool tensor = input.info->as<TensorInfo>() != nullptr;
  std::vector<Expr> list = numbers(input.info);
  if (!list.empty() && !list[0].dtype().is_index()) return read_scalar(input);
  for (size_t i = 0; i < list.size(); ++i) {
    const auto* node = list[i].as<arith::VarNode>();
    if (node == nullptr || std::find(sourced.begin(), sourced.end(), Var(node)) != sourced.end()) {
      if (tensor) continue;  // the tables of the interface compare the caller's dims
      Var read = context().var(input.name + "_" + std::to_string(i));
      sourced.push_back(read);
      symbols_.add_entry(read);
      read_.push_back({.var = read, .buffer = input.buffer, .element = static_cast<int64_t>(i)});
      repeated_.push_back({list[i], read, signature_.input_of(input.buffer), static_cast<int32_t>(i)});
      continue;
    }
    sourced.push_back(Var(node));
    if (!symbols_.in_scope(Var(node))) symbols_.add_entry(Var(node));
    if (!tensor) read_.push_back({.var = Var(node), .buffer = input.buffer, .element = static_cast<int64_t>(i)});
  }
}

/// Binds a scalar that is no dim. It is read during the call, since nothing needs it before.
void EntrySymbols::read_scalar(const Input& input) {
  const auto* node = input.info->as<PrimInfo>()->value.as<arith::VarNode>();
  RELAXC_CHECK(node != nullptr, "a scalar parameter that is an expression");
  if (symbols_.in_scope(Var(node))) return;
  tir::Builder build(context());
  shapes_.bind_from_data(Var(node), build.load(input.buffer, {}), {}, false);
}

void EntrySymbols::require_repeated() {
  for (const Repeated& number : repeated_) {
    tir::Guard record;
    record.tensor = number.input, record.axis = number.axis, record.symbol = shapes_.our_symbol(number.expected);
    record.code = number.expected.constant() != nullptr ? kStaticDim
                  : record.symbol >= 0                  ? kSymbolEquality
                                                        : kDerivedDim;
    record.expected = number.expected, record.actual = number.read;
    const Input& input = signature_.inputs()[static_cast<size_t>(number.input)];
    shapes_.require(arith::eq(number.expected, number.read), std::move(record),
                    exact_dim(static_cast<size_t>(std::max(number.axis, 0)), input.name));
  }
}

/// Adds entry symbols for what `op` binds to elements of a small input, and for what a shape function computes from
/// entry symbols.
void EntrySymbols::add_value_symbols(Op& op) {
  if (op.kind == OpKind::kShapeFunction) return add_shape_function(op);
  if (op.kind != OpKind::kOperator || op.def->role != Role::kHost || op.operand(0) == nullptr) return;
  const Value* source = small_input_below(op.operand(0));
  if (source == nullptr) return;
  for (size_t i = 0; i < op.binds.size(); ++i) {
    symbols_.add_entry(op.binds[i]);
    read_.push_back({.var = op.binds[i], .buffer = values_.buffer(*source), .element = static_cast<int64_t>(i)});
  }
}

void EntrySymbols::add_shape_function(Op& op) {
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
    read_.push_back({.var = Var(node), .element = static_cast<int64_t>(i), .function = &op, .asked = asked});
  }
}

/// Lets our entry read the values that a callee reads from an argument, if the argument is a small input of ours.
void EntrySymbols::add_called_symbols(const Op& op) {
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
      read_.push_back({.var = ours, .buffer = values_.buffer(*source), .element = value.element});
    }
    ++leaf;
  }
}

/// Makes a trip count that is an input an entry symbol, wherever the loop is, so that it can bound the values that the
/// loop carries.
void EntrySymbols::add_trip_count(Op& op) {
  if (op.kind != OpKind::kLoop || op.operand(0) == nullptr) return;
  const Value* source = parameter_below(op.operand(0));
  if (source == nullptr || source->info->as<TensorInfo>() == nullptr) return;
  Var trips = context().var(source->name);
  symbols_.add_entry(trips);
  trip_counts_[&op] = trips;
  read_.push_back({.var = trips, .buffer = values_.buffer(*source)});
}

const Var* EntrySymbols::trip_count(const Op& loop) const {
  auto input = trip_counts_.find(&loop);
  return input == trip_counts_.end() ? nullptr : &input->second;
}

const Var* EntrySymbols::called_value(const Op& call, size_t k) const {
  auto ours = called_values_.find({&call, k});
  return ours == called_values_.end() ? nullptr : &ours->second;
}

}  // namespace relaxc::lower
