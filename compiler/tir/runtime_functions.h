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

#include "compiler/tir/stmt.h"

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
  std::string_view call{};  ///< what an Invoke of it takes, a letter for each argument (call_fault); "": none calls it
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

constexpr int64_t kHeapWords = 59;  ///< RLX_HEAP_WORDS: int64 words of a heap's record; tests/unit/lower compares
constexpr int64_t kBlockWords = 2;  ///< of a block of it: an address and its bytes

/// Why `call`, an Invoke of the runtime, would not fit the function that it names: no statement calls that one, or an
/// argument is of another kind or too small. "" if it fits.
std::string call_fault(const Invoke& call);

}  // namespace relaxc::tir
