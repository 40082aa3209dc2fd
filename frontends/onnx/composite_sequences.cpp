// composite_sequences.cpp: operations on sequences.
//
// The offset of an element of a packed sequence is the sum of the sizes before it, computed from the shapes each time:
// a sequence has few elements, and carrying one more tensor would cost more.
#include <algorithm>

#include "frontends/onnx/composite.h"

namespace relaxc::frontend {

// ---- parts

Result<Value*> Composites::flat(Value* value) {
  Expr count = index(1);
  for (Expr dim : value->shape()) count = simplify(count * dim);
  return b().call("reshape", {value, b().shape({count})});
}

/// Returns the item's shape as a tensor of [1, rank].
Result<Value*> Composites::row(Value* item) {
  const std::vector<Expr>& dims = item->shape();
  if (dims.empty()) return none(DType::i(64), {index(1), index(0)});
  RELAXC_TRY(Value * list, b().call("shape_to_tensor", {b().shape(dims)}));
  return b().call("reshape", {list, b().shape({index(1), index(static_cast<int64_t>(dims.size()))})});
}

Result<Value*> Composites::part(Value* value, Expr begin, Expr extent) {
  return b().call("slice_part", {value, b().shape({begin}), b().shape({extent})}, {{"axis", int64_t{0}}});
}

Result<Value*> Composites::concat(std::vector<Value*> parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return b().call("concat", std::move(parts), {{"axis", axis}});
}

Result<Value*> Composites::none(DType dtype, std::vector<Expr> dims) {
  return b().call("zeros", {b().shape(std::move(dims))}, {{"dtype", dtype}});
}

/// Returns `position`, from the end if negative, counted from the start; with `behind`, no position means the length.
Expr Composites::normal(const Sequence& sequence, Expr position, bool behind) {
  Expr count = length(sequence);
  if (behind && !position) return count;
  if (arith::prove_le(index(0), position, importer_.function().facts)) return simplify(position);
  return simplify(arith::select(arith::lt(position, index(0)), position + count, position));
}

Expr Composites::length(const Sequence& sequence) {
  return sequence.listed ? index(static_cast<int64_t>(sequence.items.size())) : sequence.shapes->shape()[0];
}

Result<Sequence> Composites::packed(const Sequence& sequence) {
  if (!sequence.listed) return sequence;
  Sequence made{sequence.dtype, false, {}, nullptr, nullptr};
  made.bytes = sequence.bytes;
  std::vector<Value*> elements, shapes;
  for (Value* item : sequence.items) {
    if (item->shape().size() != sequence.items[0]->shape().size())
      return diag.error(b().location, Kind::unsupported,
                        "elements of ranks {} and {} are in one sequence whose length is not known when compiling",
                        sequence.items[0]->shape().size(), item->shape().size());
    RELAXC_TRY(Value * flattened, flat(item));
    RELAXC_TRY(Value * shape, row(item));
    elements.push_back(flattened);
    shapes.push_back(shape);
  }
  if (elements.empty()) {
    RELAXC_TRY(made.elements, none(sequence.dtype, {index(0)}));
    RELAXC_TRY(made.shapes, none(DType::i(64), {index(0), index(0)}));
    return made;
  }
  RELAXC_TRY(made.elements, concat(std::move(elements), 0));
  RELAXC_TRY(made.shapes, concat(std::move(shapes), 0));
  return made;
}

/// Returns the packed sequence with shapes of the given rank. Only an empty sequence can change its rank; for any
/// other, the reshape of its shapes fails at run time.
Result<Sequence> Composites::of_rank(const Sequence& sequence, int64_t rank) {
  RELAXC_TRY(Sequence p, packed(sequence));
  if (p.shapes->shape()[1].is_constant(rank)) return p;
  RELAXC_TRY(p.shapes, b().call("reshape", {p.shapes, b().shape({p.shapes->shape()[0], index(rank)})}));
  return p;
}

Result<int64_t> Composites::rank_of(const Sequence& sequence) {
  if (const int64_t* rank = sequence.shapes->shape()[1].constant()) return *rank;
  return diag.error(b().location, Kind::rank_mismatch,
                    "the rank of the sequence's elements is not known; declare their shape");
}

Result<std::vector<Expr>> Composites::shape_at(const Sequence& sequence, Expr position) {
  RELAXC_TRY(int64_t rank, rank_of(sequence));
  if (rank == 0) return std::vector<Expr>{};
  RELAXC_TRY(Value * shape, part(sequence.shapes, position, index(1)));
  RELAXC_TRY(shape, b().call("reshape", {shape, b().shape({index(rank)})}));
  RELAXC_TRY(shape, b().call("tensor_to_shape", {shape}));
  return *shape->info->as<relax::ShapeInfo>()->dims;
}

Result<std::vector<Expr>> Composites::largest_extents(const Sequence& sequence) {
  RELAXC_TRY(int64_t rank, rank_of(sequence));
  if (rank == 0) return std::vector<Expr>{};
  RELAXC_TRY(Value * first, part(sequence.shapes, index(0), index(1)));  // fails for a sequence without elements
  Attrs down{{"axis", std::vector<int64_t>{0}}, {"keepdims", true}};
  RELAXC_TRY(Value * largest, b().call("max", {sequence.shapes}, std::move(down)));
  RELAXC_TRY(largest, b().call("maximum", {first, largest}));
  RELAXC_TRY(largest, b().call("reshape", {largest, b().shape({index(rank)})}));
  RELAXC_TRY(largest, b().call("tensor_to_shape", {largest}));
  return *largest->info->as<relax::ShapeInfo>()->dims;
}

Result<Expr> Composites::sum_of_first_extents(const Sequence& sequence) {
  Attrs columns{{"axis", int64_t{1}}};
  RELAXC_TRY(Value * extents, b().call("slice_part", {sequence.shapes, b().shape({index(0)}), b().shape({index(1)})},
                                       std::move(columns)));
  Attrs all{{"axis", std::vector<int64_t>{0, 1}}, {"keepdims", false}};
  RELAXC_TRY(extents, b().call("sum", {extents}, std::move(all)));
  RELAXC_TRY(extents, b().call("tensor_to_shape", {extents}));
  return (*extents->info->as<relax::ShapeInfo>()->dims)[0];
}

Result<Expr> Composites::offset(const Sequence& sequence, Expr position) {
  if (position.is_constant(0)) return position;
  if (arith::prove_equal(position, length(sequence), importer_.function().facts)) return sequence.elements->shape()[0];
  Attrs last{{"axis", std::vector<int64_t>{1}}, {"keepdims", false}};
  Attrs all{{"axis", std::vector<int64_t>{0}}, {"keepdims", false}};
  RELAXC_TRY(Value * before, part(sequence.shapes, index(0), position));
  RELAXC_TRY(before, b().call("prod", {before}, std::move(last)));
  RELAXC_TRY(before, b().call("sum", {before}, std::move(all)));
  RELAXC_TRY(before, b().call("tensor_to_shape", {before}));
  return (*before->info->as<relax::ShapeInfo>()->dims)[0];
}

// ---- operations

Result<Value*> Composites::at(const Sequence& sequence, Expr position) {
  position = normal(sequence, position, false);
  if (const int64_t* known = position.constant(); known != nullptr && sequence.listed) {
    if (*known < 0 || *known >= static_cast<int64_t>(sequence.items.size()))
      return diag.error(b().location, Kind::invalid_value, "position {} is outside of a sequence of {}", *known,
                        sequence.items.size());
    return sequence.items[static_cast<size_t>(*known)];
  }
  RELAXC_TRY(Sequence p, packed(sequence));
  RELAXC_TRY(std::vector<Expr> dims, shape_at(p, position));
  RELAXC_TRY(Expr begin, offset(p, position));
  Expr count = index(1);
  for (Expr dim : dims) count = simplify(count * dim);
  RELAXC_TRY(Value * item, part(p.elements, begin, count));
  return b().call("reshape", {item, b().shape(std::move(dims))});
}

Result<Sequence> Composites::inserted(const Sequence& sequence, Value* item, Expr position) {
  if (item->dtype() != sequence.dtype)
    return diag.error(b().location, Kind::dtype_mismatch, "a tensor of {} cannot be an element of a sequence of {}",
                      to_string(item->dtype()), to_string(sequence.dtype));
  position = normal(sequence, position, true);
  if (const int64_t* known = position.constant(); known != nullptr && sequence.listed) {
    if (*known < 0 || *known > static_cast<int64_t>(sequence.items.size()))
      return diag.error(b().location, Kind::invalid_value, "position {} is outside of a sequence of {}", *known,
                        sequence.items.size());
    Sequence made = sequence;
    made.items.insert(made.items.begin() + *known, item);
    return made;
  }
  RELAXC_TRY(Sequence p, of_rank(sequence, static_cast<int64_t>(item->shape().size())));
  Expr count = length(p), total = p.elements->shape()[0];
  RELAXC_TRY(Value * flattened, flat(item));
  RELAXC_TRY(Value * shape, row(item));
  if (arith::prove_equal(position, count, importer_.function().facts)) {
    RELAXC_TRY(p.elements, concat({p.elements, flattened}, 0));
    RELAXC_TRY(p.shapes, concat({p.shapes, shape}, 0));
    return p;
  }
  RELAXC_TRY(Expr begin, offset(p, position));
  RELAXC_TRY(Value * before, part(p.elements, index(0), begin));
  RELAXC_TRY(Value * after, part(p.elements, begin, simplify(total - begin)));
  RELAXC_TRY(p.elements, concat({before, flattened, after}, 0));
  RELAXC_TRY(before, part(p.shapes, index(0), position));
  RELAXC_TRY(after, part(p.shapes, position, simplify(count - position)));
  RELAXC_TRY(p.shapes, concat({before, shape, after}, 0));
  return p;
}

Result<Sequence> Composites::erased(const Sequence& sequence, Expr position) {
  position = normal(sequence, position ? position : index(-1), false);
  if (const int64_t* known = position.constant(); known != nullptr && sequence.listed) {
    if (*known < 0 || *known >= static_cast<int64_t>(sequence.items.size()))
      return diag.error(b().location, Kind::invalid_value, "position {} is outside of a sequence of {}", *known,
                        sequence.items.size());
    Sequence made = sequence;
    made.items.erase(made.items.begin() + *known);
    return made;
  }
  RELAXC_TRY(Sequence p, packed(sequence));
  Expr count = length(p), total = p.elements->shape()[0], next = simplify(position + 1);
  RELAXC_TRY(Expr begin, offset(p, position));
  RELAXC_TRY(Expr end, offset(p, next));
  RELAXC_TRY(Value * before, part(p.elements, index(0), begin));
  RELAXC_TRY(Value * after, part(p.elements, end, simplify(total - end)));
  RELAXC_TRY(p.elements, concat({before, after}, 0));
  RELAXC_TRY(before, part(p.shapes, index(0), position));
  RELAXC_TRY(after, part(p.shapes, next, simplify(count - next)));
  RELAXC_TRY(p.shapes, concat({before, after}, 0));
  return p;
}

Result<Value*> Composites::joined(const Sequence& sequence, int64_t axis, bool new_axis) {
  if (sequence.listed && sequence.items.empty())
    return diag.error(b().location, Kind::invalid_value, "a sequence without elements cannot become a tensor");
  if (sequence.listed)
    return new_axis ? b().call("stack", sequence.items, {{"axis", axis}}) : concat(sequence.items, axis);
  RELAXC_TRY(int64_t rank, rank_of(sequence));
  int64_t result = rank + (new_axis ? 1 : 0);
  if (axis < -result || axis >= result)
    return diag.error(b().location, Kind::invalid_attribute, "axis {} is outside {}..{}", axis, -result, result - 1);
  if (axis < 0) axis += result;
  // As many elements of the largest extents hold what the sequence holds only if all have those, so that the reshapes
  // below fail at run time where a shape differs.
  RELAXC_TRY(std::vector<Expr> dims, largest_extents(sequence));
  if (!new_axis && axis == 0) {  // extents along the axis may differ
    RELAXC_TRY(dims[0], sum_of_first_extents(sequence));
    return b().call("reshape", {sequence.elements, b().shape(std::move(dims))});
  }
  std::vector<Expr> stacked = dims;
  stacked.insert(stacked.begin(), length(sequence));
  RELAXC_TRY(Value * value, b().call("reshape", {sequence.elements, b().shape(std::move(stacked))}));
  std::vector<int64_t> order;
  for (int64_t i = 1; i <= rank; ++i) order.push_back(i);
  order.insert(order.begin() + axis, 0);
  RELAXC_TRY(value, b().call("permute_dims", {value}, {{"axes", order}}));
  if (new_axis) return value;
  dims[static_cast<size_t>(axis)] = simplify(dims[static_cast<size_t>(axis)] * length(sequence));
  return b().call("reshape", {value, b().shape(std::move(dims))});
}

}  // namespace relaxc::frontend
