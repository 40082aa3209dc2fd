// runtime_functions.h: the functions of runtime-lite that emitted code calls.
//
// Lowering and both backends emit calls of them, the interpreter and the JIT implement some, and the bound on an
// object's stack needs a figure for each. All of them take the name from this table. runtime-lite/include declares the
// functions; tests/unit/tir compares the two.
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

/// Functions that share one bound on their stack (docs/abi.md).
enum class RuntimeGroup : uint8_t {
  kSquareRoots,
  kRemainders,
  kFmaSingle,
  kFmaDouble,
  kAngles,
  kHeap,     ///< without the caller's allocator
  kResults,  ///< tensors and objects that external functions make
  kGeneric,  ///< called by loaders; also the self-test
  kHosted,   ///< in runtime-lite/hosted; the C library's part has no bound
};

struct RuntimeRow {
  RuntimeFunction function;
  std::string_view name;  ///< the symbol
  RuntimeGroup group;
  std::string_view call{};  ///< the arguments of an Invoke, a letter for each (call_fault); empty if none calls it
};

/// The prefix of all names of runtime-lite; functions of a program may not have it.
constexpr std::string_view kRuntimePrefix = "rlx_";

/// Returns the rows, in the order of the enumeration.
std::span<const RuntimeRow> runtime_functions();
/// Returns the symbol.
std::string runtime_name(RuntimeFunction function);
/// Returns the symbol without kRuntimePrefix, for names in an object that tell what calls it.
std::string unprefixed_name(RuntimeFunction function);
/// Returns the row called `name`, or null.
const RuntimeRow* find_runtime_function(std::string_view name);

constexpr int64_t kHeapWords = 63;  ///< RLX_HEAP_WORDS: size of a heap's record in int64; tests/unit/lower compares
constexpr int64_t kBlockWords = 2;  ///< size of a block's record: an address and a size in bytes

/// Returns why `call`, an Invoke of the runtime, does not fit the function that it names: no statement may call that
/// one, or an argument is of another kind or too small. Empty if it fits.
std::string call_fault(const Invoke& call);

}  // namespace relaxc::tir
