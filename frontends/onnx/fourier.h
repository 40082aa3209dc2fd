// fourier.h: discrete Fourier transforms as products with matrices.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// 0, 1, … count - 1 as int64, under the given dims.
Result<Value*> counting(Node& node, Expr count, std::vector<Expr> dims);
/// The number `e` as one element of a dtype.
Result<Value*> number(Node& node, Expr e, DType dtype);

struct Transform {
  Expr length;  ///< of the signal
  bool inverse = false, onesided = false;
};

/// Of x [B, axis, A, 1 or 2] along its axis: [B, K, A, 2], or [B, length, A, 1] for the inverse of a one-sided one.
Result<Value*> transform(Node& node, Value* x, const Transform& t);
/// The same of x [..., 1 or 2] along `axis`, whose elements are all the signal (one-sided ones come from signals of
/// even length).
Result<Value*> fourier(Node& node, Value* x, int64_t axis, bool inverse, bool onesided);

}  // namespace relaxc::frontend
