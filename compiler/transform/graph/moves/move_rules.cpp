// move_rules.cpp: see move_rules.h.
//
// Exporters put a transpose wherever their own layout meets that of an operator, and reshapes around them for heads and
// groups. Ops should be next to what they can be merged with: a scale next to the projection whose weights can absorb
// it, an activation after the convolution whose epilogue it is. So operators move up past ops that only move elements,
// and these collect where they meet each other, or a product that can read through them. No rule changes a bit, and
// none makes a transpose larger.
#include "compiler/transform/graph/moves/move_rules.h"

#include <algorithm>

#include "compiler/transform/graph/moves/transpose_sinking.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc {
namespace {

using namespace relax;

bool is_tensor(const Value* value) {
  return value != nullptr && value->info->as<TensorInfo>() != nullptr;
}

bool is_view(const Op& op) {
  return op.kind == OpKind::kOperator && op.def->role == Role::kView;
}

/// Returns whether a kernel makes the value for one reader, so that it can compute the next op as well. A view has no
/// kernel, and an op after it is better fused with its own readers.
bool is_computed(const Value& value) {
  const Op* op = value.op;
  return op != nullptr && op->kind == OpKind::kOperator && op->def->role == Role::kKernel && value.has_one_use();
}

/// Returns a constant of one element as a scalar constant; null for any other value.
Value* as_number(const Site& s, Value* value) {
  ConstantRef data = constant_of(value);
  if (data == nullptr || data->elements() != 1) return nullptr;
  return data->shape().empty() ? value : s.builder.constant(data->reshaped({}), value->name);
}

/// Returns `operand` before the permutation `axes`, if it is permuted alike or varies along one axis only; else null.
Value* before_permutation(const Site& s, Value* operand, const std::vector<int64_t>& axes) {
  if (Op* alike = producer_of(operand, "permute_dims"); alike != nullptr && operand->has_one_use())
    return permutation(*alike) == axes ? alike->operand(0) : nullptr;
  ConstantRef data = constant_of(operand);
  size_t rank = axes.size(), own = operand->shape().size();
  if (data == nullptr || own > rank) return nullptr;
  if (data->elements() == 1) return as_number(s, operand);
  std::vector<int64_t> shape(rank, 1);
  int wide = 0;
  for (size_t i = 0; i < own; ++i) {
    shape[static_cast<size_t>(axes[rank - own + i])] = data->shape()[i];
    wide += data->shape()[i] != 1;
  }
  return wide == 1 ? s.builder.constant(data->reshaped(std::move(shape)), operand->name) : nullptr;
}

/// Returns the operands that an element-wise op has before `move`; empty if one of them does not exist there.
std::vector<Value*> operands_before(const Site& s, const Op& move) {
  std::vector<Value*> operands;
  for (Value* operand : s.op.operands()) {
    Value* before = nullptr;
    if (operand == move.result())
      before = move.operand(0);
    else if (!is_tensor(operand))
      return {};
    else
      before = is_view(move) ? as_number(s, operand) : before_permutation(s, operand, permutation(move));
    if (before == nullptr) return {};
    operands.push_back(before);
  }
  return operands;
}

/// Returns whether only slices along `axis` read `value`, which together are no larger than it, or a single slice.
bool read_in_parts(const Value& value, size_t axis) {
  int64_t left = *value.shape()[axis].constant();
  for (const Use& use : value.uses()) {
    std::optional<Part> part = part_of(use.user);
    if (!part || part->axis != axis) return false;
    left -= part->extent;
  }
  return left >= 0 || value.has_one_use();
}

/// Returns for every dim of `to` the dim of `from` that it is, or -1 for a new dim of 1; nothing if they differ in more
/// than dims of 1.
std::optional<std::vector<int64_t>> match_but_units(const Site& s, const std::vector<Expr>& from,
                                                    const std::vector<Expr>& to) {
  std::vector<int64_t> matched;
  size_t i = 0;
  while (i < from.size() || matched.size() < to.size()) {
    size_t j = matched.size();
    if (i < from.size() && j < to.size() && arith::prove_equal(from[i], to[j], s.facts))
      matched.push_back(static_cast<int64_t>(i++));
    else if (i < from.size() && from[i].is_constant(1))
      ++i;
    else if (j < to.size() && to[j].is_constant(1))
      matched.push_back(-1);
    else
      return std::nullopt;
  }
  return matched;
}

/// Returns whether a permutation exchanges the last two dims and nothing else.
bool swaps_matrices(const Op& permute) {
  std::vector<int64_t> axes = permutation(permute);
  if (axes.size() < 2) return false;
  std::swap(axes.end()[-1], axes.end()[-2]);
  return std::is_sorted(axes.begin(), axes.end());
}

}  // namespace

std::vector<int64_t> permutation(const Op& op) {
  std::vector<int64_t> axes = op.attrs.ints("axes");
  int64_t rank = static_cast<int64_t>(op.operand(0)->shape().size());
  if (axes.empty())
    for (int64_t i = rank; i-- > 0;) axes.push_back(i);
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  return axes;
}

Value* elementwise_behind_move(const Site& s) {
  if (s.op.kind != OpKind::kOperator || is_view(s.op) || s.op.is("permute_dims")) return nullptr;
  for (Value* operand : s.op.operands()) {
    if (!is_tensor(operand) || operand->op == nullptr || !operand->has_one_use()) continue;
    const Op& move = *operand->op;
    bool moves = move.is("permute_dims") || is_view(move);
    if (!moves || constant_of(move.operand(0)) != nullptr || !s.same_shape(*operand, *s.out())) continue;
    if (is_view(move) && !is_computed(*move.operand(0))) continue;
    if (!is_elementwise(s.builder.context(), s.op)) return nullptr;
    std::vector<Value*> operands = operands_before(s, move);
    if (operands.empty()) continue;
    Value* made = s.make(s.op.def->name, operands, s.op.attrs);
    if (is_view(move)) return s.make("reshape", {made, s.builder.shape(s.out()->shape())});
    return s.make("permute_dims", {made}, move.attrs);
  }
  return nullptr;
}

Value* elementwise_of_broadcast(const Site& s) {
  if (s.op.kind != OpKind::kOperator || s.op.operands().size() < 2) return nullptr;
  for (size_t i = 0; i < s.op.operands().size(); ++i) {
    Op* spread = s.producer(i, "broadcast_to");
    if (spread == nullptr || !is_elementwise(s.builder.context(), s.op)) continue;
    std::vector<Value*> operands = s.op.operands();
    operands[i] = spread->operand(0);
    // The others must give the result its shape, without a symbol that is broadcast at run time.
    bool others = false;
    for (size_t k = 0; k < operands.size(); ++k)
      others |= k != i && is_tensor(operands[k]) && s.same_shape(*operands[k], *s.out());
    if (!others || !spread->requirements.empty()) continue;
    Value* made = s.make(s.op.def->name, operands, s.op.attrs);
    if (made->op->requirements.size() == s.op.requirements.size() && s.like_result(*made)) return made;
  }
  return nullptr;
}

Value* unit_dims_of_transpose(const Site& s) {
  Op* permute = is_view(s.op) ? s.producer(0, "permute_dims") : nullptr;
  if (permute == nullptr || !s.in()->has_one_use()) return nullptr;
  const std::vector<Expr>& dims = s.out()->shape();
  std::optional<std::vector<int64_t>> matched = match_but_units(s, s.in()->shape(), dims);
  if (!matched) return nullptr;
  std::vector<int64_t> before = permutation(*permute), axes(dims.size());
  // Each dim is placed where the transpose takes it from; a new one follows its neighbour.
  std::vector<std::pair<int64_t, size_t>> places;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t from = (*matched)[i], neighbour = places.empty() ? -1 : places.back().first;
    places.emplace_back(from < 0 ? neighbour : before[static_cast<size_t>(from)], i);
  }
  std::sort(places.begin(), places.end());
  std::vector<Expr> given;
  for (size_t i = 0; i < places.size(); ++i) {
    axes[places[i].second] = static_cast<int64_t>(i);
    given.push_back(dims[places[i].second]);
  }
  Value* view = s.make("reshape", {permute->operand(0), s.builder.shape(given)});
  return s.make("permute_dims", {view}, {{"axes", axes}});
}

Value* transpose_of_product(const Site& s) {
  if (!s.op.is("permute_dims") || !swaps_matrices(s.op)) return nullptr;
  Op* product = s.producer(0, "matmul");
  if (product == nullptr || !s.in()->has_one_use()) return nullptr;
  Op *a = producer_of(product->operand(0), "permute_dims"), *b = producer_of(product->operand(1), "permute_dims");
  if (a == nullptr || b == nullptr || !swaps_matrices(*a) || !swaps_matrices(*b)) return nullptr;
  if (product->operand(0)->dtype() != product->operand(1)->dtype()) return nullptr;
  return s.make("matmul", {b->operand(0), a->operand(0)}, product->attrs);
}

Value* concat_of_transposes(const Site& s) {
  if (!s.op.is("concat") || s.op.operands().size() < 2) return nullptr;
  Op* first = s.producer(0, "permute_dims");
  if (first == nullptr) return nullptr;
  std::vector<int64_t> axes = permutation(*first);
  std::vector<Value*> operands;
  for (Value* operand : s.op.operands()) {
    Op* permute = producer_of(operand, "permute_dims");
    if (permute == nullptr || !operand->has_one_use() || permutation(*permute) != axes) return nullptr;
    operands.push_back(permute->operand(0));
  }
  int64_t axis = axes[axis_at(s.op.attrs.integer("axis"), axes.size())];
  return s.make("permute_dims", {s.make("concat", operands, {{"axis", axis}})}, {{"axes", axes}});
}

Value* softmax_of_transpose(const Site& s) {
  Op* permute = s.op.is("nn.softmax") || s.op.is("nn.log_softmax") ? s.producer(0, "permute_dims") : nullptr;
  if (permute == nullptr || !s.in()->has_one_use()) return nullptr;
  const std::vector<int64_t> axes = permutation(*permute);
  const int64_t axis = axes[axis_at(s.op.attrs.integer("axis"), axes.size())];
  if (axis + 1 == static_cast<int64_t>(axes.size())) return nullptr;
  relax::Attrs attrs = s.op.attrs;
  attrs.set("axis", axis);
  return s.make("permute_dims", {s.make(s.op.def->name, {permute->operand(0)}, std::move(attrs))}, {{"axes", axes}});
}

Value* part_of_transpose(const Site& s) {
  std::optional<Part> part = part_of(&s.op);
  Op* permute = part ? s.producer(0, "permute_dims") : nullptr;
  if (permute == nullptr || !read_in_parts(*s.in(), part->axis)) return nullptr;
  std::vector<int64_t> axes = permutation(*permute);
  Value* begin = s.builder.shape({s.builder.context().index(part->begin)});
  Value* extent = s.builder.shape({s.builder.context().index(part->extent)});
  Value* cut = s.make("slice_part", {permute->operand(0), begin, extent}, {{"axis", axes[part->axis]}});
  return s.make("permute_dims", {cut}, {{"axes", axes}});
}

}  // namespace relaxc
