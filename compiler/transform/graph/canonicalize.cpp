// canonicalize.cpp: brings what can be written in many ways into one form, and removes what does nothing.
//
// Each rule looks at one op and returns a value that replaces its result, or null. Rules are local and never make the
// graph larger, so running them until nothing changes ends. Rules that change bits (x + 0.0 turns -0 into 0) are not
// here.
#include <algorithm>
#include <cmath>

#include "compiler/transform/graph/moves/index_rules.h"
#include "compiler/transform/graph/moves/move_rules.h"
#include "compiler/transform/graph/moves/part_rules.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

Value* view_without_effect(const Site& s) {
  bool view = s.op.kind == OpKind::kOperator && s.op.def->role == Role::kView;
  return view && s.same_shape(*s.in(), *s.op.result()) ? s.in() : nullptr;
}

/// Replaces a view of a view by a reshape of the value below both.
Value* view_of_view(const Site& s) {
  if (s.op.kind != OpKind::kOperator || s.op.def->role != Role::kView) return nullptr;
  Op* below = s.in()->op;
  if (below == nullptr || below->kind != OpKind::kOperator || below->def->role != Role::kView) return nullptr;
  Value* shape = s.builder.shape(s.op.result()->shape());
  auto made = s.builder.call("reshape", {below->operand(0), shape}, {}, s.op.result()->name);
  return made ? *made : nullptr;
}

/// Replaces a view of a constant by the constant with another shape, which moves no bytes. A view with another number
/// of elements stays, for a guard to refuse.
Value* view_of_constant(const Site& s) {
  if (s.op.kind != OpKind::kOperator || s.op.def->role != Role::kView) return nullptr;
  if (s.in()->op == nullptr || s.in()->op->kind != OpKind::kConstant) return nullptr;
  std::vector<int64_t> shape;
  for (Expr dim : s.op.result()->shape()) {
    if (dim.constant() == nullptr) return nullptr;
    shape.push_back(*dim.constant());
  }
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  int64_t count = empty ? 0 : 1;
  for (int64_t extent : shape)
    if (!empty && __builtin_mul_overflow(count, extent, &count)) return nullptr;
  if (count != s.in()->op->constant->elements()) return nullptr;
  return s.builder.constant(s.in()->op->constant->reshaped(std::move(shape)), s.op.result()->name);
}

Value* cast_to_same_dtype(const Site& s) {
  return s.op.is("astype") && s.in()->dtype() == s.op.result()->dtype() ? s.in() : nullptr;
}

Value* transpose_without_effect(const Site& s) {
  if (!s.op.is("permute_dims")) return nullptr;
  std::vector<int64_t> axes = permutation(s.op);
  return std::is_sorted(axes.begin(), axes.end()) ? s.in() : nullptr;
}

Value* transpose_of_transpose(const Site& s) {
  Op* below = s.op.is("permute_dims") ? s.producer(0, "permute_dims") : nullptr;
  if (below == nullptr) return nullptr;
  std::vector<int64_t> outer = permutation(s.op), inner = permutation(*below), both;
  for (int64_t axis : outer) both.push_back(inner[static_cast<size_t>(axis)]);
  auto made = s.builder.call("permute_dims", {below->operand(0)}, {{"axes", both}}, s.op.result()->name);
  return made ? *made : nullptr;
}

Value* concat_of_one(const Site& s) {
  return s.op.is("concat") && s.op.operands().size() == 1 ? s.in() : nullptr;
}

Value* field_of_tuple(const Site& s) {
  if (s.op.kind != OpKind::kTupleGet || s.in()->op == nullptr || s.in()->op->kind != OpKind::kTuple) return nullptr;
  return s.in()->op->operand(static_cast<size_t>(s.op.attrs.integer("index")));
}

/// Removes a cast to what is known anyway, which guards nothing.
Value* match_cast_that_holds(const Site& s) {
  if (s.op.kind != OpKind::kMatchCast || !s.op.binds.empty()) return nullptr;
  return subsumes(s.op.result()->info, s.in()->info, s.facts) ? s.in() : nullptr;
}

Value* identity(const Site& s) {
  return s.op.is("identity") ? s.in() : nullptr;
}

/// Returns whether `wide` holds every value of `narrow`: then a cast to it and on to another dtype is one cast.
bool holds_all(DType wide, DType narrow) {
  if (narrow == DType::boolean() || wide == DType::boolean()) return false;
  if (narrow.is_float())
    return (wide == DType::f(64) && narrow.bits < 64) || (wide == DType::f(32) && narrow.bits == 16);
  if (!narrow.is_integer()) return false;
  int digits = narrow.bits - (narrow.is_int() ? 1 : 0);
  if (wide.is_float()) return (wide.bits == 64 && digits <= 53) || (wide == DType::f(32) && digits <= 24);
  if (!wide.is_integer()) return false;
  return wide.is_int() ? digits < wide.bits : !narrow.is_int() && narrow.bits <= wide.bits;
}

Value* cast_of_cast(const Site& s) {
  Op* below = s.op.is("astype") ? s.producer(0, "astype") : nullptr;
  if (below == nullptr || !holds_all(s.in()->dtype(), below->operand(0)->dtype())) return nullptr;
  if (s.out()->dtype() == DType::boolean()) return nullptr;
  return s.make("astype", {below->operand(0)}, {{"dtype", s.out()->dtype()}});
}

/// Replaces a transpose that moves only axes of extent 1 by a reshape: the elements keep their order.
Value* transpose_of_unit_axes(const Site& s) {
  if (!s.op.is("permute_dims")) return nullptr;
  int64_t last = -1;
  for (int64_t axis : permutation(s.op)) {
    if (s.in()->shape()[static_cast<size_t>(axis)].is_constant(1)) continue;
    if (axis < last) return nullptr;
    last = axis;
  }
  return s.make("reshape", {s.in(), s.builder.shape(s.out()->shape())});
}

Value* broadcast_without_effect(const Site& s) {
  return s.op.is("broadcast_to") && s.like_result(*s.in()) ? s.in() : nullptr;
}

/// Replaces -(-x) by x, and relu(relu(x)), floor(floor(x)), … by one of the two.
Value* applied_twice(const Site& s) {
  if (s.op.is("negative")) {
    Op* below = s.producer(0, "negative");
    return below == nullptr ? nullptr : below->operand(0);
  }
  for (OpName name : std::initializer_list<OpName>{"nn.relu", "abs", "floor", "ceil", "round", "trunc", "sign"})
    if (s.op.is(name)) return s.producer(0, name) == nullptr ? nullptr : s.in();
  return nullptr;
}

/// Removes x * 1, x / 1, x - 0, and x + 0 of integers. In floats, the first three keep -0 and NaN, but x + 0.0 would
/// turn -0 into 0.
Value* neutral_operand(const Site& s) {
  bool product = s.op.is("multiply"), sum = s.op.is("add");
  if (!product && !sum && !s.op.is("divide") && !s.op.is("subtract")) return nullptr;
  if (sum && !s.out()->dtype().is_integer()) return nullptr;
  double neutral = product || s.op.is("divide") ? 1 : 0;
  for (size_t side : {size_t{1}, size_t{0}}) {
    std::optional<double> number = uniform_value(s.in(side));
    bool fits = number && *number == neutral && !std::signbit(*number) && (side == 1 || product || sum);
    if (fits && s.like_result(*s.in(1 - side))) return s.in(1 - side);
  }
  return nullptr;
}

constexpr Rule kCanonicalRules[] = {
    identity,
    view_without_effect,
    view_of_constant,
    view_of_view,
    cast_to_same_dtype,
    cast_of_cast,
    concat_of_one,
    transpose_without_effect,
    transpose_of_transpose,
    transpose_of_unit_axes,
    broadcast_without_effect,
    applied_twice,
    neutral_operand,
    field_of_tuple,
    match_cast_that_holds,
    part_without_effect,
    take_of_range,
    scatter_to_box,
    part_of_viewed_transpose,
    one_of_neighbours,
    part_of_part,
    part_of_concat,
    concat_of_concats,
    concat_of_parts,
    pad_by_nothing,
    part_of_transpose,
    concat_of_transposes,
    softmax_of_transpose,
    unit_dims_of_transpose,
    transpose_of_product,
    elementwise_of_broadcast,
    elementwise_behind_move,
};

}  // namespace

Result<Changed> canonicalize(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= rewrite_ops(module, *function, context, kCanonicalRules);
  return changed;
}

}  // namespace relaxc
