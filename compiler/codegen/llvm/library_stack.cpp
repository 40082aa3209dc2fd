// library_stack.cpp: figures, rounded up to whole frames, of functions that only the linker chooses.
//
// runtime-lite as GCC 12 compiles it with -O1, -O2 and -Os, the most of them; the compiler's library is GCC's. Both are
// painted by tests/embedded/library_stack_test.py, which keeps this table true. (-fstack-usage leaves out what leaves
// of x86-64 keep below the stack pointer.) Memory functions are those of runtime-lite, of newlib and of glibc.
#include "compiler/codegen/llvm/library_stack.h"

#include <initializer_list>

namespace relaxc::codegen_llvm {
namespace {

enum Machine { kX86, kAArch64, kRiscv64, kArm, kThumb1, kRiscv32, kMachines };

enum Kind {
  kMemory,     // memcpy and kin
  kSystem,     // getauxval
  kRoot,       // rlx_sqrt, rlx_sqrtf
  kRemainder,  // rlx_fmod, rlx_fmodf
  kFmaSingle,
  kFmaDouble,
  kAngles,   // rlx_reduce_angles
  kHeap,     // rlx_heap_reserve and kin, without the program's alloc
  kResult,   // rlx_result_end and kin
  kGeneric,  // of the generic call: a bound for any compiler
  kShort,    // products, shifts and comparisons of two words
  kSingle,   // floats, words of 32 bits
  kCompareSingle,
  kDouble,
  kCompareDouble,
  kWide,  // 64-bit division and conversions; on 64-bit machines those of 128 bits
  kKinds
};

constexpr uint64_t kBytes[kKinds][kMachines] = {
    // x86-64, AArch64, RISC-V 64, ARM, ARMv6-M, RISC-V 32
    {24, 16, 64, 40, 32, 32},              // kMemory
    {32, 32, 48, 32, 32, 32},              // kSystem
    {32, 32, 32, 64, 96, 64},              // kRoot
    {32, 32, 32, 72, 144, 80},             // kRemainder
    {16, 16, 16, 72, 112, 96},             // kFmaSingle
    {96, 96, 224, 256, 256, 256},          // kFmaDouble
    {208, 160, 224, 208, 344, 304},        // kAngles
    {96, 80, 80, 120, 160, 128},           // kHeap
    {144, 144, 144, 128, 160, 112},        // kResult
    {1536, 1536, 1536, 1536, 1536, 1536},  // kGeneric
    {16, 16, 16, 8, 32, 16},               // kShort
    {24, 32, 32, 16, 32, 32},              // kSingle
    {16, 16, 16, 32, 24, 16},              // kCompareSingle
    {24, 32, 32, 24, 72, 48},              // kDouble
    {16, 16, 16, 24, 56, 16},              // kCompareDouble
    {64, 64, 64, 56, 104, 48},             // kWide
};

bool begins_with_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (std::string_view one : list)
    if (name.starts_with(one)) return true;
  return false;
}

bool contains_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (std::string_view one : list)
    if (name.find(one) != std::string_view::npos) return true;
  return false;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (std::string_view one : list)
    if (name == one) return true;
  return false;
}

Machine machine_of(const llvm::Triple& triple) {
  if (triple.isX86()) return kX86;
  if (triple.isAArch64()) return kAArch64;
  if (triple.isRISCV()) return triple.isArch64Bit() ? kRiscv64 : kRiscv32;
  bool first = triple.getSubArch() == llvm::Triple::ARMSubArch_v6m ||
               triple.getSubArch() == llvm::Triple::ARMSubArch_v8m_baseline;
  return first ? kThumb1 : kArm;
}

std::optional<Kind> runtime_kind(std::string_view name) {
  if (is_one_of(name, {"rlx_sqrt", "rlx_sqrtf"})) return kRoot;
  if (is_one_of(name, {"rlx_fmod", "rlx_fmodf"})) return kRemainder;
  if (name == "rlx_fmaf") return kFmaSingle;
  if (name == "rlx_fma") return kFmaDouble;
  if (name == "rlx_reduce_angles") return kAngles;
  if (is_one_of(name, {"rlx_heap_begin", "rlx_heap_reserve", "rlx_heap_release"})) return kHeap;
  if (is_one_of(name, {"rlx_result_begin", "rlx_result_end", "rlx_object_read"})) return kResult;
  if (is_one_of(name, {"rlx_generic_run", "rlx_generic_bind", "rlx_generic_arena_bytes", "rlx_generic_output_shape",
                       "rlx_selftest"}))
    return kGeneric;
  return std::nullopt;
}

/// Of ARM's run-time ABI, where `l` is a word of 64 bits.
Kind arm_kind(std::string_view operation) {
  if (operation.starts_with("mem")) return kMemory;
  if (begins_with_one_of(operation, {"lmul", "lls", "las", "lcmp", "ulcmp"})) return kShort;
  if (contains_one_of(operation, {"2lz", "2ulz", "l2"}) || begins_with_one_of(operation, {"ldiv", "uldiv"}))
    return kWide;
  if (operation.starts_with("fcmp")) return kCompareSingle;
  if (operation.starts_with("dcmp")) return kCompareDouble;
  return begins_with_one_of(operation, {"d", "cd", "cf"}) || contains_one_of(operation, {"2d"}) ? kDouble : kSingle;
}

/// Of libgcc, where modes are in the name: sf and df are floats, si, di and ti integers.
std::optional<Kind> arithmetic_kind(std::string_view name) {
  if (!begins_with_one_of(
          name, {"__add",    "__sub",     "__mul",     "__div",     "__mod",  "__udiv",  "__umod",     "__eq",
                 "__ne",     "__lt",      "__le",      "__gt",      "__ge",   "__unord", "__fix",      "__float",
                 "__extend", "__trunc",   "__ash",     "__lshr",    "__clz",  "__ctz",   "__popcount", "__cmp",
                 "__ucmp",   "__gnu_h2f", "__gnu_f2h", "__gnu_d2h", "__bswap"}))
    return std::nullopt;
  if (contains_one_of(name, {"tf", "xf"})) return std::nullopt;
  if (begins_with_one_of(name, {"__muldi", "__ash", "__lshr", "__cmp", "__ucmp", "__clz", "__ctz", "__bswap"}))
    return kShort;
  size_t division = name.find("div");  // whose "di" is no mode
  std::string_view modes = name.substr(division == std::string_view::npos ? 2 : division + 3);
  if (contains_one_of(modes, {"di", "ti"})) return kWide;
  if (begins_with_one_of(name, {"__eq", "__ne", "__lt", "__le", "__gt", "__ge", "__unord"}))
    return contains_one_of(modes, {"df"}) ? kCompareDouble : kCompareSingle;
  return contains_one_of(name, {"df", "d2h"}) ? kDouble : kSingle;
}

std::optional<Kind> kind_of(std::string_view name) {
  constexpr std::string_view kEabi = "__aeabi_";
  if (is_one_of(name, {"memcpy", "memmove", "memset", "bzero"})) return kMemory;
  if (name == "getauxval") return kSystem;
  if (name.starts_with(kEabi)) return arm_kind(name.substr(kEabi.size()));
  return name.starts_with("__") ? arithmetic_kind(name) : runtime_kind(name);
}

}  // namespace

std::optional<uint64_t> library_stack(std::string_view name, const llvm::Triple& triple) {
  std::optional<Kind> kind = kind_of(name);
  return kind ? std::optional(kBytes[*kind][machine_of(triple)]) : std::nullopt;
}

}  // namespace relaxc::codegen_llvm
