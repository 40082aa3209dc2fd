// runtime_functions.h: the functions of runtime-lite that emitted code calls, by name.
//
// Lowering and both backends emit calls of them, the interpreter and the JIT have some of their own, and the bound on
// an object's stack needs a figure for each. All of them take the name from this table. runtime-lite/include declares
// the functions; tests/unit/tir compares the two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace relaxc::tir {

/// One function of runtime-lite.
enum class RuntimeFunction : uint8_t {
  kSqrt,
  kSqrtf,
  kFmod,
  kFmodf,
  kFma,
  kFmaf,
  kReduceAngles,
  kHeapBegin,
  kHeapReserve,
  kHeapClaim,
  kHeapRelease,
  kResultBegin,
  kResultEnd,
  kObjectRead,
  kGenericBind,
  kGenericOutputShape,
  kGenericArenaBytes,
  kGenericRun,
  kSelftest,
  kPrint,
};

/// Functions with one bound on their stack (docs/abi.md).
enum class RuntimeGroup : uint8_t {
  kSquareRoots,
  kRemainders,
  kFmaSingle,
  kFmaDouble,
  kAngles,
  kHeap,     ///< without the caller's allocator
  kResults,  ///< tensors and objects that external functions made
  kGeneric,  ///< what loaders call, and the self-test
  kHosted,   ///< of runtime-lite/hosted: the C library's part has no bound
};

struct RuntimeRow {
  RuntimeFunction function;
  std::string_view name;  ///< of the symbol
  RuntimeGroup group;
};

/// All names of runtime-lite begin so; functions of a program may not.
constexpr std::string_view kRuntimePrefix = "rlx_";

/// The rows, in the order of the enumeration.
std::span<const RuntimeRow> runtime_functions();
/// The symbol's name.
std::string runtime_name(RuntimeFunction function);
/// The same without kRuntimePrefix, for names in an object that tell what calls it.
std::string unprefixed_name(RuntimeFunction function);
/// The row called `name`, or null.
const RuntimeRow* find_runtime_function(std::string_view name);

}  // namespace relaxc::tir
