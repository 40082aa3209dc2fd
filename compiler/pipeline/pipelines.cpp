// pipelines.cpp: the order of the passes. This list IS the order; what each needs, gives and breaks is checked when
// relaxc is compiled.
#include "compiler/pipeline/pipelines.h"

#include <algorithm>
#include <utility>

#include "compiler/pipeline/name_outputs.h"
#include "compiler/pipeline/schedule_kernels.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

constexpr Pass kCompile[] = {
    {.name = "infer_parameter_types", .run = infer_parameter_types},
    {.name = "infer", .run = infer, .gives = kTyped},
    {.name = "name_outputs", .run = name_outputs, .needs = kTyped},
    {.name = "dead_code", .run = dead_code},
    {.name = "resolve_closures", .run = resolve_closures, .needs = kTyped},
    {.name = "tail_call_to_loop", .run = tail_call_to_loop, .needs = kTyped},
    {.name = "split_tuples", .run = split_tuples, .needs = kTyped},
    {.name = "quantized_io", .run = quantized_io, .needs = kTyped, .options = kQuantizedIoOptions},
    {.name = "recognize_patterns", .run = recognize_patterns, .needs = kTyped, .opt_level = 1},
    {.name = "recognize_attention", .run = recognize_attention, .needs = kTyped, .opt_level = 1},
    {.name = "recognize_rotary", .run = recognize_rotary, .needs = kTyped, .opt_level = 1},
    {.name = "expand_ops", .run = expand_ops, .needs = kTyped},
    {.name = "canonicalize", .run = canonicalize, .needs = kTyped, .opt_level = 1},
    {.name = "recognize_quantization", .run = recognize_quantization, .needs = kTyped, .opt_level = 1},
    {.name = "fold_constants",
     .run = fold_constants,
     .needs = kTyped,
     .opt_level = 1,
     .options = kFoldConstantsOptions},
    {.name = "fold_branches", .run = fold_branches, .needs = kTyped, .opt_level = 1},
    {.name = "fold_padding", .run = fold_padding, .needs = kTyped, .opt_level = 1},
    {.name = "reorder_matmul_chain", .run = reorder_matmul_chain, .needs = kTyped, .opt_level = 1},
    {.name = "reduce_strength", .run = reduce_strength, .needs = kTyped, .opt_level = 1},
    {.name = "fold_scales", .run = fold_scales, .needs = kTyped, .opt_level = 1},
    {.name = "hoist_invariants", .run = hoist_invariants, .needs = kTyped, .opt_level = 1},
    {.name = "common_subexpressions", .run = common_subexpressions, .needs = kTyped, .opt_level = 1},
    {.name = "fuse_horizontal_matmuls",
     .run = fuse_horizontal_matmuls,
     .needs = kTyped,
     .opt_level = 1,
     .options = kFuseHorizontalMatmulsOptions},
    {.name = "mixed_precision",
     .run = mixed_precision,
     .needs = kTyped,
     .opt_level = 1,
     .options = kMixedPrecisionOptions},
    {.name = "legalize", .run = legalize, .needs = kTyped, .gives = kLegal},
    {.name = "fuse_ops",
     .run = fuse_ops,
     .needs = kTyped | kLegal,
     .gives = kFused,
     .opt_level = 1,
     .options = kFuseOpsOptions},
    {.name = "horizontal_fusion",
     .run = horizontal_fusion,
     .needs = kTyped | kLegal,
     .opt_level = 1,
     .options = kHorizontalFusionOptions},
    {.name = "deduplicate_kernels",
     .run = deduplicate_kernels,
     .needs = kLegal,
     .opt_level = 1,
     .options = kDeduplicateKernelsOptions},
    {.name = "mark_in_place", .run = mark_in_place, .needs = kLegal, .opt_level = 1},
    {.name = "schedule_kernels",
     .run = schedule_kernels,
     .needs = kLegal,
     .gives = kScheduled,
     .opt_level = 1,
     .options = kScheduleKernelsOptions},
    {.name = "hoist_scratch", .run = hoist_scratch, .needs = kLegal},
    {.name = "lower_functions", .run = lower_functions, .needs = kTyped | kLegal, .gives = kLowered},
    {.name = "order_calls", .run = order_calls, .needs = kLowered, .opt_level = 1},
    {.name = "plan_memory", .run = plan_memory, .needs = kLowered, .gives = kPlanned},
    {.name = "lower_scalar_math", .run = lower_scalar_math, .gives = kScalarMath},
    {.name = "list_functions", .run = list_functions, .needs = kPlanned},
};

template <size_t N>
constexpr bool well_ordered(const Pass (&passes)[N]) {
  uint32_t holds = kNone;
  for (const Pass& pass : passes) {
    if ((pass.needs & holds) != pass.needs) return false;
    holds = (holds & ~static_cast<uint32_t>(pass.breaks)) | pass.gives;
  }
  return true;
}
static_assert(well_ordered(kCompile), "a pass stands before one that gives what it needs");

/// Spellings of earlier versions, which flags still take.
constexpr std::pair<std::string_view, std::string_view> kFormerNames[] = {
    {"adopt_casts", "infer_parameter_types"},   {"loop_recursion", "tail_call_to_loop"},
    {"order_products", "reorder_matmul_chain"}, {"merge_products", "fuse_horizontal_matmuls"},
    {"fuse_siblings", "horizontal_fusion"},     {"merge_kernels", "deduplicate_kernels"},
};

}  // namespace

std::span<const Pass> compile_pipeline() {
  return kCompile;
}

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kCompile)
    if (pass.name == name) return &pass;
  return nullptr;
}

std::string current_name(std::string_view name) {
  const size_t end = std::min(name.find('.'), name.size());
  for (const auto& [former, current] : kFormerNames)
    if (former == name.substr(0, end)) return std::string(current) + std::string(name.substr(end));
  return std::string(name);
}

}  // namespace relaxc
