// fourier.cpp: discrete Fourier transforms as matrix products.
//
// A transform is a product with a matrix of cosines and one of sines, for any length, known at compile time or not.
// Angles are reduced modulo the length in integers, and their cosines and sines computed in float64, so that exact
// cancellations happen. A fast transform would be faster from lengths of about a hundred on; this design does not
// prevent it.
#include "frontends/onnx/fourier.h"

namespace relaxc::frontend {

Result<Value*> counting(Node& node, Expr count, std::vector<Expr> dims) {
  RELAXC_TRY(Value * list, node.call("arange", {node.shape({node.index(0), count, node.index(1)})}));
  return reshape(node, list, std::move(dims));
}

Result<Value*> number(Node& node, Expr e, DType dtype) {
  if (const int64_t* known = e.constant()) return node.scalar(dtype, static_cast<double>(*known));
  RELAXC_TRY(Value * value, node.call("shape_to_tensor", {node.shape({e})}));
  return astype(node, value, dtype);
}

namespace {

using Ints = std::vector<int64_t>;

constexpr double kTurn = 6.283185307179586;

/// Matrices [rows, columns] of the cos and sin of 2 pi r c / length, for row r and column c.
struct Waves {
  Value *cosines = nullptr, *sines = nullptr;
};

Result<Waves> waves(Node& node, Expr rows, Expr columns, Expr length, DType dtype) {
  RELAXC_TRY(Value * row, counting(node, rows, {rows, node.index(1)}));
  RELAXC_TRY(Value * column, counting(node, columns, {node.index(1), columns}));
  RELAXC_TRY(Value * turns, node.call("multiply", {row, column}));
  RELAXC_TRY(Value * whole, number(node, length, DType::i(64)));
  RELAXC_TRY(turns, node.call("floor_mod", {turns, whole}));
  RELAXC_TRY(Value * angle, astype(node, turns, DType::f(64)));
  RELAXC_TRY(Value * period, number(node, length, DType::f(64)));
  RELAXC_TRY(angle, node.call("multiply", {angle, node.scalar(DType::f(64), kTurn)}));
  RELAXC_TRY(angle, node.call("divide", {angle, period}));
  Waves made;
  RELAXC_TRY(made.cosines, node.call("cos", {angle}));
  RELAXC_TRY(made.cosines, astype(node, made.cosines, dtype));
  RELAXC_TRY(made.sines, node.call("sin", {angle}));
  RELAXC_TRY(made.sines, astype(node, made.sines, dtype));
  return made;
}

/// Returns part `index` of the last dim (0: real, 1: imaginary), with that dim removed.
Result<Value*> component(Node& node, Value* x, int64_t index) {
  int64_t last = static_cast<int64_t>(x->shape().size()) - 1;
  RELAXC_TRY(Value * part,
             node.call("strided_slice", {x, node.shape({node.index(index)}), node.shape({node.index(index + 1)})},
                       {{"axes", Ints{last}}}));
  return node.call("squeeze", {part}, {{"axis", Ints{last}}});
}

/// Returns x of [B, m, A, C], cropped or padded with zeros at the end of axis 1 to n elements.
Result<Value*> resized(Node& node, Value* x, Expr n) {
  Expr have = x->shape()[1];
  if (arith::prove_equal(have, n, node.facts())) return x;
  std::vector<Expr> pads(8, node.index(0));
  pads[5] = node.simplify(n - have);  // a negative pad crops
  return node.call("pad", {x, node.shape(std::move(pads))});
}

/// Returns the weights [half, 1] of the bins of a half spectrum: 1 for bins 0 and length / 2 (no mirror image), else 2.
Result<Value*> half_weights(Node& node, Expr half, Expr length, DType dtype) {
  RELAXC_TRY(Value * bin, counting(node, half, {half, node.index(1)}));
  RELAXC_TRY(Value * twice, node.call("multiply", {bin, node.scalar(DType::i(64), 2)}));
  RELAXC_TRY(Value * whole, number(node, length, DType::i(64)));
  RELAXC_TRY(Value * mirrored, node.call("equal", {twice, whole}));
  RELAXC_TRY(Value * first, node.call("equal", {bin, node.scalar(DType::i(64), 0)}));
  RELAXC_TRY(Value * single, node.call("logical_or", {mirrored, first}));
  return node.call("where", {single, node.scalar(dtype, 1), node.scalar(dtype, 2)});
}

}  // namespace

Result<Value*> transform(Node& node, Value* x, const Transform& t) {
  Expr half = node.simplify(arith::floordiv(t.length, 2) + 1);
  bool to_real = t.inverse && t.onesided;
  RELAXC_TRY(x, resized(node, x, to_real ? half : t.length));
  const int64_t* channels = x->shape()[3].constant();
  if (channels == nullptr || *channels < 1 || *channels > 2)
    return node.error(Kind::shape_mismatch, "the last dim must be 1 (real) or 2 (complex), found {}",
                      arith::to_string(x->shape()[3]));
  DType dtype = x->dtype();
  Expr rows = t.onesided && !t.inverse ? half : t.length;
  RELAXC_TRY(Waves w, waves(node, rows, x->shape()[1], t.length, dtype));
  Value *real = nullptr, *imaginary = nullptr;
  RELAXC_TRY(real, component(node, x, 0));
  if (*channels == 2) {
    RELAXC_TRY(imaginary, component(node, x, 1));
  }
  if (to_real) {  // the missing half is the conjugate of the given one, so the bins given count twice
    RELAXC_TRY(Value * weight, half_weights(node, half, t.length, dtype));
    RELAXC_TRY(real, node.call("multiply", {real, weight}));
    if (imaginary != nullptr) {
      RELAXC_TRY(imaginary, node.call("multiply", {imaginary, weight}));
    }
  }
  auto product = [&](Value* matrix, Value* signal) { return node.call("matmul", {matrix, signal}); };
  RELAXC_TRY(Value * y_real, product(w.cosines, real));
  RELAXC_TRY(Value * y_imaginary, product(w.sines, real));
  if (!t.inverse) {
    RELAXC_TRY(y_imaginary, node.call("negative", {y_imaginary}));
  }
  if (imaginary != nullptr) {
    RELAXC_TRY(Value * c, product(w.cosines, imaginary));
    RELAXC_TRY(Value * s, product(w.sines, imaginary));
    RELAXC_TRY(y_real, node.call(t.inverse ? OpName("subtract") : OpName("add"), {y_real, s}));
    RELAXC_TRY(y_imaginary, node.call("add", {y_imaginary, c}));
  }
  std::vector<Value*> parts{y_real};
  if (!to_real) parts.push_back(y_imaginary);
  RELAXC_TRY(Value * y, node.call("stack", parts, {{"axis", int64_t{3}}}));
  if (!t.inverse) return y;
  RELAXC_TRY(Value * whole, number(node, t.length, dtype));
  return node.call("divide", {y, whole});
}

Result<Value*> fourier(Node& node, Value* x, int64_t axis, bool inverse, bool onesided) {
  std::vector<Expr> dims = x->shape();
  auto at = static_cast<size_t>(axis);
  Expr before = node.index(1), behind = before, along = dims[at];
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (i != at) (i < at ? before : behind) = (i < at ? before : behind) * dims[i];
  Transform t{inverse && onesided ? node.simplify((along - 1) * 2) : along, inverse, onesided};
  RELAXC_TRY(x, reshape(node, x, {node.simplify(before), along, node.simplify(behind), dims.back()}));
  RELAXC_TRY(Value * y, transform(node, x, t));
  dims[at] = y->shape()[1], dims.back() = y->shape()[3];
  return reshape(node, y, std::move(dims));
}

}  // namespace relaxc::frontend
