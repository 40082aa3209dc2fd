// pairwise_coupling.cpp: probabilities of classes from those of pairs of classes.
//
// A classifier that was trained on each pair of K classes gives r(i, j), the probability of class i given that i or j
// is right. No p has p(i) / (p(i) + p(j)) = r(i, j) for all pairs; the best approximation minimizes the sum of (r(j, i)
// p(i) - r(i, j) p(j))^2, a quadratic form p' Q p. The method is Wu, Lin and Weng's (2004, algorithm 2) as in LIBSVM:
// coordinate descent, each step followed by a scaling to a sum of 1, for at most 100 rounds.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::pairwise_coupling_family {
namespace {

constexpr OperandDef kPairs[] = {{"pairs"}};
constexpr AttrDef kAttrs[] = {{"classes", AttrType::kInt, true}};
constexpr int64_t kRounds = 100;

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  int64_t classes = c.op.attrs.integer("classes");
  bool fits = x->ndim == 2 && x->dtype == DType::f(32) && classes >= 2 && classes <= INT32_MAX &&
              (*x->shape)[1].is_constant(classes * (classes - 1) / 2);
  if (!fits)
    return c.error(Kind::shape_mismatch, "'pairwise_coupling' takes float32 [n, pairs] of {} classes, found {}",
                   classes, to_string(c.op.operand(0)->info));
  return one(tensor_info(c.context, Dims{(*x->shape)[0], c.context.index(classes)}, *x->dtype));
}

class Coupling {
 public:
  explicit Coupling(DefineContext& d)
      : d_(d), b_(d.builder), count_(d.attrs().integer("classes")), classes_(b_.index(count_)) {
    DType f32 = DType::f(32);
    form_ = b_.buffer("form", f32, {classes_, classes_});
    product_ = b_.buffer("product", f32, {classes_});
    p_ = b_.buffer("p", f32, {classes_});
    total_ = b_.buffer("total", f32, {b_.index(1)}, tir::Scope::kLocal);
    error_ = b_.buffer("error", f32, {b_.index(1)}, tir::Scope::kLocal);
  }

  Stmt run() {
    BufferRef y = d_.output();
    Stmt rows = b_.loop("row", y->shape[0], [&](Var row) {
      Stmt write = b_.loop("i", classes_, [&](Var i) { return b_.store(y, {row, i}, b_.load(p_, {i})); });
      return b_.seq({begin(row), rounds(), write});
    });
    return b_.alloc(form_, b_.alloc(product_, b_.alloc(p_, b_.alloc(total_, b_.alloc(error_, rows)))));
  }

 private:
  Expr number(double value) { return d_.context().imm_float(DType::f(32), value); }
  Expr scalar(BufferRef of) { return b_.load(of, {b_.index(0)}); }
  Stmt set(BufferRef to, Expr value) { return b_.store(to, {b_.index(0)}, value); }
  Stmt add(BufferRef to, Expr at, Expr value) { return b_.store(to, {at}, b_.load(to, {at}) + value); }
  Stmt each(const char* name, const std::function<Stmt(Var)>& body) { return b_.loop(name, classes_, body); }

  /// Returns r(i, j) for i != j. The operand has pairs in order of the smaller class, then of the larger one.
  Expr r(Expr row, Expr i, Expr j) {
    Expr low = arith::min(i, j), high = arith::max(i, j);
    Expr pair = arith::floordiv(low * (b_.index(2 * count_ - 1) - low), 2) + high - low - 1;
    Expr of_low = b_.load(d_.input(0), {row, pair});
    return arith::select(arith::lt(i, j), of_low, number(1) - of_low);
  }

  /// Initializes the matrix Q, and all of p to 1 / K.
  Stmt begin(Expr row) {
    return each("i", [&](Var i) {
      Stmt diagonal = b_.store(form_, {i, i}, number(0));
      Stmt others = each("j", [&](Var j) {
        Expr against = r(row, j, i);
        Stmt step = b_.seq({b_.store(form_, {i, i}, b_.load(form_, {i, i}) + against * against),
                            b_.store(form_, {i, j}, (number(0) - against) * r(row, i, j))});
        return b_.branch(arith::ne(i, j), step);
      });
      return b_.seq({diagonal, others, b_.store(p_, {i}, number(1.0 / static_cast<double>(count_)))});
    });
  }

  Stmt rounds() {
    Expr small = number(0.005F / static_cast<float>(count_));
    return b_.loop("round", b_.index(kRounds), [&](Var) {
      return b_.seq({products(), errors(), b_.branch(arith::lt(scalar(error_), small), b_.leave_loop()),
                     each("i", [&](Var i) { return move(i); })});
    });
  }

  /// Computes Q p and p' Q p again in each round.
  Stmt products() {
    Stmt all = each("i", [&](Var i) {
      Stmt sum = each("j", [&](Var j) { return add(product_, i, b_.load(form_, {i, j}) * b_.load(p_, {j})); });
      Expr part = b_.load(p_, {i}) * b_.load(product_, {i});
      return b_.seq({b_.store(product_, {i}, number(0)), sum, set(total_, scalar(total_) + part)});
    });
    return b_.seq({set(total_, number(0)), all});
  }

  Stmt errors() {
    Stmt all = each("i", [&](Var i) {
      Expr error = call(Intrinsic::k_abs, b_.load(product_, {i}) - scalar(total_));
      return set(error_, arith::max(scalar(error_), error));
    });
    return b_.seq({set(error_, number(0)), all});
  }

  Stmt move(Var i) {
    Expr slope = b_.load(product_, {i}), curve = b_.load(form_, {i, i});
    return b_.let("step", (scalar(total_) - slope) / curve, [&](Var step) {
      return b_.let("scale", number(1) + step, [&](Var scale) {
        Expr moved = scalar(total_) + step * (step * curve + number(2) * slope);
        Stmt others = each("j", [&](Var j) {
          Expr product = b_.load(product_, {j}) + step * b_.load(form_, {i, j});
          return b_.seq({b_.store(product_, {j}, product / scale), b_.store(p_, {j}, b_.load(p_, {j}) / scale)});
        });
        return b_.seq({add(p_, i, step), set(total_, moved / scale / scale), others});
      });
    });
  }

  DefineContext& d_;
  tir::Builder& b_;
  int64_t count_;
  Expr classes_;
  BufferRef form_, product_, p_, total_, error_;
};

Stmt define(DefineContext& d) {
  return Coupling(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "pairwise_coupling",
     .operands = kPairs,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "probabilities of classes from those of the first class of each pair"},
};

}  // namespace
}  // namespace relaxc::ops::pairwise_coupling_family

RELAXC_OPERATORS(pairwise_coupling, kOps)
