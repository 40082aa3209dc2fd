// softmax.cpp: exponentials of a row divided by their sum.
//
// The maximum of the row is subtracted first: so exp is at most 1 and cannot overflow, and the quotient is the same.
// There is one division for each row, and the exps are multiplied by its result: since the sum is at least 1, that
// costs at most one more rounding, and divisions would take most of the time. A row of only -inf gives NaN, as in
// NumPy, or zeros if `empty_rows` says so. Narrow floats are computed in float32. The parts (maximum, exponentials,
// sum, quotient) are loop nests over temporaries of one row's shape, which schedules may merge.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/products.h"

namespace relaxc::ops::softmax_family {
namespace {

constexpr AttrDef kAxis[] = {{"axis", AttrType::kInt, false, "-1"}};
constexpr AttrDef kSoftmax[] = {{"axis", AttrType::kInt, false, "-1"}, {"empty_rows", AttrType::kString}};

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(c.axis(c.op.attrs.integer("axis"), x->ndim));
  if (!x->dtype->is_float())
    return c.error(Kind::dtype_mismatch, "'{}' takes a float tensor, found {}", c.op.def->name, to_string(*x->dtype));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

InferResult infer_softmax(InferContext& c) {
  const std::string& rows = c.op.attrs.string("empty_rows");
  if (!rows.empty() && rows != "zeros")
    return c.error(Kind::invalid_attribute, "empty_rows of '{}' must be \"zeros\", found \"{}\"", c.op.def->name, rows);
  return infer(c);
}

/// The rows of x along the axis, and temporaries with one element for each row (the axis has extent 1 there).
class Rows {
 public:
  explicit Rows(DefineContext& d)
      : d_(d), b_(d.builder), x_(d.input(0)), axis_(axis_of(d.attrs().integer("axis"), x_->shape.size())) {
    row_shape_ = x_->shape;
    row_shape_[axis_] = d.context().index(1);
  }

  DType dtype() const { return wide(x_->dtype); }
  BufferRef per_row(std::string name) const { return b_.buffer(std::move(name), dtype(), row_shape_); }
  BufferRef per_element(std::string name) const { return b_.buffer(std::move(name), dtype(), x_->shape); }
  Expr x(const Indices& i) const { return widen(b_.load(x_, i)); }
  Expr of_row(BufferRef row, Indices i) const {
    i[axis_] = d_.context().index(0);
    return b_.load(row, i);
  }

  template <typename F>
  Stmt reduce(BufferRef out, Expr init, F combine) const {
    return b_.reduce(out, {x_->shape[axis_]}, init, [&](Expr sum, const Indices& i, const Indices& r) {
      Indices at = i;
      at[axis_] = r[0];
      return combine(sum, at);
    });
  }
  Stmt max_into(BufferRef out) const {
    return reduce(out, lowest(d_.context(), dtype()), [&](Expr a, const Indices& i) { return arith::max(a, x(i)); });
  }

 private:
  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_;
  size_t axis_;
  Dims row_shape_;
};

Stmt define_softmax(DefineContext& d) {
  tir::Builder& b = d.builder;
  Rows rows(d);
  BufferRef y = d.output(), row_max = rows.per_row("row_max"), sum = rows.per_row("row_sum");
  bool in_place = rows.dtype() == y->dtype;
  BufferRef exps = in_place ? y : rows.per_element("exps");
  Expr one = d.context().number(rows.dtype(), 1);
  auto shifted = [&](const Indices& i) {
    return call(Intrinsic::k_exp_nonpositive, rows.x(i) - rows.of_row(row_max, i));
  };
  auto add = [&](Expr a, const Indices& i) { return a + b.load(exps, i); };
  const bool zeros = d.attrs().string("empty_rows") == "zeros";
  auto quotient = [&](const Indices& i) {
    Expr part = b.load(exps, i) * (one / rows.of_row(sum, i));
    Expr is_empty = arith::eq(rows.of_row(row_max, i), lowest(d.context(), rows.dtype()));
    return cast(y->dtype, zeros ? select(is_empty, d.context().zero(rows.dtype()), part) : part);
  };
  Stmt s = b.seq({rows.max_into(row_max), b.compute(exps, shifted, "exps"),
                  rows.reduce(sum, d.context().zero(rows.dtype()), add), b.compute(y, quotient, "quotient")});
  s = b.alloc(row_max, b.alloc(sum, s));
  return in_place ? s : b.alloc(exps, s);
}

Stmt define_log_softmax(DefineContext& d) {
  tir::Builder& b = d.builder;
  Rows rows(d);
  BufferRef y = d.output(), row_max = rows.per_row("row_max"), sum = rows.per_row("row_sum");
  auto shifted = [&](const Indices& i) { return rows.x(i) - rows.of_row(row_max, i); };
  auto add = [&](Expr a, const Indices& i) { return a + call(Intrinsic::k_exp_nonpositive, shifted(i)); };
  auto result = [&](const Indices& i) {
    return cast(y->dtype, shifted(i) - call(Intrinsic::k_log, rows.of_row(sum, i)));
  };
  Stmt s = b.seq({rows.max_into(row_max), rows.reduce(sum, d.context().zero(rows.dtype()), add), b.compute(y, result)});
  return b.alloc(row_max, b.alloc(sum, s));
}

/// Stores 1 at the first maximum of each row, or at its first NaN if there is one, and 0 elsewhere.
Stmt define_hardmax(DefineContext& d) {
  tir::Builder& b = d.builder;
  Rows rows(d);
  BufferRef x = d.input(0), y = d.output(), row_max = rows.per_row("row_max");
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  BufferRef first = b.buffer("first", DType::i(64), row_max->shape);
  auto place = [&](Expr a, const Indices& i) {
    Expr here = cast(DType::i(64), i[axis]);
    Expr is_top = arith::eq(rows.x(i), rows.of_row(row_max, i));
    if (rows.dtype().is_float()) is_top = arith::logical_or(is_top, call(Intrinsic::k_isnan, rows.x(i)));
    return select(is_top, arith::min(a, here), a);
  };
  auto mark = [&](const Indices& i) {
    Expr is_first = arith::eq(cast(DType::i(64), i[axis]), rows.of_row(first, i));
    return select(is_first, d.context().number(y->dtype, 1), d.context().zero(y->dtype));
  };
  Stmt s = b.seq(
      {rows.max_into(row_max), rows.reduce(first, highest(d.context(), DType::i(64)), place), b.compute(y, mark)});
  return b.alloc(row_max, b.alloc(first, s));
}

constexpr OpDef kOps[] = {
    {.name = "nn.softmax",
     .operands = kX,
     .attrs = kSoftmax,
     .infer = infer_softmax,
     .define = define_softmax,
     .gradient = derivatives::softmax,
     .doc = "exp(x) / sum(exp(x)) along axis; rows of -inf give NaN, or 0 with empty_rows=\"zeros\""},
    {.name = "nn.log_softmax",
     .operands = kX,
     .attrs = kAxis,
     .infer = infer,
     .define = define_log_softmax,
     .gradient = derivatives::log_softmax,
     .doc = "the logarithm of softmax"},
    {.name = "nn.hardmax",
     .operands = kX,
     .attrs = kAxis,
     .infer = infer,
     .define = define_hardmax,
     .gradient = no_gradient,
     .doc = "1 at the first maximum along axis, else 0"},
};

}  // namespace
}  // namespace relaxc::ops::softmax_family

RELAXC_OPERATORS(softmax, kOps)
