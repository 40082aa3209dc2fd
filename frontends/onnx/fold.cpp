// fold.cpp: element-wise arithmetic on known contents.
//
// The elements are index expressions, which do not overflow, while the tensors they represent wrap. So results of
// numbers that overflow int64 are left to the program; for symbols, which are dims or read from small tensors, a result
// beyond int64 would fail as a shape in any case.
#include "frontends/onnx/fold.h"

namespace relaxc::frontend {
namespace {

/// Returns the index in a tensor of shape `from` of the element that broadcasts to element `flat` of `shape`.
int64_t broadcast_index(int64_t flat, const std::vector<int64_t>& shape, const std::vector<int64_t>& from) {
  int64_t index = 0, stride = 1;
  for (size_t k = 0; k < shape.size(); ++k) {
    size_t axis = shape.size() - 1 - k;
    int64_t at = flat % shape[axis];
    flat /= shape[axis];
    if (k >= from.size()) continue;
    int64_t extent = from[from.size() - 1 - k];
    index += extent == 1 ? 0 : at * stride;
    stride *= extent;
  }
  return index;
}

bool overflows(Expr a, Expr b, bool (*overflow)(int64_t, int64_t)) {
  return a.constant() != nullptr && b.constant() != nullptr && overflow(*a.constant(), *b.constant());
}

/// Returns max(divisor, 1) for a divisor >= 0, so that the division has a value even where its result is not used.
Expr at_least_one(Node& node, Expr divisor) {
  return node.simplify(arith::max(divisor, node.index(1)));
}

bool divides_by_symbols(Expr e) {
  bool found = false;
  arith::for_each_node(e, [&](Expr part) {
    const auto* quotient = part.as<arith::FloorDiv>();
    found |= quotient != nullptr && quotient->b.constant() == nullptr;
  });
  return found;
}

/// Returns the quotient, or 0 where the divisor is 0, as integer division of tensors gives.
Expr unless_zero(Node& node, Expr divisor, Expr quotient) {
  if (node.bounds(divisor).lower > 0) return quotient;
  return arith::select(arith::eq(divisor, node.index(0)), node.index(0), quotient);
}

}  // namespace

std::optional<std::vector<int64_t>> broadcast_shape(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> shape(std::max(a.size(), b.size()), 1);
  for (size_t k = 0; k < shape.size(); ++k) {
    int64_t x = k < a.size() ? a[a.size() - 1 - k] : 1, y = k < b.size() ? b[b.size() - 1 - k] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    shape[shape.size() - 1 - k] = x == 1 ? y : x;
  }
  return shape;
}

std::optional<std::vector<Expr>> broadcast_known(const Known& known, const std::vector<int64_t>& shape) {
  std::optional<std::vector<int64_t>> joined = broadcast_shape(known.shape, shape);
  if (joined != shape) return std::nullopt;
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count) || count > kMostKnown) return std::nullopt;
  std::vector<Expr> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(known.elements[static_cast<size_t>(broadcast_index(i, shape, known.shape))]);
  return elements;
}

bool fold_binary(Node& node, ScalarFold fold, bool gives_bool) {
  const Known *a = node.known(0), *b = node.known(1);
  if (a == nullptr || b == nullptr || a->dtype != b->dtype) return false;
  std::optional<std::vector<int64_t>> shape = broadcast_shape(a->shape, b->shape);
  if (!shape) return false;
  std::optional<std::vector<Expr>> x = broadcast_known(*a, *shape), y = broadcast_known(*b, *shape);
  if (!x || !y) return false;
  Known result{gives_bool ? DType::boolean() : a->dtype, *shape, {}};
  for (size_t i = 0; i < x->size(); ++i) {
    Expr element = fold(node, (*x)[i], (*y)[i]);
    if (!element) return false;
    result.elements.push_back(element);
  }
  return node.set_known(0, std::move(result));
}

bool fold_variadic(Node& node, ScalarFold fold) {
  if (node.inputs() == 0 || node.known(0) == nullptr) return false;
  Known result = *node.known(0);
  for (size_t i = 1; i < node.inputs(); ++i) {
    const Known* next = node.known(i);
    if (next == nullptr || next->dtype != result.dtype) return false;
    std::optional<std::vector<int64_t>> shape = broadcast_shape(result.shape, next->shape);
    if (!shape) return false;
    std::optional<std::vector<Expr>> x = broadcast_known(result, *shape), y = broadcast_known(*next, *shape);
    if (!x || !y) return false;
    result = Known{result.dtype, *shape, {}};
    for (size_t k = 0; k < x->size(); ++k) {
      Expr element = fold(node, (*x)[k], (*y)[k]);
      if (!element) return false;
      result.elements.push_back(element);
    }
  }
  return node.set_known(0, std::move(result));
}

bool fold_unary(Node& node, Expr (*fold)(Node&, Expr), DType dtype) {
  const Known* x = node.known(0);
  if (x == nullptr) return false;
  Known result{dtype, x->shape, {}};
  for (Expr element : x->elements) {
    Expr folded = fold(node, element);
    if (!folded) return false;
    result.elements.push_back(folded);
  }
  return node.set_known(0, std::move(result));
}

Expr fold_add(Node&, Expr a, Expr b) {
  if (overflows(a, b, [](int64_t x, int64_t y) { return __builtin_add_overflow(x, y, &x); })) return {};
  return a + b;
}
Expr fold_sub(Node&, Expr a, Expr b) {
  if (overflows(a, b, [](int64_t x, int64_t y) { return __builtin_sub_overflow(x, y, &x); })) return {};
  return a - b;
}
Expr fold_mul(Node&, Expr a, Expr b) {
  if (overflows(a, b, [](int64_t x, int64_t y) { return __builtin_mul_overflow(x, y, &x); })) return {};
  return a * b;
}
Expr fold_div(Node& node, Expr a, Expr b) {
  const int64_t *x = a.constant(), *y = b.constant();
  if (x != nullptr && y != nullptr) return *y == 0 || *y == -1 ? Expr{} : node.index(*x / *y);
  arith::Range dividend = node.bounds(a), divisor = node.bounds(b);
  if (divisor.lower < 0) return {};
  // If the divisor cancels, the quotient is exact for all signs; a divisor that cancels is taken not to be 0.
  Expr exact = node.simplify(arith::floordiv(a, b));
  if (b.constant() == nullptr && !divides_by_symbols(exact)) return exact;
  // Division truncates, which equals floor division if neither side is negative. For a negative dividend, the magnitude
  // is divided instead. So `1 + (h - 1) / 8` stays an expression of a dim h that may be 0.
  Expr zero = node.index(0), least = at_least_one(node, b);
  if (dividend.lower >= 0) return unless_zero(node, b, arith::floordiv(a, least));
  Expr quotient = arith::floordiv(arith::max(a, zero), least);
  bool small = divisor.lower > 0 && dividend.lower > -divisor.lower;
  return unless_zero(node, b, small ? quotient : quotient - arith::floordiv(arith::max(zero - a, zero), least));
}
Expr fold_mod(Node& node, Expr a, Expr b) {
  if (node.bounds(b).lower < 0) return {};
  return unless_zero(node, b, arith::floormod(a, at_least_one(node, b)));
}
Expr fold_min(Node&, Expr a, Expr b) {
  return arith::min(a, b);
}
Expr fold_max(Node&, Expr a, Expr b) {
  return arith::max(a, b);
}

Expr fold_bool(Node& node, Expr condition) {
  arith::Truth truth = node.decide(condition);
  if (truth != arith::Truth::kUnknown) return node.index(truth == arith::Truth::kTrue);
  return arith::select(condition, node.index(1), node.index(0));
}

}  // namespace relaxc::frontend
