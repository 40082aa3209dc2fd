// The table of strategies, and what it tells about a kernel.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>

#include "compiler/schedule/kernel.h"
#include "compiler/schedule/strategies/strategy.h"
#include "tests/unit/schedule/kernels.h"

namespace relaxc {
namespace {

using schedule::Strategy;

constexpr std::string_view kHead = "| stage | priority | strategy | |\n|---|---|---|---|\n";

std::string table_of_strategies() {
  std::string text(kHead);
  for (const Strategy& row : schedule::strategies())
    text += "| " + std::string(to_text(row.stage)) + " | " + std::to_string(row.priority) + " | `" +
            std::string(row.name) + "` | " + std::string(row.doc) + " |\n";
  return text;
}

TEST_CASE("the page of schedules lists the strategies") {
  const std::string path = std::string(RELAXC_SOURCE_DIR) + "/docs/schedules.md";
  std::string page;
  {
    std::ifstream file(path);
    page.assign(std::istreambuf_iterator<char>(file), {});
  }
  const size_t begin = page.find(kHead), end = page.find("\n\n", begin) + 1;
  REQUIRE(begin != std::string::npos);
  if (std::getenv("RELAXC_UPDATE") != nullptr) {
    std::ofstream(path) << page.substr(0, begin) + table_of_strategies() + page.substr(end);
    return;
  }
  INFO("RELAXC_UPDATE=1 unit_schedule rewrites the table in " << path);
  CHECK(page.substr(begin, end - begin) == table_of_strategies());
}

TEST_CASE("strategies have names of their own, and a priority is shared by those that give an estimate") {
  std::set<std::string_view> names;
  for (const Strategy& row : schedule::strategies()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.propose != nullptr);
    CHECK_FALSE(row.doc.empty());
  }
  const std::span<const Strategy> all = schedule::strategies();
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].stage == all[i - 1].stage && all[i].priority == all[i - 1].priority)
      CHECK(all[i].stage == schedule::Stage::kLanes);
}

TEST_CASE("the weight of a 1x1 convolution over an image of open size is read again where the second level holds it") {
  arith::Context context;
  const auto reads_again = [&](int64_t channels) {
    const testing::ConvShape shape{
        .c = channels, .out = 128, .kernel = 1, .pad = 0, .open_rows = true, .open_columns = true};
    tir::PrimFunc f = testing::conv(context, shape, true);
    std::vector<schedule::PackedParam> packed;
    REQUIRE(schedule::schedule_kernel(context, f, testing::wide_target(), {f.params[1].buffer}, packed));
    return f.schedule.steps.find("scalar_replace sum i1 drop") != std::string::npos;  // channels are inside
  };
  CHECK(reads_again(300));  // of few channels panels are copied
  CHECK_FALSE(reads_again(640));
}

TEST_CASE("a copy whose scalars are read has no more places in a row than the filter reads") {
  arith::Context context;
  Target target = testing::wide_target();
  target.vector_bits = 256, target.vector_registers = 16;
  tir::PrimFunc f = testing::conv(context, {.c = 64, .h = 14, .w = 14, .out = 128, .stride = 2}, true);
  std::vector<schedule::PackedParam> packed;
  REQUIRE(schedule::schedule_kernel(context, f, target, {f.params[1].buffer}, packed));
  std::string rows;
  tir::for_each_stmt(f.body, [&](tir::Stmt s) {
    const auto* alloc = s.as<tir::Alloc>();
    if (alloc != nullptr && alloc->buffer->name == "window") rows = to_string(alloc->buffer->shape.back());
  });
  CHECK(rows == "8");  // of two phases: columns -1 to 13
}

/// What was asked about the kernel, part by part.
schedule::KernelExplanation explained(arith::Context& context, tir::PrimFunc kernel, const Target& target,
                                      const schedule::ScheduleOptions& options = {}) {
  std::vector<schedule::PackedParam> packed;
  schedule::KernelExplanation explanation;
  schedule::schedule_kernel(context, kernel, target, {}, packed, {}, options, &explanation);
  return explanation;
}

/// The answer of a strategy; null: it was not asked.
const schedule::Considered* answer_of(const schedule::KernelExplanation& explanation, std::string_view strategy) {
  for (const schedule::PartExplanation& part : explanation.parts)
    for (const schedule::Considered& one : part.considered)
      if (one.strategy == strategy) return &one;
  return nullptr;
}

TEST_CASE("an explanation has the plan that was taken, and of all others a reason") {
  arith::Context context;
  const auto number = [&](int64_t n) { return context.index(n); };
  const tir::PrimFunc product = testing::matmul(context, {}, number(64), number(96), number(32), false, false);
  const schedule::KernelExplanation told = explained(context, product, testing::wide_target());
  const schedule::Considered* tile = answer_of(told, "gemm_tile");
  REQUIRE(tile != nullptr);
  CHECK(tile->taken);
  CHECK(tile->cycles > 0);
  CHECK(tile->plan.find("vectors along") == 0);
  const schedule::Considered* winograd = answer_of(told, "winograd");
  REQUIRE(winograd != nullptr);
  CHECK_FALSE(winograd->taken);
  CHECK(winograd->reason.find("not a convolution") != std::string::npos);
  for (const schedule::PartExplanation& part : told.parts)
    for (const schedule::Considered& one : part.considered) {
      INFO(one.strategy);
      CHECK((one.taken || !one.reason.empty()));
      CHECK((!one.taken || !one.plan.empty()));
    }
  CHECK(to_text(told).find("gemm_tile              taken: vectors along") != std::string::npos);
}

TEST_CASE("of two strategies of the same priority the one of fewer cycles is taken") {
  arith::Context context;
  const auto number = [&](int64_t n) { return context.index(n); };
  for (bool transposed : {false, true}) {
    const tir::PrimFunc product = testing::matmul(context, {}, number(64), number(96), number(32), transposed, false);
    const schedule::KernelExplanation told = explained(context, product, testing::wide_target());
    const schedule::Considered *tile = answer_of(told, "gemm_tile"), *lanes = answer_of(told, "reduction_in_lanes");
    REQUIRE((tile != nullptr || lanes != nullptr));
    CHECK((lanes != nullptr && lanes->taken) == transposed);
    CHECK((tile != nullptr && tile->taken) != transposed);
  }
}

TEST_CASE("terms go into lanes only where they fill them") {
  arith::Context context;
  for (const int64_t columns : {3, 7}) {
    // One window a row, so that no axis of the result has vectors; its terms are fewer than the lanes, or more.
    tir::PrimFunc f =
        testing::pool(context, context.index(2),
                      {.c = 1, .h = 22, .w = columns + 1, .kernel = columns, .stride = columns}, false, false);
    std::vector<schedule::PackedParam> packed;
    schedule::schedule_kernel(context, f, testing::narrow_target(), {}, packed);
    INFO(f.schedule.steps);
    CHECK((f.schedule.steps.find("reduce_in_lanes") != std::string::npos) == (columns > 4));
  }
}

TEST_CASE("a target without vectors sums in scalars, several that share operands together") {
  arith::Context context;
  const auto number = [&](int64_t n) { return context.index(n); };
  Target scalar;
  scalar.vector_bits = 0;
  schedule::ScheduleOptions options;
  const auto taken = [&](const tir::PrimFunc& product, const char* strategy) {
    const schedule::KernelExplanation told = explained(context, product, scalar, options);
    const schedule::Considered* answer = answer_of(told, strategy);
    return answer != nullptr && answer->taken;
  };
  CHECK(taken(testing::matmul(context, {}, number(4), number(5), number(6), false, false), "scalar_tile"));
  const arith::Expr m = context.var("m"), n = context.var("n");
  CHECK(taken(testing::matmul(context, {}, m, n, number(6), false, false), "scalars"));
  options.small = true;
  CHECK(taken(testing::matmul(context, {}, number(4), number(5), number(6), false, false), "scalar_tile"));
  scalar.triple = "riscv32-unknown-none-elf";  // which calls a function for each product and sum: tiles gain nothing
  scalar.features = "+m";
  CHECK(taken(testing::matmul(context, {}, number(4), number(5), number(6), false, false), "scalars"));
  scalar.features = "+m,+f";
  CHECK(taken(testing::matmul(context, {}, number(4), number(5), number(6), false, false), "scalar_tile"));
  options.smallest = true;  // where a tile is more code
  CHECK(taken(testing::matmul(context, {}, number(4), number(5), number(6), false, false), "scalars"));
}

}  // namespace
}  // namespace relaxc
