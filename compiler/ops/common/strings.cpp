// strings.cpp: see strings.h.
#include "compiler/ops/common/strings.h"

namespace relaxc::ops {

Result<Dims> strings_dims(InferContext& c, size_t first) {
  RELAXC_TRY(const TensorInfo* spans, c.tensor(first));
  RELAXC_TRY(const TensorInfo* bytes, c.tensor(first + 1));
  if (spans->ndim < 1 || !spans->shape->back().is_constant(2) || spans->dtype != DType::i(64) || bytes->ndim != 1 ||
      bytes->dtype != kByte)
    return c.error(Kind::shape_mismatch, "'{}' takes spans [..., 2] of int64 and a vector of bytes, found {} and {}",
                   c.op.def->name, to_string(c.op.operand(first)->info), to_string(c.op.operand(first + 1)->info));
  return Dims(spans->shape->begin(), spans->shape->end() - 1);
}

Dims with_pair(Context& context, Dims dims) {
  dims.push_back(context.index(2));
  return dims;
}

}  // namespace relaxc::ops
