// host_function_call.cpp: calls of other Relax functions.
//
// A host function takes memory for each leaf of its parameters and results, and its entry symbols as numbers. Most of
// them are dims of the arguments, found by matching. A number that the callee reads from an argument's elements is read
// here, before the call: from then on it is a symbol of the caller, and the callee's guards, which are the caller's as
// well, speak of it.
//
// Results whose size the callee's symbols decide are exact; others get the callee's bound, and are seen through a view
// once the callee has left their dims. Shapes and scalars come back in small vectors.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

bool all_found(Expr e, const arith::Substitution& found) {
  std::vector<Var> inner = arith::free_vars(e);
  return std::all_of(inner.begin(), inner.end(), [&](Var v) { return found.count(v) != 0; });
}

DType stored(Info info) {
  const auto* prim = info->as<PrimInfo>();
  return prim == nullptr || prim->dtype.is_index() ? DType::i(64) : prim->dtype;
}

}  // namespace

struct HostFunction::FunctionCall {
  explicit FunctionCall(const HostCallee& called) : callee(called) {}

  const HostCallee& callee;
  std::vector<Info> formals, actuals;    ///< leaves of parameters and arguments
  std::vector<BufferRef> arguments;      ///< memory of the arguments; null: none yet, a shape or scalar
  std::vector<int32_t> tensors;          ///< which input of ours an argument is; -1: none
  std::vector<Info> results;             ///< leaves
  std::vector<BufferRef> memories;       ///< of the results
  std::vector<std::vector<Expr>> rooms;  ///< their dims; a null one has no bound, and the memory is a block
  arith::Substitution found;             ///< the callee's symbols in ours
  BufferRef out_dims = nullptr;          ///< where the callee leaves dims that it alone knows
};

Status HostFunction::call_function(Op& op) {
  auto known = shared_.callees.find(op.callee);
  RELAXC_CHECK(known != shared_.callees.end(), "'" + op.callee + "' is called before it is lowered");
  FunctionCall call(known->second);
  list_arguments(op, call);
  RELAXC_DO(solve_arguments(op, call));
  RELAXC_DO(read_values(op, call));
  require_declared(call);
  // Memory that is written before the call comes first, so that its use before the call and in it are one nest.
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (call.arguments[i] == nullptr)
      call.arguments[i] = memory_.in_memory(call.actuals[i], stored(call.formals[i]),
                                            call.callee.read.count(call.callee.inputs[i]) != 0);
  make_room(op, call);
  invoke_function(call);
  bind_called(op, call);
  return Done{};
}

void HostFunction::list_arguments(const Op& op, FunctionCall& call) {
  auto add = [&](const Slot& from, Info info, auto&& self) -> void {
    if (const auto* tuple = info->as<TupleInfo>()) {
      for (size_t i = 0; i < tuple->fields.size(); ++i) self(from.fields[i], tuple->fields[i], self);
      return;
    }
    bool has_memory = info->as<TensorInfo>() != nullptr || (info->as<PrimInfo>() && !info->as<PrimInfo>()->value);
    call.arguments.push_back(has_memory ? from.buffer : nullptr);
    auto input = std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& i) { return i.buffer == from.buffer; });
    call.tensors.push_back(input == inputs_.end() ? -1 : static_cast<int32_t>(input - inputs_.begin()));
  };
  for (size_t i = 0; i < op.operands().size(); ++i) {
    leaves(call.callee.function->body().arguments[i]->info, call.formals);
    leaves(op.operand(i)->info, call.actuals);
    add(values_.slot(*op.operand(i)), op.operand(i)->info, add);
  }
  for (const Value* result : op.results) leaves(result->info, call.results);
  RELAXC_CHECK(call.results.size() == call.callee.outputs.size(), "the number of results of " + op.callee);
}

/// The callee's symbols, by what the arguments have in their place; what they do not decide must agree.
Status HostFunction::solve_arguments(const Op& op, FunctionCall& call) {
  Diagnostics& diag = this->diag();
  for (size_t i = 0; i < call.formals.size(); ++i) {
    std::vector<Expr> formal = numbers(call.formals[i]), actual = symbols_.known(numbers(call.actuals[i]));
    if (actual.empty() && !formal.empty() && call.arguments[i] != nullptr)
      actual.push_back(build_.load(call.arguments[i], {}));                            // a scalar in memory
    if (formal.empty() && call.formals[i]->as<PrimInfo>() != nullptr) actual.clear();  // read by the callee
    if (formal.size() != actual.size())
      return diag.error(op.location, Kind::rank_mismatch, "argument {} of '{}' is {}, and {} is wanted", i, op.callee,
                        to_string(call.actuals[i]), to_string(call.formals[i]));
    for (size_t k = 0; k < formal.size(); ++k) {
      const auto* var = formal[k].as<arith::VarNode>();
      if (var == nullptr || call.found.count(formal[k]) != 0) continue;
      if (actual[k].as<arith::Load>() != nullptr && actual[k].dtype() != formal[k].dtype()) {
        Var read = context().var(Var(var).name());
        shapes_.bind_from_data(read, actual[k], {}, false);
        actual[k] = read;
      }
      call.found.emplace(formal[k], actual[k]);
    }
  }
  for (size_t i = 0; i < call.formals.size(); ++i) {
    std::vector<Expr> formal = replace(numbers(call.formals[i]), call.found), actual = numbers(call.actuals[i]);
    for (size_t k = 0; k < formal.size() && k < actual.size(); ++k) {
      if (!formal[k].dtype().is_index()) continue;
      tir::Guard record;
      record.code = kDerivedDim, record.tensor = call.tensors[i], record.axis = static_cast<int32_t>(k);
      record.expected = formal[k], record.actual = actual[k];
      shapes_.require(arith::eq(formal[k], actual[k]), std::move(record),
                      {Finding::kExact, fmt::format("dim {} of argument {}", k, i)});
    }
  }
  return Done{};
}

/// Numbers that the callee's entry would read: elements of arguments, answers of shape functions.
Status HostFunction::read_values(const Op& op, FunctionCall& call) {
  std::map<const Op*, BufferRef> answers;
  for (size_t k = 0; k < call.callee.values.size(); ++k) {
    const ValueSymbol& value = call.callee.values[k];
    if (call.found.count(value.var) != 0) continue;
    if (auto ours = called_values_.find({&op, k}); ours != called_values_.end()) {
      call.found.emplace(value.var, ours->second);
      continue;
    }
    BufferRef from = nullptr;
    if (value.function != nullptr) {
      BufferRef& answer = answers[value.function];
      if (answer == nullptr)
        answer = ask_shape_function(value, symbols_.known(replace(value.asked, call.found)), tir::Scope::kGlobal,
                                    at_.steps());
      from = answer;
    } else {
      auto input = std::find(call.callee.inputs.begin(), call.callee.inputs.end(), value.buffer);
      size_t leaf = static_cast<size_t>(input - call.callee.inputs.begin());
      from = call.arguments.at(leaf);
      if (from == nullptr) {  // a shape or scalar: its numbers are known
        Expr given = symbols_.known(numbers(call.actuals[leaf])).at(static_cast<size_t>(value.element));
        call.found.emplace(value.var, given);
        continue;
      }
      if (from->shape.size() > 1)
        from = memory_.view_as(from, from->name, from->dtype, {tir::element_count(context(), *from)});
    }
    Var read = context().var(value.var.name());
    function_.facts.bound(read, call.callee.function->facts.range_of(value.var));
    symbols_.declare(read, call.callee.function->facts.range_of(value.var));
    tir::Indices at(from->shape.size(), build_.index(value.element));
    shapes_.bind_from_data(read, build_.load(from, at), {}, false);
    call.found.emplace(value.var, read);
  }
  for (Var symbol : call.callee.symbols)
    RELAXC_CHECK(call.found.count(symbol) != 0, "symbol " + symbol.name() + " of " + op.callee + " has no value");
  return Done{};
}

/// What the callee declares of its symbols and guards in its entry must hold of ours.
void HostFunction::require_declared(FunctionCall& call) {
  const arith::Facts& facts = call.callee.function->facts;
  for (Var symbol : call.callee.symbols) {
    Expr actual = call.found.at(symbol);
    arith::Range range = facts.range_of(symbol);
    auto check = [&](Expr condition, int64_t limit, Finding finding) {
      tir::Guard record;
      record.code = kDimBounds, record.expected = build_.index(limit), record.actual = actual;
      shapes_.require(condition, std::move(record), {finding, "'" + symbol.name() + "'"});
    };
    if (range.has_upper()) check(arith::le(actual, build_.index(range.upper)), range.upper, Finding::kAtMost);
    if (range.has_lower()) check(arith::ge(actual, build_.index(range.lower)), range.lower, Finding::kAtLeast);
    int64_t multiple = facts.multiple_of(symbol);
    if (multiple > 1) check(arith::eq(arith::floormod(actual, multiple), 0), multiple, Finding::kMultiple);
  }
  for (Expr assumed : facts.assumptions()) {
    Expr condition = arith::substitute(assumed, call.found);
    if (all_found(assumed, call.found))
      shapes_.require(condition, relation(condition), {Finding::kRelation, to_string(assumed)});
  }
  for (tir::Guard guard : call.callee.guards) {
    if (guard.expected) guard.expected = arith::substitute(guard.expected, call.found);
    if (guard.actual) guard.actual = arith::substitute(guard.actual, call.found);
    std::string what = fmt::format("dim {} of argument {}", guard.axis, guard.tensor);
    bool of_input = guard.tensor >= 0 && static_cast<size_t>(guard.tensor) < call.tensors.size();
    guard.tensor = of_input ? call.tensors[static_cast<size_t>(guard.tensor)] : -1;
    if (guard.symbol >= 0)
      guard.symbol = shapes_.our_symbol(call.found.at(call.callee.symbols.at(static_cast<size_t>(guard.symbol))));
    Expr condition = arith::substitute(guard.condition, call.found);
    Finding finding = guard.code == kDimBounds ? Finding::kAtLeast : Finding::kExact;
    shapes_.require(condition, std::move(guard), {finding, what});
  }
}

/// Memory of each leaf of the result: exact where the callee's symbols decide, else of the callee's bound; an empty
/// block where there is none, for the callee to claim.
void HostFunction::make_room(const Op& op, FunctionCall& call) {
  size_t next_dim = 0, count = call.callee.bounds.size();
  Expr num_dims = build_.index(static_cast<int64_t>(std::max<size_t>(count, 1)));
  call.out_dims = memory_.allocate(op.callee + "_dims", DType::i(64), {num_dims});
  for (size_t i = 0; i < call.results.size(); ++i) {
    const auto* tensor = call.results[i]->as<TensorInfo>();
    if (tensor == nullptr) {
      next_dim += call.results[i]->as<ShapeInfo>() != nullptr;
      call.memories.push_back(memory_.in_memory(call.results[i], stored(call.results[i]), false));
      call.rooms.push_back(call.memories.back()->shape);
      continue;
    }
    bool claimed = call.callee.claims(i, next_dim);
    std::vector<Expr>& shape = call.rooms.emplace_back();
    for (size_t axis = 0; axis < tensor->shape->size(); ++axis) {
      Expr bound = call.callee.bounds[next_dim++];
      shape.push_back(bound ? symbols_.known(arith::substitute(bound, call.found)) : bound);
    }
    bool single = op.results.size() == call.results.size() && op.results[i]->info == call.results[i];
    call.memories.push_back(claimed ? heap_.empty_block(op.callee + "_result")
                            : single && destinations_.count(op.results[i]) != 0
                                ? produce(*op.results[i])
                                : memory_.allocate(op.callee + "_result", *tensor->dtype, shape));
  }
}

/// Memory of the callee: in ours where its symbols are bounded, else claimed. Its size is known once it is planned.
BufferRef HostFunction::frame_of(const FunctionCall& call) {
  std::string name = call.callee.function->name + "_frame";
  bool bounded = std::all_of(call.callee.symbols.begin(), call.callee.symbols.end(), [&](Var symbol) {
    return !symbol.dtype().is_index() || symbols_.bounded(call.found.at(symbol));
  });
  if (bounded) {
    BufferRef frame =
        build_.buffer(name, DType::u(8), {build_.index(1)}, tir::Scope::kGlobal, WeightLayout::kAlignment);
    at_.alloc(frame);
    return frame;
  }
  Var bytes = context().var(name + "_bytes");
  at_.let(bytes, build_.index(1));
  return heap_.claim(name, DType::u(8), {bytes});
}

void HostFunction::invoke_function(FunctionCall& call) {
  BufferRef frame = frame_of(call);

  // A data-dependent result of the callee finds its capacity where it leaves its dims.
  size_t dim = 0;
  for (size_t i = 0; i < call.results.size(); ++i) {
    const std::vector<Expr>& room = call.rooms[i];
    bool exact = true;
    if (call.results[i]->as<TensorInfo>() != nullptr)
      for (Expr e : relax_dims(call.callee.outputs[i])) exact &= all_found(e, call.found);
    bool bounded = std::all_of(room.begin(), room.end(), [](Expr e) { return static_cast<bool>(e); });
    Expr capacity = bounded ? shapes_.elements_of(room) : build_.index(INT64_MAX);
    if (!exact)
      at_.add(
          build_.store(call.out_dims, {build_.index(static_cast<int64_t>(dim))}, arith::cast(DType::i(64), capacity)));
    dim += room.size();
  }
  tir::Invoke invoke;
  invoke.callee = call.callee.name;
  for (BufferRef argument : call.arguments) invoke.args.push_back(argument);
  for (BufferRef memory : call.memories) invoke.args.push_back(memory);
  invoke.args.push_back(frame);
  invoke.args.push_back(shared_.weights_buffer);
  invoke.args.push_back(call.out_dims);
  if (call.callee.needs_heap) invoke.args.push_back(heap_.buffer());
  for (Var symbol : call.callee.symbols) invoke.args.push_back(call.found.at(symbol));
  at_.add(build_.invoke(std::move(invoke)));
}

/// Numbers that only the callee knew become symbols here; then the results are what their infos say.
void HostFunction::bind_called(const Op& op, FunctionCall& call) {
  size_t dim = 0;
  for (size_t i = 0; i < call.results.size(); ++i) {
    bool tensor = call.results[i]->as<TensorInfo>() != nullptr;
    std::vector<Expr> said = numbers(call.results[i]), theirs = numbers(call.callee.outputs[i]);
    BufferRef memory = call.memories[i];
    for (size_t k = 0; k < said.size(); ++k) {
      const auto* var = said[k].as<arith::VarNode>();
      if (var == nullptr || symbols_.in_scope(Var(var))) continue;
      if (theirs.size() == said.size() && all_found(theirs[k], call.found)) {
        symbols_.define(Var(var), arith::substitute(theirs[k], call.found));
        continue;
      }
      Expr bound = tensor ? call.rooms[i][k] : theirs.size() == said.size() ? call.callee.numbers[i][k] : Expr();
      if (bound && !tensor) bound = arith::substitute(bound, call.found);
      int64_t place = static_cast<int64_t>(tensor ? dim + k : k);
      tir::Indices at(tensor ? 1 : memory->shape.size(), build_.index(place));
      shapes_.bind_from_data(Var(var), build_.load(tensor ? call.out_dims : memory, at), bound, tensor);
    }
    dim += call.rooms[i].size();
    if (!tensor) continue;
    std::vector<Expr> shape = symbols_.known(relax_dims(call.results[i]));
    DType dtype = *call.results[i]->as<TensorInfo>()->dtype;
    bool claimed = std::any_of(call.rooms[i].begin(), call.rooms[i].end(), [](Expr e) { return !e; });
    if (claimed) {
      call.memories[i] = heap_.own_block(memory, op.callee + "_result", dtype, shape);
      continue;
    }
    // A callee leaves its result compact, whatever room it was given.
    if (shape != memory->shape) call.memories[i] = memory_.view_as(memory, op.callee + "_result", dtype, shape);
  }
  size_t next = 0;
  auto fill = [&](Slot& to, Info info, auto&& self) -> void {
    const auto* tuple = info->as<TupleInfo>();
    if (tuple == nullptr) {
      to.buffer = call.memories[next++];
      return;
    }
    to.fields.resize(tuple->fields.size());
    for (size_t i = 0; i < tuple->fields.size(); ++i) self(to.fields[i], tuple->fields[i], self);
  };
  for (Value* result : op.results) fill(values_.slot(*result), result->info, fill);
}

}  // namespace relaxc::lower
