// agree_test.cpp: random expressions of every dtype give the same bits interpreted and compiled.
//
// What an operation means is written twice, in the interpreter and in the LLVM backend; here each reads the other's
// work. A NaN's payload is nobody's promise, so all NaNs count as one.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "compiler/arith/float_bits.h"
#include "compiler/arith/simplify.h"
#include "programs.h"

using namespace relaxc;
using arith::Expr;
using arith::ExprKind;
using arith::Intrinsic;
using arith::Var;

namespace {

constexpr int64_t kCount = 96;

const std::vector<DType>& dtypes() {
  static const std::vector<DType> all = {DType::boolean(),
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
                                         {TypeCode::kFloat8E5M2, 8}};
  return all;
}

class Source {
 public:
  Source(tir::Builder& b, uint32_t seed) : b_(b), random_(seed) {
    for (DType dtype : dtypes()) inputs_.push_back(b.buffer("in_" + to_string(dtype), dtype, {b.index(kCount)}));
  }

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  DType any() { return dtypes()[pick(dtypes().size())]; }
  const std::vector<tir::BufferRef>& inputs() const { return inputs_; }

  Expr value(DType dtype, Var i, int depth) {
    Context& context = b_.context();
    if (depth == 0 || pick(8) == 0) return leaf(dtype, i);
    auto part = [&] { return value(dtype, i, depth - 1); };
    switch (pick(4)) {
      case 0:
        return context.select(value(DType::boolean(), i, depth - 1), part(), part());
      case 1: {
        DType from = any();
        return context.cast(dtype, value(from, i, depth - 1));
      }
      default:
        return dtype.is_bool()    ? condition(i, depth)
               : dtype.is_float() ? real(dtype, i, depth)
                                  : whole(dtype, i, depth);
    }
  }

  std::vector<std::byte> contents(DType dtype) {
    std::vector<std::byte> bytes(static_cast<size_t>(kCount * dtype.bytes()));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(dtype.is_bool() ? pick(2) : pick(256));
    // Half of the numbers are everyday ones.
    for (size_t at = 0; at < kCount; at += 2) {
      int64_t small = static_cast<int64_t>(pick(40)) - 20;
      uint64_t bits = dtype.is_float()  ? arith::encode_float(dtype, static_cast<double>(small) / 4)
                      : dtype.is_bool() ? pick(2)
                                        : static_cast<uint64_t>(arith::wrap_to_dtype(small, dtype));
      std::memcpy(bytes.data() + at * static_cast<size_t>(dtype.bytes()), &bits, static_cast<size_t>(dtype.bytes()));
    }
    return bytes;
  }

 private:
  using Context = arith::Context;

  Expr leaf(DType dtype, Var i) {
    Context& context = b_.context();
    if (pick(4) != 0)
      for (tir::BufferRef in : inputs_)
        if (in->dtype == dtype) return b_.load(in, {i});
    static const double kReals[] = {0.0, -0.0, 1, -1, 0.5, 3, 1e-3, 1e4, HUGE_VAL, -HUGE_VAL, NAN};
    static const int64_t kWholes[] = {0, 1, -1, 2, 3, 7, -5, 100, INT64_MAX, INT64_MIN};
    if (dtype.is_float()) return context.imm_float(dtype, kReals[pick(std::size(kReals))]);
    return context.imm(dtype, kWholes[pick(std::size(kWholes))]);
  }

  Expr leaf_one(DType dtype) { return b_.context().number(dtype, 1); }

  Expr condition(Var i, int depth) {
    constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe};
    auto part = [&] { return value(DType::boolean(), i, depth - 1); };
    switch (pick(6)) {
      case 0:
        return arith::logical_and(part(), part());
      case 1:
        return arith::logical_or(part(), part());
      case 2:
        return arith::logical_not(part());
      case 3: {
        constexpr DType kFloats[] = {DType::f(32), DType::f(64), DType::f(16)};
        Expr x = value(kFloats[pick(3)], i, depth - 1);
        return arith::call(pick(2) != 0 ? Intrinsic::k_isnan : Intrinsic::k_isinf, {x});
      }
      default: {
        DType dtype = any();
        if (dtype.is_bool()) dtype = DType::i(32);
        return b_.context().binary(kKinds[pick(4)], value(dtype, i, depth - 1), value(dtype, i, depth - 1));
      }
    }
  }

  Expr real(DType dtype, Var i, int depth) {
    constexpr ExprKind kKinds[] = {ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kDiv,
                                   ExprKind::kMin, ExprKind::kMax, ExprKind::kMod};
    constexpr Intrinsic kUnary[] = {Intrinsic::k_sqrt,  Intrinsic::k_floor, Intrinsic::k_ceil,   Intrinsic::k_trunc,
                                    Intrinsic::k_round, Intrinsic::k_abs,   Intrinsic::k_exp,    Intrinsic::k_tanh,
                                    Intrinsic::k_log,   Intrinsic::k_erf,   Intrinsic::k_sigmoid};
    auto part = [&] { return value(dtype, i, depth - 1); };
    switch (pick(4)) {
      case 0:
        return arith::call(kUnary[pick(std::size(kUnary))], {part()});
      case 1: {
        if (pick(2) != 0) return arith::call(Intrinsic::k_fma, {part(), part(), part()});
        // The sign of a NaN is nobody's promise either.
        Expr sign = part(), known = arith::select(arith::call(Intrinsic::k_isnan, {sign}), leaf_one(dtype), sign);
        return arith::call(Intrinsic::k_copysign, {part(), known});
      }
      default:
        return b_.context().binary(kKinds[pick(std::size(kKinds))], part(), part());
    }
  }

  Expr whole(DType dtype, Var i, int depth) {
    constexpr ExprKind kKinds[] = {ExprKind::kAdd,      ExprKind::kSub, ExprKind::kMul,
                                   ExprKind::kDiv,      ExprKind::kMod, ExprKind::kFloorDiv,
                                   ExprKind::kFloorMod, ExprKind::kMin, ExprKind::kMax};
    constexpr Intrinsic kBits[] = {Intrinsic::k_bitwise_and, Intrinsic::k_bitwise_or, Intrinsic::k_bitwise_xor,
                                   Intrinsic::k_shift_left, Intrinsic::k_shift_right};
    constexpr Intrinsic kUnary[] = {Intrinsic::k_bitwise_not, Intrinsic::k_popcount, Intrinsic::k_clz,
                                    Intrinsic::k_abs};
    auto part = [&] { return value(dtype, i, depth - 1); };
    switch (pick(4)) {
      case 0:
        return arith::call(kBits[pick(std::size(kBits))], {part(), part()});
      case 1:
        return arith::call(kUnary[pick(std::size(kUnary))], {part()});
      default:
        return b_.context().binary(kKinds[pick(std::size(kKinds))], part(), part());
    }
  }

  tir::Builder& b_;
  std::mt19937 random_;
  std::vector<tir::BufferRef> inputs_;
};

/// The bits of an element, with one NaN.
uint64_t bits_of(DType dtype, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(dtype.bytes()));
  return dtype.is_float() && std::isnan(arith::decode_float(dtype, bits)) ? ~uint64_t{0} : bits;
}

}  // namespace

TEST_CASE("the interpreter and compiled code agree on random expressions") {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    arith::Context context;
    tir::Builder b(context);
    Source source(b, seed);
    tir::PrimFunc f;
    f.name = "f";
    for (tir::BufferRef in : source.inputs()) f.params.push_back({in, {}});
    std::vector<tir::BufferRef> outputs;
    std::vector<Expr> values;
    f.body = b.loop("i", b.index(kCount), [&](Var i) {
      std::vector<tir::Stmt> body;
      for (int k = 0; k < 16; ++k) {
        DType dtype = source.any();
        outputs.push_back(b.buffer("out" + std::to_string(k), dtype, {b.index(kCount)}));
        values.push_back(source.value(dtype, i, k % 4 + 1));
        body.push_back(b.store(outputs.back(), {i}, values.back()));
      }
      return b.seq(body);
    });
    for (tir::BufferRef out : outputs) f.params.push_back({out, {}});

    std::vector<std::vector<std::byte>> inputs, interpreted, compiled;
    for (tir::BufferRef in : source.inputs()) inputs.push_back(source.contents(in->dtype));
    auto run = [&](tir::Evaluator& evaluator, std::vector<std::vector<std::byte>>& results) {
      std::vector<void*> buffers;
      for (auto& in : inputs) buffers.push_back(in.data());
      for (tir::BufferRef out : outputs) results.emplace_back(static_cast<size_t>(kCount * out->dtype.bytes()));
      for (auto& out : results) buffers.push_back(out.data());
      REQUIRE(evaluator.run(f, buffers, {}));
    };
    run(*tir::make_interpreter(), interpreted);
    run(*codegen_llvm::make_jit(testing::native_target()), compiled);
    for (size_t k = 0; k < outputs.size(); ++k)
      for (int64_t i = 0; i < kCount; ++i) {
        DType dtype = outputs[k]->dtype;
        auto at = static_cast<size_t>(i * dtype.bytes());
        uint64_t x = bits_of(dtype, interpreted[k].data() + at), y = bits_of(dtype, compiled[k].data() + at);
        if (x == y) continue;
        std::string used;
        arith::for_each_node(values[k], [&](Expr e) {
          const auto* load = e.as<arith::Load>();
          if (load == nullptr) return;
          uint64_t bits = 0;
          for (size_t n = 0; n < inputs.size(); ++n)
            if (source.inputs()[n] == load->buffer)
              std::memcpy(&bits, inputs[n].data() + i * load->dtype.bytes(), static_cast<size_t>(load->dtype.bytes()));
          used += fmt::format(" {}: {:#x}", to_string(load->dtype), bits);
        });
        FAIL_CHECK(fmt::format("seed {}, {}: interpreted {:#x}, compiled {:#x}, of{}", seed,
                               arith::to_string(values[k]), x, y, used));
        break;
      }
  }
}
