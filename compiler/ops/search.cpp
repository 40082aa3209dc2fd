// search.cpp: positions of values in a sorted list, by binary search.
//
// NaN counts as larger than all numbers, as in a sort. If the list is not sorted, the result is some position in it.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/common/sort.h"

namespace relaxc::ops::search_family {
namespace {

constexpr OperandDef kOperands[] = {{"keys"}, {"x"}};
constexpr AttrDef kAttrs[] = {{"right", AttrType::kBool, false, "False"}};
constexpr DType kI64 = DType::i(64);

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* keys, c.tensor(0));
  RELAXC_TRY(const TensorInfo* x, c.tensor(1));
  if (keys->ndim != 1 || *keys->dtype != *x->dtype)
    return c.error(Kind::dtype_mismatch, "'search_sorted' of {} in {}; the keys must be a list of the same dtype",
                   to_string(c.op.operand(1)->info), to_string(c.op.operand(0)->info));
  RELAXC_DO(expect_dtype(c, 1, is_number, "a number"));
  return one(tensor_info(c.context, *x->shape, kI64));
}

Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef keys = d.input(0), x = d.input(1), y = d.output();
  BufferRef low = b.buffer("low", kI64, {b.index(1)}, tir::Scope::kLocal);
  BufferRef high = b.buffer("high", kI64, {b.index(1)}, tir::Scope::kLocal);
  Expr first = b.index(0);
  bool right = d.attrs().flag("right");
  auto get = [&](BufferRef of) { return cast(DType::index(), b.load(of, {first})); };
  auto set = [&](BufferRef of, Expr value) { return b.store(of, {first}, cast(kI64, value)); };
  Stmt all = b.nest(y->shape, [&](const Indices& i) {
    Stmt half = b.let("middle", arith::floordiv(get(low) + get(high), 2), [&](Var middle) {
      Expr key = b.load(keys, {middle}), sought = b.load(x, i);
      Expr before = right ? arith::logical_not(ordered(sought, key, false)) : ordered(key, sought, false);
      return b.branch(before, set(low, Expr(middle) + 1), set(high, middle));
    });
    return b.seq({set(low, first), set(high, keys->shape[0]), b.loop_while(arith::lt(get(low), get(high)), half),
                  b.store(y, i, b.load(low, {first}))});
  });
  return b.alloc(low, b.alloc(high, all));
}

constexpr OpDef kOps[] = {
    {.name = "search_sorted",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "how many keys of a sorted list come before each element; with right, also those equal to it"},
};

}  // namespace
}  // namespace relaxc::ops::search_family

RELAXC_OPERATORS(search, kOps)
