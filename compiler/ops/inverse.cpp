// inverse.cpp: inverses of square matrices, by Gauss-Jordan elimination with partial pivoting.
//
// The matrix and the unit matrix are in one float64 workspace and take the same steps, so that the error of the result
// is that of its dtype. A column without a pivot divides by 0: the inverse of a singular matrix is not finite.
#include "compiler/ops/common/pivot.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/products.h"

namespace relaxc::ops::inverse_family {
namespace {

constexpr DType kF64 = DType::f(64);

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, square_matrices(c));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

/// Inverts one matrix, which is in the left half of `m` [n, 2 n].
class Elimination {
 public:
  Elimination(tir::Builder& b, BufferRef m, BufferRef pivot)
      : b_(b), m_(m), rows_(b, m, pivot), n_(m->shape[0]), width_(m->shape[1]) {}

  Stmt column(Var k) {
    Stmt exchange = rows_.with_found([&](Var row) { return rows_.exchange(k, row); });
    return b_.seq({rows_.find(k), exchange, scale(k), eliminate(k)});
  }

 private:
  Expr at(Expr row, Expr column) { return rows_.at(row, column); }

  Stmt scale(Var k) {
    return b_.let("pivot_value", at(k, k), [&](Var pivot) {
      return b_.loop("j", width_, [&](Var j) { return b_.store(m_, {k, j}, at(k, j) / pivot); });
    });
  }

  Stmt eliminate(Var k) {
    return b_.loop("i", n_, [&](Var i) {
      Stmt row = b_.let("factor", at(i, k), [&](Var factor) {
        return b_.loop("j", width_, [&](Var j) { return b_.store(m_, {i, j}, at(i, j) - factor * at(k, j)); });
      });
      return b_.branch(arith::ne(i, k), row);
    });
  }

  tir::Builder& b_;
  BufferRef m_;
  PivotRows rows_;
  Expr n_, width_;
};

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  Expr n = x->shape.back();
  BufferRef m = b.buffer("m", kF64, {n, n * 2});
  BufferRef pivot = b.buffer("pivot", DType::i(64), {b.index(1)}, tir::Scope::kLocal);
  auto place = [](const Indices& matrix, Expr row, Expr column) {
    Indices at = matrix;
    at.push_back(row), at.push_back(column);
    return at;
  };
  Stmt all = b.nest(Dims(y->shape.begin(), y->shape.end() - 2), [&](const Indices& i) {
    Stmt copy = b.nest({n, n}, [&](const Indices& at) {
      Expr unit = select(arith::eq(at[0], at[1]), d.context().imm_float(kF64, 1), d.context().imm_float(kF64, 0));
      return b.seq(
          {b.store(m, at, cast(kF64, b.load(x, place(i, at[0], at[1])))), b.store(m, {at[0], n + at[1]}, unit)});
    });
    Stmt steps = b.loop("k", n, [&](Var k) { return Elimination(b, m, pivot).column(k); });
    Stmt result = b.nest({n, n}, [&](const Indices& at) {
      return b.store(y, place(i, at[0], at[1]), cast(y->dtype, b.load(m, {at[0], n + at[1]})));
    });
    return b.alloc(pivot, b.seq({copy, steps, result}));
  });
  return b.alloc(m, all);
}

constexpr OpDef kOps[] = {
    {.name = "inverse",
     .operands = kX,
     .infer = infer,
     .define = define,
     .gradient = derivatives::inverse,
     .doc = "inverses of the matrices in the last two dims"},
};

}  // namespace
}  // namespace relaxc::ops::inverse_family

RELAXC_OPERATORS(inverse, kOps)
