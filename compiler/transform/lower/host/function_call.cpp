// function_call.cpp: calls of other Relax functions.
//
// A host function takes memory for each leaf of its parameters and results, and its entry symbols as numbers. Most of
// them are dims of the arguments, found by matching. A number that the callee reads from an argument's elements is read
// here, before the call: from then on it is a symbol of the caller, and the callee's guards, which are the caller's as
// well, speak of it.
//
// Results whose size the callee's symbols decide are exact; others get the callee's bound and are used through a view
// of the dims that the callee stored. Shapes and scalars are returned in small vectors. What the call requires of its
// arguments is in call_arguments.cpp.
#include <algorithm>

#include "compiler/transform/lower/host/call_arguments.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

class FunctionCall {
 public:
  FunctionCall(HostLowering& host, const Op& op, const HostCallee& callee)
      : host_(host),
        op_(op),
        callee_(callee),
        at_(host.at),
        build_(host.at.build()),
        shapes_(host.shapes),
        symbols_(host.shapes.symbols()),
        arguments_(host, op, callee) {
    for (const Value* result : op.results) leaves(result->info, results_);
    RELAXC_CHECK(results_.size() == callee.outputs.size(), "the number of results of " + op.callee);
  }

  Status run() {
    RELAXC_DO(arguments_.solve());
    make_room();
    leave_capacities();
    invoke();
    size_t dim = 0;
    for (size_t i = 0; i < results_.size(); ++i) {
      bind_numbers(i, dim);
      see_result(i);
      dim += rooms_[i].size();
    }
    size_t next = 0;
    for (Value* result : op_.results) fill(host_.values.slot(*result), result->info, next);
    return Done{};
  }

 private:
  void make_room();
  BufferRef frame() const;
  void leave_capacities();
  void invoke();
  void bind_numbers(size_t i, size_t first_dim);
  void see_result(size_t i);
  void fill(ValueStorage& to, Info info, size_t& next) const;
  bool is_tensor(size_t i) const { return results_[i]->as<TensorInfo>() != nullptr; }
  Expr index(size_t value) const { return build_.index(static_cast<int64_t>(value)); }

  HostLowering& host_;
  const Op& op_;
  const HostCallee& callee_;
  InsertionPoint& at_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  CallArguments arguments_;
  std::vector<Info> results_;             ///< the infos of the result's leaves
  std::vector<BufferRef> memories_;       ///< the memory of each leaf
  std::vector<std::vector<Expr>> rooms_;  ///< the dims of this memory; null: no bound, and the memory is a block
  BufferRef frame_ = nullptr;
  BufferRef out_dims_ = nullptr;  ///< where the callee stores dims that only it knows
};

/// Allocates memory for each leaf of the result: exact if the callee's symbols give its dims, else by the callee's
/// bound. Without a bound it is an empty block, which the callee claims.
void FunctionCall::make_room() {
  size_t next_dim = 0;
  Expr num_dims = index(std::max<size_t>(callee_.bounds.size(), 1));
  out_dims_ = host_.memory.allocate(op_.callee + "_dims", DType::i(64), {num_dims});
  for (size_t i = 0; i < results_.size(); ++i) {
    const auto* tensor = results_[i]->as<TensorInfo>();
    if (tensor == nullptr) {
      next_dim += results_[i]->as<ShapeInfo>() != nullptr;
      const auto* prim = results_[i]->as<PrimInfo>();
      DType dtype = prim == nullptr ? DType::i(64) : stored_dtype(prim->dtype);
      memories_.push_back(host_.memory.in_memory(results_[i], dtype, false));
      rooms_.push_back(memories_.back()->shape);
      continue;
    }
    bool claimed = callee_.claims(i, next_dim);
    std::vector<Expr>& shape = rooms_.emplace_back();
    for (size_t axis = 0; axis < tensor->shape->size(); ++axis) {
      Expr bound = callee_.bounds[next_dim++];
      shape.push_back(bound ? symbols_.known(arguments_.in_ours(bound)) : bound);
    }
    bool single = op_.results.size() == results_.size() && op_.results[i]->info == results_[i];
    memories_.push_back(claimed ? host_.heap.empty_block(op_.callee + "_result")
                        : single && host_.destinations.of(*op_.results[i]) != nullptr
                            ? host_.destinations.produce(*op_.results[i])
                            : host_.memory.allocate(op_.callee + "_result", *tensor->dtype, shape));
  }
  frame_ = frame();
}

/// Allocates the callee's frame: in our arena if its symbols are bounded, else on the heap. Planning sets its size.
BufferRef FunctionCall::frame() const {
  std::string name = callee_.function->name + "_frame";
  bool bounded = std::all_of(callee_.symbols.begin(), callee_.symbols.end(), [&](Var symbol) {
    return !symbol.dtype().is_index() || symbols_.bounded(arguments_.value_of(symbol));
  });
  if (bounded) return at_.alloc(name, DType::u(8), {build_.index(1)});
  Var bytes = at_.context().var(name + "_bytes");
  at_.let(bytes, build_.index(1));
  return host_.heap.claim(name, DType::u(8), {bytes});
}

/// Stores the capacity of each data-dependent result where the callee will leave its dims.
void FunctionCall::leave_capacities() {
  size_t dim = 0;
  for (size_t i = 0; i < results_.size(); ++i) {
    const std::vector<Expr>& room = rooms_[i];
    bool exact = true;
    if (is_tensor(i))
      for (Expr e : relax_dims(callee_.outputs[i])) exact &= arguments_.decide(e);
    bool bounded = std::all_of(room.begin(), room.end(), [](Expr e) { return static_cast<bool>(e); });
    Expr capacity = bounded ? shapes_.elements_of(room) : build_.index(INT64_MAX);
    if (!exact) at_.add(build_.store(out_dims_, {index(dim)}, arith::cast(DType::i(64), capacity)));
    dim += room.size();
  }
}

void FunctionCall::invoke() {
  tir::Invoke invoke;
  invoke.callee = callee_.name;
  for (BufferRef argument : arguments_.memories()) invoke.args.push_back(argument);
  for (BufferRef memory : memories_) invoke.args.push_back(memory);
  invoke.args.push_back(frame_);
  invoke.args.push_back(host_.shared.weights_buffer);
  invoke.args.push_back(out_dims_);
  if (callee_.needs_heap) invoke.args.push_back(host_.heap.buffer());
  for (Var symbol : callee_.symbols) invoke.args.push_back(arguments_.value_of(symbol));
  at_.add(build_.invoke(std::move(invoke)));
}

/// Defines the new symbols of result `i` by the callee's expressions, or by the numbers that only the callee knew.
void FunctionCall::bind_numbers(size_t i, size_t first_dim) {
  bool tensor = is_tensor(i);
  std::vector<Expr> said = numbers(results_[i]), theirs = numbers(callee_.outputs[i]);
  BufferRef memory = memories_[i];
  for (size_t k = 0; k < said.size(); ++k) {
    const auto* var = said[k].as<arith::VarNode>();
    if (var == nullptr || symbols_.in_scope(Var(var))) continue;
    if (theirs.size() == said.size() && arguments_.decide(theirs[k])) {
      symbols_.define(Var(var), arguments_.in_ours(theirs[k]));
      continue;
    }
    Expr bound = tensor ? rooms_[i][k] : theirs.size() == said.size() ? callee_.numbers[i][k] : Expr();
    if (bound && !tensor) bound = arguments_.in_ours(bound);
    tir::Indices at(tensor ? 1 : memory->shape.size(), index(tensor ? first_dim + k : k));
    shapes_.bind_from_data(Var(var), build_.load(tensor ? out_dims_ : memory, at), bound, tensor);
  }
}

/// Views the memory of result `i` with the dims that its info gives.
void FunctionCall::see_result(size_t i) {
  if (!is_tensor(i)) return;
  BufferRef memory = memories_[i];
  std::vector<Expr> shape = shapes_.dims(results_[i]);
  DType dtype = *results_[i]->as<TensorInfo>()->dtype;
  bool claimed = std::any_of(rooms_[i].begin(), rooms_[i].end(), [](Expr e) { return !e; });
  if (claimed)
    memories_[i] = host_.heap.own_block(memory, op_.callee + "_result", dtype, shape);
  else if (shape != memory->shape)  // a callee leaves its result compact, however much memory it was given
    memories_[i] = host_.memory.view_as(memory, op_.callee + "_result", dtype, shape);
}

void FunctionCall::fill(ValueStorage& to, Info info, size_t& next) const {
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) {
    to.buffer = memories_[next++];
    return;
  }
  to.fields.resize(tuple->fields.size());
  for (size_t i = 0; i < tuple->fields.size(); ++i) fill(to.fields[i], tuple->fields[i], next);
}

}  // namespace

Status call_function(HostLowering& host, Op& op) {
  auto known = host.shared.callees.find(op.callee);
  RELAXC_CHECK(known != host.shared.callees.end(), "'" + op.callee + "' is called before it is lowered");
  return FunctionCall(host, op, known->second).run();
}

}  // namespace relaxc::lower
