// concat_parts.cpp: offsets of the operands of a concatenation in its result.
#include "compiler/transform/concat_parts.h"

namespace relaxc {

std::optional<std::vector<arith::Expr>> contiguous_parts(const relax::Op& op) {
  if (!op.is("concat") || op.result()->dtype().bits < 8) return std::nullopt;
  const std::vector<arith::Expr>& shape = op.result()->shape();
  int64_t axis = op.attrs.integer("axis");
  size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis);
  for (size_t i = 0; i < at; ++i)
    if (!shape[i].is_constant(1)) return std::nullopt;
  arith::Expr row = shape[0].context().index(op.result()->dtype().bytes());
  for (size_t i = at + 1; i < shape.size(); ++i) row = row * shape[i];
  std::vector<arith::Expr> offsets;
  arith::Expr offset = shape[0].context().index(0);
  for (const relax::Value* operand : op.operands()) {
    offsets.push_back(offset);
    offset = offset + operand->shape()[at] * row;
  }
  return offsets;
}

}  // namespace relaxc
