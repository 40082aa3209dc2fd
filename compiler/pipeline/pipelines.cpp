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

/// Clean-ups after passes that leave dead code, and in addition constants to fold or operators to canonicalize.
constexpr std::string_view kDeadCode[] = {"dead_code"};
constexpr std::string_view kFolding[] = {"dead_code", "fold_constants"};
constexpr std::string_view kCanonicalForm[] = {"dead_code", "canonicalize"};
/// Recognized attention leaves permutations of keys that cancel each other.
constexpr std::string_view kJoinedMoves[] = {"canonicalize", "dead_code"};
/// Fused matmuls leave a concatenation of constant weights, which is folded.
constexpr std::string_view kJoinedWeights[] = {"canonicalize", "fold_constants"};
/// Dead matmuls of the wide dtype go first, since they still count as uses of their operands. Casts of weights fold.
constexpr std::string_view kNarrowOperands[] = {"dead_code", "canonicalize", "fold_constants", "common_subexpressions"};

constexpr Pass kCompile[] = {
    {.name = "infer_parameter_types", .run = infer_parameter_types},
    {.name = "infer", .run = infer, .gives = kTyped},
    {.name = "name_outputs", .run = name_outputs, .needs = kTyped},
    {.name = "dead_code", .run = dead_code},
    {.name = "resolve_closures", .run = resolve_closures, .needs = kTyped, .cleanups = kDeadCode},
    {.name = "call_codegen_functions", .run = call_codegen_functions, .needs = kTyped, .cleanups = kDeadCode},
    {.name = "tail_call_to_loop", .run = tail_call_to_loop, .needs = kTyped, .cleanups = kDeadCode},
    {.name = "split_tuples", .run = split_tuples, .needs = kTyped},
    {.name = "gradient", .run = gradient, .needs = kTyped, .cleanups = kDeadCode},
    {.name = "quantized_io", .run = quantized_io, .needs = kTyped, .options = kQuantizedIoOptions},
    {.name = "canonicalize_early", .run = canonicalize, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "fold_constants_early",
     .run = fold_constants_early,
     .needs = kTyped,
     .opt_level = 1,
     .cleanups = kDeadCode},
    {.name = "recognize_patterns", .run = recognize_patterns, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "recognize_attention",
     .run = recognize_attention,
     .needs = kTyped,
     .opt_level = 1,
     .cleanups = kJoinedMoves},
    {.name = "recognize_grouped_queries",
     .run = recognize_grouped_queries,
     .needs = kTyped,
     .opt_level = 1,
     .cleanups = kJoinedMoves},
    {.name = "recognize_rotary", .run = recognize_rotary, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "match_external_patterns", .run = match_external_patterns, .needs = kTyped, .cleanups = kDeadCode},
    {.name = "expand_ops", .run = expand_ops, .needs = kTyped},
    {.name = "canonicalize", .run = canonicalize, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "recognize_quantization",
     .run = recognize_quantization,
     .needs = kTyped,
     .opt_level = 1,
     .cleanups = kCanonicalForm},
    {.name = "fold_constants",
     .run = fold_constants,
     .needs = kTyped,
     .opt_level = 1,
     .options = kFoldConstantsOptions,
     .cleanups = kDeadCode},
    {.name = "fold_branches", .run = fold_branches, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "fold_padding", .run = fold_padding, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "reorder_matmul_chain",
     .run = reorder_matmul_chain,
     .needs = kTyped,
     .opt_level = 1,
     .cleanups = kFolding},
    {.name = "reduce_strength", .run = reduce_strength, .needs = kTyped, .opt_level = 1, .cleanups = kDeadCode},
    {.name = "fold_scales", .run = fold_scales, .needs = kTyped, .opt_level = 1},
    {.name = "hoist_invariants", .run = hoist_invariants, .needs = kTyped, .opt_level = 1},
    {.name = "common_subexpressions",
     .run = common_subexpressions,
     .needs = kTyped,
     .opt_level = 1,
     .cleanups = kDeadCode},
    {.name = "fuse_horizontal_matmuls",
     .run = fuse_horizontal_matmuls,
     .needs = kTyped,
     .opt_level = 1,
     .options = kFuseHorizontalMatmulsOptions,
     .cleanups = kJoinedWeights},
    {.name = "mixed_precision",
     .run = mixed_precision,
     .needs = kTyped,
     .opt_level = 1,
     .options = kMixedPrecisionOptions,
     .cleanups = kNarrowOperands},
    {.name = "lift_transform_params",
     .run = lift_transform_params,
     .needs = kTyped,
     .options = kLiftTransformParamsOptions,
     .cleanups = kDeadCode},
    {.name = "fixed_point_quantization",
     .run = fixed_point_quantization,
     .needs = kTyped,
     .opt_level = 1,
     .options = kFixedPointQuantizationOptions,
     .cleanups = kDeadCode},
    {.name = "rows_first",
     .run = rows_first,
     .needs = kTyped,
     .opt_level = 1,
     .options = kStreamRowsOptions,
     .cleanups = kNarrowOperands},
    {.name = "stream_rows",
     .run = stream_rows,
     .needs = kTyped,
     .opt_level = 1,
     .options = kStreamRowsOptions,
     .cleanups = kDeadCode},
    {.name = "legalize", .run = legalize, .needs = kTyped, .gives = kLegal},
    {.name = "fuse_ops",
     .run = fuse_ops,
     .needs = kTyped | kLegal,
     .gives = kFused,
     .opt_level = 1,
     .options = kFuseOpsOptions,
     .cleanups = kDeadCode},
    {.name = "horizontal_fusion",
     .run = horizontal_fusion,
     .needs = kTyped | kLegal,
     .opt_level = 1,
     .options = kHorizontalFusionOptions,
     .cleanups = kDeadCode},
    {.name = "unswitch_broadcasts",
     .run = unswitch_broadcasts,
     .needs = kTyped | kLegal,
     .opt_level = 2,
     .options = kUnswitchBroadcastsOptions,
     .cleanups = kDeadCode},
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
     .options = kScheduleKernelsOptions,
     .cleanups = kDeadCode},
    {.name = "deduplicate_scheduled_kernels",
     .run = deduplicate_scheduled_kernels,
     .needs = kLegal,
     .opt_level = 1,
     .options = kDeduplicateScheduledKernelsOptions},
    {.name = "limit_unrolling", .run = limit_unrolling, .needs = kLegal},
    {.name = "hoist_scratch", .run = hoist_scratch, .needs = kLegal},
    {.name = "copy_rows", .run = copy_rows, .needs = kLegal, .opt_level = 1},
    {.name = "mark_overlaps", .run = mark_overlaps, .needs = kLegal, .opt_level = 1},
    {.name = "lower_functions", .run = lower_functions, .needs = kTyped | kLegal, .gives = kLowered},
    {.name = "schedule_calls_for_memory", .run = schedule_calls_for_memory, .needs = kLowered, .opt_level = 1},
    {.name = "plan_memory", .run = plan_memory, .needs = kLowered, .gives = kPlanned},
    {.name = "lower_scalar_math", .run = lower_scalar_math, .gives = kScalarMath},
    {.name = "bound_kernel_dims", .run = bound_kernel_dims, .needs = kPlanned, .opt_level = 1},
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
static_assert(well_ordered(kCompile), "a pass comes before one that gives what it needs");

constexpr const Pass* row_named(std::string_view name) {
  for (const Pass& pass : kCompile)
    if (pass.name == name) return &pass;
  return nullptr;
}

/// Whether `cleanup` is allowed after `pass` at every level, and its own clean-ups have no further clean-ups.
constexpr bool may_clean_up(const Pass& cleanup, const Pass& pass) {
  if (cleanup.gives != kNone || cleanup.breaks != kNone || cleanup.opt_level > pass.opt_level) return false;
  if ((cleanup.needs & (pass.needs | pass.gives)) != cleanup.needs) return false;
  for (std::string_view name : cleanup.cleanups)
    if (row_named(name) == nullptr || !row_named(name)->cleanups.empty()) return false;
  return true;
}

constexpr bool cleanups_fit() {
  for (const Pass& pass : kCompile)
    for (std::string_view name : pass.cleanups)
      if (row_named(name) == nullptr || !may_clean_up(*row_named(name), pass)) return false;
  return true;
}
static_assert(cleanups_fit(), "a clean-up is not a row, or needs what does not hold after its pass");

/// Names of passes in earlier versions, which flags still accept.
constexpr std::pair<std::string_view, std::string_view> kFormerNames[] = {
    {"adopt_casts", "infer_parameter_types"},     {"loop_recursion", "tail_call_to_loop"},
    {"order_products", "reorder_matmul_chain"},   {"merge_products", "fuse_horizontal_matmuls"},
    {"fuse_siblings", "horizontal_fusion"},       {"merge_kernels", "deduplicate_kernels"},
    {"order_calls", "schedule_calls_for_memory"},
};

}  // namespace

std::span<const Pass> compile_pipeline() {
  return kCompile;
}

const Pass* find_pass(std::string_view name) {
  return row_named(name);
}

std::string current_name(std::string_view name) {
  const size_t end = std::min(name.find('.'), name.size());
  for (const auto& [former, current] : kFormerNames)
    if (former == name.substr(0, end)) return std::string(current) + std::string(name.substr(end));
  return std::string(name);
}

}  // namespace relaxc
