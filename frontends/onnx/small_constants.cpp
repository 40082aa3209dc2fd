// small_constants.cpp: evaluates operators on constants during import.
//
// The problem: exporters compute sizes from constants by operators whose contents are not followed (known.h): the pads
// of torchvision's detectors are `Cast(Ceil(Div(Cast(ReduceMax(320.0)), 1.0)))`. Read as data, such a size is a symbol
// that each run reads from the weights: shapes that depend on it stay open, and every run checks them, including the
// guards of each kernel call. fold_constants finds the number, but after shapes are deduced.
//
// The method: an operator whose operands are small constants and whose results are small is evaluated by its definition
// as soon as it is made. Then Reshape, Pad and the like see numbers, and so do Ifs and Loops.
//
// Conversions of stored integers to wider types are not evaluated, since recognize_quantization needs them.
#include "frontends/onnx/small_constants.h"

#include <algorithm>

#include "compiler/relax/evaluate_op.h"
#include "frontends/onnx/known.h"

namespace relaxc::frontend {
namespace {

using relax::Value;

constexpr int64_t kMostRead = 4096;  ///< maximum elements of an operand; evaluating that takes about a millisecond

bool is_small_constant(const Value* value) {
  return relax::is_constant(value) && value->op->constant->elements() <= kMostRead;
}

bool is_stored_integer(const Value* value) {
  return value != nullptr && relax::is_constant(value) && value->dtype().is_integer() && value->dtype().bits <= 8;
}

bool can_be_evaluated(const relax::Op& op) {
  if (op.kind != relax::OpKind::kOperator || op.def->define == nullptr || !op.def->pure || !op.binds.empty())
    return false;
  if (op.is("quantize") || op.is("dequantize") || op.operands().empty()) return false;
  for (const Value* operand : op.operands()) {
    if (operand == nullptr) continue;
    const bool tensor = operand->info->as<relax::TensorInfo>() != nullptr;
    if (tensor ? !is_small_constant(operand) || is_stored_integer(operand) : !relax::symbols_of(operand->info).empty())
      return false;
  }
  return std::all_of(op.results.begin(), op.results.end(), [](const Value* result) {
    std::optional<int64_t> bytes = relax::static_bytes(*result);
    return bytes && *bytes <= kMostKnown * result->dtype().bytes();
  });
}

}  // namespace

SmallConstants::SmallConstants() : evaluator_(tir::make_interpreter()) {}

std::vector<Value*> SmallConstants::evaluated(relax::GraphBuilder& builder, std::vector<Value*> values) {
  if (values.empty() || values[0]->op == nullptr || !can_be_evaluated(*values[0]->op)) return values;
  std::optional<std::vector<relax::ConstantRef>> results =
      relax::evaluate_op(builder.context(), *values[0]->op, *evaluator_);
  if (!results) return values;
  for (size_t i = 0; i < values.size(); ++i) values[i] = builder.constant(std::move((*results)[i]));
  return values;
}

}  // namespace relaxc::frontend
