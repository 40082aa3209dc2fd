// lane_sums_test.cpp: products of bytes whose lanes are summed in general registers, and what follows them in lanes.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/print.h"
#include "compiler/tir/verify.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using arith::Expr;

Target helium_target() {
  Target target;
  target.triple = "thumbv8.1m.main-unknown-none-eabihf";
  target.pointer_bits = 32;
  target.vector_bits = 128, target.vector_registers = 8, target.has_fma = true;
  return target;
}

using LaneOperands = std::vector<std::vector<std::byte>>;

LaneOperands random_lane_operands(const tir::PrimFunc& f) {
  std::mt19937 random(11);
  LaneOperands memory;
  for (const tir::Param& param : f.params) {
    int64_t bytes = param.buffer->dtype.bytes();
    for (Expr dim : param.buffer->shape) bytes *= *dim.constant();
    for (std::byte& byte : memory.emplace_back(static_cast<size_t>(bytes)))
      byte = random() % 3 == 0 ? std::byte{0x80} : static_cast<std::byte>(random());
  }
  return memory;
}

std::vector<std::byte> results_in_lanes(const tir::PrimFunc& f, LaneOperands memory) {
  std::vector<void*> addresses;
  for (auto& bytes : memory) addresses.push_back(bytes.data());
  REQUIRE(tir::make_interpreter()->run(f, addresses, {}));
  return memory.back();
}

/// Scheduled for Helium, the kernel gives the same; its steps.
std::string same_in_lanes(arith::Context& context, const tir::PrimFunc& f) {
  tir::PrimFunc scheduled = f;
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, scheduled, helium_target(), {f.params[1].buffer}, packed));
  INFO(tir::to_string(scheduled));
  REQUIRE(tir::first_fault(scheduled) == "");
  const LaneOperands memory = random_lane_operands(f);
  LaneOperands own = memory;
  for (const schedule::PackedParam& one : packed) own[1] = one.packing.apply(memory[1], one.param->dtype.bytes());
  CHECK(results_in_lanes(f, memory) == results_in_lanes(scheduled, own));
  return scheduled.schedule.steps;
}

bool has_step(const std::string& steps, const char* step) {
  return steps.find(step) != std::string::npos;
}

TEST_CASE("products of bytes are summed sixteen at a time, and what is left over eight at a time") {
  arith::Context context;
  const auto index = [&](int64_t v) { return context.index(v); };
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{1, 4, 16}, {5, 6, 64}, {3, 10, 40}, {7, 4, 27}, {9, 5, 43}, {2, 3, 8}}) {
    const auto product =
        testing::wide_matmul(context, index(m), index(n), index(k), DType::i(8), DType::i(8), DType::i(32));
    const std::string steps = same_in_lanes(context, product);
    INFO(steps);
    CHECK(has_step(steps, "tile_sums"));
    CHECK(has_step(steps, "pair_terms") == (k >= 16));
  }
}

TEST_CASE("short runs of a window are copied to one run before the columns that read them") {
  arith::Context context;
  const std::string first = same_in_lanes(context, testing::conv_of_bytes(context, 3, 9, 12, 3, 2, false));
  CHECK(has_step(first, "cache_read"));
  CHECK(has_step(first, "pair_terms"));
  const std::string later = same_in_lanes(context, testing::conv_of_bytes(context, 16, 7, 8, 3, 1, false));
  CHECK_FALSE(has_step(later, "cache_read"));
  CHECK(has_step(later, "tile_sums"));
  CHECK_FALSE(has_step(same_in_lanes(context, testing::conv_of_bytes(context, 16, 9, 16, 3, 2, true)), "tile_sums"));
}

TEST_CASE("what follows a tile of sums is done in lanes") {
  arith::Context context;
  testing::KernelWriter w(context);
  tir::Builder& b = w.b;
  const DType i32 = DType::i(32);
  auto index = [&](int64_t v) { return context.index(v); };
  tir::BufferRef x = w.param("x", {index(11), index(48)}, DType::i(8));
  tir::BufferRef weight = w.param("weight", {index(48), index(14)}, DType::i(8));
  tir::BufferRef bias = w.param("bias", {index(14)}, i32), y = w.param("y", {index(11), index(14)}, DType::i(8));
  tir::BufferRef sum = w.temporary("sum", {index(11), index(14)}, i32);
  w.add(b.reduce(sum, {index(48)}, context.zero(i32), [&](Expr own, const tir::Indices& i, const tir::Indices& r) {
    return own + arith::cast(i32, b.load(x, {i[0], r[0]})) * arith::cast(i32, b.load(weight, {r[0], i[1]}));
  }));
  w.add(b.compute(y, [&](const tir::Indices& i) {
    const Expr whole = b.load(sum, i) + b.load(bias, {i[1]});
    return arith::cast(DType::i(8), arith::min(arith::max(whole, context.imm(i32, -128)), context.imm(i32, 127)));
  }));
  CHECK(has_step(same_in_lanes(context, w.finish("quantized")), "tile_sums"));
}

}  // namespace
}  // namespace relaxc
