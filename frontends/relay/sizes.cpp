// sizes.cpp: finds the elements of integer tensors as expressions, from the operators that computed them.
#include "frontends/relay/sizes.h"

#include <map>

#include "compiler/relax/constant.h"

namespace relaxc::relay {
namespace {

constexpr size_t kMostElements = 64;
constexpr int kDeepest = 16;  ///< maximum length of a chain of operators; shapes that are known end a chain

class Elements {
 public:
  explicit Elements(arith::Context& context) : context_(context) {}

  /// Visits each tensor once: in a chain, each operator may use the value before it twice.
  std::optional<Exprs> of(const Value* tensor, int depth) {
    auto [known, fresh] = known_.emplace(tensor, std::nullopt);
    if (fresh && depth < kDeepest) known->second = read(tensor, depth);
    return known->second;
  }

 private:
  std::optional<Exprs> read(const Value* tensor, int depth) {
    const auto* info = tensor == nullptr ? nullptr : tensor->info->as<relax::TensorInfo>();
    bool follows = info != nullptr && info->shape && info->dtype && info->dtype->is_integer();
    if (!follows || tensor->op == nullptr || info->shape->size() > 1) return std::nullopt;
    const relax::Op& op = *tensor->op;
    if (op.kind == relax::OpKind::kConstant) return constant(*op.constant);
    if (op.kind != relax::OpKind::kOperator) return std::nullopt;
    if (op.is("shape_to_tensor")) return of_shape(op.operand(0));
    bool view = op.is("reshape") || op.is("squeeze") || op.is("expand_dims") || op.is("flatten");
    if (view) return of(op.operand(0), depth + 1);
    if (op.is("astype")) return info->dtype->bits >= 32 ? of(op.operand(0), depth + 1) : std::nullopt;
    if (op.is("concat") || op.is("stack")) return joined(op, depth);
    if (op.is("take")) return taken(op, depth);
    return computed(op, depth);
  }

  std::optional<Exprs> constant(const relax::ConstantData& data) const {
    if (data.elements() > static_cast<int64_t>(kMostElements)) return std::nullopt;
    Exprs elements;
    data.with_bytes([&](std::span<const std::byte> bytes) {
      auto step = static_cast<size_t>(data.dtype().bytes());
      for (size_t at = 0; at < bytes.size(); at += step)
        elements.push_back(context_.index(relax::decode_integer(data.dtype(), bytes.data() + at)));
    });
    return elements;
  }

  static std::optional<Exprs> of_shape(const Value* shape) {
    const auto* info = shape->info->as<relax::ShapeInfo>();
    return info != nullptr && info->dims ? std::optional<Exprs>(*info->dims) : std::nullopt;
  }

  std::optional<Exprs> joined(const relax::Op& op, int depth) {
    Exprs elements;
    for (const Value* operand : op.operands()) {
      std::optional<Exprs> part = of(operand, depth + 1);
      if (!part) return std::nullopt;
      elements.insert(elements.end(), part->begin(), part->end());
      if (elements.size() > kMostElements) return std::nullopt;
    }
    return elements;
  }

  std::optional<Exprs> taken(const relax::Op& op, int depth) {
    std::optional<Exprs> from = of(op.operand(0), depth + 1), at = of(op.operand(1), depth + 1);
    if (!from || !at) return std::nullopt;
    auto size = static_cast<int64_t>(from->size());
    Exprs elements;
    for (arith::Expr place : *at) {
      const int64_t* number = place.constant();
      if (number == nullptr || *number < -size || *number >= size) return std::nullopt;
      elements.push_back((*from)[static_cast<size_t>(*number < 0 ? *number + size : *number)]);
    }
    return elements;
  }

  std::optional<Exprs> computed(const relax::Op& op, int depth) {
    bool known = op.is("add") || op.is("subtract") || op.is("multiply");
    bool divides = op.is("floor_divide") || op.is("divide");
    if (!known && !divides) return std::nullopt;
    std::optional<Exprs> a = of(op.operand(0), depth + 1), b = of(op.operand(1), depth + 1);
    if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
    Exprs elements;
    for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
      arith::Expr x = (*a)[a->size() == 1 ? 0 : i], y = (*b)[b->size() == 1 ? 0 : i];
      if (divides && (y.constant() == nullptr || *y.constant() <= 0)) return std::nullopt;
      elements.push_back(arith::simplify(op.is("add")            ? x + y
                                         : op.is("subtract")     ? x - y
                                         : op.is("multiply")     ? x * y
                                         : op.is("floor_divide") ? arith::floordiv(x, y)
                                                                 : context_.binary(arith::ExprKind::kDiv, x, y)));
    }
    return elements;
  }

  arith::Context& context_;
  std::map<const Value*, std::optional<Exprs>> known_;
};

}  // namespace

std::optional<Exprs> known_elements(arith::Context& context, const Value* tensor) {
  return Elements(context).of(tensor, 0);
}

Result<Value*> shape_from(TvmCall& c, Value* tensor) {
  if (tensor->info->as<relax::ShapeInfo>() != nullptr) return tensor;
  if (std::optional<Exprs> known = known_elements(c.context(), tensor)) return c.build().shape(*known);
  return c.op("tensor_to_shape", {tensor});
}

Result<Ints> known_integers(TvmCall& c, std::string_view param) {
  if (!c.is_value(param)) return c.ints(param, {});
  RELAXC_TRY(Value * tensor, c.value(param));
  Ints numbers;
  std::optional<Exprs> known = known_elements(c.context(), tensor);
  for (arith::Expr element : known.value_or(Exprs{arith::Expr()})) {
    if (!element || element.constant() == nullptr)
      return c.error(param, Kind::unsupported, "'{}' of {} must be known when compiling", param, c.spelled);
    numbers.push_back(*element.constant());
  }
  return numbers;
}

std::optional<double> known_number(const Value* tensor) {
  bool constant = tensor->op != nullptr && tensor->op->kind == relax::OpKind::kConstant;
  if (!constant || tensor->op->constant->elements() != 1) return std::nullopt;
  const relax::ConstantData& data = *tensor->op->constant;
  return relax::decode_scalar(data.dtype(), data.to_vector().data());
}

}  // namespace relaxc::relay
