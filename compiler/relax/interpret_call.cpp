// interpret_call.cpp: runs calls of functions, branches and loops.
#include "compiler/relax/callable.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/interpret_prim_call.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

/// The depth of recursion that compiled code supports without --max-recursion.
constexpr int kDeepestCall = 1000;

bool Frame::run_make_closure(const Op& op) {
  auto made = std::make_shared<Closure>();
  made->function = program_.module.find_function(op.callee);
  RELAXC_CHECK(made->function != nullptr, "no function " + op.callee);
  made->captured = values_.of_all(op.operands());
  values_.set(op.result(), {std::move(made)});
  return true;
}

bool Frame::run_call_tir(const Op& op) {
  const tir::PrimFunc* function = program_.module.find_prim_func(op.callee);
  RELAXC_CHECK(function != nullptr, "no prim func " + op.callee);
  return PrimCall(op, *function, program_.evaluator, values_).run();
}

bool Frame::run_call(const Op& op) {
  const Function* function = program_.module.find_function(op.callee);
  RELAXC_CHECK(function != nullptr, "no function " + op.callee);
  return run_call_of(op, *function, values_.of_all(op.operands()));
}

bool Frame::run_call_closure(const Op& op) {
  RELAXC_CHECK(op.operand(0)->info->as<CallableInfo>() != nullptr, label(op) + " calls what is not a function");
  const auto* closure = static_cast<const Closure*>(values_.of(op.operand(0))[0].get());
  Parts inputs = values_.of_all(op.operands(), 1);
  inputs.insert(inputs.end(), closure->captured.begin(), closure->captured.end());
  return run_call_of(op, *closure->function, std::move(inputs));
}

bool Frame::run_call_of(const Op& op, const Function& function, Parts inputs) {
  if (!take_turn(inputs)) return false;
  if (in_tail_position(op)) {
    next_ = &function;
    next_inputs_ = std::move(inputs);
    return true;
  }
  if (depth_ >= kDeepestCall) return values_.fail(kRecursionDepth, origin_text(op), kDeepestCall, depth_);
  Parts outputs;
  Frame inner(program_, depth_ + 1);
  if (!inner.call(function, inputs, outputs)) return values_.fail(inner.fault());
  return values_.set_results(op, outputs);
}

bool Frame::run_if(const Op& op) {
  const Region& region = *op.regions[values_.flag(op.operand(0)) ? 0 : 1];
  if (!run_region(region)) return false;
  if (next_ != nullptr) return true;  // the branch ended in a tail call, which runs next
  return values_.set_results(op, values_.of_all(region.results()));
}

/// Stacks tensors of one shape along a new leading dim.
static Part stacked(const Parts& list, DType dtype, const std::vector<int64_t>& element_shape) {
  HostTensor t{dtype, {static_cast<int64_t>(list.size())}, {}};
  t.shape.insert(t.shape.end(), element_shape.begin(), element_shape.end());
  for (const Part& part : list) t.bytes.insert(t.bytes.end(), part->bytes.begin(), part->bytes.end());
  return std::make_shared<HostTensor>(std::move(t));
}

static Parts flat(const std::vector<Parts>& values) {
  Parts all;
  for (const Parts& value : values) all.insert(all.end(), value.begin(), value.end());
  return all;
}

void Frame::begin_iteration(const Value* iteration, int64_t i) {
  auto number = std::make_shared<HostTensor>(*vector_of({i}));
  if (const auto* prim = iteration->info->as<PrimInfo>(); prim != nullptr && prim->value) {
    values_.symbols().set(prim->value, i);
    number->shape.clear();
  }
  values_.set(iteration, {number});
}

/// Appends each scan output, stacked along a new leading dim. `first` is the first one's index in the op's results.
bool Frame::stack_scans(const Op& op, size_t first, const std::vector<Parts>& scans, Parts& all) {
  for (size_t k = 0; k < scans.size(); ++k) {
    const TensorInfo& info = op.results[first + k]->tensor();
    std::vector<int64_t> shape;
    if (!scans[k].empty()) shape = scans[k][0]->shape;
    for (const Part& part : scans[k])
      if (part->shape != shape) return values_.fail(kDerivedDim, "a scan output of a loop changes its shape");
    if (scans[k].empty())
      for (size_t axis = 1; axis < info.shape->size(); ++axis)
        shape.push_back(values_.symbols().evaluate((*info.shape)[axis]).value_or(0));
    all.push_back(stacked(scans[k], *info.dtype, shape));
  }
  return true;
}

bool Frame::run_loop(const Op& op) {
  const Region& body = *op.regions[0];
  int64_t trips = op.operand(0) == nullptr ? INT64_MAX : values_of(*values_.of(op.operand(0))[0])[0];
  bool going = op.operand(1) == nullptr || values_.flag(op.operand(1));
  size_t carried_count = op.operands().size() - 2, scan_count = body.results().size() - 1 - carried_count;
  std::vector<Parts> carried;
  for (size_t k = 0; k < carried_count; ++k) carried.push_back(values_.of(op.operand(k + 2)));
  std::vector<Parts> scans(scan_count);
  for (int64_t i = 0; i < trips && going; ++i) {
    values_.symbols().forget(op.binds);
    begin_iteration(body.arguments[0], i);
    if (!take_turn(flat(carried))) return false;
    for (size_t k = 0; k < carried_count; ++k) {
      const Value* argument = body.arguments[k + 1];
      if (!values_.symbols().match(argument->info, carried[k], "carried value '" + argument->name + "'")) return false;
      values_.set(argument, carried[k]);
    }
    if (!run_region(body)) return false;
    const std::vector<Value*>& results = body.results();
    going = results[0] == nullptr || values_.flag(results[0]);
    for (size_t k = 0; k < carried_count; ++k) carried[k] = values_.of(results[k + 1]);
    for (size_t k = 0; k < scan_count; ++k) scans[k].push_back(values_.of(results[k + 1 + carried_count])[0]);
  }
  Parts all = flat(carried);
  return stack_scans(op, carried_count, scans, all) && values_.set_results(op, all);
}

}  // namespace relaxc::relax::interpreter
