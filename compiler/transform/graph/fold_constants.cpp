// fold_constants.cpp: evaluates operators whose operands are all constant.
//
// The operator's own definition is run through the Evaluator, so a folded value has the bits that the kernel would have
// computed. A budget keeps a ConstantOfShape of a gigabyte from being stored: a result may be at most 64 KiB, or not
// larger than what it replaces.
//
// A transpose of more than that is not run: models of gigabytes have many, and the results would all be held until they
// are written. It becomes a constant whose bytes are made then. A constant that others use in its own order would be in
// the object twice, so that one keeps its transpose.
#include "compiler/transform/graph/fold_constants.h"

#include <algorithm>

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/late_transpose.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr int64_t kMostWork = 200'000'000;  // elements of result: a second or two of interpretation

bool is_constant(const Value* value) {
  return value != nullptr && value->op != nullptr && value->op->kind == OpKind::kConstant;
}

/// Bytes of a tensor of constant shape; nothing if a dim is symbolic or the product overflows.
std::optional<int64_t> static_bytes(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return std::nullopt;
  int64_t bytes = tensor->dtype->bytes();
  for (Expr dim : *tensor->shape)
    if (dim.constant() == nullptr || __builtin_mul_overflow(bytes, *dim.constant(), &bytes)) return std::nullopt;
  return bytes;
}

bool foldable(const Op& op, int64_t budget) {
  if (op.kind != OpKind::kOperator || op.def->define == nullptr || !op.def->pure || !op.binds.empty()) return false;
  int64_t in = 0, out = 0;
  for (Value* operand : op.operands()) {
    if (operand == nullptr) continue;
    if (operand->info->as<TensorInfo>() == nullptr) {
      if (!symbols_of(operand->info).empty()) return false;
      continue;
    }
    if (!is_constant(operand)) return false;
    in += operand->op->constant->byte_size();
  }
  for (Value* result : op.results) {
    std::optional<int64_t> bytes = static_bytes(*result);
    if (!bytes || *bytes > kMostWork) return false;
    out += *bytes;
  }
  return !op.operands().empty() && out <= std::max(in, budget);
}

std::vector<int64_t> static_shape(const Value& value) {
  std::vector<int64_t> shape;
  for (Expr dim : value.shape()) shape.push_back(*dim.constant());
  return shape;
}

/// Runs the definition and replaces the results by constants. False if the definition refused (an index out of range):
/// the program keeps the operator, which then fails where it always did.
bool fold(Module& module, PassContext& context, Op& op) {
  tir::PrimFunc function = define_op(module.context(), op, "folded");
  std::vector<std::vector<std::byte>> memory;
  for (Value* operand : op.operands())
    if (is_constant(operand)) memory.push_back(operand->op->constant->to_vector());
  size_t first_result = memory.size();
  for (Value* result : op.results) memory.emplace_back(static_cast<size_t>(*static_bytes(*result)));
  std::vector<void*> addresses;
  for (auto& bytes : memory) addresses.push_back(bytes.data());
  if (!context.evaluator.run(function, addresses, {})) return false;
  GraphBuilder builder(module, context.ops, &op, context.diag);
  for (size_t i = 0; i < op.results.size(); ++i) {
    Value& result = *op.results[i];
    auto data = ConstantData::inline_bytes(result.dtype(), static_shape(result), std::move(memory[first_result + i]));
    result.replace_all_uses_with(builder.constant(std::move(data), result.name));
  }
  return true;
}

/// Makes wider numbers of integers that are stored in 8 bits or less: `dequantize`, or the first step of writing it
/// out.
bool widens_stored(const Op& op) {
  if (op.kind != OpKind::kOperator || op.operands().empty() || op.results.size() != 1) return false;
  const Value* operand = op.operand(0);
  if (operand == nullptr || operand->info->as<TensorInfo>() == nullptr) return false;
  return op.is("dequantize") || (op.is("astype") && operand->dtype().is_integer() && operand->dtype().bits <= 8);
}

bool is_large_transpose(const Op& op, int64_t budget) {
  if (op.kind != OpKind::kOperator || !op.is("permute_dims")) return false;
  const Value* operand = op.operand(0);
  return is_constant(operand) && operand->uses().size() == 1 && operand->op->constant->byte_size() > budget;
}

void transpose_late(Module& module, PassContext& context, Op& op) {
  ConstantRef source = op.operand(0)->op->constant;
  size_t rank = source->shape().size();
  std::vector<size_t> order;
  for (int64_t axis : op.attrs.ints("axes"))
    order.push_back(static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis));
  for (size_t i = rank; order.size() < rank; --i) order.push_back(i - 1);  // no axes: reversed
  GraphBuilder builder(module, context.ops, &op, context.diag);
  op.result()->replace_all_uses_with(builder.constant(late_transpose(source, order), op.result()->name));
}

}  // namespace

Result<Changed> fold_constants(relax::Module& module, PassContext& context) {
  return fold_constants(module, context, StoredConstants::kFold);
}

Result<Changed> fold_constants(relax::Module& module, PassContext& context, StoredConstants stored) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    for (Op* op : ops_of(function->body(), true)) {
      if (stored == StoredConstants::kKeep && widens_stored(*op)) continue;
      if (is_large_transpose(*op, context.option(kFoldBudget))) {
        transpose_late(module, context, *op);
        changed = Changed::kYes;
        continue;
      }
      if (foldable(*op, context.option(kFoldBudget)) && fold(module, context, *op)) changed = Changed::kYes;
    }
  return changed == Changed::kYes ? dead_code(module, context) : changed;
}

}  // namespace relaxc
