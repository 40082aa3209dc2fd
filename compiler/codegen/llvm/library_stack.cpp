// library_stack.cpp: the stack use, rounded up to whole frames, of functions that the linker adds.
//
// The maximum over runtime-lite as GCC 12 compiles it with -O1, -O2 and -Os, and over GCC's compiler library; measured
// by painting the stack in tests/embedded/library_stack_test.py, which checks this table. (-fstack-usage omits the red
// zone of x86-64 leaf functions.) Memory functions are those of runtime-lite, of newlib and of glibc.
#include "compiler/codegen/llvm/library_stack.h"

#include <initializer_list>

#include "compiler/support/check.h"
#include "compiler/tir/runtime_functions.h"

namespace relaxc::codegen_llvm {
namespace {

enum LibraryMachine { kOnX86, kOnAArch64, kOnRiscv64, kOnArm, kOnThumb1, kOnRiscv32, kOnMachines };

enum LibraryKind {
  kLibMemory,  // memcpy and the like
  kLibSystem,  // getauxval
  kLibRoot,    // the groups of tir::RuntimeGroup: square roots
  kLibRemainder,
  kLibFmaSingle,
  kLibFmaDouble,
  kLibAngles,
  kLibHeap,
  kLibResult,
  kLibGeneric,  // a bound for any compiler
  kLibShort,    // products, shifts and comparisons of two words
  kLibSingle,   // floats, words of 32 bits
  kLibCompareSingle,
  kLibDouble,
  kLibCompareDouble,
  kLibWide,  // 64-bit division and conversions; on 64-bit machines those of 128 bits
  kLibKinds
};

constexpr uint64_t kLibraryBytes[kLibKinds][kOnMachines] = {
    // x86-64, AArch64, RISC-V 64, ARM, ARMv6-M, RISC-V 32
    {24, 16, 64, 40, 32, 32},              // kLibMemory
    {32, 32, 48, 32, 32, 32},              // kLibSystem
    {32, 32, 32, 64, 96, 64},              // kLibRoot
    {32, 32, 32, 72, 144, 80},             // kLibRemainder
    {16, 16, 16, 72, 112, 96},             // kLibFmaSingle
    {96, 96, 224, 256, 256, 256},          // kLibFmaDouble
    {208, 160, 224, 208, 344, 304},        // kLibAngles
    {96, 80, 80, 168, 176, 128},           // kLibHeap
    {144, 144, 144, 128, 160, 112},        // kLibResult
    {1536, 1536, 1536, 1536, 1536, 1536},  // kLibGeneric
    {16, 16, 16, 8, 32, 16},               // kLibShort
    {24, 32, 32, 16, 32, 32},              // kLibSingle
    {16, 16, 16, 32, 24, 16},              // kLibCompareSingle
    {24, 32, 32, 24, 72, 48},              // kLibDouble
    {16, 16, 16, 24, 56, 16},              // kLibCompareDouble
    {64, 64, 64, 56, 104, 48},             // kLibWide
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

bool is_name_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (std::string_view one : list)
    if (name == one) return true;
  return false;
}

LibraryMachine library_machine(const llvm::Triple& triple) {
  if (triple.isX86()) return kOnX86;
  if (triple.isAArch64()) return kOnAArch64;
  if (triple.isRISCV()) return triple.isArch64Bit() ? kOnRiscv64 : kOnRiscv32;
  bool first = triple.getSubArch() == llvm::Triple::ARMSubArch_v6m ||
               triple.getSubArch() == llvm::Triple::ARMSubArch_v8m_baseline;
  return first ? kOnThumb1 : kOnArm;
}

std::optional<LibraryKind> runtime_kind(std::string_view name) {
  const tir::RuntimeRow* row = tir::find_runtime_function(name);
  if (row == nullptr) return std::nullopt;
  switch (row->group) {
    case tir::RuntimeGroup::kSquareRoots:
      return kLibRoot;
    case tir::RuntimeGroup::kRemainders:
      return kLibRemainder;
    case tir::RuntimeGroup::kFmaSingle:
      return kLibFmaSingle;
    case tir::RuntimeGroup::kFmaDouble:
      return kLibFmaDouble;
    case tir::RuntimeGroup::kAngles:
      return kLibAngles;
    case tir::RuntimeGroup::kHeap:
      return kLibHeap;
    case tir::RuntimeGroup::kResults:
      return kLibResult;
    case tir::RuntimeGroup::kGeneric:
      return kLibGeneric;
    case tir::RuntimeGroup::kHosted:
      return std::nullopt;
  }
  RELAXC_UNREACHABLE("a group of the runtime's functions");
}

/// The kind of a function of ARM's run-time ABI, in whose names `l` is a 64-bit integer.
LibraryKind arm_kind(std::string_view operation) {
  if (operation.starts_with("mem")) return kLibMemory;
  if (begins_with_one_of(operation, {"lmul", "lls", "las", "lcmp", "ulcmp"})) return kLibShort;
  if (contains_one_of(operation, {"2lz", "2ulz", "l2"}) || begins_with_one_of(operation, {"ldiv", "uldiv"}))
    return kLibWide;
  if (operation.starts_with("fcmp")) return kLibCompareSingle;
  if (operation.starts_with("dcmp")) return kLibCompareDouble;
  return begins_with_one_of(operation, {"d", "cd", "cf"}) || contains_one_of(operation, {"2d"}) ? kLibDouble
                                                                                                : kLibSingle;
}

/// The kind of an arithmetic function of libgcc, with modes in its name: sf and df are floats, si, di and ti integers.
std::optional<LibraryKind> arithmetic_kind(std::string_view name) {
  if (!begins_with_one_of(
          name, {"__add",    "__sub",     "__mul",     "__div",     "__mod",  "__udiv",  "__umod",     "__eq",
                 "__ne",     "__lt",      "__le",      "__gt",      "__ge",   "__unord", "__fix",      "__float",
                 "__extend", "__trunc",   "__ash",     "__lshr",    "__clz",  "__ctz",   "__popcount", "__cmp",
                 "__ucmp",   "__gnu_h2f", "__gnu_f2h", "__gnu_d2h", "__bswap"}))
    return std::nullopt;
  if (contains_one_of(name, {"tf", "xf"})) return std::nullopt;
  if (begins_with_one_of(name, {"__muldi", "__ash", "__lshr", "__cmp", "__ucmp", "__clz", "__ctz", "__bswap"}))
    return kLibShort;
  size_t division = name.find("div");  // its "di" is not a mode
  std::string_view modes = name.substr(division == std::string_view::npos ? 2 : division + 3);
  if (contains_one_of(modes, {"di", "ti"})) return kLibWide;
  if (begins_with_one_of(name, {"__eq", "__ne", "__lt", "__le", "__gt", "__ge", "__unord"}))
    return contains_one_of(modes, {"df"}) ? kLibCompareDouble : kLibCompareSingle;
  return contains_one_of(name, {"df", "d2h"}) ? kLibDouble : kLibSingle;
}

std::optional<LibraryKind> library_kind(std::string_view name) {
  constexpr std::string_view kEabi = "__aeabi_";
  if (is_name_of(name, {"memcpy", "memmove", "memset", "bzero"})) return kLibMemory;
  if (name == "getauxval") return kLibSystem;
  if (name.starts_with(kEabi)) return arm_kind(name.substr(kEabi.size()));
  return name.starts_with("__") ? arithmetic_kind(name) : runtime_kind(name);
}

}  // namespace

std::optional<uint64_t> library_stack(std::string_view name, const llvm::Triple& triple) {
  std::optional<LibraryKind> kind = library_kind(name);
  return kind ? std::optional(kLibraryBytes[*kind][library_machine(triple)]) : std::nullopt;
}

}  // namespace relaxc::codegen_llvm
