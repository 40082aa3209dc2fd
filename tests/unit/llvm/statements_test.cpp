// statements_test.cpp: compiled statements do what interpreted ones do: control flow, blocks, locals, views, calls.
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::Var;
using tir::LoopKind;

/// Runs `f` by both evaluators on equal memory of int64 and checks that status and memory agree; gives the memory.
std::vector<std::vector<int64_t>> both(const tir::PrimFunc& f, const std::vector<size_t>& sizes,
                                       std::vector<int64_t> scalars = {}, tir::FindFunction find = {},
                                       tir::CallExternal external = {}, int32_t code = 0) {
  std::vector<std::vector<int64_t>> results[2];
  for (int compiled = 0; compiled < 2; ++compiled) {
    std::vector<void*> buffers;
    for (size_t size : sizes) {
      auto& one = results[compiled].emplace_back(size);
      std::iota(one.begin(), one.end(), int64_t{3} * static_cast<int64_t>(buffers.size()) - 7);
      buffers.push_back(nullptr);
    }
    for (size_t i = 0; i < sizes.size(); ++i) buffers[i] = results[compiled][i].data();
    auto evaluator = compiled ? codegen_llvm::make_jit(testing::native_target(), find, external)
                              : tir::make_interpreter(find, external);
    tir::RunStatus status = evaluator->run(f, buffers, scalars);
    CHECK(status.code == code);
  }
  CHECK(results[0] == results[1]);
  return results[1];
}

struct Fixture {
  tir::BufferRef ints(const char* name, std::vector<Expr> shape, tir::Scope scope = tir::Scope::kGlobal) {
    return b.buffer(name, DType::i(64), std::move(shape), scope);
  }
  Expr imm(int64_t value) { return context.imm(DType::i(64), value); }
  arith::Context context;
  tir::Builder b{context};
};

TEST_CASE("loops end by their condition, by break, and run not at all", "[statements]") {
  Fixture t;
  tir::BufferRef out = t.ints("out", {t.b.index(4)});
  auto add = [&](int64_t at, Expr value) {
    return t.b.store(out, {t.b.index(at)}, t.b.load(out, {t.b.index(at)}) + value);
  };
  tir::PrimFunc f;
  f.name = "loops";
  Var n = t.context.var("n");
  f.params = {{out, {}}, {nullptr, n}};
  f.body = t.b.seq({
      t.b.loop_while(arith::lt(t.b.load(out, {t.b.index(0)}), t.imm(50)), add(0, t.imm(9))),
      t.b.loop("i", n, [&](Var i) {
        return t.b.seq({add(1, arith::cast(DType::i(64), i)), t.b.branch(arith::lt(t.b.index(5), i), t.b.leave_loop()), add(2, t.imm(1))});
      }),
      t.b.loop("j", n - 100, [&](Var) { return add(3, t.imm(1)); }),
      t.b.loop("u", t.b.index(4), [&](Var u) {
        return t.b.seq({t.b.branch(arith::eq(u, 2), t.b.leave_loop()), add(3, arith::cast(DType::i(64), u) + 1)});
      }, LoopKind::kUnrolled)});
  both(f, {4}, {20});
  both(f, {4}, {0});
}

TEST_CASE("a block starts its reduction once, and its predicate keeps it from running", "[statements]") {
  for (LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorized, LoopKind::kParallel}) {
    Fixture t;
    tir::BufferRef in = t.ints("in", {t.b.index(10), t.b.index(6)}), out = t.ints("out", {t.b.index(10)});
    Var outer = t.context.var("outer"), inner = t.context.var("inner"), k = t.context.var("k");
    Var vi = t.context.var("vi"), vk = t.context.var("vk");
    tir::Block block;
    block.name = "sum";
    block.iters = {{vi, t.b.index(0), t.b.index(10), tir::IterKind::kSpatial, outer * 4 + inner},
                   {vk, t.b.index(0), t.b.index(6), tir::IterKind::kReduce, k}};
    block.predicate = arith::lt(outer * 4 + inner, t.b.index(10));
    block.init = t.b.store(out, {vi}, t.imm(100));
    block.body = t.b.store(out, {vi}, t.b.load(out, {vi}) + t.b.load(in, {vi, vk}));
    tir::PrimFunc f;
    f.name = "blocks";
    f.params = {{in, {}}, {out, {}}};
    f.body = t.b.loop(
        outer, t.b.index(0), t.b.index(3),
        t.b.loop(k, t.b.index(0), t.b.index(6), t.b.loop(inner, t.b.index(0), t.b.index(4), t.b.block(block), kind)));
    both(f, {60, 10});
  }
}

TEST_CASE("the last lanes of a masked loop write their own elements and nothing after them", "[statements]") {
  for (int from : {8, 16, 32, 64})
    for (int to : {8, 16, 32, 64})
      for (int64_t count = 1; count < 20; ++count) {
        Fixture t;
        tir::BufferRef in = t.b.buffer("in", DType::i(from), {t.b.index(2), t.b.index(count)});
        tir::BufferRef out = t.b.buffer("out", DType::i(to), {t.b.index(2), t.b.index(count)});
        Var row = t.context.var("row"), outer = t.context.var("outer"), lane = t.context.var("lane");
        Expr at = outer * 8 + lane, groups = t.b.index((count + 7) / 8);
        tir::Stmt narrow = t.b.store(out, {row, at}, arith::cast(DType::i(to), t.b.load(in, {row, at})));
        tir::Stmt lanes = t.b.loop(lane, t.b.index(0), t.b.index(8),
                                   t.b.branch(arith::lt(at, t.b.index(count)), narrow), LoopKind::kVectorized);
        tir::PrimFunc f;
        f.name = "narrow";
        f.params = {{in, {}}, {out, {}}};
        f.body = t.b.loop(row, t.b.index(0), t.b.index(2), t.b.loop(outer, t.b.index(0), groups, lanes));
        INFO(from << " bits to " << to << ", " << count << " of them");
        both(f, {40, 48});
      }
}

TEST_CASE("calls find their symbols, views shift, and failures come up", "[statements]") {
  Fixture t;
  Var m = t.context.var("m");
  tir::BufferRef from = t.ints("from", {m}), to = t.ints("to", {m});
  tir::PrimFunc callee;
  callee.name = "negate";
  callee.params = {{from, {}}, {to, {}}};
  callee.symbols = {m};
  tir::Guard guard;
  guard.condition = arith::lt(m, t.b.index(9));
  guard.code = 33, guard.expected = t.b.index(9), guard.actual = m;
  callee.body = t.b.seq(
      {t.b.guard(guard), t.b.loop("i", m, [&](Var i) { return t.b.store(to, {i}, t.imm(0) - t.b.load(from, {i})); })});

  Var n = t.context.var("n");
  tir::BufferRef x = t.ints("x", {t.b.index(16)}), y = t.ints("y", {t.b.index(16)});
  tir::BufferRef part = t.ints("part", {n}), scratch = t.ints("scratch", {n});
  tir::PrimFunc f;
  f.name = "caller";
  f.params = {{x, {}}, {y, {}}, {nullptr, n}};
  tir::Invoke first{{}, "negate", false, false, DType::i(32), {part, scratch, Expr(n)}, -1};
  f.body = t.b.view(part, x, t.b.index(24), t.b.alloc(scratch, t.b.seq({t.b.invoke(first), t.b.loop("i", n, [&](Var i) {
                                                                          return t.b.store(y, {i + 1},
                                                                                           t.b.load(scratch, {i}));
                                                                        })})));
  auto find = [&](const std::string& name) { return name == "negate" ? &callee : nullptr; };
  both(f, {16, 16}, {5}, find);
  both(f, {16, 16}, {9}, find, {}, 33);
}

TEST_CASE("external functions get shapes, data and scalars", "[statements]") {
  Fixture t;
  Var n = t.context.var("n");
  tir::BufferRef x = t.ints("x", {n, t.b.index(2)});
  tir::PrimFunc f;
  f.name = "outside";
  f.params = {{x, {}}, {nullptr, n}};
  f.body = t.b.invoke(tir::Invoke{{}, "host.scale", true, false, DType::i(32), {x, n * 10}, -1});
  auto scale = [](const std::string& name, std::span<const tir::ExternalArg> args) {
    if (name != "host.scale" || args.size() != 2 || args[0].shape.size() != 2) return 1;
    auto* data = static_cast<int64_t*>(args[0].data);
    if (args[0].dtype != DType::i(64) || args[0].shape[1] != 2) return 2;
    for (int64_t i = 0; i < args[0].shape[0] * 2; ++i) data[i] *= args[1].scalar;
    return args[0].shape[0] > 3 ? 7 : 0;
  };
  auto memory = both(f, {8}, {3}, {}, scale);
  CHECK(memory[0] == std::vector<int64_t>{-210, -180, -150, -120, -90, -60, -1, 0});
  both(f, {8}, {4}, {}, scale, 35);
}

TEST_CASE("a run's memory of unknown size is its own", "[statements]") {
  Fixture t;
  Var n = t.context.var("n");
  tir::BufferRef out = t.ints("out", {t.b.index(4)}), large = t.ints("large", {n});
  tir::PrimFunc f;
  f.name = "scratch";
  f.params = {{out, {}}, {nullptr, n}};
  f.body = t.b.alloc(
      large, t.b.seq({t.b.loop("i", n, [&](Var i) { return t.b.store(large, {i}, arith::cast(DType::i(64), i)); }),
                      t.b.store(out, {t.b.index(0)}, t.b.load(large, {n - 1}))}));
  CHECK(both(f, {4}, {100000})[0][0] == 99999);
}

}  // namespace
}  // namespace relaxc
