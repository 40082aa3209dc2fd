// visit_test.cpp: rebuilding of statements, above all of scopes that nest as often as a program has values.
#include <catch2/catch.hpp>

#include "compiler/tir/builder.h"
#include "compiler/tir/print.h"
#include "compiler/tir/visit.h"

using namespace relaxc;
using namespace relaxc::tir;

TEST_CASE("a hundred thousand scopes in each other are rebuilt, without a stack frame for each") {
  arith::Context context;
  Builder build(context);
  BufferRef out = build.buffer("out", DType::f(32), {build.index(1)}), other = build.buffer("other", DType::f(32), {});
  Stmt body = build.store(out, {build.index(0)}, context.imm_float(DType::f(32), 1));
  constexpr int kScopes = 100000;
  for (int i = 0; i < kScopes; ++i) {
    body = build.seq({build.store(other, {}, context.imm_float(DType::f(32), 2)), body});
    body = i % 3 == 0   ? build.let(context.var("x"), build.index(i), body)
           : i % 3 == 1 ? build.alloc(build.buffer("a", DType::u(8), {build.index(8)}), body)
                        : build.view(build.buffer("v", DType::u(8), {build.index(8)}), out, build.index(0), body);
  }
  Rewriter nothing;
  CHECK(rewrite(context, body, nothing) == body);

  Rewriter drop;
  drop.on_stmt = [&](Stmt s) { return s.as<Store>() != nullptr && s.as<Store>()->buffer == other ? Stmt() : s; };
  int lets = 0, stores = 0;
  for_each_stmt(rewrite(context, body, drop), [&](Stmt s) {
    lets += s.as<Let>() != nullptr;
    stores += s.as<Store>() != nullptr;
  });
  CHECK(lets == (kScopes + 2) / 3);
  CHECK(stores == 1);
}

TEST_CASE("a name that is bound again is printed as a new one, and has its old one after the scope") {
  arith::Context context;
  Builder build(context);
  BufferRef out = build.buffer("out", DType::i(64), {build.index(1)});
  arith::Var x = context.var("x", DType::i(64));
  auto use = [&] { return build.store(out, {build.index(0)}, x); };
  auto bound = [&](int64_t value, Stmt body) { return build.let(x, context.imm(DType::i(64), value), body); };
  Stmt inner = build.branch(context.boolean(true), bound(2, use()));
  CHECK(to_string(bound(1, build.seq({inner, use()})), 0) ==
        "x: T.int64 = T.int64(1)\n"
        "if T.bool(True):\n"
        "    x_1: T.int64 = T.int64(2)\n"
        "    out[0] = x_1\n"
        "out[0] = x\n");
}
