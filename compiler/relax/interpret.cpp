// interpret.cpp: runs a module as the language says, with concrete sizes.
//
// Operators run by their definition through the Evaluator (interpret_operator.cpp); calls, branches and loops are in
// interpret_call.cpp. Nothing here is quick, and nothing is clever: this is what optimized programs are compared with.
#include "compiler/relax/interpret.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "compiler/relax/callable.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

size_t leaves(Info info) {
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) return 1;
  size_t count = 0;
  for (Info field : tuple->fields) count += leaves(field);
  return count;
}

Part vector_of(const std::vector<int64_t>& values) {
  HostTensor t{DType::i(64), {static_cast<int64_t>(values.size())}, {}};
  t.bytes.resize(values.size() * sizeof(int64_t));
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return std::make_shared<HostTensor>(std::move(t));
}

std::vector<int64_t> values_of(const HostTensor& t) {
  std::vector<int64_t> values(static_cast<size_t>(t.elements()));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = decode_integer(t.dtype, t.bytes.data() + k * static_cast<size_t>(t.dtype.bytes()));
  return values;
}

int64_t cell_of(const HostTensor& t) {
  if (t.dtype.is_float()) return std::bit_cast<int64_t>(decode_scalar(t.dtype, t.bytes.data()));
  return decode_integer(t.dtype, t.bytes.data());
}

Part part_of(DType dtype, int64_t cell) {
  HostTensor t{dtype.is_index() ? DType::i(64) : dtype, {}, {}};
  if (dtype.is_float()) {
    t.bytes = encode_scalar(t.dtype, std::bit_cast<double>(cell));
  } else {
    t.bytes.resize(static_cast<size_t>(t.dtype.bytes()));
    std::memcpy(t.bytes.data(), &cell, t.bytes.size());
  }
  return std::make_shared<HostTensor>(std::move(t));
}

/// The address of a tensor's elements; never null.
void* address(const HostTensor& t) {
  alignas(64) static constexpr std::byte kNothing[64]{};
  return const_cast<std::byte*>(t.bytes.empty() ? kNothing : t.bytes.data());
}

std::string label(const Op& op) {
  std::string name = op.def != nullptr ? std::string(op.def->name.text()) : op.callee;
  return op.results.empty() || op.results[0]->name.empty() ? "'" + name + "'"
                                                           : "'" + name + "' giving '" + op.results[0]->name + "'";
}

bool Frame::call(const Function& function, const Parts& inputs, Parts& outputs) {
  const Function* running = &function;
  if (!enter(function, inputs) || !run_region(function.body())) return false;
  while (next_ != nullptr) {
    running = std::exchange(next_, nullptr);
    Parts given = std::move(next_inputs_);
    values_.clear();
    symbols_.clear();
    if (!enter(*running, given) || !run_region(running->body())) return false;
  }
  for (const Value* result : running->body().results())
    for (const Part& part : parts(result)) outputs.push_back(part);
  return true;
}

bool Frame::take_turn(const Parts& given) {
  constexpr int64_t kTurn = 4096;
  program_.budget -= kTurn;
  for (const Part& part : given) program_.budget -= static_cast<int64_t>(part->bytes.size());
  return program_.budget >= 0 || fail(kGivenUp, "the run takes more repetitions than its budget has");
}

bool Frame::enter(const Function& function, const Parts& inputs) {
  function_ = &function;
  size_t next = 0;
  for (const Value* argument : function.body().arguments) {
    size_t count = leaves(argument->info);
    if (next + count > inputs.size())
      return fail(kTensorCount, function.name + " takes more inputs", static_cast<int64_t>(next + count),
                  static_cast<int64_t>(inputs.size()));
    std::span<const Part> list = std::span(inputs).subspan(next, count);
    values_[argument] = Parts(list.begin(), list.end());
    next += count;
  }
  if (next != inputs.size())
    return fail(kTensorCount, function.name + " takes fewer inputs", static_cast<int64_t>(next),
                static_cast<int64_t>(inputs.size()));
  for (const Value* argument : function.body().arguments) symbols_.bind_bare(argument->info, values_[argument]);
  for (const Value* argument : function.body().arguments)
    if (!symbols_.match(argument->info, values_[argument], "input '" + argument->name + "'")) return false;
  return true;
}

bool Frame::run_region(const Region& region) {
  for (const Block* block : region.blocks)
    for (const Op* op : block->ops)
      if (!run(*op)) return false;  // a call in tail position is the last op there is
  return true;
}

/// Data is held to what the function declares of the sizes that it decides.
bool Frame::hold_declared(const Op& op) {
  for (Var symbol : op.binds) {
    const std::optional<int64_t> value = symbols_.evaluate(symbol);
    if (!value) continue;
    const arith::Range range = function_->facts.range_of(symbol);
    const int64_t multiple = std::max<int64_t>(function_->facts.multiple_of(symbol), 1);
    if (range.has_lower() && *value < range.lower) return fail(kDataBound, origin_text(op), range.lower, *value);
    if (range.has_upper() && *value > range.upper) return fail(kDataBound, origin_text(op), range.upper, *value);
    if (*value % multiple != 0) return fail(kDataBound, origin_text(op), multiple, *value);
  }
  return true;
}

bool Frame::set_results(const Op& op, const Parts& all) {
  symbols_.forget(op.binds);
  size_t next = 0;
  for (const Value* result : op.results) {
    size_t count = leaves(result->info);
    RELAXC_CHECK(next + count <= all.size(), label(op) + " gave too few results");
    std::span<const Part> list = std::span(all).subspan(next, count);
    symbols_.bind_bare(result->info, list);
    if (!symbols_.match(result->info, list, "result of " + label(op)) || !hold_declared(op)) return false;
    values_[result] = Parts(list.begin(), list.end());
    next += count;
  }
  RELAXC_CHECK(next == all.size(), label(op) + " gave too many results");
  return true;
}

bool Frame::run_shape(const Op& op) {
  std::vector<int64_t> dims;
  if (!symbols_.evaluate_dims(*op.result()->info->as<ShapeInfo>()->dims, dims, "a shape")) return false;
  values_[op.result()] = {vector_of(dims)};
  return true;
}

bool Frame::run_prim(const Op& op) {
  const auto& info = *op.result()->info->as<PrimInfo>();
  std::vector<int64_t> value;
  if (!symbols_.evaluate_dims({info.value}, value, "a scalar")) return false;
  values_[op.result()] = {part_of(info.dtype, value[0])};
  return true;
}

bool Frame::run_tuple(const Op& op) {
  Parts all;
  for (const Value* operand : op.operands())
    for (const Part& part : parts(operand)) all.push_back(part);
  values_[op.result()] = std::move(all);
  return true;
}

bool Frame::run_tuple_get(const Op& op) {
  const auto& fields = op.operand(0)->info->as<TupleInfo>()->fields;
  size_t index = static_cast<size_t>(op.attrs.integer("index")), first = 0;
  for (size_t k = 0; k < index; ++k) first += leaves(fields[k]);
  auto begin = parts(op.operand(0)).begin() + static_cast<std::ptrdiff_t>(first);
  Parts field(begin, begin + static_cast<std::ptrdiff_t>(leaves(fields[index])));
  values_[op.result()] = std::move(field);
  return true;
}

bool Frame::run(const Op& op) {
  for (const Requirement& r : op.requirements)
    if (std::optional<int64_t> holds = symbols_.evaluate(r.condition); !holds || *holds == 0)
      return fail(r.code, located_text(op, r), r.expected ? symbols_.evaluate(r.expected).value_or(0) : 0,
                  r.actual ? symbols_.evaluate(r.actual).value_or(0) : 0);
  switch (op.kind) {
    case OpKind::kOperator:
      return run_operator(op);
    case OpKind::kConstant:
      values_[op.result()] = {std::make_shared<HostTensor>(
          HostTensor{op.constant->dtype(), op.constant->shape(), op.constant->to_vector()})};
      return true;
    case OpKind::kShape:
      return run_shape(op);
    case OpKind::kPrim:
      return run_prim(op);
    case OpKind::kTuple:
      return run_tuple(op);
    case OpKind::kTupleGet:
      return run_tuple_get(op);
    case OpKind::kMatchCast:
      return run_match_cast(op);
    case OpKind::kCallTir:
      return run_call_tir(op);
    case OpKind::kCallFunction:
      return run_call(op);
    case OpKind::kMakeClosure:
      return run_make_closure(op);
    case OpKind::kCallClosure:
      return run_call_closure(op);
    case OpKind::kCallExternal:
      return run_external(op);
    case OpKind::kShapeFunction:
      return run_shape_function(op);
    case OpKind::kCallInplace:
      return run_inplace(op);
    case OpKind::kAssert:
      return run_assert(op);
    case OpKind::kPrint:
      return run_print(op);
    case OpKind::kIf:
      return run_if(op);
    case OpKind::kLoop:
      return run_loop(op);
  }
  RELAXC_UNREACHABLE();
}

}  // namespace relaxc::relax::interpreter

namespace relaxc::relax {

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

std::variant<std::vector<HostTensor>, RunFault> interpret(Module& module, const OpTable& table,
                                                          const Function& function, std::span<const HostTensor> inputs,
                                                          tir::Evaluator& evaluator, const tir::CallExternal& external,
                                                          int64_t budget) {
  using namespace interpreter;
  Program program{module, table, evaluator, external, budget, {}, {}};
  Parts in, out;
  for (const Value* argument : function.body().arguments)
    if (holds_callable(argument->info))
      return RunFault{{kDtype, 0, 0}, "input '" + argument->name + "' is a function, which no host can give"};
  for (const HostTensor& input : inputs) in.push_back(std::make_shared<HostTensor>(input));
  Frame frame(program, 0);
  if (!frame.call(function, in, out)) return frame.fault();
  std::vector<HostTensor> outputs;
  for (const Part& part : out) outputs.push_back(*part);
  return outputs;
}

}  // namespace relaxc::relax
