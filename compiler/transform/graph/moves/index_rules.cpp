// index_rules.cpp: takes and scatters at indices that are known when compiling.
//
// Exporters write `cache[:, :, 2:6] = x` as a scatter with a table of all indices, one tuple for each element, and
// `x[[2, 3]]` as a take. As slices and concatenations they need no table and no check of its contents; slices of the
// result cancel with the updates; and kernels write parts directly into the whole.
//
// A table counts as a box if its tuples are the indices of that box in order. Rejected: boxes with strides, for which
// concatenation would be of single elements.
#include "compiler/transform/graph/moves/index_rules.h"

#include "compiler/transform/graph/moves/part_rules.h"

namespace relaxc {
namespace {

using namespace relax;

struct Box {
  std::vector<int64_t> begin, extent;
};

/// Returns the box in a tensor of `dims` whose elements `table` lists in order, as tuples of indices; nothing if they
/// are no box. With `from_end`, negative indices count from the end; else they are invalid.
std::optional<Box> box_of(const ConstantData& table, const std::vector<int64_t>& dims, bool from_end) {
  const size_t rank = dims.size();
  if (rank == 0 || table.elements() == 0 || table.dtype().bits < 8) return std::nullopt;
  const int64_t tuples = table.elements() / static_cast<int64_t>(rank);
  std::optional<Box> found;
  table.with_bytes([&](std::span<const std::byte> bytes) {
    auto index = [&](int64_t tuple, size_t k) {
      size_t element = static_cast<size_t>(tuple) * rank + k;
      int64_t at = decode_integer(table.dtype(), bytes.data() + element * static_cast<size_t>(table.dtype().bytes()));
      return at < 0 && from_end ? at + dims[k] : at;
    };
    Box box;
    int64_t places = 1;
    for (size_t k = 0; k < rank; ++k) {
      int64_t begin = index(0, k), last = index(tuples - 1, k);
      if (begin < 0 || last < begin || last >= dims[k] || last - begin >= tuples / places) return;
      box.begin.push_back(begin), box.extent.push_back(last - begin + 1);
      places *= box.extent.back();
    }
    if (places != tuples) return;
    for (int64_t tuple = 0; tuple < tuples; ++tuple) {
      int64_t rest = tuple;
      for (size_t k = rank; k-- > 0; rest /= box.extent[k])
        if (index(tuple, k) != box.begin[k] + rest % box.extent[k]) return;
    }
    found = std::move(box);
  });
  return found;
}

/// Returns the first axis from `axis` on along which the box is not all of `x`; the rank if there is none.
size_t next_cut(const Value& x, const Box& box, size_t axis) {
  while (axis < box.extent.size() && x.shape()[axis].is_constant(box.extent[axis])) ++axis;
  return axis;
}

/// Returns `x` with `updates` in the box, which is all of `x` along the axes before `axis`.
Value* replaced(const Site& s, Value* x, Value* updates, const Box& box, size_t axis) {
  axis = next_cut(*x, box, axis);
  if (axis == box.extent.size()) return updates;
  const int64_t begin = box.begin[axis], extent = box.extent[axis], end = begin + extent;
  const int64_t dim = *x->shape()[axis].constant();
  if (next_cut(*x, box, axis + 1) < box.extent.size())
    updates = replaced(s, make_part(s, x, {axis, begin, extent}), updates, box, axis + 1);
  std::vector<Value*> parts;
  if (begin > 0) parts.push_back(make_part(s, x, {axis, 0, begin}));
  parts.push_back(updates);
  if (end < dim) parts.push_back(make_part(s, x, {axis, end, dim - end}));
  return s.make("concat", parts, {{"axis", static_cast<int64_t>(axis)}});
}

}  // namespace

Value* take_of_range(const Site& s) {
  ConstantRef table = s.op.is("take") ? constant_of(s.in(1)) : nullptr;
  if (table == nullptr) return nullptr;
  const size_t axis = axis_at(s.op.attrs.integer("axis"), s.in()->shape().size());
  const int64_t* dim = s.in()->shape()[axis].constant();
  const bool from_end = s.op.attrs.string("mode") != "clip";
  std::optional<Box> range = dim == nullptr ? std::nullopt : box_of(*table, {*dim}, from_end);
  if (!range) return nullptr;
  Value* part = make_part(s, s.in(), {axis, range->begin[0], range->extent[0]});
  return s.make("reshape", {part, s.builder.shape(s.out()->shape())});
}

Value* scatter_to_box(const Site& s) {
  ConstantRef table = s.op.is("scatter_nd") ? constant_of(s.in(1)) : nullptr;
  if (table == nullptr || s.op.attrs.string("reduction") != "none" || !s.op.requirements.empty()) return nullptr;
  std::vector<Expr> shape = s.out()->shape();
  const auto indexed = shape.begin() + static_cast<std::ptrdiff_t>(table->shape().back());
  auto dims = numbers_of({shape.begin(), indexed});
  std::optional<Box> box = dims ? box_of(*table, *dims, true) : std::nullopt;
  if (!box) return nullptr;
  for (size_t k = 0; k < box->extent.size(); ++k) shape[k] = s.builder.context().index(box->extent[k]);
  return replaced(s, s.in(), s.make("reshape", {s.in(2), s.builder.shape(shape)}), *box, 0);
}

}  // namespace relaxc
