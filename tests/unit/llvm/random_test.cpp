// random_test.cpp: compiled code gives the bits of the interpreter.
//
// What an operation means is written twice, in the interpreter and in the LLVM backend; here each reads the other's
// work: random expression trees over all dtypes and operations, in serial and vectorized loops, on the host's CPU and
// on the oldest one. The payload and sign of a NaN are not promised, so all NaNs count as one.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/arith/float_bits.h"
#include "compiler/arith/simplify.h"
#include "tests/dtypes.h"
#include "tests/sanitized.h"
#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::ExprKind;
using arith::Intrinsic;
using testing::kEveryDType;
using tir::LoopKind;

constexpr int64_t kCount = 64;    ///< elements of every buffer
constexpr int kExpressions = 12;  ///< outputs of a program, each with a tree of its own

class Generator {
 public:
  Generator(tir::Builder& b, uint32_t seed) : b_(b), context_(b.context()), random_(seed) {}

  struct Program {
    tir::PrimFunc function;  ///< inputs, one a dtype, then outputs
    std::vector<Expr> values;
  };

  Program program(LoopKind kind) {
    Program made;
    made.function.name = "random";
    for (DType dtype : kEveryDType) inputs_.push_back(b_.buffer("in_" + to_string(dtype), dtype, {b_.index(kCount)}));
    for (tir::BufferRef in : inputs_) made.function.params.push_back({in, {}});
    made.function.body = b_.loop("o", b_.index(kCount / 16), [&](arith::Var o) {
      auto iteration = [&](arith::Var v) { return stores(made, o * 16 + v); };
      return b_.loop("v", b_.index(16), iteration, kind);
    });
    return made;
  }

  /// Any bits, and as often everyday numbers.
  std::vector<std::byte> contents(DType dtype) {
    auto size = static_cast<size_t>(dtype.bytes());
    std::vector<std::byte> bytes(kCount * size);
    for (size_t at = 0; at < kCount; ++at) {
      uint64_t every = dtype.is_bool() ? 1 : (uint64_t{2} << (dtype.bits - 1)) - 1;
      uint64_t bits = std::uniform_int_distribution<uint64_t>()(random_) & every;
      double everyday = (static_cast<double>(pick(4001)) - 2000) / 100;
      if (pick(2) == 0 && dtype.is_float()) bits = arith::encode_float(dtype, everyday);
      if (pick(2) == 0 && dtype.is_integer()) bits = static_cast<uint64_t>(static_cast<int64_t>(everyday));
      std::memcpy(bytes.data() + at * size, &bits, size);
    }
    return bytes;
  }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  DType any() { return kEveryDType[pick(std::size(kEveryDType))]; }

  tir::Stmt stores(Program& made, Expr at) {
    at_ = at;
    std::vector<tir::Stmt> body;
    for (int k = 0; k < kExpressions; ++k) {
      DType dtype = any();
      tir::BufferRef out = b_.buffer("out" + std::to_string(k), dtype, {b_.index(kCount)});
      made.values.push_back(value(dtype, k % 4 + 1));
      made.function.params.push_back({out, {}});
      body.push_back(b_.store(out, {at}, made.values.back()));
    }
    return b_.seq(body);
  }

  Expr leaf(DType dtype) {
    if (pick(4) != 0)
      for (tir::BufferRef in : inputs_)
        if (in->dtype == dtype) return b_.load(in, {at_});
    static const double kReals[] = {0.0, -0.0, 1, -1, 0.5, 3, 1e-3, 1e4, HUGE_VAL, -HUGE_VAL, NAN};
    static const int64_t kWholes[] = {0, 1, -1, 2, 3, 7, -5, 100, INT64_MAX, INT64_MIN};
    if (dtype.is_float()) return context_.imm_float(dtype, kReals[pick(std::size(kReals))]);
    return context_.imm(dtype, kWholes[pick(std::size(kWholes))]);
  }

  Expr value(DType dtype, int depth) {
    if (depth == 0 || pick(8) == 0) return leaf(dtype);
    switch (pick(5)) {
      case 0:
        return arith::cast(dtype, value(any(), depth - 1));
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
    return context_.binary(kKinds[pick(std::size(kKinds))], value(dtype, depth), value(dtype, depth));
  }

  Expr condition(int depth) {
    constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe};
    if (depth <= 0) return leaf(DType::boolean());
    auto part = [&] { return condition(depth - 1); };
    switch (pick(6)) {
      case 0:
        return arith::logical_and(part(), part());
      case 1:
        return arith::logical_or(part(), part());
      case 2:
        return arith::logical_not(part());
      default: {
        DType dtype = any();
        return context_.binary(kKinds[pick(std::size(kKinds))], value(dtype, depth - 1), value(dtype, depth - 1));
      }
    }
  }

  Expr function(DType dtype, int depth) {
    auto arg = [&] { return value(dtype, depth); };
    if (dtype.is_bool()) {
      constexpr DType kFloats[] = {DType::f(16), DType::f(32), DType::f(64)};
      return arith::call(pick(2) != 0 ? Intrinsic::k_isnan : Intrinsic::k_isinf, {value(kFloats[pick(3)], depth)});
    }
    return dtype.is_float() ? float_function(dtype, arg) : integer_function(arg);
  }

  template <class Arg>
  Expr float_function(DType dtype, Arg arg) {
    constexpr Intrinsic kUnary[] = {Intrinsic::k_sqrt,  Intrinsic::k_floor, Intrinsic::k_ceil,   Intrinsic::k_trunc,
                                    Intrinsic::k_round, Intrinsic::k_abs,   Intrinsic::k_exp,    Intrinsic::k_tanh,
                                    Intrinsic::k_log,   Intrinsic::k_erf,   Intrinsic::k_sigmoid};
    switch (pick(4)) {
      case 0:
        return arith::call(Intrinsic::k_fma, {arg(), arg(), arg()});
      case 1: {
        Expr sign = arg(), one = context_.number(dtype, 1);
        return arith::call(Intrinsic::k_copysign,
                           {arg(), arith::select(arith::call(Intrinsic::k_isnan, {sign}), one, sign)});
      }
      default:
        return arith::call(kUnary[pick(std::size(kUnary))], {arg()});
    }
  }

  template <class Arg>
  Expr integer_function(Arg arg) {
    constexpr Intrinsic kUnary[] = {Intrinsic::k_abs, Intrinsic::k_bitwise_not, Intrinsic::k_popcount,
                                    Intrinsic::k_clz};
    constexpr Intrinsic kBinary[] = {Intrinsic::k_bitwise_and, Intrinsic::k_bitwise_or, Intrinsic::k_bitwise_xor,
                                     Intrinsic::k_shift_left, Intrinsic::k_shift_right};
    if (pick(3) == 0) return arith::call(kUnary[pick(std::size(kUnary))], {arg()});
    return arith::call(kBinary[pick(std::size(kBinary))], {arg(), arg()});
  }

  tir::Builder& b_;
  arith::Context& context_;
  std::mt19937 random_;
  std::vector<tir::BufferRef> inputs_;
  Expr at_;
};

using Buffers = std::vector<std::vector<std::byte>>;

/// The bits of an element, with one NaN.
uint64_t bits_of(DType dtype, const std::vector<std::byte>& buffer, size_t at) {
  uint64_t bits = 0;
  auto size = static_cast<size_t>(dtype.bytes());
  std::memcpy(&bits, buffer.data() + at * size, size);
  return dtype.is_float() && std::isnan(arith::decode_float(dtype, bits)) ? ~uint64_t{0} : bits;
}

/// Element `at` of all that `value` reads, for a message.
std::string operands_of(Expr value, const tir::PrimFunc& f, const Buffers& memory, size_t at) {
  std::string used;
  arith::for_each_node(value, [&](Expr e) {
    const auto* load = e.as<arith::Load>();
    for (size_t i = 0; load != nullptr && i < f.params.size(); ++i)
      if (f.params[i].buffer == load->buffer)
        used += fmt::format(" {}: {:#x}", load->buffer->name, bits_of(load->dtype, memory[i], at));
  });
  return used;
}

Buffers run(tir::Evaluator& evaluator, const tir::PrimFunc& f, Buffers memory) {
  std::vector<void*> buffers;
  for (std::vector<std::byte>& buffer : memory) buffers.push_back(buffer.data());
  REQUIRE(evaluator.run(f, buffers, {}));
  return memory;
}

void compare(uint32_t seed, LoopKind kind, tir::Evaluator& jit) {
  arith::Context context;
  tir::Builder b(context);
  Generator generator(b, seed);
  auto [f, values] = generator.program(kind);
  Buffers memory;
  for (const tir::Param& param : f.params) memory.push_back(generator.contents(param.buffer->dtype));
  Buffers interpreted = run(*tir::make_interpreter(), f, memory), compiled = run(jit, f, memory);
  size_t inputs = f.params.size() - values.size();
  for (size_t k = 0; k < values.size(); ++k)
    for (size_t at = 0; at < kCount; ++at) {
      DType dtype = values[k]->dtype;
      uint64_t wanted = bits_of(dtype, interpreted[inputs + k], at), got = bits_of(dtype, compiled[inputs + k], at);
      if (wanted == got) continue;
      FAIL_CHECK(fmt::format("seed {}, element {}, {}: interpreted {:#x}, compiled {:#x}, of{}", seed, at,
                             arith::to_string(values[k]), wanted, got, operands_of(values[k], f, memory, at)));
      break;
    }
}

TEST_CASE("random programs: the JIT gives the interpreter's bits") {
  for (const Target& target : {testing::native_target(), testing::baseline_target()})
    for (LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorized})
      for (uint32_t seed = 0; seed < testing::sample(20); ++seed) {
        auto jit = codegen_llvm::make_jit(target);
        compare(seed + (kind == LoopKind::kSerial ? 1000 : 2000), kind, *jit);
      }
}

}  // namespace
}  // namespace relaxc
