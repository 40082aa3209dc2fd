// tensor_formula.cpp: see tensor_formula.h.
#include "frontends/tflite/tensor_formula.h"

#include <algorithm>
#include <numeric>

#include "frontends/tflite/importer.h"

namespace relaxc::tflite {

Ints TensorFormula::dims(const Value* x) {
  Ints out;
  if (!ok() || x == nullptr) return out;
  for (arith::Expr extent : x->shape()) {
    const int64_t* number = extent.constant();
    if (number == nullptr) {
      error(Kind::unsupported, "its operand has a size that depends on data: {}", relax::to_string(x->info));
      return {};
    }
    out.push_back(*number);
  }
  return out;
}

int64_t TensorFormula::axis(int64_t axis, int64_t rank) {
  if (!ok()) return 0;
  if (axis < -rank || axis >= rank) {
    error(Kind::invalid_attribute, "axis {} of {} dims", axis, rank);
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

Ints TensorFormula::axes(Ints axes, int64_t rank) {
  for (int64_t& one : axes) one = axis(one, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

bool TensorFormula::expect_rank(const Value* x, int64_t wanted, std::string_view what) {
  if (!ok() || x == nullptr) return false;
  if (rank(x) == wanted) return true;
  error(Kind::rank_mismatch, "{} must have {} dims, found {}", what, wanted, relax::to_string(x->info));
  return false;
}

Value* TensorFormula::shape(const Ints& dims) {
  if (!ok()) return nullptr;
  std::vector<arith::Expr> extents;
  for (int64_t extent : dims) extents.push_back(importer.module().context().index(extent));
  return builder().shape(std::move(extents));
}

Value* TensorFormula::reshape(Value* x, const Ints& wanted) {
  if (x == nullptr || !ok()) return nullptr;
  return dims(x) == wanted ? x : call("reshape", {x, shape(wanted)});
}

Value* TensorFormula::slice(Value* x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return call("strided_slice", {x, shape({begin}), shape({end}), shape({step})}, {{"axes", Ints{axis}}});
}

Value* TensorFormula::concat(std::vector<Value*> parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return call("concat", std::move(parts), {{"axis", axis}});
}

Value* TensorFormula::reduce(OpName name, Value* x, Ints axes, bool keepdims) {
  return call(name, {x}, {{"axis", std::move(axes)}, {"keepdims", keepdims}, {"none_is_all", false}});
}

Value* TensorFormula::pad(Value* x, const Ints& pads, Value* value) {
  if (std::all_of(pads.begin(), pads.end(), [](int64_t n) { return n == 0; })) return x;
  std::vector<Value*> operands{x, shape(pads)};
  if (value != nullptr) operands.push_back(value);
  return call("pad", std::move(operands));
}

Value* TensorFormula::channels_first(Value* x) {
  if (!ok() || x == nullptr) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return permute(x, std::move(axes));
}

Value* TensorFormula::channels_last(Value* x) {
  if (!ok() || x == nullptr) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return permute(x, std::move(axes));
}

}  // namespace relaxc::tflite
