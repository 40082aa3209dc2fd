// passes.h: every pass, declared once; pipeline/pipelines.cpp puts them in order.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

inline constexpr PassOption kFoldBudget{"fold_constants.budget", 64 * 1024, 0,
                                        "bytes of a result that may always be stored; more only if it replaces more"};
inline constexpr PassOption kFoldLarge{"fold_constants.large", 16 * 1024 * 1024, 0,
                                       "most bytes of a result that is stored because it takes long to compute"};
inline constexpr PassOption kFoldConstantsOptions[] = {kFoldBudget, kFoldLarge};
inline constexpr PassOption kFuseHorizontalMatmulsBudget{"fuse_horizontal_matmuls.budget", 16 * 1024 * 1024, 0,
                                                         "most bytes of the weights of one merged product"};
inline constexpr PassOption kFuseHorizontalMatmulsOptions[] = {kFuseHorizontalMatmulsBudget};
inline constexpr PassOption kDeduplicateSizes{"deduplicate_kernels.sizes", 0, 0,
                                              "most sizes that a kernel is handed instead of being several; 0: none"};
inline constexpr PassOption kDeduplicateKernelsOptions[] = {kDeduplicateSizes};
inline constexpr PassOption kDeduplicateScheduledSizes{"deduplicate_scheduled_kernels.sizes", 0, 0,
                                                       "most sizes that a scheduled kernel is handed; 0: none"};
inline constexpr PassOption kDeduplicateScheduledKernelsOptions[] = {kDeduplicateScheduledSizes};
inline constexpr PassOption kMixedPrecisionDType{"mixed_precision.dtype", 0, 0,
                                                 "of operands of products: 0 as they are, 1 float16, 2 bfloat16"};
inline constexpr PassOption kMixedPrecisionOptions[] = {kMixedPrecisionDType};
inline constexpr PassOption kQuantizedIo{"quantized_io.on", 0, 0,
                                         "1: inputs and outputs that are quantized stay integers"};
inline constexpr PassOption kQuantizedIoOptions[] = {kQuantizedIo};
inline constexpr PassOption kLiftTransformParams{
    "lift_transform_params.on", 0, 0,
    "1: what depends on weights of the caller alone is a function that it calls once"};
inline constexpr PassOption kLiftTransformParamsOptions[] = {kLiftTransformParams};
inline constexpr PassOption kStreamRowsBudget{"stream_rows.budget", 0, 0,
                                              "bytes of tensors of a block at one time; 0: any. --ram-budget sets it"};
inline constexpr PassOption kStreamRowsOptions[] = {kStreamRowsBudget};
inline constexpr PassOption kFuseMembers{"fuse_ops.members", 64, 1, "most operators of one kernel"};
inline constexpr PassOption kFuseOpsOptions[] = {kFuseMembers};
inline constexpr PassOption kHorizontalFusionTensors{"horizontal_fusion.tensors", 16, 2,
                                                     "most tensors that a kernel of several results reads and writes"};
inline constexpr PassOption kHorizontalFusionOptions[] = {kHorizontalFusionTensors};
inline constexpr PassOption kUnswitchBroadcasts{
    "unswitch_broadcasts.on", 1, 0, "0: kernels that broadcast open dims have no second form without conditions"};
inline constexpr PassOption kUnswitchBroadcastsOptions[] = {kUnswitchBroadcasts};

inline constexpr PassOption kFixedPointEverywhere{
    "fixed_point_quantization.everywhere", 0, 0,
    "1: on every target without vectors also where results next to a tie may differ from those of float32"};
inline constexpr PassOption kFixedPointByChannel{
    "fixed_point_quantization.by_channel", 1, 0,
    "0: no kernel has both forms, for the channels where integers give the results of float32 and for the others"};
inline constexpr PassOption kFixedPointQuantizationOptions[] = {kFixedPointEverywhere, kFixedPointByChannel};

// graph/: passes on Relax functions. Passes may leave ops that nothing uses any more; the rows of the pipeline name the
// clean-ups that run after them.

/// Gives parameters of unknown shape or dtype the type that their match_cast asks for. Before infer.
Result<Changed> infer_parameter_types(relax::Module&, PassContext&);
/// Deduces the struct info of every value again, in order. Gives kTyped. Reports what does not fit.
Result<Changed> infer(relax::Module&, PassContext&);
/// Replaces every use of a function as a value by calls of functions of the module. Reports functions in the interface
/// of a public one, and recursion that wraps a new function around the last in each call. Needs kTyped.
Result<Changed> resolve_closures(relax::Module&, PassContext&);
/// Turns functions that call themselves or each other in tail position into loops. Needs kTyped.
Result<Changed> tail_call_to_loop(relax::Module&, PassContext&);
/// Splits tuples that branches yield and loops carry into their fields. Needs kTyped.
Result<Changed> split_tuples(relax::Module&, PassContext&);
/// For each function that asks for it (Function::gradient), adds a function NAME_adjoint, which returns what the
/// function returns and, as a tuple, the derivatives of one of these, a float scalar, by parameters: reverse-mode
/// differentiation, as relax.transform.Gradient of TVM. Reports every op on the way that has no derivative. Needs
/// kTyped.
Result<Changed> gradient(relax::Module&, PassContext&);
/// If the option is set, replaces float inputs that are only quantized, and float outputs that are only dequantized, by
/// integers, and records scales and zero points in the function's attribute "quantized". Reports functions without any.
/// Needs kTyped.
Result<Changed> quantized_io(relax::Module&, PassContext&);
/// Replaces groups of small operators, as exporters write them, by the one operator that they compute: norms,
/// activations, softmax.
/// Rounds differently. Needs kTyped.
Result<Changed> recognize_patterns(relax::Module&, PassContext&);
/// Replaces two products with a softmax in between, as many exporters write attention, by the operator for it. Rounds
/// differently. Needs kTyped.
Result<Changed> recognize_attention(relax::Module&, PassContext&);
/// Replaces attention over keys and values that are repeated for groups of heads by attention over those that the
/// groups share. Changes no bit. Needs kTyped.
Result<Changed> recognize_grouped_queries(relax::Module&, PassContext&);
/// Replaces the small operators that exporters write for rotary embeddings by `nn.rotary_embedding`. Changes no bit.
/// Needs kTyped.
Result<Changed> recognize_rotary(relax::Module&, PassContext&);
/// Replaces functions with an attribute Codegen or Composite by calls of external functions, or moves their bodies
/// into their callers, as the rows of PassContext::external_patterns say. Remarks on functions without a row. Needs
/// kTyped.
Result<Changed> call_codegen_functions(relax::Module&, PassContext&);
/// Replaces groups of operators by calls of external functions, as the rows of PassContext::external_patterns say.
/// Remarks on rows that match nothing. Needs kTyped.
Result<Changed> match_external_patterns(relax::Module&, PassContext&);
/// Replaces every operator that has an expansion by the operators of its expansion.
Result<Changed> expand_ops(relax::Module&, PassContext&);
/// Removes ops that do nothing and joins neighbouring ones: reshapes, transposes, casts, slices, tuples.
Result<Changed> canonicalize(relax::Module&, PassContext&);
/// Replaces an If whose condition is known by the branch that is taken. Needs kTyped.
Result<Changed> fold_branches(relax::Module&, PassContext&);
/// Moves zeros that a pad adds around a convolution's data into the convolution's own padding. Needs kTyped.
Result<Changed> fold_padding(relax::Module&, PassContext&);
/// Moves constant scales around convolutions and matmuls into their weights. Rounds differently. Needs kTyped.
Result<Changed> fold_scales(relax::Module&, PassContext&);
/// Replaces operators by cheaper ones, such as powers by products. Rounds differently. Needs kTyped.
Result<Changed> reduce_strength(relax::Module&, PassContext&);
/// Multiplies chains of matrices in the order that provably multiplies least. Rounds differently. Needs kTyped.
Result<Changed> reorder_matmul_chain(relax::Module&, PassContext&);
/// Merges common subexpressions. Needs kTyped.
Result<Changed> common_subexpressions(relax::Module&, PassContext&);
/// Moves loop-invariant ops before the loop. Needs kTyped.
Result<Changed> hoist_invariants(relax::Module&, PassContext&);
/// Evaluates operators whose operands are all constant, within a size budget.
Result<Changed> fold_constants(relax::Module&, PassContext&);
/// Does the same, except for operators that widen integers of 8 bits or less.
Result<Changed> fold_constants_early(relax::Module&, PassContext&);
/// On targets without vectors, computes quantizations of integers by multiplications and shifts if they give the same
/// results as float32, and without a floating-point unit always (results next to a tie may differ). Needs kTyped.
Result<Changed> fixed_point_quantization(relax::Module&, PassContext&);
/// If stream_rows has a budget, replaces convolutions and pools of floats by those of [1, H, C, W], whose rows are
/// contiguous, with permutations where other operators read or make their tensors. Needs kTyped.
Result<Changed> rows_first(relax::Module&, PassContext&);
/// Runs chains of layers a few rows at a time if the block needs more bytes than the option `budget` allows; if no
/// choice meets that, the one that needs least. Only for known dims. Changes no bit. Needs kTyped.
Result<Changed> stream_rows(relax::Module&, PassContext&);
/// Turns products of quantized tensors by constant weights into sums of products of bytes. Results differ by at most
/// one quantum from exact arithmetic on the stored integers. Needs kTyped.
Result<Changed> recognize_quantization(relax::Module&, PassContext&);
/// Merges matmuls and convolutions of one tensor by several constant weights; parts of the result are read in place.
/// Needs kTyped.
Result<Changed> fuse_horizontal_matmuls(relax::Module&, PassContext&);
/// Narrows operands of products to 16 bits and keeps their sums in float32, if the option asks for it. Rounds
/// differently. Needs kTyped.
Result<Changed> mixed_precision(relax::Module&, PassContext&);
/// If the option is set, moves what a function computes of its parameters after `num_input` alone into a function
/// NAME_prepare, whose results it takes in their place. Needs kTyped.
Result<Changed> lift_transform_params(relax::Module&, PassContext&);
/// Removes ops whose results nothing uses, and private functions that nothing calls.
Result<Changed> dead_code(relax::Module&, PassContext&);
/// Turns every operator that has a kernel into a call_tir of its definition. Gives kLegal.
Result<Changed> legalize(relax::Module&, PassContext&);
/// Groups calls of prim funcs so that values stay in registers. Needs kTyped, kLegal; gives kFused.
Result<Changed> fuse_ops(relax::Module&, PassContext&);
/// Merges kernels that iterate over the same rows of the same tensors into one with several results. Needs kTyped,
/// kLegal.
Result<Changed> horizontal_fusion(relax::Module&, PassContext&);
/// Makes an If of each call of a kernel that broadcasts dims which only a run knows: one branch calls the kernel, the
/// other a copy for dims that are not broadcast. Only on targets with vectors. Needs kTyped, kLegal.
Result<Changed> unswitch_broadcasts(relax::Module&, PassContext&);
/// Makes serial loops of unrolled and vectorized ones that would be too much code. After schedule_kernels.
Result<Changed> limit_unrolling(relax::Module&, PassContext&);
/// Gives kernels that put a border around a tensor loops over whole rows, and kernels that make a tensor larger loops
/// that run downwards. Only for targets of 32 bits, whose results may overlap operands. After hoist_scratch.
Result<Changed> copy_rows(relax::Module&, PassContext&);
/// Records which operands the result of each scheduled kernel may overlap: KernelMemory::overlaps. Only for targets of
/// 32 bits, where memory is scarce. After hoist_scratch and copy_rows.
Result<Changed> mark_overlaps(relax::Module&, PassContext&);
/// Records which operands the result of each kernel may overwrite: KernelMemory::in_place. Before schedule_kernels,
/// whose schedules must still read each element before they write it. Needs kLegal.
Result<Changed> mark_in_place(relax::Module&, PassContext&);
/// Merges kernels that are the same program.
Result<Changed> deduplicate_kernels(relax::Module&, PassContext&);
/// Merges scheduled kernels that differ only in sizes, if the option asks for it. Needs kLegal.
Result<Changed> deduplicate_scheduled_kernels(relax::Module&, PassContext&);

// lower/: from Relax functions to prim funcs, and inside prim funcs.

/// Replaces exp, tanh and the like by arithmetic. Gives kScalarMath.
Result<Changed> lower_scalar_math(relax::Module&, PassContext&);
/// On 32-bit machines, gives kernels the ranges that their callers' dims have. Needs kPlanned.
Result<Changed> bound_kernel_dims(relax::Module&, PassContext&);

// lower/: from Relax functions to host prim funcs.

/// Turns memory that kernels allocate into parameters, which callers reserve. Needs kLegal.
Result<Changed> hoist_scratch(relax::Module&, PassContext&);
/// Turns every Relax function into a host prim func with its shape program and describes public ones in
/// PassContext::object. Needs kLegal; gives kLowered. Reports sizes without a bound, and states that do not pair.
Result<Changed> lower_functions(relax::Module&, PassContext&);
/// Orders independent calls of host functions so that less memory is live at one time. Needs kLowered.
Result<Changed> schedule_calls_for_memory(relax::Module&, PassContext&);
/// Places every global allocation of host functions in the arena. Needs kLowered; gives kPlanned.
Result<Changed> plan_memory(relax::Module&, PassContext&);
/// Lists the functions of the object, callees first. Needs kPlanned. Must be the last pass that adds or removes any.
Result<Changed> list_functions(relax::Module&, PassContext&);

}  // namespace relaxc
