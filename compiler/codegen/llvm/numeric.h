// numeric.h: lowers single operations on elements to LLVM IR.
//
// Every operation works alike on a scalar and on a vector of lanes, so the code that walks expressions handles lanes
// and never dtypes. A value in a register has the dtype's LLVM type, with two exceptions: a bool is an i1 (in memory a
// byte), and a float narrower than 32 bits is a `float` whose value the narrow type can represent; each operation on it
// computes in float and rounds.
//
// Rejected: LLVM's own half and bfloat arithmetic. It calls helpers that not every libgcc has, and on CPUs with
// AVX512-BF16 the conversion flushes denormals, so the bits would depend on the CPU.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/arith/expr.h"
#include "compiler/tir/runtime_functions.h"
#include "targets/byte_tile.h"

namespace relaxc::codegen_llvm {

/// What the CPU does by instructions, without a library call.
struct Capabilities {
  bool fma = false;         ///< fused multiply-add of float and double
  bool fma_single = false;  ///< fused multiply-add of float only
  bool doubles = true;      ///< whether the CPU has arithmetic of double
  bool sqrt_single = true, sqrt_double = true;
  bool half = false;      ///< conversion between half and float
  bool rounding = false;  ///< floor, ceil, trunc, round-to-even
  DotProducts dots;
  BFloatDots bfloat_dots;
  ByteTileForm byte_tiles = ByteTileForm::kNone;
  bool byte_matrices = false;
  bool byte_permutes = false;     ///< picks bytes from two vectors of 64 (AVX-512 VBMI)
  bool halves = false;            ///< products of pairs of 16-bit numbers in a word are added to a sum (smlad)
  bool dual_issue = false;        ///< two instructions start in a cycle, as LLVM's model of the core has it
  bool lane_sums = false;         ///< products of lanes are added to a general register (Helium's vmladava)
  bool rounded_integers = false;  ///< the nearest int32 of a float, ties to even, in one instruction (ARM's vcvtr)
  bool neon = false;              ///< vector intrinsics are those of ARM (else, without `wasm`, those of x86)
  bool wasm = false;              ///< vector intrinsics are those of WebAssembly
  bool may_fuse = false;          ///< the engine decides whether a product is rounded before it is added to a sum
};

class Numeric {
 public:
  Numeric(llvm::IRBuilder<>& builder, Capabilities capabilities) : b_(builder), capabilities_(capabilities) {}

  const Capabilities& capabilities() const { return capabilities_; }
  llvm::Type* register_type(DType dtype) const;
  llvm::Type* memory_type(DType dtype) const;
  llvm::Value* constant(DType dtype, int64_t value) const;
  llvm::Value* constant_float(DType dtype, double value) const;

  llvm::Value* from_memory(DType dtype, llvm::Value* stored);
  llvm::Value* to_memory(DType dtype, llvm::Value* value);

  /// `dtype` is the operands' dtype.
  llvm::Value* binary(arith::ExprKind kind, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* cast(DType from, DType to, llvm::Value* value);
  /// `from` is the first argument's dtype.
  llvm::Value* call(arith::Intrinsic intrinsic, DType from, DType to, const std::vector<llvm::Value*>& args);

 private:
  llvm::Value* integer(arith::ExprKind kind, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* floating(arith::ExprKind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide(arith::ExprKind kind, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_remainder(llvm::Value* a, llvm::Value* b);
  llvm::Value* lanes_to_integer(DType to, llvm::Value* value);
  llvm::Value* min_or_max(bool largest, llvm::Value* a, llvm::Value* b);
  llvm::Value* shift(bool left, DType dtype, llvm::Value* a, llvm::Value* amount);
  llvm::Value* round_to_integral(llvm::Intrinsic::ID id, llvm::Value* x);
  llvm::Value* square_root(llvm::Value* x);
  llvm::Value* fused(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* float_function(arith::Intrinsic intrinsic, const std::vector<llvm::Value*>& args);
  llvm::Value* call_scalar(tir::RuntimeFunction function, const std::vector<llvm::Value*>& args);
  llvm::Value* fused_double(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* bits_function(arith::Intrinsic intrinsic, DType from, DType to, const std::vector<llvm::Value*>& args);

  /// Rounds to the nearest value that the narrow dtype can represent; returns values of other dtypes unchanged.
  llvm::Value* round_to(DType dtype, llvm::Value* value);
  llvm::Value* encode(DType dtype, llvm::Value* value);
  llvm::Value* decode(DType dtype, llvm::Value* bits);
  llvm::Value* encode_power(llvm::Value* value);
  llvm::Value* decode_power(llvm::Value* stored);

  /// Returns the type `scalar` with as many lanes as `like` has.
  llvm::Type* shaped(llvm::Type* scalar, llvm::Value* like) const;
  llvm::Value* number(llvm::Value* like, double value) const;

  llvm::IRBuilder<>& b_;
  Capabilities capabilities_;
};

}  // namespace relaxc::codegen_llvm
