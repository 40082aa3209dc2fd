// linear_attention.cpp: attention without softmax, as a recurrence over a state of one matrix a head.
//
// For every time step: S = decay * S + k (beta * (v - S' k))^T, o = scale * q^T S; the update rule says which parts are
// absent. Steps of one head depend on each other, heads do not. Everything is computed in float32 at least; the state
// is rounded once, when it is returned. The chunked form, which computes many steps by matrix products, is left for a
// strategy.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::linear_attention_family {
namespace {

using Arity = OperandDef::Arity;
constexpr OperandDef kOperands[] = {
    {"q"}, {"k"}, {"v"}, {"state", Arity::kOptional}, {"decay", Arity::kOptional}, {"beta", Arity::kOptional}};
constexpr AttrDef kAttrs[] = {{"scale", AttrType::kFloat, false, "1"}, {"delta", AttrType::kBool, false, "False"}};

/// q [B, T, Hq, K], k [B, T, H, K], v [B, T, H, V], state [B, H, K, V], decay [B, T, H, K or 1], beta [B, T, H or 1].
InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* q, c.tensor(0));
  RELAXC_TRY(const TensorInfo* k, c.tensor(1));
  RELAXC_TRY(const TensorInfo* v, c.tensor(2));
  RELAXC_DO(expect_dtype(
      c, 0, [](DType t) { return t.is_float(); }, "a float"));
  if (q->ndim != 4 || k->ndim != 4 || v->ndim != 4)
    return c.error(Kind::rank_mismatch, "'nn.linear_attention' takes q, k and v of 4 dims, found {}, {} and {}",
                   q->ndim, k->ndim, v->ndim);
  const Dims &qd = *q->shape, &kd = *k->shape, &vd = *v->shape;
  for (size_t i : {0, 1, 3}) RELAXC_DO(require_equal(c, qd[i], kd[i], fmt::format("dims {} of q and k", i)));
  for (size_t i : {0, 1, 2}) RELAXC_DO(require_equal(c, kd[i], vd[i], fmt::format("dims {} of k and v", i)));
  RELAXC_DO(require_equal(c, arith::floordiv(qd[2], kd[2]) * kd[2], qd[2], "groups of heads"));
  Dims state{kd[0], kd[2], kd[3], vd[3]};
  auto broadcasts = [&](size_t operand, const Dims& target) -> relaxc::Status {
    if (!c.has(operand)) return Done{};
    RELAXC_TRY(const TensorInfo* given, c.tensor(operand));
    if (given->shape->size() != target.size())
      return c.error(Kind::rank_mismatch, "operand {} of 'nn.linear_attention' must have {} dims, found {}", operand,
                     target.size(), given->ndim);
    return require_broadcast_to(c, *given->shape, target);
  };
  if (c.has(3)) {
    RELAXC_TRY(const TensorInfo* given, c.tensor(3));
    if (given->ndim != 4) return c.error(Kind::rank_mismatch, "the state must have 4 dims, found {}", given->ndim);
    for (size_t i = 0; i < 4; ++i)
      RELAXC_DO(require_equal(c, state[i], (*given->shape)[i], fmt::format("dim {} of the state", i)));
  }
  RELAXC_DO(broadcasts(4, {kd[0], kd[1], kd[2], kd[3]}));
  RELAXC_DO(broadcasts(5, {kd[0], kd[1], kd[2]}));
  DType kept = c.has(3) ? *c.op.operand(3)->tensor().dtype : *q->dtype;
  return std::vector<Info>{tensor_info(c.context, Dims{qd[0], qd[1], qd[2], vd[3]}, *q->dtype),
                           tensor_info(c.context, std::move(state), kept)};
}

class Recurrence {
 public:
  explicit Recurrence(DefineContext& d)
      : d_(d),
        b_(d.builder),
        dtype_(wide(d.input(0)->dtype)),
        keys_(d.input(1)->shape[3]),
        values_(d.input(2)->shape[3]),
        state_(b_.buffer("s", dtype_, {keys_, values_})),
        error_(b_.buffer("e", dtype_, {values_})) {}

  Stmt run() {
    const Dims& k = d_.input(1)->shape;
    Stmt heads = b_.nest({k[0], k[2]}, [&](const Indices& at) {
      Stmt begin = b_.nest({keys_, values_}, [&](const Indices& i) {
        Expr value = d_.has(3) ? operand(3, {at[0], at[1], i[0], i[1]}) : d_.context().number(dtype_, 0);
        return b_.store(state_, i, value);
      });
      Stmt steps = b_.loop("t", k[1], [&](Var t) { return step(at[0], t, at[1]); });
      Stmt end = b_.nest({keys_, values_}, [&](const Indices& i) {
        return b_.store(d_.output(1), {at[0], at[1], i[0], i[1]}, cast(d_.output(1)->dtype, b_.load(state_, i)));
      });
      return b_.seq({begin, steps, end});
    });
    return b_.alloc(state_, b_.alloc(error_, heads));
  }

 private:
  /// Returns an element of an operand in the dtype of the computation; decay and beta broadcast along dims of 1.
  Expr operand(size_t index, const Indices& at) {
    BufferRef x = d_.input(index);
    const Dims& k = d_.input(1)->shape;
    if (index < 4) return cast(dtype_, b_.load(x, at));
    Dims target(k.begin(), k.begin() + static_cast<std::ptrdiff_t>(at.size()));
    return cast(dtype_, b_.load(x, broadcast_indices(x->shape, at, target)));
  }

  Stmt step(Expr batch, Expr t, Expr head) {
    auto for_each = [&](Expr count, const std::function<Stmt(Expr)>& body) {
      return b_.loop("i", count, [&](Var i) { return body(i); });
    };
    Stmt decay = !d_.has(4) ? Stmt() : b_.nest({keys_, values_}, [&](const Indices& i) {
      Expr factor = call(Intrinsic::k_exp, operand(4, {batch, t, head, i[0]}));
      return b_.store(state_, i, b_.load(state_, i) * factor);
    });
    Stmt wanted = for_each(values_, [&](Expr j) { return b_.store(error_, {j}, operand(2, {batch, t, head, j})); });
    Stmt recalled = !d_.attrs().flag("delta") ? Stmt() : b_.nest({keys_, values_}, [&](const Indices& i) {
      Expr part = operand(1, {batch, t, head, i[0]}) * b_.load(state_, i);
      return b_.store(error_, {i[1]}, b_.load(error_, {i[1]}) - part);
    });
    Stmt rated = !d_.has(5) ? Stmt() : for_each(values_, [&](Expr j) {
      return b_.store(error_, {j}, b_.load(error_, {j}) * operand(5, {batch, t, head}));
    });
    Stmt learn = b_.nest({keys_, values_}, [&](const Indices& i) {
      Expr part = operand(1, {batch, t, head, i[0]}) * b_.load(error_, {i[1]});
      return b_.store(state_, i, b_.load(state_, i) + part);
    });
    return b_.seq({decay, wanted, recalled, rated, learn, answer(batch, t, head)});
  }

  /// Multiplies the state by the query of each head in the group, and stores the result.
  Stmt answer(Expr batch, Expr t, Expr head) {
    Expr group = arith::floordiv(d_.input(0)->shape[2], d_.input(1)->shape[2]);
    BufferRef total = b_.buffer("total", dtype_, {b_.index(1)}, tir::Scope::kLocal);
    Expr first = b_.index(0), scale = d_.context().number(dtype_, d_.attrs().number("scale"));
    return b_.nest({group, values_}, [&](const Indices& i) {
      Expr query = head * group + i[0];
      Stmt sum = b_.loop("k", keys_, [&](Var k) {
        Expr part = operand(0, {batch, t, query, k}) * b_.load(state_, {k, i[1]});
        return b_.store(total, {first}, b_.load(total, {first}) + part);
      });
      Expr y = cast(d_.output()->dtype, b_.load(total, {first}) * scale);
      return b_.alloc(total, b_.seq({b_.store(total, {first}, d_.context().number(dtype_, 0)), sum,
                                     b_.store(d_.output(), {batch, t, query, i[1]}, y)}));
    });
  }

  DefineContext& d_;
  tir::Builder& b_;
  DType dtype_;
  Expr keys_, values_;
  BufferRef state_, error_;
};

Stmt define(DefineContext& d) {
  return Recurrence(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "nn.linear_attention",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "attention with a state of one matrix per head: outputs and the last state; delta: v minus the value that "
            "k reads"},
};

}  // namespace
}  // namespace relaxc::ops::linear_attention_family

RELAXC_OPERATORS(linear_attention, kOps)
