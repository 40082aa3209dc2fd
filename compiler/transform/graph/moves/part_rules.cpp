// part_rules.cpp: slices, concatenations and pads that undo or follow each other.
//
// Exporters write slices in two forms and slice tensors that they have just concatenated. Here a slice is a range along
// one axis, whatever operator wrote it; only ranges whose numbers are known when compiling take part, so that no rule
// brings in a guard that the program did not have. Channels that are shuffled and then divided (reshape, transpose,
// reshape, and a slice or a take of each half) become a slice with a stride of the unshuffled tensor.
#include "compiler/transform/graph/moves/part_rules.h"

#include <algorithm>

namespace relaxc {
namespace {

using namespace relax;

size_t concat_axis(const Op& op) {
  return axis_at(op.attrs.integer("axis"), op.result()->shape().size());
}

bool is_view(const Op* op) {
  return op != nullptr && op->kind == OpKind::kOperator && op->def->role == Role::kView;
}

/// Returns how many elements apart neighbours along `axis` are.
Expr step_along(const Site& s, const std::vector<Expr>& shape, size_t axis) {
  Expr step = s.builder.context().index(1);
  for (size_t i = axis + 1; i < shape.size(); ++i) step = step * shape[i];
  return step;
}

Value* as_result(const Site& s, Value* x) {
  return s.make("reshape", {x, s.builder.shape(s.out()->shape())});
}

/// Returns every `stride`-th element along `axis`, from `begin` on.
Value* every(const Site& s, Value* x, size_t axis, int64_t stride, int64_t begin) {
  auto number = [&](int64_t n) { return s.builder.shape({s.builder.context().index(n)}); };
  return s.make("strided_slice", {x, number(begin), number(*x->shape()[axis].constant()), number(stride)},
                {{"axes", std::vector<int64_t>{static_cast<int64_t>(axis)}}});
}

}  // namespace

Value* make_part(const Site& s, Value* x, const Part& part) {
  Context& context = s.builder.context();
  if (part.begin == 0 && x->shape()[part.axis].is_constant(part.extent)) return x;
  Value* begin = s.builder.shape({context.index(part.begin)});
  Value* extent = s.builder.shape({context.index(part.extent)});
  return s.make("slice_part", {x, begin, extent}, {{"axis", static_cast<int64_t>(part.axis)}});
}

Value* part_without_effect(const Site& s) {
  if (s.op.is("slice_part")) return s.same_shape(*s.in(), *s.out()) ? s.in() : nullptr;
  if (!s.op.is("strided_slice") || !s.same_shape(*s.in(), *s.out())) return nullptr;
  auto strides = s.in(3) == nullptr ? std::vector<int64_t>{} : shape_numbers(s.in(3)).value_or(std::vector<int64_t>{0});
  return std::all_of(strides.begin(), strides.end(), [](int64_t n) { return n == 1; }) ? s.in() : nullptr;
}

Value* part_of_viewed_transpose(const Site& s) {
  std::optional<Part> part = part_of(&s.op);
  if (!part || !is_view(s.in()->op)) return nullptr;
  Value* x = s.in()->op->operand(0);
  if (producer_of(x, "permute_dims") == nullptr) return nullptr;
  Expr step = step_along(s, s.in()->shape(), part->axis), dim = s.in()->shape()[part->axis];
  for (size_t axis = 0; axis < x->shape().size(); ++axis)
    if (x->shape()[axis] == dim && arith::prove_equal(step_along(s, x->shape(), axis), step, s.facts))
      return as_result(s, make_part(s, x, {axis, part->begin, part->extent}));
  return nullptr;
}

Value* one_of_neighbours(const Site& s) {
  std::optional<Part> part = is_view(&s.op) ? part_of(s.in()->op) : std::nullopt;
  if (!part || part->extent != 1 || !is_view(s.in()->op->operand(0)->op)) return nullptr;
  const std::vector<Expr>&dims = s.in()->op->operand(0)->shape(), &out = s.out()->shape();
  Value* x = s.in()->op->operand(0)->op->operand(0);
  if (x->shape().size() != out.size()) return nullptr;
  Expr step = step_along(s, dims, part->axis);
  int64_t neighbours = *dims[part->axis].constant();
  for (size_t axis = 0; axis < out.size(); ++axis) {
    const int64_t *all = x->shape()[axis].constant(), *left = out[axis].constant();
    if (all == nullptr || left == nullptr || *left * neighbours != *all) continue;
    bool same = arith::prove_equal(step_along(s, x->shape(), axis), step, s.facts);
    for (size_t i = 0; i < out.size(); ++i) same &= i == axis || arith::prove_equal(out[i], x->shape()[i], s.facts);
    if (same) return every(s, x, axis, neighbours, part->begin);
  }
  return nullptr;
}

Value* part_of_part(const Site& s) {
  std::optional<Part> outer = part_of(&s.op);
  if (!outer) return nullptr;
  std::optional<Part> inner = part_of(s.in()->op);
  if (!inner || inner->axis != outer->axis) return nullptr;
  return make_part(s, s.in()->op->operand(0), {outer->axis, inner->begin + outer->begin, outer->extent});
}

Value* part_of_concat(const Site& s) {
  std::optional<Part> part = part_of(&s.op);
  Op* concat = part ? s.producer(0, "concat") : nullptr;
  if (concat == nullptr || concat_axis(*concat) != part->axis) return nullptr;
  int64_t at = 0;
  for (Value* operand : concat->operands()) {
    const int64_t* extent = operand->shape()[part->axis].constant();
    if (extent == nullptr) return nullptr;
    if (at <= part->begin && part->begin + part->extent <= at + *extent)
      return make_part(s, operand, {part->axis, part->begin - at, part->extent});
    at += *extent;
  }
  return nullptr;
}

Value* concat_of_concats(const Site& s) {
  if (!s.op.is("concat")) return nullptr;
  size_t axis = concat_axis(s.op);
  std::vector<Value*> flat;
  bool changed = false;
  for (Value* operand : s.op.operands()) {
    Op* inner = operand->op;
    bool joins = inner != nullptr && inner->is("concat") && concat_axis(*inner) == axis && operand->has_one_use();
    bool empty = operand->shape()[axis].is_constant(0) && s.op.operands().size() > 1;
    changed |= joins || empty;
    if (joins)
      flat.insert(flat.end(), inner->operands().begin(), inner->operands().end());
    else if (!empty)
      flat.push_back(operand);
  }
  if (!changed || flat.empty()) return nullptr;
  return s.make("concat", flat, {{"axis", static_cast<int64_t>(axis)}});
}

Value* concat_of_parts(const Site& s) {
  if (!s.op.is("concat")) return nullptr;
  size_t axis = concat_axis(s.op);
  std::vector<Value*> joined;
  std::optional<Part> last;
  Value* whole = nullptr;  // the tensor that `last` is a part of
  for (Value* operand : s.op.operands()) {
    std::optional<Part> part = part_of(operand->op);
    if (part && part->axis != axis) part.reset();
    Value* source = part ? operand->op->operand(0) : nullptr;
    if (part && last && source == whole && last->begin + last->extent == part->begin) {
      last->extent += part->extent;
      joined.back() = make_part(s, whole, *last);
      continue;
    }
    joined.push_back(operand);
    last = part, whole = source;
  }
  if (joined.size() == s.op.operands().size()) return nullptr;
  if (joined.size() == 1) return joined[0];
  return s.make("concat", joined, {{"axis", static_cast<int64_t>(axis)}});
}

Value* pad_by_nothing(const Site& s) {
  if (!s.op.is("pad")) return nullptr;
  auto pads = shape_numbers(s.in(1));
  bool none = pads && std::all_of(pads->begin(), pads->end(), [](int64_t n) { return n == 0; });
  return none ? s.in() : nullptr;
}

}  // namespace relaxc
