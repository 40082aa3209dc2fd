// interpret_call.cpp: calls of functions and external code; branches and loops.
#include <cstring>

#include "compiler/relax/callable.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

/// The depth that compiled code reaches unless --max-recursion says otherwise.
constexpr int kDeepestCall = 1000;

void collect(const Parts& parts, Info info, Parts& tensors, std::vector<int64_t>& scalars) {
  if (info->as<TensorInfo>() != nullptr || info->as<TupleInfo>() != nullptr) {
    tensors.insert(tensors.end(), parts.begin(), parts.end());
    return;
  }
  if (info->as<PrimInfo>() != nullptr) return scalars.push_back(cell_of(*parts[0]));
  if (info->as<ObjectInfo>() != nullptr) {
    std::memcpy(&scalars.emplace_back(), parts[0]->bytes.data(), sizeof(int64_t));
    return;
  }
  for (int64_t value : values_of(*parts[0])) scalars.push_back(value);
}

void collect_tensors(Info info, std::vector<const TensorInfo*>& out) {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) collect_tensors(field, out);
  else if (const auto* tensor = info->as<TensorInfo>())
    out.push_back(tensor);
}

bool Frame::run_make_closure(const Op& op) {
  auto made = std::make_shared<Closure>();
  made->function = program_.module.find_function(op.callee);
  RELAXC_CHECK(made->function != nullptr, "no function " + op.callee);
  for (const Value* operand : op.operands())
    for (const Part& part : parts(operand)) made->captured.push_back(part);
  values_[op.result()] = {std::move(made)};
  return true;
}

bool Frame::run_call(const Op& op) {
  const Function* function = program_.module.find_function(op.callee);
  RELAXC_CHECK(function != nullptr, "no function " + op.callee);
  Parts inputs;
  for (const Value* operand : op.operands())
    for (const Part& part : parts(operand)) inputs.push_back(part);
  return run_call_of(op, *function, std::move(inputs));
}

bool Frame::run_call_closure(const Op& op) {
  RELAXC_CHECK(op.operand(0)->info->as<CallableInfo>() != nullptr, label(op) + " calls what is not a function");
  const auto* closure = static_cast<const Closure*>(parts(op.operand(0))[0].get());
  Parts inputs;
  for (size_t i = 1; i < op.operands().size(); ++i)
    for (const Part& part : parts(op.operand(i))) inputs.push_back(part);
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
  if (depth_ >= kDeepestCall) return fail(kRecursionDepth, origin_text(op), kDeepestCall, depth_);
  Parts outputs;
  Frame inner(program_, depth_ + 1);
  if (!inner.call(function, inputs, outputs)) {
    fault_ = inner.fault();
    return false;
  }
  return set_results(op, outputs);
}

/// What an external function is given: tensors, and numbers for shapes and scalars.
std::vector<tir::ExternalArg> Frame::external_arguments(const Op& op) {
  std::vector<tir::ExternalArg> args;
  for (const Value* operand : op.operands()) add_arguments(parts(operand), operand->info, args);
  return args;
}

void add_arguments(const Parts& parts, Info info, std::vector<tir::ExternalArg>& args) {
  Parts tensors;
  std::vector<int64_t> scalars;
  collect(parts, info, tensors, scalars);
  for (const Part& t : tensors) args.push_back({address(*t), t->dtype, t->shape, 0});
  for (int64_t value : scalars) args.push_back({nullptr, DType::i(64), {}, value});
}

/// The dtype and rank that an external function's own result must have.
static tir::ExternalResult wanted(Info info) {
  const auto* tensor = info->as<TensorInfo>();
  const auto* shape = info->as<ShapeInfo>();
  const auto* prim = info->as<PrimInfo>();
  if (tensor != nullptr) return {*tensor->dtype, std::vector<int64_t>(static_cast<size_t>(tensor->ndim)), {}};
  if (shape != nullptr) return {DType::i(64), std::vector<int64_t>(1), {}};
  if (prim == nullptr) return {DType::handle(), {}, {}};
  return {prim->dtype.is_index() ? DType::i(64) : prim->dtype, {}, {}};
}

/// A result that the function made itself, if it is what was wanted.
bool Frame::take_result(const Op& op, Info info, const tir::ExternalResult& result, Parts& outputs) {
  tir::ExternalResult asked = wanted(info);
  auto rank = static_cast<int64_t>(asked.shape.size()), found = static_cast<int64_t>(result.shape.size());
  if (result.dtype != asked.dtype) return fail(kDtype, "the dtype of what " + label(op) + " made");
  if (found != rank) return fail(kRank, "the rank of what " + label(op) + " made", rank, found);
  outputs.push_back(std::make_shared<HostTensor>(HostTensor{result.dtype, result.shape, result.bytes}));
  return true;
}

/// A guard; of an object, what it holds, which the owner of the external functions knows.
bool Frame::run_match_cast(const Op& op) {
  bool opens = op.operand(0)->info->as<ObjectInfo>() != nullptr && op.result()->info->as<ObjectInfo>() == nullptr;
  if (!opens) return set_results(op, Parts(parts(op.operand(0))));
  std::vector<tir::ExternalArg> args = external_arguments(op);
  tir::ExternalResult made = wanted(op.result()->info);
  args.push_back({nullptr, DType::handle(), {}, 0, &made});
  InfoKind kind = op.result()->info->kind;  // as RLX_OBJECT_*
  args.push_back({nullptr, DType::i(64), {}, kind == InfoKind::kTensor ? 0 : kind == InfoKind::kShape ? 1 : 2});
  RELAXC_CHECK(bool(program_.external), "no external functions are given, and one makes objects");
  if (int32_t code = program_.external("rlx_object_read", args); code != 0) return fail(code, origin_text(op));
  Parts outputs;
  return take_result(op, op.result()->info, made, outputs) && set_results(op, outputs);
}

/// Results that the function makes itself.
static bool makes_results(const Op& op) {
  return op.attrs.has("returned");
}

bool Frame::run_external(const Op& op) {
  std::vector<tir::ExternalArg> args = external_arguments(op);
  if (makes_results(op)) {
    std::vector<tir::ExternalResult> made;
    for (const Value* result : op.results) made.push_back(wanted(result->info));
    for (tir::ExternalResult& result : made) args.push_back({nullptr, DType::handle(), {}, 0, &result});
    RELAXC_CHECK(bool(program_.external), "no external functions are given, " + op.callee + " is one");
    if (int32_t code = program_.external(op.callee, args); code != 0)
      return fail(kExternalFailed, origin_text(op), 0, code);
    Parts outputs;
    for (size_t i = 0; i < made.size(); ++i)
      if (!take_result(op, op.results[i]->info, made[i], outputs)) return false;
    return set_results(op, outputs);
  }
  std::vector<const TensorInfo*> infos;
  for (const Value* result : op.results) collect_tensors(result->info, infos);
  Parts outputs;
  for (const TensorInfo* info : infos) {
    std::shared_ptr<HostTensor> out;
    if (!allocate(*info, *info->shape, out, "result of " + label(op))) return false;
    args.push_back({address(*out), out->dtype, out->shape, 0});
    outputs.push_back(std::move(out));
  }
  RELAXC_CHECK(bool(program_.external), "no external functions are given, " + op.callee + " is one");
  if (int32_t code = program_.external(op.callee, args); code != 0)
    return fail(kExternalFailed, origin_text(op), 0, code);
  return set_results(op, outputs);
}

bool Frame::run_shape_function(const Op& op) {
  std::vector<tir::ExternalArg> args = external_arguments(op);
  std::vector<int64_t> dims(static_cast<size_t>(op.result()->info->as<ShapeInfo>()->ndim));
  args.push_back({dims.data(), DType::i(64), {static_cast<int64_t>(dims.size())}, 0});
  RELAXC_CHECK(bool(program_.external), "no external functions are given, " + op.callee + " is one");
  if (int32_t code = program_.external(op.callee, args); code != 0)
    return fail(kExternalFailed, origin_text(op), 0, code);
  return set_results(op, {vector_of(dims)});
}

bool Frame::run_if(const Op& op) {
  const Region& region = *op.regions[flag(op.operand(0)) ? 0 : 1];
  if (!run_region(region)) return false;
  if (next_ != nullptr) return true;  // ended in a call that takes over
  Parts all;
  for (const Value* result : region.results())
    for (const Part& part : parts(result)) all.push_back(part);
  return set_results(op, all);
}

/// Tensors of one shape along a new leading dim.
static Part stacked(const std::vector<Part>& list, DType dtype, const std::vector<int64_t>& element_shape) {
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

bool Frame::run_loop(const Op& op) {
  const Region& body = *op.regions[0];
  int64_t trips = op.operand(0) == nullptr ? INT64_MAX : values_of(*parts(op.operand(0))[0])[0];
  bool going = op.operand(1) == nullptr || flag(op.operand(1));
  size_t carried_count = op.operands().size() - 2, scan_count = body.results().size() - 1 - carried_count;
  std::vector<Parts> carried;
  for (size_t k = 0; k < carried_count; ++k) carried.push_back(parts(op.operand(k + 2)));
  std::vector<std::vector<Part>> scans(scan_count);
  for (int64_t i = 0; i < trips && going; ++i) {
    symbols_.forget(op.binds);
    Value* iteration = body.arguments[0];
    values_[iteration] = {std::make_shared<HostTensor>(*vector_of({i}))};
    if (const auto* prim = iteration->info->as<PrimInfo>(); prim != nullptr && prim->value) {
      symbols_.set(prim->value, i);
      auto scalar = std::make_shared<HostTensor>(*vector_of({i}));
      scalar->shape.clear();
      values_[iteration] = {scalar};
    }
    if (!take_turn(flat(carried))) return false;
    for (size_t k = 0; k < carried_count; ++k) {
      const Value* argument = body.arguments[k + 1];
      if (!symbols_.match(argument->info, carried[k], "carried value '" + argument->name + "'")) return false;
      values_[argument] = carried[k];
    }
    if (!run_region(body)) return false;
    const std::vector<Value*>& results = body.results();
    going = results[0] == nullptr || flag(results[0]);
    for (size_t k = 0; k < carried_count; ++k) carried[k] = parts(results[k + 1]);
    for (size_t k = 0; k < scan_count; ++k) scans[k].push_back(parts(results[k + 1 + carried_count])[0]);
  }
  Parts all = flat(carried);
  for (size_t k = 0; k < scan_count; ++k) {
    const TensorInfo& info = op.results[carried_count + k]->tensor();
    std::vector<int64_t> shape;
    if (!scans[k].empty()) shape = scans[k][0]->shape;
    for (const Part& part : scans[k])
      if (part->shape != shape) return fail(kDerivedDim, "a scan output of a loop changes its shape");
    if (scans[k].empty())
      for (size_t axis = 1; axis < info.shape->size(); ++axis)
        shape.push_back(symbols_.evaluate((*info.shape)[axis]).value_or(0));
    all.push_back(stacked(scans[k], *info.dtype, shape));
  }
  return set_results(op, all);
}

}  // namespace relaxc::relax::interpreter
