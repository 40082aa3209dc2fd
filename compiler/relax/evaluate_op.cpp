// evaluate_op.cpp: runs definitions on constants.
//
// The Evaluator runs the operator's own definition, so that a value has the bits that the kernel would have computed.
// The ONNX importer evaluates sizes that a model computes from constants; fold_constants evaluates every op whose
// result is worth its memory.
#include "compiler/relax/evaluate_op.h"

#include <cmath>
#include <cstring>

namespace relaxc::relax {
namespace {

std::vector<int64_t> static_shape(const Value& value) {
  std::vector<int64_t> shape;
  for (Expr dim : value.shape()) shape.push_back(*dim.constant());
  return shape;
}

/// Gives every NaN the same bits: which bits an operation produces depends on the machine, and constants must not.
void make_nans_alike(DType dtype, std::vector<std::byte>& bytes) {
  auto mend = [&](auto zero, auto quiet) {
    for (size_t at = 0; at + sizeof(zero) <= bytes.size(); at += sizeof(zero)) {
      std::memcpy(&zero, bytes.data() + at, sizeof(zero));
      if (std::isnan(zero)) std::memcpy(bytes.data() + at, &quiet, sizeof(quiet));
    }
  };
  if (dtype == DType::f(32)) mend(0.0F, uint32_t{0x7fc00000});
  if (dtype == DType::f(64)) mend(0.0, uint64_t{0x7ff8000000000000});
}

}  // namespace

std::optional<int64_t> static_bytes(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return std::nullopt;
  int64_t bytes = tensor->dtype->bytes();
  for (Expr dim : *tensor->shape)
    if (dim.constant() == nullptr || __builtin_mul_overflow(bytes, *dim.constant(), &bytes)) return std::nullopt;
  return bytes;
}

bool is_constant(const Value* value) {
  return value != nullptr && value->op != nullptr && value->op->kind == OpKind::kConstant;
}

std::optional<std::vector<ConstantRef>> evaluate_op(Context& context, const Op& op, tir::Evaluator& evaluator) {
  tir::PrimFunc function = define_op(context, op, "folded");
  std::vector<std::vector<std::byte>> memory;
  for (const Value* operand : op.operands())
    if (is_constant(operand)) memory.push_back(operand->op->constant->to_vector());
  const size_t first_result = memory.size();
  for (const Value* result : op.results) memory.emplace_back(static_cast<size_t>(*static_bytes(*result)));
  std::vector<void*> addresses;
  for (std::vector<std::byte>& bytes : memory) addresses.push_back(bytes.data());
  if (!evaluator.run(function, addresses, {})) return std::nullopt;
  std::vector<ConstantRef> out;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Value& result = *op.results[i];
    std::vector<std::byte>& bytes = memory[first_result + i];
    make_nans_alike(result.dtype(), bytes);
    out.push_back(ConstantData::inline_bytes(result.dtype(), static_shape(result), std::move(bytes)));
  }
  return out;
}

}  // namespace relaxc::relax
