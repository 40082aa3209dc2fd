// random_operator.cpp: calls of operators, drawn by their definitions.
#include <algorithm>
#include <cmath>

#include "compiler/arith/simplify.h"
#include "tests/property/random_function.h"

namespace relaxc::property {

using relax::AttrType;
using relax::OpDef;
using relax::OperandDef;
using relax::OpName;
using relax::TensorInfo;

namespace {

constexpr int64_t kMostElements = 3000, kMostInTrials = 1000000;
constexpr size_t kMostDims = 5;

/// Operands that are shapes are known by their names; a wrong guess is refused by deduction and drawn again.
bool is_shape(std::string_view name) {
  for (std::string_view known : {"shape", "sizes", "repeats", "begin", "end", "strides", "pads", "k", "bounds", "depth",
                                 "extent", "start", "step", "count"})
    if (name == known) return true;
  return false;
}

/// The words that operators take, by attribute.
std::vector<std::string> words(std::string_view attr) {
  if (attr == "mode")
    return {"constant", "edge", "reflect", "wrap", "nearest", "linear", "cubic", "DCR", "CRD", "fast", "clip"};
  if (attr == "reduction") return {"none", "add", "mul", "min", "max"};
  if (attr == "direction") return {"forward", "reverse", "bidirectional"};
  if (attr == "equation") return {"ij,jk->ik", "ij->ji", "i,j->ij", "bij,bjk->bik", "...i->...", "ij,ij->"};
  if (attr == "approximate") return {"none", "tanh"};
  if (attr == "coordinate_mode") return {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"};
  if (attr == "nearest_mode") return {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  return {"", "float32"};
}

}  // namespace

void RandomFunction::operation() {
  static const std::vector<OpName> kOften = {
      "add",     "multiply",      "subtract", "maximum",      "where",        "exp",           "matmul",  "sum",
      "mean",    "max",           "reshape",  "permute_dims", "concat",       "strided_slice", "take",    "astype",
      "nn.relu", "nn.softmax",    "argmax",   "argmin",       "broadcast_to", "less",          "nonzero", "expand_dims",
      "divide",  "nn.layer_norm", "split",    "cumsum",       "shape_of"};
  for (int attempt = 0; attempt < 40; ++attempt) {
    const OpDef* def = random_.chance(60) ? ops_.of(random_.of(kOften)) : random_.of(ops_.all());
    if (def != nullptr && def->pure && call_operator(*def)) return;
  }
}

/// One more of those that keep numbers whole; `growing` and `added` say how many of those that make them larger may
/// still come.
void RandomFunction::exact_operation(size_t& growing, size_t& added) {
  static const std::vector<OpName> kKeep = {"maximum", "minimum",       "nn.relu",      "negative",   "max",
                                            "min",     "permute_dims",  "concat",       "reshape",    "expand_dims",
                                            "abs",     "strided_slice", "broadcast_to", "nn.max_pool"};
  static const std::vector<OpName> kGrow = {"matmul", "sum", "matmul", "sum", "nn.conv", "multiply"};
  static const std::vector<OpName> kAdd = {"add", "subtract"};
  for (int attempt = 0; attempt < 60; ++attempt) {
    size_t kind = random_.below(3);
    size_t* left = kind == 0 ? &growing : kind == 1 ? &added : nullptr;
    if (left != nullptr && *left == 0) continue;
    const OpDef* def = ops_.of(random_.of(kind == 0 ? kGrow : kind == 1 ? kAdd : kKeep));
    if (def == nullptr || !call_operator(*def)) continue;
    if (left != nullptr) --*left;
    return;
  }
}

bool RandomFunction::call_operator(const OpDef& def) {
  diag_.emplace();
  Values operands;
  for (const OperandDef& wanted : def.operands) {
    if (wanted.arity == OperandDef::kOptional && random_.chance(60)) {
      operands.push_back(nullptr);
      continue;
    }
    size_t count = wanted.arity == OperandDef::kVariadic ? 1 + random_.below(3) : 1;
    for (; count > 0; --count) operands.push_back(operand(def, wanted, operands.empty() ? nullptr : operands[0]));
    if (operands.back() == nullptr && wanted.arity == OperandDef::kRequired) return false;
  }
  relax::Attrs attrs;
  for (const relax::AttrDef& attr : def.attrs)
    if (attr.required || random_.chance(50))
      attrs.set(std::string(attr.name), attribute(attr, operands.empty() ? nullptr : operands[0]));
  auto results = builder().call_many(def.name, operands, attrs);
  if (!results) return false;
  relax::Op* op = block_->ops.back();
  if (!keeps(*op)) {
    op->drop_operands();
    op->block = nullptr;
    block_->ops.pop_back();
    return false;
  }
  for (Value* value : *results) add(value);
  return true;
}

/// Small enough, and what it requires holds at the sizes assumed.
bool RandomFunction::keeps(const relax::Op& op) {
  for (size_t k = 0; k < op.binds.size(); ++k) {
    Expr bound = op.def->upper_bound(op, k);
    std::optional<int64_t> most = bound ? size(bound) : std::nullopt;
    sizes_[op.binds[k]] = most.value_or(2);
  }
  for (const relax::Requirement& requirement : op.requirements)
    if (size(requirement.condition) == 0) return false;
  for (const Value* result : op.results) {
    if (!is_tensor(*result)) continue;
    std::optional<int64_t> count = elements(*result);
    if (!count || *count > (exact_ ? 10 * kMostElements : kMostElements) || result->shape().size() > kMostDims)
      return false;
    if (most_elements(*result) > kMostInTrials) return false;
  }
  return true;
}

relax::Value* RandomFunction::operand(const OpDef& def, const OperandDef& operand, Value* first) {
  std::string role(operand.name);
  if (is_shape(role) && !(role == "shape" && first == nullptr && random_.chance(20))) return shape_operand(role, first);
  DType dtype = first != nullptr && is_tensor(*first) ? first->dtype() : random_dtype(random_);
  if (exact_) dtype = DType::f(32);
  bool integers = role == "indices" || role == "lengths";
  if (integers) dtype = DType::i(random_.chance(70) ? 64 : 32);
  if (role == "condition" || (first == nullptr && def.name.text().find("logical") != std::string_view::npos))
    dtype = DType::boolean();
  if (role == "x" && def.name == "where") dtype = random_dtype(random_);
  bool any = first == nullptr && role != "condition";
  Values fit = those([&](const Value& value) { return is_tensor(value) && (any || value.dtype() == dtype); });
  if (!fit.empty() && random_.chance(integers ? 50 : 85)) {
    Value* chosen = random_.of(fit);  // once more if it says little
    bool dull = chosen->shape().empty() || (chosen->op != nullptr && chosen->op->kind == relax::OpKind::kConstant);
    return dull ? random_.of(fit) : chosen;
  }
  std::vector<int64_t> shape;
  if (first != nullptr && is_tensor(*first))
    for (Expr dim : first->shape()) {
      std::optional<int64_t> known = dim.constant() != nullptr ? size(dim) : std::nullopt;
      shape.push_back(known && *known > 0 && *known <= 16 ? *known : 1);
    }
  if (!shape.empty() && random_.chance(50))
    shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(random_.below(shape.size() + 1)));
  if (integers) shape = {random_.between(0, 4)};
  if (random_.chance(10)) shape = {random_.between(1, 12), random_.between(1, 12)};
  if (exact_ && first != nullptr && is_tensor(*first) && !first->shape().empty() && random_.chance(70)) {
    const int64_t* inner = first->shape().back().constant();  // a weight
    if (inner != nullptr && *inner > 0) shape = {*inner, random_.of({1, 7, 16, 24, 64})};
  }
  return constant(dtype, std::move(shape));
}

relax::Value* RandomFunction::constant(DType dtype, std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  std::vector<std::byte> bytes;
  for (int64_t k = 0; k < count; ++k) {
    double number = exact_             ? static_cast<double>(random_.between(-2, 2))
                    : dtype.is_float() ? static_cast<double>(random_.between(-16, 16)) / 8
                    : dtype.is_int()   ? static_cast<double>(random_.between(-1, 3))
                                       : static_cast<double>(random_.below(dtype.is_bool() ? 2 : 4));
    if (dtype.is_int() && random_.chance(70)) number = std::abs(number);
    std::vector<std::byte> one = relax::encode_scalar(dtype, number);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  Value* made = builder().constant(relax::ConstantData::inline_bytes(dtype, std::move(shape), std::move(bytes)));
  if (random_.chance(10)) add(made);
  return made;
}

/// The same elements under other dims.
std::vector<arith::Expr> RandomFunction::dims_like(const std::vector<Expr>& dims) {
  std::vector<Expr> made = dims;
  auto one = context().index(1);
  switch (random_.below(6)) {
    case 0: {
      Expr product = one;
      for (Expr dim : dims) product = product * dim;
      return {product};
    }
    case 1:
      made.insert(made.begin() + static_cast<std::ptrdiff_t>(random_.below(made.size() + 1)), one);
      return made;
    case 2:
      if (made.size() < 2) return {context().index(-1)};
      made[0] = made[0] * made[1];
      made.erase(made.begin() + 1);
      return made;
    case 3:
      if (!made.empty()) made[random_.below(made.size())] = context().index(-1);
      return made;
    case 4:
      std::reverse(made.begin(), made.end());
      return made;
    default:
      return made;
  }
}

relax::Value* RandomFunction::shape_operand(const std::string& role, Value* first) {
  Values shapes = those([](const Value& value) { return value.info->as<relax::ShapeInfo>() != nullptr; });
  if (!shapes.empty() && random_.chance(15)) return random_.of(shapes);
  std::vector<Expr> dims;
  if (first != nullptr && is_tensor(*first)) dims = first->shape();
  size_t rank = dims.size();
  auto small = [&](size_t count, int64_t from, int64_t to) {
    std::vector<Expr> list;
    for (; count > 0; --count) list.push_back(context().index(random_.between(from, to)));
    return list;
  };
  if (role == "shape" && first == nullptr) {
    Values tensors = those([](const Value& value) { return is_tensor(value); });
    dims = tensors.empty() || random_.chance(30) ? small(random_.below(4), 0, 5) : random_.of(tensors)->shape();
  } else if (role == "shape") {
    dims = random_.chance(85) ? dims_like(dims) : small(1 + random_.below(3), 0, 6);
    if (random_.chance(20)) dims.insert(dims.begin(), context().index(random_.between(1, 3)));
  } else if (role == "pads") {
    dims = small(2 * rank, 0, 2);
  } else if (role == "begin") {
    dims = small(rank, -1, 1);
  } else if (role == "end") {
    for (Expr& dim : dims)
      if (random_.chance(50)) dim = random_.chance(50) ? dim - 1 : context().index(random_.between(0, 4));
  } else if (role == "strides") {
    dims = small(rank, 1, 2);
    if (!dims.empty() && random_.chance(10)) dims[0] = context().index(-1);
  } else if (role == "sizes") {
    dims = rank >= 3 && random_.chance(60) ? small(rank - 2, 1, 6) : small(1 + random_.below(3), 0, 3);
  } else {
    dims = small(role == "bounds" ? 3 : role == "repeats" ? std::max<size_t>(rank, 1) : 1, 0, 3);
  }
  return builder().shape(std::move(dims));
}

relax::AttrValue RandomFunction::attribute(const relax::AttrDef& attr, Value* first) {
  auto rank = static_cast<int64_t>(first != nullptr && is_tensor(*first) ? first->shape().size() : 2);
  auto ints = [&](size_t count, int64_t from, int64_t to) {
    std::vector<int64_t> list;
    for (; count > 0; --count) list.push_back(random_.between(from, to));
    return list;
  };
  switch (attr.type) {
    case AttrType::kBool:
      return random_.chance(50);
    case AttrType::kInt:
      return attr.name.find("axis") != std::string_view::npos ? random_.between(-rank, std::max<int64_t>(rank - 1, 0))
                                                              : random_.between(0, 3);
    case AttrType::kFloat:
      return random_.of({1e-5, 0.5, 1.0, 0.0, -0.25, 2.0});
    case AttrType::kString:
      return random_.of(words(attr.name));
    case AttrType::kDType:
      return random_dtype(random_);
    case AttrType::kInts: {
      if (attr.name == "axes" && random_.chance(60)) {
        std::vector<int64_t> order;
        for (int64_t k = 0; k < rank; ++k)
          order.insert(order.begin() + static_cast<std::ptrdiff_t>(random_.below(order.size() + 1)), k);
        return order;
      }
      if (attr.name == "pool_size") return ints(static_cast<size_t>(std::max<int64_t>(rank - 2, 1)), 1, 3);
      if (attr.name == "indices") {
        std::vector<int64_t> points = ints(1 + random_.below(2), 0, 3);
        std::sort(points.begin(), points.end());
        return points;
      }
      return ints(random_.below(static_cast<size_t>(rank) + 1), attr.name.find("ax") == 0 ? -rank : 1,
                  std::max<int64_t>(rank - 1, 1));
    }
    case AttrType::kFloats:
      return std::vector<double>{};
    case AttrType::kStrings:
      return std::vector<std::string>{};
  }
  return int64_t{0};
}

}  // namespace relaxc::property
