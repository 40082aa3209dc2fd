// strings_rank.cpp: maps strings to integers in the same order.
//
// Operators that only compare strings, such as Unique, can use their ranks: equal strings have one rank, and there are
// as many ranks as distinct strings. The order is that of unsigned bytes; a prefix precedes longer strings.
#include "compiler/ops/common/sort.h"
#include "compiler/ops/common/strings.h"

namespace relaxc::ops::strings_rank_family {
namespace {

constexpr DType kI64 = DType::i(64);

InferResult infer_rank(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c));
  if (dims.size() != 1)
    return c.error(Kind::rank_mismatch, "'strings.rank' takes a vector of strings, found {} dims", dims.size());
  return one(tensor_info(c.context, std::move(dims), kI64));
}

/// Sets `flag` to 1 if string p sorts before string q, to `after` if q sorts before p, and to 0 if they are equal.
Stmt compare(tir::Builder& b, Strings& x, Expr p, Expr q, BufferRef flag, int64_t after) {
  auto set = [&](Expr value) { return b.store(flag, {b.index(0)}, cast(kI64, value)); };
  auto verdict = [&](Expr before, Expr behind) {
    return arith::select(before, b.index(1), arith::select(behind, b.index(after), b.index(0)));
  };
  Expr length = x.length({p}), other = x.length({q});
  Stmt bytes = b.loop("k", arith::min(length, other), [&](Var k) {
    Expr at_p = x.byte(x.begin({p}) + k), at_q = x.byte(x.begin({q}) + k);
    Stmt decide = b.seq({set(verdict(arith::lt(at_p, at_q), arith::lt(at_q, at_p))), b.leave_loop()});
    return b.branch(arith::ne(at_p, at_q), decide);
  });
  return b.seq({set(verdict(arith::lt(length, other), arith::lt(other, length))), bytes});
}

Stmt define_rank(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1));
  BufferRef out = d.output(), differs = b.buffer("differs", kI64, {b.index(1)}, tir::Scope::kLocal);
  Local next(b, "next");
  Expr count = out->shape[0], first = b.index(0);
  Compare before = [&](Expr p, Expr q, BufferRef flag) { return compare(b, x, p, q, flag, 0); };
  return with_sorted(b, count, before, [&](BufferRef order) {
    auto at = [&](Expr place) { return cast(DType::index(), b.load(order, {place})); };
    Stmt number = b.loop("place", count, [&](Var place) {
      Expr last = at(arith::max(place - 1, first));
      Expr step = cast(DType::index(), b.load(differs, {first}));
      return b.seq({compare(b, x, at(place), last, differs, 1), next.add(step),
                    b.store(out, {at(place)}, cast(kI64, next.get()))});
    });
    return next.around(b.alloc(differs, b.seq({next.set(0), number})));
  });
}

constexpr OpDef kOps[] = {
    {.name = "strings.rank",
     .operands = kStrings,
     .infer = infer_rank,
     .define = define_rank,
     .doc = "how many distinct strings of the vector come before each"},
};

}  // namespace
}  // namespace relaxc::ops::strings_rank_family

RELAXC_OPERATORS(strings_rank, kOps)
