// part_rules.cpp: slices, concatenations and pads that undo or follow each other.
//
// Exporters write slices in two forms and cut tensors that they have just put together. A slice is understood here as a
// range along one axis, whatever operator wrote it; only ranges whose numbers are known when compiling take part, so
// that no rule brings in a guard that the program did not have.
#include "compiler/transform/graph/part_rules.h"

#include <algorithm>

#include "compiler/transform/tensor_part.h"

namespace relaxc {
namespace {

using namespace relax;

Value* make_part(const Site& s, Value* x, const Part& part) {
  Context& context = s.builder.context();
  if (part.begin == 0 && x->shape()[part.axis].is_constant(part.extent)) return x;
  Value* begin = s.builder.shape({context.index(part.begin)});
  Value* extent = s.builder.shape({context.index(part.extent)});
  return s.make("slice_part", {x, begin, extent}, {{"axis", static_cast<int64_t>(part.axis)}});
}

size_t concat_axis(const Op& op) {
  return axis_at(op.attrs.integer("axis"), op.result()->shape().size());
}

}  // namespace

Value* part_without_effect(const Site& s) {
  if (s.op.is("slice_part")) return s.same_shape(*s.in(), *s.out()) ? s.in() : nullptr;
  if (!s.op.is("strided_slice") || !s.same_shape(*s.in(), *s.out())) return nullptr;
  auto strides = s.in(3) == nullptr ? std::vector<int64_t>{} : shape_numbers(s.in(3)).value_or(std::vector<int64_t>{0});
  return std::all_of(strides.begin(), strides.end(), [](int64_t n) { return n == 1; }) ? s.in() : nullptr;
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
    bool joins = inner != nullptr && inner->is("concat") && concat_axis(*inner) == axis && operand->uses().size() == 1;
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
  Value* whole = nullptr;  // what `last` is a part of
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
