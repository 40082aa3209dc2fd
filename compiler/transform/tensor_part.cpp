// tensor_part.cpp: reads slices as ranges.
//
// Exporters write slices in two forms. Only ranges whose numbers are known when compiling count, so that no caller
// brings in a guard that the program did not have; the dims of other axes may be anything.
#include "compiler/transform/tensor_part.h"

#include <algorithm>
#include <vector>

namespace relaxc {

using namespace relax;

namespace {

/// Returns the position on an axis of `dim` elements of a start index, which is read as NumPy does.
int64_t position(int64_t at, int64_t dim) {
  return std::clamp(at < 0 ? at + dim : at, int64_t{0}, dim);
}

std::optional<Part> strided_part(const Op& op) {
  const Value &x = *op.operand(0), &y = *op.result();
  auto begins = shape_numbers(op.operand(1)), ends = shape_numbers(op.operand(2));
  if (!begins || !ends) return std::nullopt;
  if (op.operand(3) != nullptr) {
    auto strides = shape_numbers(op.operand(3));
    if (!strides || std::any_of(strides->begin(), strides->end(), [](int64_t n) { return n != 1; }))
      return std::nullopt;
  }
  const auto& axes = op.attrs.ints("axes");
  std::optional<Part> found;
  for (size_t k = 0; k < begins->size(); ++k) {
    size_t axis = axes.empty() ? k : axis_at(axes[k], x.shape().size());
    const int64_t *dim = x.shape()[axis].constant(), *extent = y.shape()[axis].constant();
    if (dim == nullptr || extent == nullptr) return std::nullopt;
    if (*dim == *extent) continue;
    if (found) return std::nullopt;
    found = Part{axis, position((*begins)[k], *dim), *extent};
  }
  return found;
}

}  // namespace

std::optional<std::vector<int64_t>> shape_numbers(const Value* value) {
  const auto* shape = value == nullptr ? nullptr : value->info->as<ShapeInfo>();
  if (shape == nullptr || !shape->dims) return std::nullopt;
  std::vector<int64_t> numbers;
  for (Expr dim : *shape->dims) {
    if (dim.constant() == nullptr) return std::nullopt;
    numbers.push_back(*dim.constant());
  }
  return numbers;
}

size_t axis_at(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

std::optional<Part> part_of(const Op* op) {
  if (op == nullptr) return std::nullopt;
  if (op->is("strided_slice")) return strided_part(*op);
  if (!op->is("slice_part")) return std::nullopt;
  auto begin = shape_numbers(op->operand(1)), extent = shape_numbers(op->operand(2));
  if (!begin || !extent) return std::nullopt;
  size_t axis = axis_at(op->attrs.integer("axis"), op->result()->shape().size());
  if (op->operand(0)->shape()[axis].constant() == nullptr) return std::nullopt;
  return Part{axis, begin->at(0), extent->at(0)};
}

std::optional<Expr> contiguous_part(const Op& op) {
  if (op.kind != OpKind::kOperator || op.results.size() != 1 || op.result()->info->as<TensorInfo>() == nullptr)
    return std::nullopt;
  std::optional<Part> part = part_of(&op);
  if (!part || op.result()->dtype().bits < 8 || !op.requirements.empty()) return std::nullopt;
  const std::vector<Expr>& shape = op.result()->shape();
  for (size_t i = 0; i < part->axis; ++i)
    if (!shape[i].is_constant(1)) return std::nullopt;
  Expr offset = shape[0].context().index(part->begin * op.result()->dtype().bytes());
  for (size_t i = part->axis + 1; i < shape.size(); ++i) offset = offset * shape[i];
  return offset;
}

}  // namespace relaxc
