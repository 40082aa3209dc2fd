// runtime_functions.cpp: the table of the runtime's functions.
#include "compiler/tir/runtime_functions.h"

#include <fmt/format.h>

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
    {RuntimeFunction::kHeapBegin, "rlx_heap_begin", RuntimeGroup::kHeap, "h"},
    {RuntimeFunction::kHeapReserve, "rlx_heap_reserve", RuntimeGroup::kHeap, "hbii"},
    {RuntimeFunction::kHeapClaim, "rlx_heap_claim", RuntimeGroup::kHeap, "hbi"},
    {RuntimeFunction::kHeapRelease, "rlx_heap_release", RuntimeGroup::kHeap, "hb"},
    {RuntimeFunction::kResultBegin, "rlx_result_begin", RuntimeGroup::kResults},
    {RuntimeFunction::kResultEnd, "rlx_result_end", RuntimeGroup::kResults},
    {RuntimeFunction::kObjectRead, "rlx_object_read", RuntimeGroup::kResults, "owi"},
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

/// What a letter of `RuntimeRow::call` stands for. An integer has no words.
struct ArgumentKind {
  char letter;
  std::string_view text;
  int64_t words;
};
constexpr ArgumentKind kArgumentKinds[] = {
    {'h', "the record of a heap, 63 int64", kHeapWords},
    {'b', "a block, 2 int64", kBlockWords},
    {'o', "an object's handle", 1},
    {'w', "the words of a tensor, int64", kBlockWords},
    {'i', "an integer", 0},
};

bool fits(const Argument& argument, const ArgumentKind& kind) {
  const auto* buffer = std::get_if<BufferRef>(&argument);
  if (buffer == nullptr) {
    const DType dtype = std::get<Expr>(argument).dtype();
    return kind.words == 0 && (dtype.is_index() || dtype == DType::i(64));
  }
  if (kind.words == 0 || !(*buffer)->strides.empty()) return false;
  const DType dtype = (*buffer)->dtype;
  if (dtype != (kind.letter == 'o' ? DType::handle() : DType::i(64))) return false;
  int64_t elements = 1;
  for (Expr dim : (*buffer)->shape)
    if (const int64_t* extent = dim.constant();
        extent == nullptr || __builtin_mul_overflow(elements, *extent, &elements))
      return false;
  return elements >= kind.words;
}

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

std::string call_fault(const Invoke& call) {
  const RuntimeRow* row = find_runtime_function(call.callee);
  if (row == nullptr) return fmt::format("'{}' is not a function of the runtime", call.callee);
  if (row->call.empty()) return fmt::format("'{}' is a function of the runtime that no statement calls", call.callee);
  if (call.args.size() != row->call.size())
    return fmt::format("'{}' takes {} arguments, found {}", call.callee, row->call.size(), call.args.size());
  for (size_t i = 0; i < call.args.size(); ++i) {
    const auto* kind = std::find_if(std::begin(kArgumentKinds), std::end(kArgumentKinds),
                                    [&](const ArgumentKind& one) { return one.letter == row->call[i]; });
    if (!fits(call.args[i], *kind))
      return fmt::format("argument {} of '{}' must be {}", i + 1, call.callee, kind->text);
  }
  return "";
}

}  // namespace relaxc::tir
