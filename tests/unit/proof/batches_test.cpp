// batches_test.cpp: runs in batches give the terms that iterations one by one give, in fewer instructions, and loops
// whose iterations meet in one element are not run in batches.
#include <catch2/catch.hpp>

#include "compiler/proof/kernels/machine.h"
#include "compiler/schedule/kernel.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc::proof {
namespace {

using arith::Expr;
using tir::PrimFunc;

int64_t elements_of(const tir::Param& param) {
  int64_t count = 1;
  for (const Expr dim : param.buffer->shape) count *= *dim.constant();
  return count;
}

/// A run and the terms that it leaves in the parameters.
struct Left {
  RunResult result;
  std::vector<std::vector<Term>> terms;
};

Left run(const PrimFunc& kernel, Algebra& algebra, bool in_batches) {
  const tir::interpreter::Program program =
      tir::interpreter::compile(kernel, {.math_calls = true, .arrays_in_lanes = true});
  Memory memory(algebra);
  Machine machine(algebra, memory);
  std::vector<uint64_t> buffers;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const DType dtype = kernel.params[i].buffer->dtype;
    buffers.push_back(memory.add(dtype, elements_of(kernel.params[i]), [&algebra, i, dtype](int64_t at) {
      return algebra.input(i, static_cast<uint64_t>(at), dtype);
    }));
  }
  Left left{machine.run(program, buffers, {}, int64_t{1} << 31, in_batches), {}};
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::vector<Term>& terms = left.terms.emplace_back();
    for (int64_t at = 0; at < elements_of(kernel.params[i]); ++at) terms.push_back(memory.element(buffers[i], at));
  }
  return left;
}

/// Returns whether all terms are equal.
bool equal(Algebra& algebra, const Left& a, const Left& b) {
  for (size_t i = 0; i < a.terms.size(); ++i)
    for (size_t at = 0; at < a.terms[i].size(); ++at)
      if (!algebra.equal(a.terms[i][at], b.terms[i][at])) return false;
  return true;
}

TEST_CASE("batches of iterations give the terms of iterations one by one, in fewer instructions") {
  arith::Context context;
  auto index = [&](int64_t n) { return context.index(n); };
  const std::vector<PrimFunc> kernels = {
      testing::matmul(context, {}, index(13), index(33), index(17), false, true),
      testing::matmul_of_bytes(context, index(5), index(32), index(20)),
      testing::conv(context, {.c = 8, .h = 12, .w = 12, .out = 8}, true),
      testing::conv(context, {.c = 6, .h = 11, .w = 9, .out = 6, .stride = 2, .groups = 6}, true),
      testing::pool(context, index(2), {.kernel = 3, .stride = 2, .pad = 1}, false, true),
      testing::rows(context, index(6), index(37)),
  };
  int64_t fewer = 0;
  for (const PrimFunc& definition : kernels)
    for (const bool scheduled : {false, true})
      for (const Meaning meaning : {Meaning::kExact, Meaning::kField}) {
        PrimFunc kernel = definition;
        std::vector<schedule::PackedParam> packed;
        if (scheduled) schedule::schedule_kernel(context, kernel, testing::wide_target(), {}, packed);
        INFO(kernel.name << ", scheduled: " << scheduled << ", meaning: " << static_cast<int>(meaning));
        Algebra algebra(meaning, 1);
        const Left one_by_one = run(kernel, algebra, false), batches = run(kernel, algebra, true);
        REQUIRE(one_by_one.result.end == RunEnd::kDone);
        REQUIRE(batches.result.end == RunEnd::kDone);
        CHECK(equal(algebra, one_by_one, batches));
        CHECK(batches.result.instructions <= one_by_one.result.instructions);
        if (batches.result.instructions * 2 < one_by_one.result.instructions) ++fewer;
      }
  CHECK(fewer >= 8);  // of 24; in the others, vectors of the schedule are short, or functions are called
}

/// y[subscript(i, j)] = y[subscript(i, j)] * x[i, j] + x[i, j] for all i and j.
template <typename Subscript>
PrimFunc recurrence(arith::Context& context, int64_t rows, int64_t columns, int64_t results, Subscript subscript) {
  testing::KernelWriter writer(context);
  const tir::BufferRef x = writer.param("x", {context.index(rows), context.index(columns)}),
                       y = writer.param("y", {context.index(results)});
  const arith::Var i = context.var("i"), j = context.var("j");
  const Expr at = subscript(i, j), value = writer.b.load(x, {i, j});
  const tir::Stmt store = writer.b.store(y, {at}, writer.b.load(y, {at}) * value + value);
  const tir::Stmt row = writer.b.loop(j, context.index(0), context.index(columns), store);
  writer.add(writer.b.loop(i, context.index(0), context.index(rows), row));
  return writer.finish("recurrence");
}

TEST_CASE("iterations that meet in one element do not run in batches, and those that do not meet do") {
  arith::Context context;
  auto end_of = [&](const PrimFunc& kernel) {
    Algebra algebra(Meaning::kField, 1);
    const Left batches = run(kernel, algebra, true), one_by_one = run(kernel, algebra, false);
    REQUIRE(one_by_one.result.end == RunEnd::kDone);
    if (batches.result.end == RunEnd::kDone) CHECK(equal(algebra, one_by_one, batches));
    return batches.result.end;
  };
  // A diagonal: iteration i at j, and i + 1 at j - 1.
  CHECK(end_of(recurrence(context, 40, 4, 43, [](Expr i, Expr j) { return i + j; })) == RunEnd::kSerial);
  // Rows of four that begin three apart, five apart, and columns of forty.
  CHECK(end_of(recurrence(context, 40, 4, 121, [](Expr i, Expr j) { return i * 3 + j; })) == RunEnd::kSerial);
  CHECK(end_of(recurrence(context, 40, 4, 200, [](Expr i, Expr j) { return i * 5 + j; })) == RunEnd::kDone);
  CHECK(end_of(recurrence(context, 40, 4, 160, [](Expr i, Expr j) { return i + j * 40; })) == RunEnd::kDone);
  // Columns of which the last iteration meets the next one's first.
  CHECK(end_of(recurrence(context, 40, 4, 157, [](Expr i, Expr j) { return i + j * 39; })) == RunEnd::kSerial);
}

/// y[i, j] = t[3 - j] * t[i mod 4], where each iteration of i has an array t of `written` elements of row i of x.
PrimFunc with_array(arith::Context& context, int64_t written) {
  testing::KernelWriter writer(context);
  auto index = [&](int64_t n) { return context.index(n); };
  const tir::BufferRef x = writer.param("x", {index(40), index(4)}), y = writer.param("y", {index(40), index(4)});
  const tir::BufferRef array = writer.b.buffer("t", DType::f(32), {index(4)}, tir::Scope::kLocal);
  const arith::Var i = context.var("i"), j = context.var("j"), k = context.var("k");
  const tir::Stmt fill =
      writer.b.loop(j, index(0), index(written), writer.b.store(array, {j}, writer.b.load(x, {i, j})));
  const Expr value = writer.b.load(array, {index(3) - k}) * writer.b.load(array, {arith::floormod(i, 4)});
  const tir::Stmt use = writer.b.loop(k, index(0), index(4), writer.b.store(y, {i, k}, value));
  writer.add(writer.b.loop(i, index(0), index(40), writer.b.alloc(array, writer.b.seq({fill, use}))));
  return writer.finish("with_array");
}

TEST_CASE("arrays that iterations allocate are one for each lane of a batch") {
  arith::Context context;
  Algebra algebra(Meaning::kExact, 1);
  const PrimFunc whole = with_array(context, 4);
  const Left one_by_one = run(whole, algebra, false), batches = run(whole, algebra, true);
  REQUIRE(batches.result.end == RunEnd::kDone);
  CHECK(equal(algebra, one_by_one, batches));
  // Steps for each lane are counted for each, subscripts once: without a batch it is as many for all.
  CHECK(batches.result.instructions * 2 < one_by_one.result.instructions);
  for (const bool in_batches : {false, true}) {
    const Left part = run(with_array(context, 3), algebra, in_batches);
    REQUIRE(part.result.end == RunEnd::kDone);
    // Row 0 begins with t[3] * t[0], and row 3 ends with t[0] * t[3]. Nothing has written t[3], so y is as it was
    // there.
    auto unchanged = [&](uint64_t at) { return algebra.equal(part.terms[1][at], algebra.input(1, at, DType::f(32))); };
    CHECK(unchanged(0));
    CHECK(unchanged(15));
    CHECK(!unchanged(1));
  }
}

}  // namespace
}  // namespace relaxc::proof
