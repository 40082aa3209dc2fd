// scheduled_conv.h: convolutions before and after their schedule, and whether both compute the same.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "compiler/arith/visit.h"
#include "compiler/schedule/kernel.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/verify.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc::testing {

struct Scheduled {
  tir::PrimFunc before, after;
  std::vector<schedule::PackedParam> packed = {};
};

/// A convolution with constant weights and its consumer.
inline Scheduled scheduled(arith::Context& context, const Target& target, const ConvShape& shape) {
  Scheduled made{conv(context, shape, true), {}};
  made.before.is_private = true;
  made.after = made.before;
  REQUIRE(schedule::schedule_kernel(context, made.after, target, {made.before.params[1].buffer}, made.packed));
  REQUIRE(tir::first_fault(made.after) == "");
  return made;
}

/// Runs both on small integers, of which sums are exact in any order.
///
/// \param symbols  values of the open dims
inline void check_same_numbers(const Scheduled& made, const std::vector<int64_t>& symbols) {
  arith::Substitution values;
  for (size_t i = 0; i < symbols.size(); ++i)
    values[made.before.symbols[i]] = made.before.symbols[i].context().index(symbols[i]);
  std::mt19937 random(5);
  std::vector<std::vector<float>> memory;
  for (const tir::Param& param : made.before.params) {
    int64_t count = 1;
    for (Expr dim : param.buffer->shape) count *= *arith::simplify(arith::substitute(dim, values)).constant();
    for (float& x : memory.emplace_back(static_cast<size_t>(count))) x = static_cast<float>(random() % 9) - 4;
  }
  auto after = memory;
  REQUIRE(made.packed.size() == 1);
  const auto bytes = made.packed[0].packing.apply(std::as_bytes(std::span<const float>(after[1])), sizeof(float));
  after[1].resize(bytes.size() / sizeof(float));
  std::memcpy(after[1].data(), bytes.data(), bytes.size());
  const auto run = [&](const tir::PrimFunc& f, std::vector<std::vector<float>>& on) {
    std::vector<void*> buffers;
    for (auto& one : on) buffers.push_back(one.data());
    REQUIRE(tir::make_interpreter()->run(f, buffers, symbols));
  };
  run(made.before, memory), run(made.after, after);
  CHECK(memory.back() == after.back());
}

}  // namespace relaxc::testing
