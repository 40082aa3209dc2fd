// runtime_functions.cpp: the table of the runtime's functions.
#include "compiler/tir/runtime_functions.h"

#include <algorithm>

namespace relaxc::tir {
namespace {

constexpr RuntimeRow kRows[] = {
    {RuntimeFunction::kSqrt, "rlx_sqrt", RuntimeGroup::kSquareRoots},
    {RuntimeFunction::kSqrtf, "rlx_sqrtf", RuntimeGroup::kSquareRoots},
    {RuntimeFunction::kFmod, "rlx_fmod", RuntimeGroup::kRemainders},
    {RuntimeFunction::kFmodf, "rlx_fmodf", RuntimeGroup::kRemainders},
    {RuntimeFunction::kFma, "rlx_fma", RuntimeGroup::kFmaDouble},
    {RuntimeFunction::kFmaf, "rlx_fmaf", RuntimeGroup::kFmaSingle},
    {RuntimeFunction::kReduceAngles, "rlx_reduce_angles", RuntimeGroup::kAngles},
    {RuntimeFunction::kHeapBegin, "rlx_heap_begin", RuntimeGroup::kHeap},
    {RuntimeFunction::kHeapReserve, "rlx_heap_reserve", RuntimeGroup::kHeap},
    {RuntimeFunction::kHeapClaim, "rlx_heap_claim", RuntimeGroup::kHeap},
    {RuntimeFunction::kHeapRelease, "rlx_heap_release", RuntimeGroup::kHeap},
    {RuntimeFunction::kResultBegin, "rlx_result_begin", RuntimeGroup::kResults},
    {RuntimeFunction::kResultEnd, "rlx_result_end", RuntimeGroup::kResults},
    {RuntimeFunction::kObjectRead, "rlx_object_read", RuntimeGroup::kResults},
    {RuntimeFunction::kGenericBind, "rlx_generic_bind", RuntimeGroup::kGeneric},
    {RuntimeFunction::kGenericOutputShape, "rlx_generic_output_shape", RuntimeGroup::kGeneric},
    {RuntimeFunction::kGenericArenaBytes, "rlx_generic_arena_bytes", RuntimeGroup::kGeneric},
    {RuntimeFunction::kGenericRun, "rlx_generic_run", RuntimeGroup::kGeneric},
    {RuntimeFunction::kSelftest, "rlx_selftest", RuntimeGroup::kGeneric},
    {RuntimeFunction::kPrint, "rlx_print", RuntimeGroup::kHosted},
};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<size_t>(kRows[i].function) != i || !kRows[i].name.starts_with(kRuntimePrefix)) return false;
  return std::size(kRows) == static_cast<size_t>(RuntimeFunction::kPrint) + 1;
}
static_assert(in_order());

}  // namespace

std::span<const RuntimeRow> runtime_functions() {
  return kRows;
}

std::string runtime_name(RuntimeFunction function) {
  return std::string(kRows[static_cast<size_t>(function)].name);
}

std::string unprefixed_name(RuntimeFunction function) {
  return runtime_name(function).substr(kRuntimePrefix.size());
}

const RuntimeRow* find_runtime_function(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const RuntimeRow& r) { return r.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace relaxc::tir
