// buffer.cpp: computes sizes and offsets of buffers as expressions.
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

bool beyond_memory(const std::vector<Expr>& shape, int64_t element_bytes) {
  constexpr int64_t kMost = int64_t{1} << 56;
  int64_t bytes = element_bytes;
  for (Expr dim : shape) {
    const int64_t* known = dim.constant();
    if (known == nullptr || *known <= 0) continue;
    if (__builtin_mul_overflow(bytes, *known, &bytes) || bytes > kMost) return true;
  }
  return false;
}

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
