// determinant.cpp: determinants of square matrices, by elimination with partial pivoting.
//
// Every matrix is copied and eliminated column by column in float64, so that the error of the result is that of its
// dtype. A column without a pivot makes the determinant 0.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/pivot.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/products.h"

namespace relaxc::ops::determinant_family {
namespace {

constexpr DType kF64 = DType::f(64);

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, square_matrices(c));
  return one(tensor_info(c.context, Dims(x->shape->begin(), x->shape->end() - 2), *x->dtype));
}

/// Eliminates one matrix, which is in `m`, and multiplies the pivots into `product`.
class Elimination {
 public:
  Elimination(DefineContext& d, BufferRef m, BufferRef product, BufferRef pivot)
      : b_(d.builder), m_(m), product_(product), rows_(d.builder, m, pivot), n_(m->shape[0]) {}

  Stmt column(Var k) { return b_.seq({rows_.find(k), exchange(k), b_.branch(usable(k), eliminate(k))}); }

 private:
  Expr at(Expr row, Expr column) { return rows_.at(row, column); }
  Expr product() { return b_.load(product_, {b_.index(0)}); }
  Stmt set_product(Expr value) { return b_.store(product_, {b_.index(0)}, value); }

  /// Moves the pivot to row k, which changes the sign of the product, and multiplies by it.
  Stmt exchange(Var k) {
    return rows_.with_found([&](Var row) {
      Stmt turn = b_.seq({rows_.exchange(k, row), set_product(product() * like(product(), -1))});
      return b_.seq({b_.branch(arith::ne(row, k), turn), set_product(product() * at(k, k))});
    });
  }

  Expr usable(Var k) { return arith::ne(at(k, k), like(at(k, k), 0)); }

  Stmt eliminate(Var k) {
    return b_.loop("i", n_ - k - 1, [&](Var i) {
      return b_.let("factor", at(k + 1 + i, k) / at(k, k), [&](Var factor) {
        return b_.loop("j", n_ - k - 1, [&](Var j) {
          Expr row = k + 1 + i, to = k + 1 + j;
          return b_.store(m_, {row, to}, at(row, to) - factor * at(k, to));
        });
      });
    });
  }

  tir::Builder& b_;
  BufferRef m_, product_;
  PivotRows rows_;
  Expr n_;
};

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  Expr n = x->shape.back(), first = b.index(0);
  BufferRef m = b.buffer("m", kF64, {n, n});
  BufferRef product = b.buffer("product", kF64, {b.index(1)}, tir::Scope::kLocal);
  BufferRef pivot = b.buffer("pivot", DType::i(64), {b.index(1)}, tir::Scope::kLocal);
  Stmt all = b.nest(y->shape, [&](const Indices& i) {
    Stmt copy = b.nest({n, n}, [&](const Indices& at) {
      Indices from = i;
      from.insert(from.end(), at.begin(), at.end());
      return b.store(m, at, cast(kF64, b.load(x, from)));
    });
    Stmt steps = b.loop("k", n, [&](Var k) { return Elimination(d, m, product, pivot).column(k); });
    Stmt result = b.store(y, i, cast(y->dtype, b.load(product, {first})));
    Stmt body = b.seq({b.store(product, {first}, d.context().imm_float(kF64, 1)), copy, steps, result});
    return b.alloc(product, b.alloc(pivot, body));
  });
  return b.alloc(m, all);
}

constexpr OpDef kOps[] = {
    {.name = "det",
     .operands = kX,
     .infer = infer,
     .define = define,
     .gradient = derivatives::det,
     .doc = "determinants of the matrices in the last two dims"},
};

}  // namespace
}  // namespace relaxc::ops::determinant_family

RELAXC_OPERATORS(determinant, kOps)
