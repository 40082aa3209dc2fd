// tensor_formula.h: operators of ours that change the shape of a value or look at it.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/tflite/formula.h"

namespace relaxc::tflite {

class TensorFormula : public Formula {
 public:
  using Formula::Formula;

  /// The dims of a value; fails if one of them depends on data.
  Ints dims(const Value* x);
  int64_t rank(const Value* x) { return x == nullptr ? 0 : static_cast<int64_t>(x->shape().size()); }
  /// `axis` in -rank..rank-1 as 0..rank-1; fails if it is none of them.
  int64_t axis(int64_t axis, int64_t rank);
  Ints axes(Ints axes, int64_t rank);
  bool expect_rank(const Value* x, int64_t rank, std::string_view what);

  Value* shape(const Ints& dims);
  Value* reshape(Value* x, const Ints& dims);
  Value* permute(Value* x, Ints axes) { return call("permute_dims", {x}, {{"axes", std::move(axes)}}); }
  Value* slice(Value* x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  Value* concat(std::vector<Value*> parts, int64_t axis);
  Value* reduce(OpName name, Value* x, Ints axes, bool keepdims = true);
  /// Elements of `value` (null: 0) around x: beginnings of all dims, then ends.
  Value* pad(Value* x, const Ints& pads, Value* value = nullptr);
  /// [N, spatial…, C] as [N, C, spatial…], and back.
  Value* channels_first(Value* x);
  Value* channels_last(Value* x);
};

}  // namespace relaxc::tflite
