// one_pass.cpp: each optional pass over graphs, with no other one beside it, leaves random modules what they compute.
//
// Passes from lower_functions on are left to tests/property: they may check guards in another order, and so end with
// another code.
//
// Two bytes choose the pass, the others are the seed of a module (tests/property/random_module.h). Where all passes
// run, as in tests/property, some patterns never reach the pass that is tested, since an earlier one has changed them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>

#include "compiler/equivalence/semantics_check.h"
#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/pipeline/runner.h"
#include "compiler/relax/print.h"
#include "compiler/support/check.h"
#include "tests/property/random_module.h"

namespace {

using namespace relaxc;

/// Returns the names of all optional ones of the passes but one.
std::vector<std::string> others(std::span<const Pass> passes, size_t choice) {
  std::vector<std::string> names;
  for (const Pass& pass : passes)
    if (is_optional(pass, compile_pipeline())) names.emplace_back(pass.name);
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(choice % names.size()));
  return names;
}

void run(size_t choice, uint64_t seed) {
  static const relax::OpTable ops = ops::op_table();
  relax::Module module = property::random_module(seed, ops);
  const Target target;
  Diagnostics diag;
  interface::Object object;
  auto evaluator = tir::make_interpreter();
  PassContext context{ops, target, diag, *evaluator, 3, &object};
  // A pass may remove an operation whose result is unused, and an error of that operation with it. So the reference is
  // the module after dead_code.
  const std::span<const Pass> all = compile_pipeline();
  auto before = [&](std::string_view name) { return static_cast<size_t>(find_pass(name) - all.data()); };
  const std::span<const Pass> first = all.first(before("dead_code") + 1);
  if (!run_passes(first, module, context, {})) return;
  const std::string text = relax::to_string(module);
  equivalence::SemanticsCheck semantics(module, ops, [](tir::FindFunction find, tir::CallExternal external) {
    return tir::make_interpreter(std::move(find), std::move(external));
  });
  PassOptions options;
  const std::span<const Pass> graph = all.first(before("lower_functions"));
  options.disabled = others(graph, choice);
  options.check = [&](relax::Module& now) { return semantics.difference(now, object); };
  try {
    const bool ran = bool(run_passes(graph, module, context, options));
    RELAXC_CHECK(ran || diag.has_errors(), "a module is refused without a reason");
  } catch (const InternalError&) {
    std::cerr << text << std::endl;
    throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint16_t choice = 0;
  uint64_t seed = 0;
  std::memcpy(&choice, data, std::min(size, sizeof choice));
  if (size > sizeof choice) std::memcpy(&seed, data + sizeof choice, std::min(size - sizeof choice, sizeof seed));
  run(choice, seed % 1'000'000);
  return 0;
}
