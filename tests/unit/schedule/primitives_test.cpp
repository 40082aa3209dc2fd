// primitives_test.cpp: each primitive by itself keeps what a program computes.
//
// A program is a small matrix product or map over random extents; it runs in the interpreter before and after. Unless
// the test says otherwise, the data are random floats and results must be the same to the bit.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/independence.h"
#include "compiler/schedule/primitives/steps.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;
using schedule::Tail;
using schedule::Tree;
using tir::PrimFunc;

std::vector<std::vector<float>> run(const PrimFunc& f, int64_t size, bool whole_numbers) {
  auto interpreter = tir::make_interpreter();
  std::mt19937 random(7);
  std::vector<int64_t> scalars(f.symbols.size(), size);
  std::vector<std::vector<float>> memory;
  std::vector<void*> buffers;
  for (const tir::Param& param : f.params) {
    int64_t count = 1;
    for (Expr dim : param.buffer->shape) count *= *arith::evaluate(dim, [&](arith::Var) { return size; });
    std::vector<float>& one = memory.emplace_back(static_cast<size_t>(count));
    for (float& x : one) x = whole_numbers ? static_cast<float>(random() % 9) - 4 : static_cast<float>(random()) / 3e8f;
  }
  for (auto& one : memory) buffers.push_back(one.data());
  REQUIRE(interpreter->run(f, buffers, scalars));
  return memory;
}

/// Applies `change` to the body of `f` and compares at several values of all symbols.
void keeps(arith::Context& context, const PrimFunc& f, const std::function<void(Tree&)>& change,
           bool whole_numbers = false) {
  Tree s(context, f.body);
  change(s);
  PrimFunc after = f;
  after.body = s.root();
  INFO(to_string(s.trace()) << tir::to_string(after));
  REQUIRE(tir::first_fault(after) == "");
  REQUIRE_FALSE(s.trace().empty());
  for (int64_t size : {0, 1, 3, 4, 7, 16, 33}) CHECK(run(f, size, whole_numbers) == run(after, size, whole_numbers));
}

/// What the step makes, which has to be legal.
template <typename S>
typename S::Made done(Tree& s, const S& step) {
  auto made = schedule::apply(s, step);
  INFO(made.illegal().reason);
  REQUIRE(made);
  return *std::move(made);
}

std::vector<uint32_t> loops_of(const Tree& s) {
  std::vector<uint32_t> ids;
  tir::for_each_stmt(s.root(), [&](tir::Stmt stmt) {
    if (const auto* loop = stmt.as<tir::For>()) ids.push_back(loop->id);
  });
  return ids;
}
std::vector<uint32_t> blocks_of(const Tree& s) {
  std::vector<uint32_t> ids;
  tir::for_each_stmt(s.root(), [&](tir::Stmt stmt) {
    if (const auto* block = stmt.as<tir::Block>()) ids.push_back(block->id);
  });
  return ids;
}

/// y[i, j] = x[i, j] + z[i, j]
PrimFunc sum(arith::Context& context, Expr n, Expr m) {
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {n, m}), z = w.param("z", {n, m}), y = w.param("y", {n, m});
  w.add(w.b.compute(y, [&](const tir::Indices& i) { return w.b.load(x, i) + w.b.load(z, i); }));
  return w.finish("sum");
}

TEST_CASE("split keeps every iteration, whatever the extent") {
  arith::Context context;
  Expr n = context.var("n");
  for (int64_t factor : {1, 2, 4, 16})
    for (Tail tail : {Tail::kPeel, Tail::kMask})
      for (Expr m : {n, context.index(5), context.index(8)})
        for (size_t which : {0, 1}) {
          keeps(context, sum(context, n, m), [&](Tree& s) {
            done(s, schedule::BindAxes{});
            done(s, schedule::Split{loops_of(s)[which], factor, tail});
          });
        }
}

TEST_CASE("a split whose last tile begins early keeps every iteration") {
  arith::Context context;
  Expr n = context.var("n");
  for (int64_t factor : {1, 2, 4, 16})
    for (Expr m : {n, context.index(5), context.index(8), context.index(16)})
      for (size_t which : {0, 1})
        for (int64_t rest : {int64_t{0}, factor / 2, factor - 1})
          keeps(context, sum(context, n, m), [&](Tree& s) {
            done(s, schedule::BindAxes{});
            const schedule::SplitLoops made = done(s, schedule::SplitOverlapped{loops_of(s)[which], factor, rest});
            const int64_t* extent = (which == 0 ? n : m).constant();
            if (rest == 0) CHECK((made.tail == 0) == (factor == 1 || (extent != nullptr && *extent >= factor)));
            if (which == 1) done(s, schedule::Vectorize{made.inner});
          });
}

/// y[i, j] = x[i, j + 1] + x[i, j - 1], where those are, with j by LANES at a time.
PrimFunc with_neighbours(arith::Context& context, Expr n, Expr m, int64_t lanes) {
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {n, m}), y = w.param("y", {n, m});
  const Expr zero = context.index(0);
  w.add(w.b.nest({n, arith::ceildiv(m, lanes), context.index(lanes)}, [&](const tir::Indices& i) {
    const Expr j = i[1] * lanes + i[2];
    tir::Stmt parts = w.b.store(y, {i[0], j}, w.zero());
    for (int64_t by : {1, -1}) {
      const Expr at = j + by;
      const tir::Stmt sum = w.b.store(y, {i[0], j}, w.b.load(y, {i[0], j}) + w.b.load(x, {i[0], at}));
      parts = w.b.seq({parts, w.b.branch(arith::logical_and(arith::le(zero, at), arith::lt(at, m)), sum)});
    }
    return w.b.branch(arith::lt(j, m), parts);
  }));
  return w.finish("with_neighbours");
}

/// The branches in a statement.
size_t branches_of(tir::Stmt s) {
  size_t count = 0;
  tir::for_each_stmt(s, [&](tir::Stmt inner) { count += inner.as<tir::If>() != nullptr ? 1 : 0; });
  return count;
}

TEST_CASE("a loop whose ends are peeled asks for its conditions there alone") {
  arith::Context context;
  Expr n = context.var("n");
  for (int64_t lanes : {1, 4, 8})
    for (Expr m : {n, context.index(9), context.index(32), context.index(33)}) {
      if (m.is_constant(9) && lanes == 8) continue;
      keeps(context, with_neighbours(context, n, m, lanes), [&](Tree& s) {
        const uint32_t loop = loops_of(s)[1];
        done(s, schedule::PeelEnds{loop});
        CHECK(branches_of(tir::Stmt(&s.loop(loop))) == 0);
        CHECK(branches_of(s.root()) == 3);
      });
    }
  const auto refused = [&](int64_t columns, int64_t lanes) {
    Tree s(context, with_neighbours(context, n, context.index(columns), lanes).body);
    return !schedule::PeelEnds{loops_of(s)[1]}.legal(s);
  };
  CHECK(refused(9, 8));  // both vectors have an end
  CHECK_FALSE(refused(25, 8));
  Tree maps(context, sum(context, n, n).body);
  done(maps, schedule::BindAxes{});
  CHECK_FALSE(schedule::PeelEnds{loops_of(maps)[1]}.legal(maps));  // there is no condition
}

TEST_CASE("iterations that read what they may have written are not repeated") {
  arith::Context context;
  Expr n = context.var("n");
  Tree maps(context, sum(context, n, n).body);
  done(maps, schedule::BindAxes{});
  const schedule::SplitOverlapped rows{loops_of(maps)[0], 4, 0};
  CHECK_FALSE(schedule::SplitOverlapped{loops_of(maps)[0], 4, 4}.legal(maps));
  CHECK(rows.legal(maps));
  maps.let_overwrite_operands(true);
  CHECK_FALSE(rows.legal(maps));
  maps.let_overwrite_operands(false);
  done(maps, schedule::Parallel{rows.loop});
  CHECK_FALSE(rows.legal(maps));
  // A sum that is added to where it is.
  PrimFunc f = testing::matmul(context, {}, n, n, n, false, false);
  Tree sums(context, analysis::classify(f).last);
  done(sums, schedule::BindAxes{});
  for (uint32_t loop : loops_of(sums)) CHECK_FALSE(schedule::SplitOverlapped{loop, 4, 0}.legal(sums));
}

TEST_CASE("fused loops visit the same elements") {
  arith::Context context;
  Expr n = context.var("n");
  keeps(context, sum(context, n, context.index(3)), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);
    REQUIRE(schedule::can_fuse(s.loop(loops[0]), s.loop(loops[1])));
    done(s, schedule::Fuse{loops[0], loops[1]});
  });
}

TEST_CASE("rows that a filter slides over are fused with their columns") {
  arith::Context context;
  Expr n = context.var("n"), columns = context.index(5);
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {n + 2, columns}), y = w.param("y", {n, columns});
  w.add(w.b.reduce(y, {context.index(3)}, w.zero(), [&](Expr sum, const tir::Indices& i, const tir::Indices& r) {
    return sum + w.b.load(x, {i[0] + r[0], i[1]});
  }));
  keeps(context, w.finish("slide"), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);
    done(s, schedule::DecomposeReduction{blocks_of(s)[0], loops[2]});
    REQUIRE(schedule::can_fuse(s.loop(loops[0]), s.loop(loops[1])));
    done(s, schedule::Fuse{loops[0], loops[1]});
  });
}

TEST_CASE("loops that are not contiguous in an operand cannot be fused") {
  arith::Context context;
  Expr n = context.var("n");
  PrimFunc f = testing::matmul(context, {}, n, n, n, false, false);
  Tree s(context, analysis::classify(f).last);
  auto loops = loops_of(s);
  CHECK_FALSE(schedule::can_fuse(s.loop(loops[0]), s.loop(loops[1])));
}

TEST_CASE("reordered, vectorized, unrolled and parallel loops") {
  arith::Context context;
  Expr n = context.var("n");
  keeps(context, sum(context, n, context.index(6)), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);
    done(s, schedule::Reorder{{loops[1], loops[0]}});
    done(s, schedule::Parallel{loops[0]});
  });
  keeps(context, sum(context, n, context.index(6)), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    done(s, schedule::Vectorize{loops_of(s)[1]});
    done(s, schedule::Parallel{loops_of(s)[0]});
  });
  keeps(context, sum(context, n, context.index(6)), [&](Tree& s) { done(s, schedule::Unroll{loops_of(s)[1]}); });
}

TEST_CASE("lines are prefetched ahead of vectors, and of nothing else") {
  arith::Context context;
  Expr n = context.var("n");
  keeps(context, sum(context, n, context.index(6)), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    const uint32_t loop = loops_of(s)[1];
    CHECK_FALSE(schedule::apply(s, schedule::Prefetch{loop, 64}));
    done(s, schedule::Vectorize{loop});
    CHECK_FALSE(schedule::apply(s, schedule::Prefetch{loop, 0}));
    done(s, schedule::Prefetch{loop, 64});
  });
}

TEST_CASE("lines of later iterations are prefetched in serial loops, and in no others") {
  arith::Context context;
  keeps(context, sum(context, context.var("n"), context.index(6)), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    const uint32_t serial = loops_of(s)[0], vector = loops_of(s)[1];
    done(s, schedule::Vectorize{vector});
    CHECK_FALSE(schedule::apply(s, schedule::PrefetchIterations{vector, 4}));
    CHECK_FALSE(schedule::apply(s, schedule::PrefetchIterations{serial, 0}));
    done(s, schedule::PrefetchIterations{serial, 4});
  });
}

TEST_CASE("chunked and collapsed loops visit every iteration") {
  arith::Context context;
  Expr n = context.var("n");
  for (int64_t size : {1, 2, 5, 16})
    for (Expr m : {n, context.index(5), context.index(8)})
      for (size_t which : {0, 1})
        keeps(context, sum(context, n, m), [&](Tree& s) {
          done(s, schedule::BindAxes{});
          uint32_t loop = loops_of(s)[which];
          done(s, schedule::Parallel{loop});
          uint32_t outer = done(s, schedule::Chunk{loop, size});
          CHECK(s.loop(outer).loop_kind == tir::LoopKind::kParallel);
        });
  for (Expr m : {n, context.index(5)})
    keeps(context, sum(context, n, m), [&](Tree& s) {
      auto loops = loops_of(s);
      done(s, schedule::Parallel{loops[0]});
      done(s, schedule::Collapse{loops[0], loops[1]});
    });
}

TEST_CASE("a loop of one iteration is removed") {
  arith::Context context;
  keeps(context, sum(context, context.var("n"), context.index(1)),
        [&](Tree& s) { done(s, schedule::DropUnitLoop{loops_of(s)[1]}); });
}

/// Whether the outermost loop around `body(i)` may run in parallel, when it writes `y`.
bool is_independent(arith::Context& context, tir::Builder& b, const std::function<tir::Stmt(Expr)>& body) {
  tir::Stmt loop = b.loop("i", context.var("n"), [&](arith::Var i) { return body(i); });
  return schedule::has_independent_iterations(loop, *loop.as<tir::For>());
}

TEST_CASE("iterations that access the same element are not independent") {
  arith::Context context;
  testing::KernelWriter w(context);
  tir::Builder& b = w.b;
  Expr n = context.var("n");
  tir::BufferRef x = w.param("x", {n, n}), y = w.param("y", {n * 8}), place = w.param("place", {n}, DType::i(64));
  auto zero = w.zero();
  auto inner = [&](int64_t extent, const std::function<tir::Stmt(Expr)>& body) {
    return b.loop("j", context.index(extent), [&](arith::Var j) { return body(j); });
  };
  auto check = [&](const std::function<tir::Stmt(Expr)>& body) { return is_independent(context, b, body); };
  CHECK(check([&](Expr i) { return b.store(y, {i}, zero); }));
  CHECK(check([&](Expr i) { return inner(8, [&](Expr j) { return b.store(y, {i * 8 + j}, zero); }); }));
  CHECK(check([&](Expr i) { return inner(8, [&](Expr j) { return b.store(y, {j + i * 8}, b.load(x, {i, j})); }); }));
  // Neighbours overlap, everyone writes one place, or reads what the next one writes.
  CHECK_FALSE(check([&](Expr i) { return inner(9, [&](Expr j) { return b.store(y, {i * 8 + j}, zero); }); }));
  CHECK_FALSE(check([&](Expr) { return b.store(y, {b.index(0)}, zero); }));
  CHECK_FALSE(check([&](Expr i) { return b.store(y, {i}, b.load(y, {i + 1})); }));
  CHECK_FALSE(check([&](Expr i) { return b.store(y, {arith::floordiv(i, 2)}, zero); }));
  // Where to write is read from memory.
  auto read = [&](Expr i) { return arith::cast(DType::index(), b.load(place, {i})); };
  CHECK_FALSE(check([&](Expr i) { return b.store(y, {read(i)}, zero); }));
  CHECK_FALSE(check([&](Expr i) { return b.store(y, {i + read(b.index(0))}, zero); }));
  // A local of the iteration does not matter; one around the loop does.
  tir::BufferRef local = b.buffer("local", DType::f(32), {}, tir::Scope::kLocal);
  auto through_local = [&](Expr i) { return b.seq({b.store(local, {}, zero), b.store(y, {i}, b.load(local, {}))}); };
  CHECK(check([&](Expr i) { return b.alloc(local, through_local(i)); }));
  CHECK_FALSE(check(through_local));
  Tree s(context, b.loop("i", n, [&](arith::Var) { return b.store(y, {b.index(0)}, zero); }));
  CHECK_FALSE(schedule::apply(s, schedule::Parallel{loops_of(s)[0]}));
}

/// The product alone: loops i, j, k and the block.
PrimFunc product(arith::Context& context) {
  Expr n = context.var("n");
  PrimFunc f = testing::matmul(context, {}, n, context.index(6), context.index(5), false, true);
  return f;
}

TEST_CASE("a reduction is decomposed, its consumer moved to it, and is jammed") {
  arith::Context context;
  keeps(context, product(context), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);
    auto blocks = blocks_of(s);
    done(s, schedule::DecomposeReduction{blocks[0], loops[2]});
    done(s, schedule::ReverseComputeAt{blocks[1], loops[1], {loops[0], loops[1]}});
    tir::BufferRef temporary = s.root().as<tir::Alloc>()->buffer;
    done(s, schedule::ScalarReplace{temporary, loops[1], true});
    done(s, schedule::StageLoads{blocks[0], loops[1]});
    auto columns = done(s, schedule::Split{loops[1], 3, Tail::kMask});
    auto rows = done(s, schedule::Split{loops[0], 2, Tail::kPeel});
    done(s, schedule::JamInner{columns.inner});
    done(s, schedule::Jam{rows.inner});
  });
}

TEST_CASE("a sum goes by blocks of its terms, and its bits stay") {
  arith::Context context;
  for (int64_t size : {1, 2, 5, 9})
    keeps(context, product(context), [&](Tree& s) {
      done(s, schedule::BindAxes{});
      auto loops = loops_of(s);
      auto blocks = blocks_of(s);
      CHECK_FALSE(schedule::apply(s, schedule::BlockSum{loops[1], loops[2], size}));  // sums are in memory
      done(s, schedule::DecomposeReduction{blocks[0], loops[2]});
      done(s, schedule::ReverseComputeAt{blocks[1], loops[1], {loops[0], loops[1]}});
      done(s, schedule::ScalarReplace{s.root().as<tir::Alloc>()->buffer, loops[1], true});
      CHECK_FALSE(schedule::apply(s, schedule::BlockSum{loops[0], loops[2], size}));  // nothing bounds the rows
      CHECK_FALSE(schedule::apply(s, schedule::BlockSum{loops[1], loops[2], 0}));
      CHECK_FALSE(schedule::apply(s, schedule::BlockSum{loops[2], loops[1], size}));
      done(s, schedule::StageLoads{blocks[0], loops[1]});
      done(s, schedule::BlockSum{loops[1], loops[2], size});
      auto columns = done(s, schedule::Split{loops[1], 3, Tail::kPeel});
      done(s, schedule::Vectorize{columns.inner});
      done(s, schedule::JamInner{columns.inner});
    });
}

TEST_CASE("only the outermost loop of a sum goes by blocks as it is, others need a mark") {
  arith::Context context;
  const PrimFunc f = testing::conv(context, {.c = 4, .h = 6, .w = 6, .out = 4}, true);
  keeps(context, f, [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);  // n, out, rows, columns, channels, two of taps
    auto blocks = blocks_of(s);
    done(s, schedule::DecomposeReduction{blocks[0], loops[4]});
    done(s, schedule::ReverseComputeAt{blocks[1], loops[3], {loops[0], loops[1], loops[2], loops[3]}});
    done(s, schedule::ScalarReplace{s.root().as<tir::Alloc>()->buffer, loops[3], true});
    CHECK_FALSE(schedule::apply(s, schedule::BlockSum{loops[1], loops[6], 2}));
    done(s, schedule::BlockSum{loops[1], loops[4], 3});
  });
  keeps(
      context, f,
      [&](Tree& s) {
        done(s, schedule::BindAxes{});
        auto loops = loops_of(s);
        auto blocks = blocks_of(s);
        done(s, schedule::DecomposeReduction{blocks[0], loops[4]});
        done(s, schedule::ReverseComputeAt{blocks[1], loops[3], {loops[0], loops[1], loops[2], loops[3]}});
        done(s, schedule::ScalarReplace{s.root().as<tir::Alloc>()->buffer, loops[3], true});
        done(s, schedule::Reassociate{blocks[0]});
        done(s, schedule::BlockSum{loops[1], loops[6], 2});
      },
      true);
}

TEST_CASE("fused multiply-add and lanes change rounding, and no whole number") {
  arith::Context context;
  auto lanes = [&](int64_t count) {
    return [&, count](Tree& s) {
      done(s, schedule::BindAxes{});
      auto loops = loops_of(s);
      uint32_t block = blocks_of(s)[0];
      done(s, schedule::DecomposeReduction{block, loops[2]});
      done(s, schedule::Reassociate{block});
      done(s, schedule::ReduceInLanes{block, loops[2], count, 2, count == 4});
    };
  };
  keeps(context, product(context), lanes(2), true);
  keeps(context, product(context), lanes(4), true);
  keeps(
      context, product(context),
      [&](Tree& s) {
        done(s, schedule::BindAxes{});
        auto loops = loops_of(s);
        uint32_t block = blocks_of(s)[0];
        done(s, schedule::DecomposeReduction{block, loops[2]});
        done(s, schedule::UseFma{block});
      },
      true);
}

TEST_CASE("factors that terms share multiply their sum") {
  arith::Context context;
  Expr n = context.var("n"), blocks = context.var("b"), terms = context.var("k");
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {blocks, terms}), weight = w.param("weight", {n, blocks, terms});
  tir::BufferRef scale = w.param("scale", {n, blocks}), y = w.param("y", {n});
  auto add = [&](Expr sum, const tir::Indices& i, const tir::Indices& r) {
    Expr scaled = w.b.load(weight, {i[0], r[0], r[1]}) * w.b.load(scale, {i[0], r[0]});
    return sum + w.b.load(x, r) * scaled;
  };
  w.add(w.b.reduce(y, {blocks, terms}, context.imm_float(DType::f(32), 0), add));
  keeps(
      context, w.finish("blocks"),
      [&](Tree& s) {
        done(s, schedule::BindAxes{});
        auto loops = loops_of(s);  // the first fills in zeros, where there are no terms
        uint32_t block = blocks_of(s)[1];
        done(s, schedule::DecomposeReduction{block, loops[2]});
        REQUIRE_FALSE(common_factor(s, block, loops[2]));
        REQUIRE(common_factor(s, block, loops[3]));
        uint32_t scaled = done(s, schedule::FactorOut{block, loops[3]});
        CHECK(s.block(block).annotations.count("reassociate") == 1);
        CHECK(s.block(scaled).annotations.count("reassociate") == 1);
      },
      true);
}

TEST_CASE("lanes of a reduction whose order is to be kept are refused") {
  arith::Context context;
  PrimFunc f = product(context);
  Tree s(context, f.body);
  done(s, schedule::BindAxes{});
  auto loops = loops_of(s);
  uint32_t block = blocks_of(s)[0];
  done(s, schedule::DecomposeReduction{block, loops[2]});
  CHECK_FALSE(schedule::apply(s, schedule::ReduceInLanes{block, loops[2], 4, 4, false}));
}

TEST_CASE("an inlined nest is computed where it is read") {
  arith::Context context;
  Expr n = context.var("n");
  testing::KernelWriter w(context);
  tir::BufferRef x = w.param("x", {n, n}), y = w.param("y", {n, n}), t = w.temporary("t", {n, n});
  w.add(w.b.compute(t, [&](const tir::Indices& i) { return w.b.load(x, i) + w.b.load(x, {i[1], i[0]}); }));
  w.add(w.b.compute(y, [&](const tir::Indices& i) { return w.b.load(t, {i[1], i[0]}) * w.b.load(x, i); }));
  keeps(context, w.finish("chain"), [&](Tree& s) { done(s, schedule::Inline{blocks_of(s)[0]}); });
}

TEST_CASE("loads under a condition are staged without their clamps") {
  arith::Context context;
  PrimFunc f = testing::conv(context, {.c = 2, .h = 4, .w = 7, .out = 3}, false);
  keeps(context, f, [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);
    uint32_t block = blocks_of(s)[0];
    done(s, schedule::DecomposeReduction{block, loops[4]});
    done(s, schedule::StageLoads{block, loops[3]});
    bool clamps = false;
    tir::for_each_stmt(s.root(), [&](tir::Stmt stmt) {
      for (Expr e : tir::expressions(stmt))
        arith::for_each_node(e, [&](Expr node) { clamps |= node.as<arith::Min>() || node.as<arith::Max>(); });
    });
    CHECK_FALSE(clamps);
  });
}

TEST_CASE("what one arm of a select reads is staged if the condition reads it, too") {
  arith::Context context;
  testing::KernelWriter w(context);
  Expr n = context.var("n"), rows = context.index(3);
  tir::BufferRef x = w.param("x", {rows, n}), z = w.param("z", {rows, n}), y = w.param("y", {n});
  w.add(w.b.reduce(y, {rows * 2}, w.zero(), [&](Expr own, const tir::Indices& i, const tir::Indices& r) {
    Expr first = w.b.load(z, {context.index(0), i[0]});
    Expr either = arith::select(arith::lt(r[0], rows), w.b.load(x, {r[0], i[0]}), w.b.load(z, {r[0] - 3, i[0]}));
    return own + either * arith::select(arith::lt(w.zero(), first), first, -first);
  }));
  keeps(context, w.finish("both"), [&](Tree& s) {
    done(s, schedule::BindAxes{});
    auto loops = loops_of(s);
    uint32_t block = blocks_of(s)[0];
    done(s, schedule::DecomposeReduction{block, loops[1]});
    done(s, schedule::StageLoads{block, loops[0]});
    int locals = 0;
    tir::for_each_stmt(s.root(), [&](tir::Stmt stmt) { locals += stmt.as<tir::Alloc>() != nullptr; });
    CHECK(locals == 1);  // of z[0, i]
  });
}

}  // namespace
}  // namespace relaxc
