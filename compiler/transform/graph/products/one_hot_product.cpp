// one_hot_product.cpp: replaces products that only select rows.
//
// JAX and TensorFlow write embeddings as one_hot(i) @ w, which multiplies every row of w by zero but one: 257 times the
// work of a lookup for an embedding of bytes. Indices that name no row give zeros, so the matrix gets a row of zeros at
// either end, and indices are clamped to these: no check is needed. A NaN or infinite weight would have made sums NaN
// even when multiplied by zero, so all weights must be finite; and one that is -0 came out of the sum as 0.
#include "compiler/transform/graph/products/one_hot_product.h"

#include <cmath>

namespace relaxc {
namespace {

using namespace relax;

/// Returns whether a constant is 0, 1, 2, … of `depth` numbers along its last axis, and all other axes are of one.
bool counts_up(const Value* value, int64_t depth) {
  ConstantRef data = constant_of(value);
  if (data == nullptr || !data->dtype().is_integer() || data->dtype().bits < 8 || data->shape().empty()) return false;
  if (data->elements() != depth || data->shape().back() != depth) return false;
  bool counts = true;
  data->with_bytes([&](std::span<const std::byte> bytes) {
    for (int64_t i = 0; i < data->elements(); ++i)
      counts &= decode_integer(data->dtype(), bytes.data() + i * data->dtype().bytes()) == i;
  });
  return counts;
}

/// Returns for each row of `value`, which has `depth` elements, the index of its 1, as int64 in the shape of the rows;
/// null if rows are not known to be one-hot.
Value* place_of_one(const Site& s, const Value& value, int64_t depth) {
  const std::vector<Expr>& shape = value.shape();
  if (!shape.back().is_constant(depth)) return nullptr;
  Value* shape_of_rows = s.builder.shape({shape.begin(), shape.end() - 1});
  auto as_places = [&](Value* index) {
    return s.make("astype", {s.make("reshape", {index, shape_of_rows})}, {{"dtype", DType::i(64)}});
  };
  if (Op* cast = producer_of(&value, "astype")) {
    Op* equal = producer_of(cast->operand(0), "equal");
    for (size_t side : {size_t{0}, size_t{1}}) {
      Value* index = equal == nullptr ? nullptr : equal->operand(side);
      if (index == nullptr || !index->dtype().is_integer() || !counts_up(equal->operand(1 - side), depth)) continue;
      const std::vector<Expr>& own = index->shape();
      if (own.size() == shape.size() && own.back().is_constant(1)) return as_places(index);
    }
    return nullptr;
  }
  Op* made = producer_of(&value, "one_hot");
  if (made == nullptr || !made->operand(0)->dtype().is_integer()) return nullptr;
  const int64_t axis = made->attrs.integer("axis");
  bool last = axis == -1 || axis + 1 == static_cast<int64_t>(shape.size());
  if (!last || uniform_value(made->operand(1)) != 1 || uniform_value(made->operand(2)) != 0) return nullptr;
  Value* index = as_places(made->operand(0));
  Value* from_end = s.make("add", {index, s.builder.scalar(DType::i(64), static_cast<double>(depth))});
  return s.make("where", {s.make("less", {index, s.builder.scalar(DType::i(64), 0)}), from_end, index});
}

bool is_finite(const ConstantData& data) {
  bool finite = true;
  data.with_bytes([&](std::span<const std::byte> bytes) {
    for (int64_t i = 0; finite && i < data.elements(); ++i)
      finite = std::isfinite(decode_scalar(data.dtype(), bytes.data() + i * data.dtype().bytes()));
  });
  return finite;
}

/// Returns the matrix with a row of zeros before and after it.
ConstantRef between_zeros(const ConstantRef& matrix) {
  auto row = static_cast<size_t>(matrix->shape()[1] * matrix->dtype().bytes());
  auto apply = [row](std::span<const std::byte> bytes) {
    std::vector<std::byte> made(row);
    made.insert(made.end(), bytes.begin(), bytes.end());
    made.resize(made.size() + row);
    return made;
  };
  return ConstantData::transformed(matrix->dtype(), {matrix->shape()[0] + 2, matrix->shape()[1]}, matrix,
                                   {"between two rows of zeros", apply});
}

}  // namespace

Value* product_of_one_hot(const Site& s) {
  ConstantRef matrix = s.op.is("matmul") ? constant_of(s.in(1)) : nullptr;
  if (matrix == nullptr || matrix->shape().size() != 2 || matrix->elements() == 0) return nullptr;
  const DType dtype = s.out()->dtype();
  if (!dtype.is_float() || matrix->dtype() != dtype || s.in()->dtype() != dtype || s.in()->shape().size() < 2)
    return nullptr;
  Value* place = place_of_one(s, *s.in(), matrix->shape()[0]);
  if (place == nullptr || !is_finite(*matrix)) return nullptr;
  mark_rounding(s.builder.function());
  Value* row = s.make("add", {place, s.builder.scalar(DType::i(64), 1)});
  return s.make("take", {s.builder.constant(between_zeros(matrix)), row},
                {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
}

}  // namespace relaxc
