// interpret_values.cpp: see interpret_values.h.
#include "compiler/relax/interpret_values.h"

#include <span>

#include "compiler/relax/origin_text.h"
#include "compiler/support/status_code.h"

namespace relaxc::relax::interpreter {

bool FrameValues::begin(const Function& function, const Parts& inputs) {
  function_ = &function;
  values_.clear();
  symbols_.clear();
  size_t next = 0;
  for (const Value* argument : function.body().arguments) {
    size_t count = leaves(argument->info);
    if (next + count > inputs.size())
      return fail(kTensorCount, function.name + " takes more inputs", static_cast<int64_t>(next + count),
                  static_cast<int64_t>(inputs.size()));
    std::span<const Part> list = std::span(inputs).subspan(next, count);
    values_[argument] = Parts(list.begin(), list.end());
    next += count;
  }
  if (next != inputs.size())
    return fail(kTensorCount, function.name + " takes fewer inputs", static_cast<int64_t>(next),
                static_cast<int64_t>(inputs.size()));
  for (const Value* argument : function.body().arguments) symbols_.bind_bare(argument->info, values_[argument]);
  for (const Value* argument : function.body().arguments)
    if (!symbols_.match(argument->info, values_[argument], "input '" + argument->name + "'")) return false;
  return true;
}

const Parts& FrameValues::of(const Value* value) const {
  auto it = values_.find(value);
  RELAXC_CHECK(it != values_.end(), "'" + value->name + "' is used before it has a value");
  return it->second;
}

Parts FrameValues::of_all(const std::vector<Value*>& values, size_t first) const {
  Parts all;
  for (size_t i = first; i < values.size(); ++i)
    for (const Part& part : of(values[i])) all.push_back(part);
  return all;
}

bool FrameValues::hold_declared(const Op& op) {
  for (Var symbol : op.binds) {
    const std::optional<int64_t> value = symbols_.evaluate(symbol);
    if (!value) continue;
    const arith::Range range = function_->facts.range_of(symbol);
    const int64_t multiple = std::max<int64_t>(function_->facts.multiple_of(symbol), 1);
    if (range.has_lower() && *value < range.lower) return fail(kDataBound, origin_text(op), range.lower, *value);
    if (range.has_upper() && *value > range.upper) return fail(kDataBound, origin_text(op), range.upper, *value);
    if (*value % multiple != 0) return fail(kDataBound, origin_text(op), multiple, *value);
  }
  return true;
}

bool FrameValues::set_results(const Op& op, const Parts& all) {
  symbols_.forget(op.binds);
  size_t next = 0;
  for (const Value* result : op.results) {
    size_t count = leaves(result->info);
    RELAXC_CHECK(next + count <= all.size(), label(op) + " gave too few results");
    std::span<const Part> list = std::span(all).subspan(next, count);
    symbols_.bind_bare(result->info, list);
    if (!symbols_.match(result->info, list, "result of " + label(op)) || !hold_declared(op)) return false;
    values_[result] = Parts(list.begin(), list.end());
    next += count;
  }
  RELAXC_CHECK(next == all.size(), label(op) + " gave too many results");
  return true;
}

bool FrameValues::allocate(DType dtype, const std::vector<Expr>& shape, std::shared_ptr<HostTensor>& out,
                           const std::string& what) {
  out = std::make_shared<HostTensor>(HostTensor{dtype, {}, {}});
  if (!symbols_.evaluate_dims(shape, out->shape, what)) return false;
  int64_t bytes = dtype.bytes();
  for (int64_t dim : out->shape)
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes) || bytes > (int64_t{1} << 40))
      return fail(kSizeOverflow, what + " has a size that cannot be", 0, dim);
  out->bytes.resize(static_cast<size_t>(bytes));
  return true;
}

}  // namespace relaxc::relax::interpreter
