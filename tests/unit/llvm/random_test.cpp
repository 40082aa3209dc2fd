// random_test.cpp: compiled code gives the bits of the interpreter.
//
// Random expression trees over all dtypes and operations, in serial and vectorized loops, on the host's CPU and on the
// oldest one. NaNs count as equal: which payload an operation gives is up to the CPU.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/arith/float_bits.h"
#include "compiler/tir/print.h"
#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::ExprKind;
using arith::Intrinsic;
using tir::LoopKind;

const DType kDtypes[] = {DType::boolean(),
                         DType::i(8),
                         DType::i(16),
                         DType::i(32),
                         DType::i(64),
                         DType::u(8),
                         DType::u(16),
                         DType::u(32),
                         DType::u(64),
                         DType::f(16),
                         DType::bf16(),
                         DType::f(32),
                         DType::f(64),
                         {TypeCode::kFloat8E4M3FN, 8},
                         {TypeCode::kFloat8E4M3FNUZ, 8},
                         {TypeCode::kFloat8E5M2, 8},
                         {TypeCode::kFloat8E5M2FNUZ, 8},
                         {TypeCode::kFloat8E8M0FNU, 8},
                         {TypeCode::kFloat4E2M1FN, 4}};
constexpr int64_t kCount = 64;

class Generator {
 public:
  Generator(tir::Builder& b, uint32_t seed) : b_(b), context_(b.context()), random_(seed) {}

  tir::PrimFunc program(LoopKind kind) {
    tir::PrimFunc f;
    f.name = "random";
    for (DType dtype : kDtypes) inputs_.push_back(b_.buffer("in", dtype, {b_.index(kCount)}));
    DType result = pick();
    tir::BufferRef out = b_.buffer("out", result, {b_.index(kCount)});
    for (tir::BufferRef in : inputs_) f.params.push_back({in, {}});
    f.params.push_back({out, {}});
    f.body = b_.loop("o", b_.index(kCount / 16), [&](arith::Var o) {
      return b_.loop(
          "v", b_.index(16),
          [&](arith::Var v) {
            at_ = o * 16 + v;
            return b_.store(out, {at_}, value(result, 4));
          },
          kind);
    });
    return f;
  }

 private:
  DType pick() { return kDtypes[random_() % std::size(kDtypes)]; }

  Expr leaf(DType dtype) {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i]->dtype == dtype && random_() % 4 != 0) return b_.load(inputs_[i], {at_});
    return context_.number(dtype, static_cast<double>(random_() % 17) - 8);
  }

  Expr value(DType dtype, int depth) {
    if (depth == 0) return leaf(dtype);
    switch (random_() % 6) {
      case 0:
        return arith::cast(dtype, value(pick(), depth - 1));
      case 1:
        return arith::select(condition(depth - 1), value(dtype, depth - 1), value(dtype, depth - 1));
      case 2:
        return function(dtype, depth - 1);
      default:
        return dtype.is_bool() ? condition(depth - 1) : binary(dtype, depth - 1);
    }
  }

  Expr binary(DType dtype, int depth) {
    constexpr ExprKind kKinds[] = {ExprKind::kAdd,      ExprKind::kSub, ExprKind::kMul,
                                   ExprKind::kDiv,      ExprKind::kMod, ExprKind::kFloorDiv,
                                   ExprKind::kFloorMod, ExprKind::kMin, ExprKind::kMax};
    return context_.binary(kKinds[random_() % std::size(kKinds)], value(dtype, depth), value(dtype, depth));
  }

  Expr condition(int depth) {
    DType dtype = pick();
    Expr a = value(dtype, depth > 0 ? depth - 1 : 0), b = value(dtype, depth > 0 ? depth - 1 : 0);
    switch (random_() % 6) {
      case 0:
        return arith::eq(a, b);
      case 1:
        return arith::ne(a, b);
      case 2:
        return arith::lt(a, b);
      case 3:
        return arith::le(a, b);
      case 4:
        return arith::logical_or(arith::lt(a, b), arith::logical_not(arith::eq(a, b)));
      default:
        return arith::logical_and(arith::le(a, b), arith::ne(a, b));
    }
  }

  Expr function(DType dtype, int depth) {
    if (dtype.is_bool()) {
      DType of = DType::f(random_() % 2 ? 32 : 64);
      return arith::call(random_() % 2 ? Intrinsic::k_isnan : Intrinsic::k_isinf, {value(of, depth)});
    }
    auto arg = [&] { return value(dtype, depth); };
    if (dtype.is_float()) {
      constexpr Intrinsic kUnary[] = {Intrinsic::k_sqrt,  Intrinsic::k_floor, Intrinsic::k_ceil,
                                      Intrinsic::k_trunc, Intrinsic::k_round, Intrinsic::k_abs,
                                      Intrinsic::k_exp,   Intrinsic::k_tanh,  Intrinsic::k_erf};
      switch (random_() % 4) {
        case 0:
          return arith::call(Intrinsic::k_fma, {arg(), arg(), arg()});
        case 1:
          return arith::call(Intrinsic::k_copysign, {arg(), arg()});
        default:
          return arith::call(kUnary[random_() % std::size(kUnary)], {arg()});
      }
    }
    constexpr Intrinsic kUnary[] = {Intrinsic::k_abs, Intrinsic::k_bitwise_not, Intrinsic::k_popcount,
                                    Intrinsic::k_clz};
    constexpr Intrinsic kBinary[] = {Intrinsic::k_bitwise_and, Intrinsic::k_bitwise_or, Intrinsic::k_bitwise_xor,
                                     Intrinsic::k_shift_left, Intrinsic::k_shift_right};
    if (random_() % 3 == 0) return arith::call(kUnary[random_() % std::size(kUnary)], {arg()});
    return arith::call(kBinary[random_() % std::size(kBinary)], {arg(), arg()});
  }

  tir::Builder& b_;
  arith::Context& context_;
  std::mt19937 random_;
  std::vector<tir::BufferRef> inputs_;
  Expr at_;
};

bool is_nan(DType dtype, const uint8_t* bytes) {
  if (!dtype.is_float()) return false;
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(dtype.bytes()));
  if (dtype == DType::f(64)) return std::isnan(std::bit_cast<double>(bits));
  if (dtype == DType::f(32)) return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return std::isnan(arith::decode_float(dtype, bits));
}

void compare(uint32_t seed, LoopKind kind, tir::Evaluator& jit) {
  arith::Context context;
  tir::Builder b(context);
  tir::PrimFunc f = Generator(b, seed).program(kind);
  std::mt19937_64 random(seed);
  std::vector<std::vector<uint64_t>> memory(f.params.size(), std::vector<uint64_t>(kCount));
  std::vector<void*> buffers;
  for (size_t i = 0; i < memory.size(); ++i) {
    DType dtype = f.params[i].buffer->dtype;
    auto* bytes = reinterpret_cast<uint8_t*>(memory[i].data());
    for (size_t k = 0; k < kCount; ++k) {
      uint64_t bits = random();
      if (dtype.is_bool()) bits &= 1;
      if (dtype.is_integer() && random() % 2 == 0) bits = random() % 9 - 4;
      if (dtype == DType::f(32) && random() % 2 == 0)
        bits = std::bit_cast<uint32_t>(static_cast<float>(bits % 4001) / 100 - 20);
      if (dtype == DType::f(64) && random() % 2 == 0)
        bits = std::bit_cast<uint64_t>(static_cast<double>(bits % 4001) / 100 - 20);
      std::memcpy(bytes + k * static_cast<size_t>(dtype.bytes()), &bits, static_cast<size_t>(dtype.bytes()));
    }
    buffers.push_back(bytes);
  }
  std::vector<uint64_t>& out = memory.back();
  std::fill(out.begin(), out.end(), 0);
  REQUIRE(tir::make_interpreter()->run(f, buffers, {}));
  std::vector<uint64_t> expected = out;
  std::fill(out.begin(), out.end(), 0);
  REQUIRE(jit.run(f, buffers, {}));
  DType dtype = f.params.back().buffer->dtype;
  auto size = static_cast<size_t>(dtype.bytes());
  for (size_t k = 0; k < kCount; ++k) {
    const uint8_t* x = reinterpret_cast<const uint8_t*>(expected.data()) + k * size;
    const uint8_t* y = reinterpret_cast<const uint8_t*>(out.data()) + k * size;
    if (std::memcmp(x, y, size) == 0 || (is_nan(dtype, x) && is_nan(dtype, y))) continue;
    uint64_t wanted = 0, got = 0;
    std::memcpy(&wanted, x, size), std::memcpy(&got, y, size);
    FAIL("seed " << seed << ", element " << k << ": " << std::hex << got << ", expected " << wanted << "\n"
                 << tir::to_string(f));
  }
}

TEST_CASE("random programs: the JIT gives the interpreter's bits") {
  for (const Target& target : {testing::native_target(), testing::baseline_target()})
    for (LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorized})
      for (uint32_t seed = 0; seed < 60; ++seed) {
        auto jit = codegen_llvm::make_jit(target);
        compare(seed + (kind == LoopKind::kSerial ? 1000 : 2000), kind, *jit);
      }
}

}  // namespace
}  // namespace relaxc
