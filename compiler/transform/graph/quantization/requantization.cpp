// requantization.cpp: see requantization.h.
//
// After a product follow a multiplication by the scales of its operands, a bias, perhaps a relu, and the quantization's
// division by the scale of the result. Divided by that scale when compiling, they are one multiplication and one
// addition; a bound c of a relu or a clip is the stored value of c, since rounding is monotone.
#include "compiler/transform/graph/quantization/requantization.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "compiler/arith/simplify.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

std::optional<double> known_number(const Value* value) {
  ConstantRef data = is_single(*value) ? constant_of(value) : nullptr;
  if (data == nullptr) return std::nullopt;
  double number = 0;
  data->with_bytes([&](std::span<const std::byte> bytes) { number = decode_scalar(value->dtype(), bytes.data()); });
  return number;
}

Op* operator_of(const Value* value) {
  return value->op != nullptr && value->op->kind == OpKind::kOperator ? value->op : nullptr;
}

/// Returns whether `value` is computed from integers by arithmetic that gives no NaN.
bool comes_from_integers(const Value* value) {
  constexpr OpName kArithmetic[] = {"add", "subtract", "multiply", "maximum", "minimum", "nn.relu", "reshape"};
  constexpr int kDeepest = 8;
  std::vector<std::pair<const Value*, int>> pending{{value, 0}};
  std::set<const Value*> seen;  // asked for membership only
  for (size_t i = 0; i < pending.size(); ++i) {
    const auto [one, depth] = pending[i];
    if (one->op != nullptr && one->op->kind == OpKind::kConstant) continue;
    const Op* op = operator_of(one);
    if (op == nullptr || depth == kDeepest) return false;
    if (op->is("dequantize")) continue;
    if (op->is("astype")) {
      if (op->operand(0)->dtype() != DType::i(32)) return false;
      continue;
    }
    if (std::find(std::begin(kArithmetic), std::end(kArithmetic), op->def->name) == std::end(kArithmetic)) return false;
    for (const Value* operand : op->operands())
      if (operand->info->as<TensorInfo>() != nullptr && seen.insert(operand).second)
        pending.emplace_back(operand, depth + 1);
  }
  return true;
}

/// The chain of operators above a quantization, read upwards.
struct RequantizationChain {
  double scale = 1;
  int64_t zero = 0, low = 0, high = 0;
  Value* x = nullptr;
  Value* multiplier = nullptr;  ///< a factor of x, in real units; null: 1
  std::vector<Value*> addends;  ///< what is added, in real units

  /// Takes the op that made x into the chain; returns false if it cannot be a part of it.
  bool climb() {
    Op* op = operator_of(x);
    if (op == nullptr || !x->has_one_use() || multiplier != nullptr) return false;
    if (op->is("nn.relu")) return addends.empty() && bound(op->operand(0), 0.0, true);
    if (op->is("maximum") || op->is("minimum")) {
      for (size_t i : {0, 1})
        if (auto number = known_number(op->operand(i)); number && addends.empty())
          return bound(op->operand(1 - i), *number, op->is("maximum"));
      return false;
    }
    bool product = op->is("multiply");
    if (!product && !op->is("add")) return false;
    for (size_t i : {0, 1}) {
      Value *main = op->operand(i), *other = op->operand(1 - i);
      if (!same_shape(*main, *x)) continue;
      if (!product && comes_from_product(main)) return addends.push_back(other), x = main, true;
      const Op* cast = operator_of(main);
      if (!product || cast == nullptr || !cast->is("astype") || cast->operand(0)->dtype() != DType::i(32)) continue;
      if (!main->has_one_use()) continue;
      return multiplier = other, x = cast->operand(0), true;
    }
    return false;
  }

 private:
  /// Returns whether sums from `value` upwards reach the scaled sum of a product, so that the chain goes on along it.
  static bool comes_from_product(const Value* value) {
    std::vector<const Value*> pending{value};  // a tree: each is used once
    while (!pending.empty()) {
      const Value* one = pending.back();
      pending.pop_back();
      const Op* op = operator_of(one);
      if (op == nullptr || !one->has_one_use()) continue;
      if (op->is("add")) pending.insert(pending.end(), op->operands().begin(), op->operands().end());
      bool scales =
          op->is("multiply") && std::any_of(op->operands().begin(), op->operands().end(), [](const Value* operand) {
            const Op* cast = operator_of(operand);
            return cast != nullptr && cast->is("astype") && cast->operand(0)->dtype() == DType::i(32);
          });
      if (scales) return true;
    }
    return false;
  }

  bool bound(Value* inner, double at, bool from_below) {
    if (std::isnan(at) || !same_shape(*inner, *x)) return false;
    double stored = std::nearbyint(at / scale) + static_cast<double>(zero);
    auto cut = static_cast<int64_t>(std::clamp(stored, static_cast<double>(low), static_cast<double>(high)));
    (from_below ? low : high) = cut;
    x = inner;
    return true;
  }
};

}  // namespace

std::optional<std::pair<double, int64_t>> quantization_parameters(const Op& op) {
  auto scale = known_number(op.operand(1));
  std::optional<int64_t> zero = op.operand(2) == nullptr ? std::optional<int64_t>(0) : known_integer(op.operand(2));
  if (!scale || !zero) return std::nullopt;
  return std::pair(*scale, *zero);
}

Result<Value*> as_requantization(GraphBuilder& b, const Op& op) {
  if (!op.is("quantize") || op.operand(0)->dtype() != DType::f(32) || !comes_from_integers(op.operand(0)))
    return nullptr;
  auto known = quantization_parameters(op);
  if (!known || !(known->first > 1e-30) || !std::isfinite(known->first)) return nullptr;
  DType stored = op.result()->dtype(), f32 = DType::f(32);
  RequantizationChain chain;
  chain.scale = known->first, chain.zero = known->second;
  chain.low = stored.is_int() ? -(int64_t{1} << (stored.bits - 1)) : 0;
  chain.high = chain.low + (int64_t{1} << stored.bits) - 1;
  chain.x = op.operand(0);
  while (chain.climb()) {
  }
  Value* inverse = b.scalar(f32, 1 / chain.scale);
  Value* multiplier = inverse;
  if (chain.multiplier != nullptr) {
    RELAXC_TRY(multiplier, b.call("divide", {chain.multiplier, b.scalar(f32, chain.scale)}));
  }
  Value* addend = nullptr;
  for (Value* one : chain.addends) {
    RELAXC_TRY(one, b.call("multiply", {one, inverse}));
    if (addend != nullptr) {
      RELAXC_TRY(one, b.call("add", {addend, one}));
    }
    addend = one;
  }
  if (addend == nullptr) addend = b.scalar(f32, 0);
  mark_rounding(b.function());
  return b.call("requantize", {chain.x, multiplier, addend},
                {{"zero_point", chain.zero}, {"low", chain.low}, {"high", chain.high}, {"out_dtype", stored}},
                op.result()->name);
}

}  // namespace relaxc
