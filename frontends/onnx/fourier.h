// fourier.h: discrete Fourier transforms as matrix products.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// Returns 0, 1, … count - 1 as int64, with the given dims.
Result<Value*> counting(Node& node, Expr count, std::vector<Expr> dims);
/// Returns the number `e` as one element of a dtype.
Result<Value*> number(Node& node, Expr e, DType dtype);

struct Transform {
  Expr length;  ///< of the signal
  bool inverse = false, onesided = false;
};

/// Transforms x [B, axis, A, 1 or 2] along its axis to [B, K, A, 2], or [B, length, A, 1] for a one-sided inverse.
Result<Value*> transform(Node& node, Value* x, const Transform& t);
/// The same for x [..., 1 or 2] along `axis`, whose elements are the whole signal (one-sided ones are of signals of
/// even length).
Result<Value*> fourier(Node& node, Value* x, int64_t axis, bool inverse, bool onesided);

}  // namespace relaxc::frontend
