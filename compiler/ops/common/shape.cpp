// shape.cpp: see shape.h.
#include "compiler/ops/common/shape.h"

#include <algorithm>

namespace relaxc::ops {
namespace {

bool is_one(Expr dim) {
  return dim.is_constant(1);
}

/// Broadcasts two dims and returns the result's dim; `axis` is the axis of the result.
Result<Expr> broadcast_dim(InferContext& c, Expr a, Expr b, size_t axis) {
  if (a == b || arith::prove_equal(a, b, c.facts)) return a.constant() != nullptr ? a : b.constant() != nullptr ? b : a;
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  Expr fits = arith::logical_or(arith::eq(a, b), arith::logical_or(arith::eq(a, 1), arith::eq(b, 1)));
  if (a.constant() != nullptr && b.constant() != nullptr) fits = c.context.boolean(false);
  Found found{Finding::kBroadcast, fmt::format("dim {}", axis)};
  if (c.operands() == 2) found = {Finding::kWhere, dim_of_operand(c, 0, axis), operand_text(c, 1)};
  RELAXC_DO(c.require(
      fits, kBroadcast, a, b, found,
      fmt::format("'{}' cannot broadcast {} with {} on axis {}", c.op.def->name, to_string(a), to_string(b), axis)));
  if (a.constant() != nullptr) return a;
  if (b.constant() != nullptr) return b;
  return arith::simplify(select(arith::eq(a, 1), b, a));  // simplifies to a if, for example, b is min(a, 512)
}

}  // namespace

Result<Dims> broadcast_dims(InferContext& c, const Dims& a, const Dims& b) {
  const Dims &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  size_t extra = longer.size() - shorter.size();
  Dims out(longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(extra));
  for (size_t i = extra; i < longer.size(); ++i) {
    Expr x = a.size() >= b.size() ? longer[i] : shorter[i - extra];
    Expr y = a.size() >= b.size() ? shorter[i - extra] : longer[i];
    RELAXC_TRY(Expr dim, broadcast_dim(c, x, y, i));
    out.push_back(dim);
  }
  return out;
}

relaxc::Status require_broadcast_to(InferContext& c, const Dims& a, const Dims& target) {
  if (a.size() > target.size())
    return c.error(Kind::rank_mismatch, "'{}' cannot broadcast {} to {}, which has fewer dims", c.op.def->name, text(a),
                   text(target));
  size_t extra = target.size() - a.size();
  for (size_t i = 0; i < a.size(); ++i) {
    Expr dim = a[i], wanted = target[i + extra];
    if (is_one(dim) || dim == wanted) continue;
    Expr fits = arith::logical_or(arith::eq(dim, wanted), arith::eq(dim, 1));
    RELAXC_DO(c.require(fits, kBroadcast, wanted, dim, {Finding::kBroadcast, fmt::format("dim {}", i)},
                        fmt::format("'{}' cannot broadcast {} to {}: axis {} is {}", c.op.def->name, text(a),
                                    text(target), i, to_string(dim))));
  }
  return Done{};
}

Indices broadcast_indices(const Dims& shape, const Indices& i, const Dims& out) {
  Indices indices;
  size_t extra = i.size() - shape.size();
  for (size_t k = 0; k < shape.size(); ++k) {
    Expr dim = shape[k], index = i[k + extra];
    if (dim.constant() != nullptr)
      indices.push_back(is_one(dim) ? index.context().index(0) : index);
    else if (dim == out[k + extra] || arith::prove_equal(dim, out[k + extra]))
      indices.push_back(index);
    else
      indices.push_back(select(arith::eq(dim, 1), index.context().index(0), index));
  }
  return indices;
}

Expr load_broadcast(DefineContext& d, BufferRef x, const Indices& i, const Dims& out) {
  return d.builder.load(x, broadcast_indices(x->shape, i, out));
}

std::string operand_text(const InferContext& c, size_t index) {
  const Value* operand = c.op.operand(index);
  bool named = operand != nullptr && !operand->name.empty();
  return named ? "'" + operand->name + "'" : "operand " + std::to_string(index);
}

std::string dim_of_operand(const InferContext& c, size_t index, size_t axis) {
  return fmt::format("dim {} of {}", axis, operand_text(c, index));
}

relaxc::Status require_equal(InferContext& c, Expr a, Expr b, const std::string& what, const Found& found) {
  if (a == b || arith::prove_equal(a, b, c.facts)) return Done{};
  return c.require(arith::eq(a, b), kDerivedDim, a, b, found,
                   fmt::format("'{}': {} {} and {} differ", c.op.def->name, what, to_string(a), to_string(b)));
}

relaxc::Status require_equal(InferContext& c, Expr a, Expr b, const std::string& what) {
  return require_equal(c, a, b, what, {Finding::kDiffer, what});
}

Expr product(Context& context, const Dims& dims) {
  Expr count = context.index(1);
  for (Expr dim : dims) count = count * dim;
  return count;
}

Result<std::vector<int64_t>> all_or_axes(InferContext& c, const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> out;
  if (axes.empty())
    for (int64_t axis = 0; axis < rank; ++axis) out.push_back(axis);
  for (int64_t axis : axes) {
    RELAXC_TRY(int64_t checked, c.axis(axis, rank));
    out.push_back(checked);
  }
  std::sort(out.begin(), out.end());
  if (auto twice = std::adjacent_find(out.begin(), out.end()); twice != out.end())
    return c.error(Kind::invalid_attribute, "axis {} of '{}' is given twice", *twice, c.op.def->name);
  return out;
}

bool contains(const std::vector<int64_t>& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
}

size_t axis_of(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

std::string text(const Dims& dims) {
  std::string list;
  for (Expr dim : dims) list += (list.empty() ? "" : ", ") + arith::to_string(dim);
  return "[" + list + "]";
}

}  // namespace relaxc::ops
