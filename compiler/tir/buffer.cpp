// buffer.cpp: computes sizes and offsets of buffers as expressions.
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

Expr element_count(Context& context, const Buffer& buffer) {
  Expr count = context.index(1);
  for (Expr dim : buffer.shape) count = count * dim;
  return count;
}

Expr byte_size(Context& context, const Buffer& buffer) {
  return element_count(context, buffer) * buffer.dtype.bytes();
}

Expr element_offset(Context& context, const Buffer& buffer, const std::vector<Expr>& indices) {
  RELAXC_CHECK(indices.size() == buffer.shape.size(), "wrong number of subscripts of " + buffer.name);
  Expr offset = context.index(0);
  for (size_t i = 0; i < indices.size(); ++i) {
    if (buffer.strides.empty())
      offset = offset * buffer.shape[i] + indices[i];
    else
      offset = offset + indices[i] * buffer.strides[i];
  }
  return offset;
}

}  // namespace relaxc::tir
