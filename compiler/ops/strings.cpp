// strings.cpp: operators on strings, which are spans of bytes.
//
// A tensor of strings is two tensors: spans [..., 2] of int64, the begin and the length of element i, and the bytes [n]
// that all of them refer to. Spans may overlap and be in any order, so splitting a string copies no bytes.
// `strings.checked` validates spans that come from outside; the other operators rely on spans inside of their bytes.
#include "compiler/ops/common/strings.h"

namespace relaxc::ops::strings_family {
namespace {

constexpr DType kI64 = DType::i(64);
constexpr OperandDef kPair[] = {{"a_spans"}, {"a_bytes"}, {"b_spans"}, {"b_bytes"}};
constexpr OperandDef kFind[] = {{"spans"}, {"bytes"}, {"table_spans"}, {"table_bytes"}};
constexpr OperandDef kMatch[] = {{"spans"}, {"bytes"}, {"steps"}, {"accepts"}};

// ---- checked

InferResult infer_checked(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c));
  return one(tensor_info(c.context, with_pair(c.context, std::move(dims)), kI64));
}

Stmt define_checked(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings in(d, d.input(0), d.input(1)), out(d, d.output(), d.input(1));
  Expr zero = b.index(0), room = d.input(1)->shape[0];
  return b.nest(in.dims(), [&](const Indices& i) {
    return b.let("begin", in.begin(i), [&](Var begin) {
      return b.let("length", in.length(i), [&](Var length) {
        Expr inside = arith::logical_and(arith::le(zero, begin), arith::le(begin, room));
        return b.seq({d.require(inside, kIndexRange, room, begin),
                      d.require(arith::logical_and(arith::le(zero, length), arith::le(length, room - begin)),
                                kIndexRange, room - begin, length),
                      out.set(i, begin, length)});
      });
    });
  });
}

// ---- equal

InferResult infer_equal(InferContext& c) {
  RELAXC_TRY(Dims a, strings_dims(c, 0));
  RELAXC_TRY(Dims b, strings_dims(c, 2));
  RELAXC_TRY(Dims dims, broadcast_dims(c, a, b));
  return one(tensor_info(c.context, std::move(dims), DType::boolean()));
}

Stmt define_equal(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1)), y(d, d.input(2), d.input(3));
  BufferRef out = d.output();
  auto truth = [&](bool value) { return d.context().imm(DType::boolean(), value); };
  return b.nest(out->shape, [&](const Indices& i) {
    Indices p = broadcast_indices(x.dims(), i, out->shape), q = broadcast_indices(y.dims(), i, out->shape);
    Expr same_length = arith::eq(x.length(p), y.length(q));
    Stmt compare = b.loop("k", x.length(p), [&](Var k) {
      Expr differ = arith::ne(x.byte(x.begin(p) + k), y.byte(y.begin(q) + k));
      return b.branch(differ, b.seq({b.store(out, i, truth(false)), b.leave_loop()}));
    });
    return b.seq(
        {b.store(out, i, truth(false)), b.branch(same_length, b.seq({b.store(out, i, truth(true)), compare}))});
  });
}

// ---- find

InferResult infer_find(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c, 0));
  RELAXC_TRY(Dims table, strings_dims(c, 2));
  if (table.size() != 1)
    return c.error(Kind::rank_mismatch, "the table of 'strings.find' must be a vector, found {} dims", table.size());
  return one(tensor_info(c.context, std::move(dims), kI64));
}

/// Finds each string by binary search; `order` is negative if the string sorts before the entry of the table.
Stmt define_find(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1)), table(d, d.input(2), d.input(3));
  BufferRef out = d.output();
  Local low(b, "low"), high(b, "high"), order(b, "order");
  auto probe = [&](const Indices& i, Expr middle) {
    Expr length = x.length(i), other = table.length({middle});
    Stmt compare = b.loop("k", arith::min(length, other), [&](Var k) {
      Expr p = x.byte(x.begin(i) + k), q = table.byte(table.begin({middle}) + k);
      return b.seq({b.branch(arith::lt(p, q), b.seq({order.set(-1), b.leave_loop()})),
                    b.branch(arith::lt(q, p), b.seq({order.set(1), b.leave_loop()}))});
    });
    Expr zero = b.index(0);
    Stmt found = b.seq({b.store(out, i, cast(kI64, middle)), low.set(high.get())});
    return b.seq({order.set(length - other), compare,
                  b.branch(arith::eq(order.get(), zero), found,
                           b.branch(arith::lt(order.get(), zero), high.set(middle), low.set(middle + 1)))});
  };
  Stmt search = b.nest(out->shape, [&](const Indices& i) {
    Stmt halve = b.loop_while(
        arith::lt(low.get(), high.get()),
        b.let("middle", arith::floordiv(low.get() + high.get(), 2), [&](Var middle) { return probe(i, middle); }));
    return b.seq({b.store(out, i, d.context().imm(kI64, -1)), low.set(0), high.set(table.dims()[0]), halve});
  });
  return low.around(high.around(order.around(search)));
}

// ---- match

InferResult infer_match(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c, 0));
  RELAXC_TRY(const TensorInfo* steps, c.tensor(2));
  RELAXC_TRY(const TensorInfo* accepts, c.tensor(3));
  if (steps->ndim != 2 || !(*steps->shape)[1].is_constant(256) || steps->dtype != DType::i(32) || accepts->ndim != 1 ||
      !accepts->dtype->is_bool())
    return c.error(Kind::shape_mismatch,
                   "'strings.match' takes steps [states, 256] of int32 and a bool for each state");
  RELAXC_DO(require_equal(c, (*steps->shape)[0], (*accepts->shape)[0], "states"));
  return one(tensor_info(c.context, std::move(dims), DType::boolean()));
}

Stmt define_match(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1));
  BufferRef steps = d.input(2), accepts = d.input(3), out = d.output();
  Local state(b, "state");
  return state.around(b.nest(out->shape, [&](const Indices& i) {
    Stmt run = b.loop("k", x.length(i), [&](Var k) {
      Expr byte = cast(DType::index(), x.byte(x.begin(i) + k));
      return state.set(cast(DType::index(), b.load(steps, {state.get(), byte})));
    });
    return b.seq({state.set(0), run, b.store(out, i, b.load(accepts, {state.get()}))});
  }));
}

// ---- concat

InferResult infer_concat(InferContext& c) {
  RELAXC_TRY(Dims a, strings_dims(c, 0));
  RELAXC_TRY(Dims b, strings_dims(c, 2));
  RELAXC_TRY(Dims dims, broadcast_dims(c, a, b));
  Var total = c.bound_symbol(0, "bytes" + std::to_string(c.op.id));
  return std::vector<Info>{tensor_info(c.context, with_pair(c.context, std::move(dims)), kI64),
                           tensor_info(c.context, Dims{total}, kByte)};
}

/// Bounds the bytes of the result: each string may consist of all bytes of both operands.
Expr most_bytes(const Op& op, size_t) {
  const Dims& spans = op.results[0]->shape();
  Expr count = product(op.binds[0].context(), Dims(spans.begin(), spans.end() - 1));
  return count * (op.operand(1)->shape()[0] + op.operand(3)->shape()[0]);
}

Stmt define_concat(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1)), y(d, d.input(2), d.input(3)), out(d, d.output(0), d.output(1));
  BufferRef bytes = d.output(1), total = d.bound_value(0);
  Expr first = b.index(0);
  auto at = [&] { return cast(DType::index(), b.load(total, {first})); };
  auto append = [&](Strings& from, const Indices& i) {
    Stmt copy =
        b.loop("k", from.length(i), [&](Var k) { return b.store(bytes, {at() + k}, from.byte(from.begin(i) + k)); });
    return b.seq({copy, b.store(total, {first}, cast(kI64, at() + from.length(i)))});
  };
  Dims dims = out.dims();
  Stmt all = b.nest(dims, [&](const Indices& i) {
    Indices p = broadcast_indices(x.dims(), i, dims), q = broadcast_indices(y.dims(), i, dims);
    return b.seq({out.set(i, at(), x.length(p) + y.length(q)), append(x, p), append(y, q)});
  });
  return b.seq({b.store(total, {first}, d.context().imm(kI64, 0)), all});
}

constexpr OpDef kOps[] = {
    {.name = "strings.checked",
     .operands = kStrings,
     .infer = infer_checked,
     .define = define_checked,
     .doc = "the spans, each of which must be within the bytes"},
    {.name = "strings.equal",
     .operands = kPair,
     .infer = infer_equal,
     .define = define_equal,
     .doc = "whether strings are the same, with broadcasting"},
    {.name = "strings.find",
     .operands = kFind,
     .infer = infer_find,
     .define = define_find,
     .doc = "the position of each string in a table in ascending order of bytes, or -1 if it is absent"},
    {.name = "strings.match",
     .operands = kMatch,
     .infer = infer_match,
     .define = define_match,
     .doc = "whether a finite automaton that starts in state 0 accepts each string"},
    {.name = "strings.concat",
     .operands = kPair,
     .infer = infer_concat,
     .define = define_concat,
     .upper_bound = most_bytes,
     .doc = "strings of a followed by those of b, with broadcasting: spans and bytes"},
};

}  // namespace
}  // namespace relaxc::ops::strings_family

RELAXC_OPERATORS(strings, kOps)
