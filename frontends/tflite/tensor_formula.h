// tensor_formula.h: emits operators that reshape, slice, join, reduce or pad, and reads dims.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/tflite/formula.h"

namespace relaxc::tflite {

class TensorFormula : public Formula {
 public:
  using Formula::Formula;

  /// Returns the dims of a value; reports an error if one of them depends on data.
  Ints dims(const Value* x);
  int64_t rank(const Value* x) { return x == nullptr ? 0 : static_cast<int64_t>(x->shape().size()); }
  /// Returns `axis`, in -rank..rank-1, as 0..rank-1; reports an error if it is out of range.
  int64_t axis(int64_t axis, int64_t rank);
  Ints axes(Ints axes, int64_t rank);
  bool expect_rank(const Value* x, int64_t rank, std::string_view what);

  Value* shape(const Ints& dims);
  Value* reshape(Value* x, const Ints& dims);
  Value* permute(Value* x, Ints axes) { return call("permute_dims", {x}, {{"axes", std::move(axes)}}); }
  Value* slice(Value* x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  Value* concat(std::vector<Value*> parts, int64_t axis);
  Value* reduce(OpName name, Value* x, Ints axes, bool keepdims = true);
  /// Pads x with `value` (null: 0). `pads` has the counts at the beginning of all dims, then those at the end.
  Value* pad(Value* x, const Ints& pads, Value* value = nullptr);
  /// Transposes [N, spatial…, C] to [N, C, spatial…], and back.
  Value* channels_first(Value* x);
  Value* channels_last(Value* x);
};

}  // namespace relaxc::tflite
