// interpret_external.cpp: see interpret_external.h.
#include "compiler/relax/interpret_external.h"

#include "compiler/relax/effects.h"
#include "compiler/relax/origin_text.h"
#include "compiler/support/status_code.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::relax::interpreter {

namespace {

/// Returns the dtype and rank that a result must have which an external function allocates itself.
tir::ExternalResult wanted(Info info) {
  const auto* tensor = info->as<TensorInfo>();
  const auto* shape = info->as<ShapeInfo>();
  const auto* prim = info->as<PrimInfo>();
  if (tensor != nullptr) return {*tensor->dtype, std::vector<int64_t>(static_cast<size_t>(tensor->ndim)), {}};
  if (shape != nullptr) return {DType::i(64), std::vector<int64_t>(1), {}};
  if (prim == nullptr) return {DType::handle(), {}, {}};
  return {prim->dtype.is_index() ? DType::i(64) : prim->dtype, {}, {}};
}

}  // namespace

/// Returns the arguments for an external function: tensors and floats by address, shapes and integers as
/// numbers.
std::vector<tir::ExternalArg> ExternalCalls::arguments(const Op& op) {
  std::vector<tir::ExternalArg> args;
  for (const Value* operand : op.operands()) add_arguments(values_.of(operand), operand->info, args);
  return args;
}

bool ExternalCalls::call(const Op& op, const std::vector<tir::ExternalArg>& args) {
  RELAXC_CHECK(bool(external_), "no external functions are given, " + op.callee + " is one");
  const int32_t code = external_(op.callee, args);
  return code == 0 || values_.fail(kExternalFailed, origin_text(op), 0, code);
}

bool ExternalCalls::run(const Op& op) {
  if (op.attrs.has("returned")) return run_maker(op);
  std::vector<tir::ExternalArg> args = arguments(op);
  std::vector<const TensorInfo*> infos;
  for (const Value* result : op.results) collect_tensors(result->info, infos);
  Parts outputs;
  for (const TensorInfo* info : infos) {
    std::shared_ptr<HostTensor> out;
    if (!values_.allocate(*info->dtype, *info->shape, out, "result of " + label(op))) return false;
    args.push_back({address(*out), out->dtype, out->shape, 0});
    outputs.push_back(std::move(out));
  }
  return call(op, args) && values_.set_results(op, outputs);
}

/// Runs an external function that allocates its results itself.
bool ExternalCalls::run_maker(const Op& op) {
  std::vector<tir::ExternalArg> args = arguments(op);
  std::vector<tir::ExternalResult> made;
  for (const Value* result : op.results) made.push_back(wanted(result->info));
  for (tir::ExternalResult& result : made) args.push_back({nullptr, DType::handle(), {}, 0, &result});
  if (!call(op, args)) return false;
  Parts outputs;
  for (size_t i = 0; i < made.size(); ++i)
    if (!take_result(op, op.results[i]->info, made[i], outputs)) return false;
  return values_.set_results(op, outputs);
}

bool ExternalCalls::run_shape_function(const Op& op) {
  std::vector<tir::ExternalArg> args = arguments(op);
  std::vector<int64_t> dims(static_cast<size_t>(op.result()->info->as<ShapeInfo>()->ndim));
  args.push_back({dims.data(), DType::i(64), {static_cast<int64_t>(dims.size())}, 0});
  return call(op, args) && values_.set_results(op, {vector_of(dims)});
}

bool ExternalCalls::run_inplace(const Op& op, const std::vector<Parts>& operands,
                                const std::vector<std::shared_ptr<HostTensor>>& results) {
  std::vector<tir::ExternalArg> args;
  for (size_t k = 0; k < operands.size(); ++k) add_arguments(operands[k], op.operand(k)->info, args);
  for (const auto& t : results) args.push_back({address(*t), t->dtype, t->shape, 0});
  return call(op, args);
}

/// Appends a result that the function allocated; fails if its dtype or rank is not the declared one.
bool ExternalCalls::take_result(const Op& op, Info info, const tir::ExternalResult& result, Parts& outputs) {
  tir::ExternalResult asked = wanted(info);
  auto rank = static_cast<int64_t>(asked.shape.size()), found = static_cast<int64_t>(result.shape.size());
  if (result.dtype != asked.dtype) return values_.fail(kDtype, "the dtype of what " + label(op) + " made");
  if (found != rank) return values_.fail(kRank, "the rank of what " + label(op) + " made", rank, found);
  outputs.push_back(std::make_shared<HostTensor>(HostTensor{result.dtype, result.shape, result.bytes}));
  return true;
}

bool ExternalCalls::read_object(const Op& op) {
  std::vector<tir::ExternalArg> args = arguments(op);
  tir::ExternalResult made = wanted(op.result()->info);
  args.push_back({nullptr, DType::handle(), {}, 0, &made});
  InfoKind kind = op.result()->info->kind;  // numbered as RLX_OBJECT_* of the runtime
  args.push_back({nullptr, DType::i(64), {}, kind == InfoKind::kTensor ? 0 : kind == InfoKind::kShape ? 1 : 2});
  RELAXC_CHECK(bool(external_), "no external functions are given, and one makes objects");
  if (int32_t code = external_(tir::runtime_name(tir::RuntimeFunction::kObjectRead), args); code != 0)
    return values_.fail(code, origin_text(op));
  Parts outputs;
  return take_result(op, op.result()->info, made, outputs) && values_.set_results(op, outputs);
}

bool ExternalCalls::print(const Op& op) {
  if (!external_) return true;
  PrintFormat format = read_print_format(op.attrs.string("format"), op.operands().size());
  size_t next = 0;
  for (const PrintPiece& piece : format.pieces) {
    auto length = static_cast<int64_t>(piece.text.size());
    tir::ExternalArg text{const_cast<char*>(piece.text.data()), DType::u(8), {length}, 0}, value = text;
    int32_t kind = kPrintNothing;
    if (piece.has_value) {
      const Value* operand = op.operand(next++);
      const HostTensor& shown = *values_.of(operand)[0];
      kind = print_kind(operand->info);
      value = {address(shown), shown.dtype, shown.shape, 0};
    }
    tir::ExternalArg what{nullptr, DType::i(64), {}, kind};
    if (int32_t code = external_(tir::runtime_name(tir::RuntimeFunction::kPrint), std::vector{text, value, what});
        code != 0)
      return values_.fail(kExternalFailed, origin_text(op), 0, code);
  }
  return true;
}

}  // namespace relaxc::relax::interpreter
