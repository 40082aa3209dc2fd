// random_prim_func.cpp: element expressions of every dtype inside of bodies of a few kinds: element-wise nests,
// reductions, and opaque code with while, break, lets and locals.
//
// Subscripts stay inside by construction: an index below a dim is kept, mirrored or permuted, and is only used where
// the loop that made it ran.
#include "tests/property/random_prim_func.h"

namespace relaxc::property {
namespace {

using arith::Expr;
using arith::ExprKind;
using arith::Intrinsic;
using arith::Var;
using tir::BufferRef;
using tir::Indices;
using tir::Stmt;

class Maker {
 public:
  Maker(arith::Context& context, Random& random, std::vector<BufferRef> inputs)
      : context_(context), build_(context), random_(random), inputs_(std::move(inputs)) {}

  tir::PrimFunc make(std::string name) {
    tir::PrimFunc made;
    made.name = std::move(name);
    for (BufferRef input : inputs_) made.params.push_back({input, {}});
    const std::vector<Expr>& shape = inputs_.at(0)->shape;
    size_t kind = random_.below(shape.empty() ? 3 : shape.size() < 2 ? 5 : 6);
    std::vector<Expr> result = shape;
    if (kind == 3 || kind == 4) result.pop_back();
    out_ = build_.buffer("out", random_dtype(random_), result);
    made.params.push_back({out_, {}});
    made.body = kind == 0   ? elementwise()
                : kind == 1 ? staged()
                : kind == 2 ? opaque()
                : kind == 5 ? whole_rows()
                            : reduction(shape.back());
    tir::collect_symbols(made);
    return made;
  }

 private:
  /// Out of the program's own loops, with values in between in memory of the kernel.
  Stmt elementwise() {
    return build_.compute(out_, [&](const Indices& i) { return value(out_->dtype, i, 3); });
  }
  Stmt staged() {
    BufferRef between = build_.buffer("between", random_dtype(random_), out_->shape);
    Stmt first = build_.compute(between, [&](const Indices& i) { return value(between->dtype, i, 2); });
    Stmt second = build_.compute(out_, [&](const Indices& i) {
      ExprKind kind = out_->dtype.is_bool() ? ExprKind::kOr : ExprKind::kMax;
      return context_.binary(kind, arith::cast(out_->dtype, build_.load(between, i)), value(out_->dtype, i, 1));
    });
    return build_.alloc(between, build_.seq({first, second}));
  }

  /// Rows in between, made of the same rows of the inputs and of others, each needed whole.
  Stmt whole_rows() {
    BufferRef between = build_.buffer("between", out_->dtype, out_->shape);
    Stmt first = build_.compute(between, [&](const Indices& i) { return value(between->dtype, i, 2); });
    ExprKind kind = out_->dtype.is_bool() ? ExprKind::kOr : ExprKind::kMax;
    Stmt second = build_.compute(out_, [&](const Indices& i) {
      Indices mirrored = i;
      mirrored.back() = out_->shape.back() - 1 - i.back();
      return context_.binary(kind, build_.load(between, mirrored), value(out_->dtype, i, 1));
    });
    return build_.alloc(between, build_.seq({first, second}));
  }

  Stmt reduction(Expr extent) {
    DType dtype = out_->dtype;
    ExprKind kind = random_.of({ExprKind::kAdd, ExprKind::kMax, ExprKind::kMin});
    if (dtype.is_bool()) kind = ExprKind::kOr;
    Expr start =
        dtype.is_bool() ? context_.boolean(false) : context_.number(dtype, static_cast<double>(random_.below(3)));
    return build_.reduce(out_, {extent}, start, [&](Expr so_far, const Indices& i, const Indices& r) {
      Indices all = i;
      all.push_back(r[0]);
      return context_.binary(kind, so_far, value(dtype, all, 2));
    });
  }

  /// An element at a time: a counter in a local, a loop that may be left early, a branch, a let, an assertion that
  /// holds, iterations that end early.
  Stmt opaque() {
    DType dtype = out_->dtype;
    return build_.nest(out_->shape, [&](const Indices& i) {
      BufferRef count = build_.buffer("count", DType::i(32), {context_.index(1)}, tir::Scope::kLocal);
      BufferRef sum = build_.buffer("sum", dtype, {context_.index(1)}, tir::Scope::kLocal);
      Indices at{context_.index(0)};
      auto one = context_.imm(DType::i(32), 1), limit = context_.imm(DType::i(32), random_.between(0, 5));
      Expr counted = build_.load(count, at), so_far = build_.load(sum, at);
      Stmt step = build_.store(sum, at, dtype.is_bool() ? value(dtype, i, 1) : so_far + value(dtype, i, 1));
      Stmt inside = build_.let("seen", value(DType::f(32), i, 1), [&](Var seen) {
        Stmt leave = build_.branch(arith::lt(context_.number(DType::f(32), 1.5), seen), build_.leave_loop());
        Stmt more = build_.store(count, at, counted + one);
        if (random_.chance(50)) return build_.seq({build_.branch(condition(i, 1), step), more, leave});
        Stmt skip = build_.branch(condition(i, 1), build_.next_iteration());
        return build_.seq({more, assertion(arith::le(counted, limit)), skip, step, repeated(step, i), leave});
      });
      Stmt body =
          build_.seq({build_.store(count, at, context_.zero(DType::i(32))), build_.store(sum, at, value(dtype, i, 1)),
                      build_.loop_while(arith::lt(counted, limit), inside), build_.store(out_, i, so_far)});
      return build_.alloc(count, build_.alloc(sum, body));
    });
  }

  Stmt assertion(Expr condition) {
    tir::Guard guard;
    guard.condition = condition;
    guard.code = tir::kAssertion;
    guard.message = "counted too far";
    return build_.guard(std::move(guard));
  }

  /// A loop in the loop: break and continue mean the inner one.
  Stmt repeated(Stmt step, const Indices& i) {
    if (random_.chance(50)) return {};
    return build_.loop("again", build_.index(random_.between(0, 3)), [&](Var again) {
      Stmt ends = random_.chance(50) ? build_.leave_loop() : build_.next_iteration();
      Expr when = arith::lt(context_.index(random_.between(0, 2)), again);
      return build_.seq({build_.branch(random_.chance(50) ? when : condition(i, 1), ends), step});
    });
  }

  Expr leaf(DType dtype, const Indices& i) {
    std::vector<BufferRef> fit;
    for (BufferRef input : inputs_)
      if (input->dtype == dtype && input->shape.size() <= i.size() && same_dims(input, i.size())) fit.push_back(input);
    if (!fit.empty() && random_.chance(80)) {
      BufferRef input = random_.of(fit);
      Indices at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(input->shape.size()));
      for (size_t k = 0; k < at.size(); ++k)
        if (random_.chance(15) && !input->shape[k].is_constant(0))  // a division by zero that is provable is refused
          at[k] = random_.chance(50) ? input->shape[k] - 1 - at[k] : arith::floormod(at[k] * 5 + 1, input->shape[k]);
      return build_.load(input, at);
    }
    if (!i.empty() && random_.chance(25)) return arith::cast(dtype, arith::cast(DType::i(64), random_.of(i)));
    double number = static_cast<double>(random_.between(-3, 9));
    if (dtype.is_float()) number = random_.of({0.0, -0.0, 1.0, -1.5, 0.1, 1e-3, 250.0}) + number / 8;
    if (dtype.is_uint() || dtype.is_bool()) number = std::abs(number);
    return dtype.is_bool() ? context_.boolean(number > 1) : context_.number(dtype, number);
  }

  /// The loops over the first input's dims also stay inside `input`.
  bool same_dims(BufferRef input, size_t rank) const {
    for (size_t k = 0; k < input->shape.size(); ++k)
      if (k >= rank || !(input->shape[k] == inputs_[0]->shape[k])) return false;
    return true;
  }

  Expr value(DType dtype, const Indices& i, int depth) {
    if (depth == 0 || random_.chance(15)) return leaf(dtype, i);
    switch (random_.below(6)) {
      case 0:
        return arith::cast(dtype, value(random_dtype(random_), i, depth - 1));
      case 1:
        return arith::select(condition(i, depth - 1), value(dtype, i, depth - 1), value(dtype, i, depth - 1));
      case 2:
        return dtype.is_bool() ? condition(i, depth - 1) : function(dtype, i, depth - 1);
      default:
        return dtype.is_bool() ? condition(i, depth - 1) : binary(dtype, i, depth - 1);
    }
  }

  Expr binary(DType dtype, const Indices& i, int depth) {
    ExprKind kind =
        random_.of({ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kDiv, ExprKind::kMod, ExprKind::kFloorDiv,
                    ExprKind::kFloorMod, ExprKind::kMin, ExprKind::kMax, ExprKind::kAdd});
    Expr a = value(dtype, i, depth), b = value(dtype, i, depth);
    bool rounds_down = kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
    if (rounds_down && dtype.is_float()) kind = ExprKind::kDiv;
    if (b.is_constant(0) && !dtype.is_float()) kind = ExprKind::kAdd;
    return context_.binary(kind, a, b);
  }

  Expr condition(const Indices& i, int depth) {
    DType dtype = random_dtype(random_);
    Expr a = value(dtype, i, depth), b = value(dtype, i, depth);
    Expr made = context_.binary(random_.of({ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe}), a, b);
    if (depth == 0 || random_.chance(70)) return made;
    Expr other = condition(i, depth - 1);
    return random_.chance(50) ? arith::logical_and(made, other) : arith::logical_or(made, arith::logical_not(other));
  }

  Expr function(DType dtype, const Indices& i, int depth) {
    auto arg = [&] { return value(dtype, i, depth); };
    if (dtype.is_float()) switch (random_.below(4)) {
        case 0:
          return arith::call(Intrinsic::k_copysign, {arg(), arg()});
        case 1:
          return arith::call(Intrinsic::k_fma, {arg(), arg(), arg()});
        default:
          return arith::call(random_.of({Intrinsic::k_sqrt, Intrinsic::k_floor, Intrinsic::k_round, Intrinsic::k_abs,
                                         Intrinsic::k_exp, Intrinsic::k_tanh, Intrinsic::k_erf, Intrinsic::k_sigmoid,
                                         Intrinsic::k_log, Intrinsic::k_sin}),
                             {arg()});
      }
    if (random_.chance(30))
      return arith::call(
          random_.of({Intrinsic::k_abs, Intrinsic::k_bitwise_not, Intrinsic::k_popcount, Intrinsic::k_clz}), {arg()});
    return arith::call(random_.of({Intrinsic::k_bitwise_and, Intrinsic::k_bitwise_or, Intrinsic::k_bitwise_xor,
                                   Intrinsic::k_shift_left, Intrinsic::k_shift_right}),
                       {arg(), arg()});
  }

  arith::Context& context_;
  tir::Builder build_;
  Random& random_;
  std::vector<BufferRef> inputs_;
  BufferRef out_ = nullptr;
};

}  // namespace

tir::PrimFunc random_prim_func(arith::Context& context, Random& random, std::string name,
                               const std::vector<BufferRef>& inputs) {
  return Maker(context, random, inputs).make(std::move(name));
}

}  // namespace relaxc::property
