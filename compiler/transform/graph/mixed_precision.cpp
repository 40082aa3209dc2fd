// mixed_precision.cpp: narrows operands of products to half as many bytes, if the user asks for it.
//
// Reading weights and activations is most of what a large product costs, and half of it is saved if they are stored in
// 16 bits. Sums stay in float32, and so does everything that is not a product: norms, softmax and residuals keep their
// accuracy, so that most networks lose none.
//
// The method: an operator takes part if its definition sums products of two operands (analysis::multiplied_operands),
// whatever its name. These operands are cast before it, and its result is requested in float32; an operator that rounds
// its result gets a cast after it. Casts of weights are folded, so weights are stored narrow; casts of activations fuse
// into the kernel that computes them, which then writes 16 bits; a cast there and back is removed. With float16, an
// operator whose weights have numbers beyond 65504 stays as it is.
//
// Rejected: letting element-wise operators between products compute narrow as well (for which other compilers have
// lists of operators): inside a fused kernel their values are in registers, where width costs nothing.
#include <cmath>

#include "compiler/analysis/pattern.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

std::optional<DType> narrow_dtype(const PassContext& context) {
  switch (context.option(kMixedPrecisionDType)) {
    case 1:
      return DType::f(16);
    case 2:
      return parse_dtype("bfloat16");
    default:
      return std::nullopt;
  }
}

/// Returns whether all finite numbers of a float32 constant are finite in float16.
bool fits_float16(const ConstantData& data) {
  constexpr double kLargest = 65504;
  bool fits = true;
  data.with_bytes([&](std::span<const std::byte> bytes) {
    for (size_t at = 0; fits && at < bytes.size(); at += sizeof(float)) {
      double number = decode_scalar(data.dtype(), bytes.data() + at);
      fits = !std::isfinite(number) || std::abs(number) <= kLargest;
    }
  });
  return fits;
}

class Narrowing {
 public:
  Narrowing(Module& module, PassContext& context, DType narrow) : module_(module), context_(context), narrow_(narrow) {}

  Changed run(Function& function) {
    Changed changed = Changed::kNo;
    for (Op* op : ops_of(function.body(), true)) {
      if (!takes_part(*op)) continue;
      if (Value* result = narrowed(*op)) {
        op->result()->replace_all_uses_with(result);
        changed = Changed::kYes;
      }
    }
    if (changed == Changed::kYes) function.rounding = tir::Rounding{narrow_};
    return changed;
  }

 private:
  /// Returns whether the op is an operator of float32 tensors that are all multiplied with each other.
  bool takes_part(const Op& op) const {
    if (op.kind != OpKind::kOperator || op.def->define == nullptr || !op.def->pure || !op.binds.empty()) return false;
    if (op.results.size() != 1 || op.result()->unused() || op.result()->info->as<TensorInfo>() == nullptr) return false;
    size_t tensors = 0;
    for (const Value* operand : op.operands()) {
      if (operand == nullptr || operand->info->as<TensorInfo>() == nullptr) continue;
      ++tensors;
      if (operand->dtype() != DType::f(32)) return false;
      ConstantRef data = constant_of(operand);
      if (data != nullptr && narrow_ == DType::f(16) && !fits_float16(*data)) return false;
    }
    if (tensors < 2 || op.result()->dtype() != DType::f(32)) return false;
    return analysis::multiplied_operands(define_op(module_.context(), op, "asked")).size() == tensors;
  }

  /// Returns the operator's result on narrow operands; null if the operator does not take them.
  Value* narrowed(Op& op) {
    Diagnostics refused;  // an operator may refuse; the program is not at fault
    GraphBuilder builder(module_, context_.ops, &op, refused);
    builder.location = op.location;
    std::vector<Value*> operands;
    for (Value* operand : op.operands()) {
      bool tensor = operand != nullptr && operand->info->as<TensorInfo>() != nullptr;
      if (tensor) operand = cast(builder, operand, narrow_);
      operands.push_back(operand);
    }
    Attrs attrs = op.attrs;
    if (attrs.has("out_dtype")) attrs.set("out_dtype", to_string(DType::f(32)));
    Result<Value*> made = builder.call(op.def->name, std::move(operands), std::move(attrs), op.result()->name);
    if (!made || (*made)->dtype() == DType::f(32)) return made ? *made : nullptr;
    return cast(builder, *made, DType::f(32));
  }

  static Value* cast(GraphBuilder& builder, Value* value, DType dtype) {
    Result<Value*> made = builder.call("astype", {value}, {{"dtype", dtype}});
    RELAXC_CHECK(static_cast<bool>(made), "a cast of floats to floats");
    return *made;
  }

  Module& module_;
  PassContext& context_;
  const DType narrow_;
};

}  // namespace

Result<Changed> mixed_precision(relax::Module& module, PassContext& context) {
  std::optional<DType> narrow = narrow_dtype(context);
  if (!narrow) return Changed::kNo;
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= Narrowing(module, context, *narrow).run(*function);
  return changed;
}

}  // namespace relaxc
