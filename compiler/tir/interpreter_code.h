// interpreter_code.h: the flat code that the interpreter runs.
//
// A program is a list of instructions over registers. A register has an int64 (integers sign- or zero-extended by their
// dtype, bools 0 or 1), a float or a double; floats narrower than 32 bits are a float. Addresses are in registers, too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir::interpreter {

union Register {
  int64_t i;
  uint64_t u;
  float f;
  double d;
  void* p;
};

/// Instructions; dst = op(a, b, c). Suffixes: I int64, U uint64, F float, D double.
// clang-format off
#define RELAXC_INTERPRETER_OPS(X) \
  X(Move) X(AddI) X(SubI) X(MulI) X(DivI) X(ModI) X(FloorDivI) X(FloorModI) X(MinI) X(MaxI) X(EqI) X(NeI) X(LtI) \
  X(LeI) X(CheckedAddI) X(CheckedSubI) X(CheckedMulI) X(DivU) X(ModU) X(MinU) X(MaxU) X(LtU) X(LeU) X(AndI) X(OrI) \
  X(XorI) X(NotI) X(NotB) X(AbsI) X(Select) X(Wrap) X(ShiftLeft) X(ShiftRightI) X(ShiftRightU) X(Popcount) X(Clz) \
  X(AddF) X(SubF) X(MulF) X(DivF) X(ModF) X(MinF) X(MaxF) X(EqF) X(NeF) X(LtF) X(LeF) X(SqrtF) X(FloorF) X(CeilF) \
  X(TruncF) X(RoundF) X(AbsF) X(FmaF) X(CopysignF) X(IsnanF) X(IsinfF) X(FloorDivF) X(FloorModF) X(AddD) X(SubD) \
  X(MulD) X(DivD) X(ModD) X(MinD) X(MaxD) X(EqD) X(NeD) X(LtD) X(LeD) X(SqrtD) X(FloorD) X(CeilD) X(TruncD) \
  X(RoundD) X(AbsD) X(FmaD) X(CopysignD) X(IsnanD) X(IsinfD) X(FloorDivD) X(FloorModD) X(AngleRest) \
  X(AngleQuadrant) X(RoundSmall) X(IToF) \
  X(IToD) X(UToF) X(UToD) X(FToD) X(DToF) X(FToInt) X(DToInt) X(FToBool) X(DToBool) X(SmallToBits) X(BitsToSmall) \
  X(FToBits) X(BitsToF) X(Load8I) X(Load8U) X(Load16I) X(Load16U) X(Load32I) X(Load32U) X(Load64) X(LoadF) \
  X(LoadSmall) X(Store8) X(Store16) X(Store32) X(Store64) X(StoreF) X(StoreSmall) X(Jump) X(Batch) X(JumpIfZero) \
  X(JumpIfNotLess) X(LoopNext) X(Offset) X(Alloc) X(Free) X(Guard) X(Call) X(CallExternal) X(CallRuntime) X(End)
// clang-format on

enum class Op : uint8_t {
#define X(name) k##name,
  RELAXC_INTERPRETER_OPS(X)
#undef X
};

struct Instruction {
  Op op = Op::kEnd;
  bool lenient = false;  ///< of loads: out of bounds gives 0 instead of an error
  DType dtype{};         ///< of Wrap, RoundSmall, FToInt and other conversions
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  int64_t extra = 0;  ///< jump target, or index into a side table; memory accesses: register of the element count
};

/// The error record that a failing guard fills.
struct GuardRecord {
  int32_t code = 0, tensor = -1, axis = -1, symbol = -1, node = -1;
  uint32_t expected = 0, actual = 0;  ///< registers
};

struct CallArgument {
  bool is_buffer = false;
  uint32_t value = 0;  ///< register of the address or the scalar
  DType dtype{};
  std::vector<uint32_t> shape;  ///< registers of dims, for external calls
};
struct CallRecord {
  std::string callee;
  bool plain = false;  ///< whether it is a plain C function, whose result is stored to the instruction's dst
  DType result{};
  std::vector<CallArgument> args;
  int32_t error_node = -1;  ///< the node of a failure that names none
  bool status = false;      ///< whether the result of a plain C function is a status
};

/// The position of a loop's code, which a Batch instruction refers to.
struct Loop {
  uint32_t counter = 0, end = 0;
  int64_t head = 0, next = 0;  ///< the body's first instruction, and the LoopNext
  bool parallel = false;       ///< its iterations may run in any order, on any cores
};

struct BatchPlan;

struct Constant {
  uint32_t reg = 0;
  Register value;
  DType dtype{};
};

struct Program {
  std::vector<Instruction> code;
  std::vector<Constant> constants;
  std::vector<GuardRecord> guards;
  std::vector<CallRecord> calls;
  std::vector<Loop> loops;
  std::vector<std::shared_ptr<const BatchPlan>> plans;  ///< one for each loop; null if iterations must run one by one
  std::vector<std::string> buffer_names;                ///< for messages about accesses; Instruction::c is the index
  std::vector<uint32_t> buffer_params, scalar_params;   ///< registers, in order; scalars are parameters, then symbols
  std::vector<bool> scalar_is_double;                   ///< whether a float scalar is passed as the bits of a double
  std::vector<DType> scalar_dtypes;
  uint32_t registers = 0;
};

struct CodeOptions {
  /// Whether functions of the math library become calls of external functions of their names; else they become
  /// arithmetic (arith::expand_all_math).
  bool math_calls = false;
  bool batches = true;  ///< whether to plan the loops that can run in batches
  /// Whether plans may have small arrays that the body allocates, one for each lane. Only runs over terms know these.
  bool arrays_in_lanes = false;
};

/// Compiles a function to flat code.
Program compile(const PrimFunc& function, const CodeOptions& options = {});

}  // namespace relaxc::tir::interpreter
