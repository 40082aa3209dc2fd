// interpret.cpp: runs a module with concrete sizes.
//
// Operators run by their definition through the Evaluator (interpret_operator.cpp); calls, branches and loops are in
// interpret_call.cpp. All of it is deliberately simple and slow: optimized programs are compared with it.
#include "compiler/relax/interpret.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "compiler/relax/callable.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

bool Frame::call(const Function& function, const Parts& inputs, Parts& outputs) {
  const Function* running = &function;
  if (!values_.begin(function, inputs) || !run_region(function.body())) return false;
  while (next_ != nullptr) {
    running = std::exchange(next_, nullptr);
    if (!values_.begin(*running, std::exchange(next_inputs_, {})) || !run_region(running->body())) return false;
  }
  outputs = values_.of_all(running->body().results());
  return true;
}

bool Frame::take_turn(const Parts& given) {
  constexpr int64_t kTurn = 4096;
  program_.budget -= kTurn;
  for (const Part& part : given) program_.budget -= static_cast<int64_t>(part->bytes.size());
  return program_.budget >= 0 || values_.fail(kGivenUp, "the run takes more repetitions than its budget has");
}

bool Frame::run_region(const Region& region) {
  for (const Block* block : region.blocks)
    for (const Op* op : block->ops)
      if (!run(*op)) return false;  // a call in tail position is the last op to run
  return true;
}

bool Frame::run_shape(const Op& op) {
  std::vector<int64_t> dims;
  if (!values_.symbols().evaluate_dims(*op.result()->info->as<ShapeInfo>()->dims, dims, "a shape")) return false;
  values_.set(op.result(), {vector_of(dims)});
  return true;
}

bool Frame::run_prim(const Op& op) {
  const auto& info = *op.result()->info->as<PrimInfo>();
  std::vector<int64_t> value;
  if (!values_.symbols().evaluate_dims({info.value}, value, "a scalar")) return false;
  values_.set(op.result(), {part_of(info.dtype, value[0])});
  return true;
}

bool Frame::run_tuple(const Op& op) {
  values_.set(op.result(), values_.of_all(op.operands()));
  return true;
}

bool Frame::run_tuple_get(const Op& op) {
  const auto& fields = op.operand(0)->info->as<TupleInfo>()->fields;
  size_t index = static_cast<size_t>(op.attrs.integer("index")), first = 0;
  for (size_t k = 0; k < index; ++k) first += leaves(fields[k]);
  auto begin = values_.of(op.operand(0)).begin() + static_cast<std::ptrdiff_t>(first);
  Parts field(begin, begin + static_cast<std::ptrdiff_t>(leaves(fields[index])));
  values_.set(op.result(), std::move(field));
  return true;
}

/// Checks a value against its new type and binds symbols. An object is opened: the runtime reads what it holds.
bool Frame::run_match_cast(const Op& op) {
  const bool opens = op.operand(0)->info->as<ObjectInfo>() != nullptr && op.result()->info->as<ObjectInfo>() == nullptr;
  return opens ? externals_.read_object(op) : values_.set_results(op, Parts(values_.of(op.operand(0))));
}

bool Frame::run_constant(const Op& op) {
  const ConstantData& data = *op.constant;
  values_.set(op.result(), {std::make_shared<HostTensor>(HostTensor{data.dtype(), data.shape(), data.to_vector()})});
  return true;
}

/// Checks the op's requirements, which are the conditions that shape deduction could not prove.
bool Frame::check(const Op& op) {
  for (const Requirement& r : op.requirements)
    if (std::optional<int64_t> holds = values_.symbols().evaluate(r.condition); !holds || *holds == 0)
      return values_.fail(r.code, located_text(op, r),
                          r.expected ? values_.symbols().evaluate(r.expected).value_or(0) : 0,
                          r.actual ? values_.symbols().evaluate(r.actual).value_or(0) : 0);
  return true;
}

bool Frame::run(const Op& op) {
  if (!check(op)) return false;
  switch (op.kind) {
    case OpKind::kOperator:
      return run_operator(op);
    case OpKind::kConstant:
      return run_constant(op);
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
      return externals_.run(op);
    case OpKind::kShapeFunction:
      return externals_.run_shape_function(op);
    case OpKind::kCallInplace:
      return run_inplace(op);
    case OpKind::kAssert:
      return run_assert(op);
    case OpKind::kPrint:
      return externals_.print(op);
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
  Program program{module, table, evaluator, external, budget, {}, {}, {}};
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
