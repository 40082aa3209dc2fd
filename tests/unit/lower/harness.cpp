#include "tests/unit/lower/harness.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "compiler/equivalence/entry_call.h"
#include "compiler/ops/op_table.h"
#include "compiler/pipeline/runner.h"
#include "compiler/pipeline/schedule_kernels.h"
#include "compiler/tir/print.h"
#include "compiler/transform/passes.h"
#include "frontends/relax/parser.h"

namespace relaxc::test {

using namespace equivalence;
namespace {

constexpr std::string_view kDeadCode[] = {"dead_code"};

constexpr Pass kPasses[] = {
    {.name = "infer_parameter_types", .run = infer_parameter_types},
    {.name = "infer", .run = infer},
    {.name = "dead_code", .run = dead_code},
    {.name = "tail_call_to_loop", .run = tail_call_to_loop, .cleanups = kDeadCode},
    {.name = "expand_ops", .run = expand_ops, .cleanups = kDeadCode},
    {.name = "legalize", .run = legalize, .cleanups = kDeadCode},
    {.name = "fuse_ops", .run = fuse_ops, .cleanups = kDeadCode},
    {.name = "mark_in_place", .run = mark_in_place},
    {.name = "hoist_scratch", .run = hoist_scratch},
    {.name = "lower_functions", .run = lower_functions},
    {.name = "plan_memory", .run = plan_memory},
};

constexpr Pass kSmallPasses[] = {
    {.name = "infer_parameter_types", .run = infer_parameter_types},
    {.name = "infer", .run = infer},
    {.name = "legalize", .run = legalize, .cleanups = kDeadCode},
    {.name = "fuse_ops", .run = fuse_ops, .cleanups = kDeadCode},
    {.name = "dead_code", .run = dead_code},
    {.name = "mark_in_place", .run = mark_in_place},
    {.name = "schedule_kernels", .run = schedule_kernels, .cleanups = kDeadCode},
    {.name = "hoist_scratch", .run = hoist_scratch},
    {.name = "copy_rows", .run = copy_rows},
    {.name = "mark_overlaps", .run = mark_overlaps},
    {.name = "lower_functions", .run = lower_functions},
    {.name = "plan_memory", .run = plan_memory},
};

Ended ended(Outcome outcome) {
  if (const auto* fault = std::get_if<relax::RunFault>(&outcome)) {
    UNSCOPED_INFO(fault->text);
    return {fault->status.code, {}};
  }
  return {0, std::get<std::vector<HostTensor>>(std::move(outcome))};
}

}  // namespace

Program::Program(std::string text, std::vector<std::string> state, Target target)
    : text_(std::move(text)), state_(std::move(state)), target_(std::move(target)) {
  original_ = parse();
  lowered_ = parse();
  if (!lowered_) return;
  for (const std::string& pair : state_) {
    relax::Function& main = *lowered_->find_function("main");
    main.states.push_back(*relax::parse_state(pair, main));
  }
  relax::OpTable table = ops::op_table();
  auto evaluator = tir::make_interpreter();
  PassContext context{table, target_, diag_, *evaluator, 2, &object_};
  const std::span<const Pass> passes = target_.pointer_bits == 32 ? std::span<const Pass>(kSmallPasses) : kPasses;
  static_cast<void>(bool(run_passes(passes, *lowered_, context, {})));
}

std::optional<relax::Module> Program::parse() {
  relax::OpTable table = ops::op_table();
  Result<relax::Module> module = frontend::parse_module("test.relax", text_, table, diag_);
  return module ? std::optional(std::move(*module)) : std::nullopt;
}

std::string Program::messages() const {
  std::string all;
  for (const Diagnostic& d : diag_.all()) all += std::string(kind_name(d.kind)) + ": " + d.text + "\n";
  return all;
}

Ended Program::interpreted(const std::vector<HostTensor>& inputs) const {
  return ended(interpret(const_cast<relax::Module&>(*original_), ops::op_table(), *original_->find_function("main"),
                         inputs, external));
}

Ended Program::lowered(const std::vector<HostTensor>& inputs, std::optional<int64_t> capacity, bool in_place) const {
  auto evaluator = tir::make_interpreter(
      [&](const std::string& name) -> const tir::PrimFunc* { return lowered_->find_prim_func(name); }, external);
  return ended(call_entry(*lowered_, object_, entry(), inputs, *evaluator, {capacity, in_place}));
}

uint64_t Program::arena_bytes(const std::vector<int64_t>& symbols) const {
  auto evaluator = tir::make_interpreter();
  int64_t bytes = 0;
  std::vector<void*> to{&bytes};
  REQUIRE(evaluator->run(*lowered_->find_prim_func(entry().arena), to, symbols).code == 0);
  return static_cast<uint64_t>(bytes);
}

std::string Program::text_of(const std::string& name) const {
  const tir::PrimFunc* function = lowered_->find_prim_func(name);
  return function == nullptr ? "" : tir::to_string(*function);
}

void check_same(const Program& program, const std::vector<HostTensor>& inputs) {
  Ended expected = program.interpreted(inputs), found = program.lowered(inputs);
  INFO(program.text_of(program.entry().call));
  REQUIRE(expected.code == 0);
  REQUIRE(found.code == 0);
  REQUIRE(expected.outputs.size() == found.outputs.size());
  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    CHECK(expected.outputs[i].dtype == found.outputs[i].dtype);
    CHECK(expected.outputs[i].shape == found.outputs[i].shape);
    CHECK(expected.outputs[i].bytes == found.outputs[i].bytes);
  }
}

}  // namespace relaxc::test
