// dot.cpp: see dot.h.
#include "compiler/arith/dot.h"

namespace relaxc::arith {
namespace {

/// Byte `i` of a word, sign-extended.
Expr signed_byte(Expr word, int64_t i) {
  Context& context = word.context();
  Expr top = i == 3 ? word : call(Intrinsic::k_shift_left, {word, context.imm(word.dtype(), 24 - 8 * i)});
  return call(Intrinsic::k_shift_right, {top, context.imm(word.dtype(), 24)});
}

bool is_widened(Expr e, DType from) {
  const auto* cast = e.as<Cast>();
  return cast != nullptr && cast->dtype == DType::i(32) && cast->value.dtype() == from;
}

bool is_byte(Expr e) {
  const auto* cast = e.as<Cast>();
  return cast != nullptr && cast->dtype == DType::i(32) && cast->value.dtype().is_integer() &&
         cast->value.dtype().bits == 8;
}

/// Byte `i` of a word of eight bytes, as int32.
Expr byte_of_eight(Expr word, int64_t i, bool is_signed) {
  Context& context = word.context();
  auto number = [&](int64_t value) { return context.imm(word.dtype(), value); };
  if (!is_signed) {
    Expr low = i == 0 ? word : call(Intrinsic::k_shift_right, {word, number(8 * i)});
    return cast(DType::i(32), call(Intrinsic::k_bitwise_and, {low, number(255)}));
  }
  Expr top = i == 7 ? word : call(Intrinsic::k_shift_left, {word, number(56 - 8 * i)});
  return cast(DType::i(32), call(Intrinsic::k_shift_right, {top, number(56)}));
}

bool is_bfloat(Expr e) {
  const auto* cast = e.as<Cast>();
  return cast != nullptr && cast->dtype == DType::f(32) && cast->value.dtype() == DType::bf16();
}

/// The bfloat16 in a half of a word, as float32: its bits are the upper half of those of the float32.
Expr upper_half(Expr word) {
  Context& context = word.context();
  Expr bits = call(Intrinsic::k_bitwise_and, {word, context.imm(word.dtype(), -65536)});
  return context.call(DType::f(32), Intrinsic::k_bitcast, {bits});
}
Expr lower_half(Expr word) {
  Context& context = word.context();
  Expr bits = call(Intrinsic::k_shift_left, {word, context.imm(word.dtype(), 16)});
  return context.call(DType::f(32), Intrinsic::k_bitcast, {bits});
}

}  // namespace

Expr dot4(const Dot4& dot) {
  auto product = [&](size_t i) { return dot.a[i] * signed_byte(dot.b, static_cast<int64_t>(i)); };
  Expr low = product(0) + product(1);
  if (!dot.a[2]) return low;
  return low + (dot.a[3] ? product(2) + product(3) : product(2));
}

namespace {

/// Matches a sum of up to four products, of numbers widened from `narrow` by the bytes of one word.
std::optional<Dot4> dot4_of(Expr e, DType narrow) {
  const auto* sum = e.as<Add>();
  if (sum == nullptr || e.dtype() != DType::i(32)) return std::nullopt;
  const auto *low = sum->a.as<Add>(), *high = sum->b.as<Add>();
  std::vector<Expr> products{sum->a, sum->b};
  if (low != nullptr) products = {low->a, low->b, sum->b};
  if (low != nullptr && high != nullptr) products = {low->a, low->b, high->a, high->b};
  Dot4 dot;
  for (size_t i = 0; i < products.size(); ++i) {
    const auto* product = products[i].as<Mul>();
    if (product == nullptr || !is_widened(product->a, narrow)) return std::nullopt;
    dot.a[i] = product->a;
  }
  const auto* last = products.back().as<Mul>()->b.as<Call>();
  if (last == nullptr || last->intrinsic != Intrinsic::k_shift_right) return std::nullopt;
  dot.b = last->args[0];
  if (const auto* lifted = dot.b.as<Call>(); products.size() < 4 && lifted != nullptr) dot.b = lifted->args[0];
  return dot4(dot) == e ? std::optional(dot) : std::nullopt;
}

}  // namespace

std::optional<Dot4> as_dot4(Expr e) {
  return dot4_of(e, DType::u(8));
}

Expr pair_dot(const PairDot& dot) {
  return dot4({{dot.a[0], dot.a[2], dot.a[1], dot.a[3]}, dot.b});
}

std::optional<PairDot> as_pair_dot(Expr e) {
  const std::optional<Dot4> dot = dot4_of(e, DType::i(16));
  if (!dot || !dot->a[3]) return std::nullopt;
  return PairDot{{dot->a[0], dot->a[2], dot->a[1], dot->a[3]}, dot->b};
}

Expr dot8(const Dot8& dot) {
  auto product = [&](size_t i) { return dot.a[i] * byte_of_eight(dot.b, static_cast<int64_t>(i), dot.signed_b); };
  auto four = [&](size_t i) { return (product(i) + product(i + 1)) + (product(i + 2) + product(i + 3)); };
  return four(0) + four(4);
}

std::optional<Dot8> as_dot8(Expr e) {
  std::vector<Expr> terms{e};
  for (int level = 0; level < 3; ++level) {
    std::vector<Expr> halves;
    for (Expr term : terms) {
      const auto* sum = term.as<Add>();
      if (sum == nullptr) return std::nullopt;
      halves.push_back(sum->a), halves.push_back(sum->b);
    }
    terms = std::move(halves);
  }
  Dot8 dot;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto* product = terms[i].as<Mul>();
    if (product == nullptr || !is_byte(product->a)) return std::nullopt;
    dot.a[i] = product->a;
  }
  const auto* last = terms.back().as<Mul>()->b.as<Cast>();
  const auto* byte = last != nullptr ? last->value.as<Call>() : nullptr;
  if (byte == nullptr || byte->dtype != DType::i(64)) return std::nullopt;
  dot.signed_b = byte->intrinsic == Intrinsic::k_shift_right;
  dot.b = byte->args[0];
  if (const auto* shifted = dot.b.as<Call>(); !dot.signed_b && shifted != nullptr) dot.b = shifted->args[0];
  return dot8(dot) == e ? std::optional(dot) : std::nullopt;
}

Expr bfloat_dot(const BFloatDot& dot) {
  return dot.a[0] * lower_half(dot.b) + dot.a[1] * upper_half(dot.b);
}

std::optional<BFloatDot> as_bfloat_dot(Expr e) {
  const auto* sum = e.as<Add>();
  if (sum == nullptr || e.dtype() != DType::f(32)) return std::nullopt;
  const auto *low = sum->a.as<Mul>(), *high = sum->b.as<Mul>();
  if (low == nullptr || high == nullptr || !is_bfloat(low->a) || !is_bfloat(high->a)) return std::nullopt;
  const auto* cast = high->b.as<Call>();
  const auto* upper = cast != nullptr && cast->intrinsic == Intrinsic::k_bitcast ? cast->args[0].as<Call>() : nullptr;
  if (upper == nullptr || upper->intrinsic != Intrinsic::k_bitwise_and || upper->dtype != DType::i(32))
    return std::nullopt;
  const BFloatDot dot{{low->a, high->a}, upper->args[0]};
  return bfloat_dot(dot) == e ? std::optional(dot) : std::nullopt;
}

Expr word_of_dot(Expr e) {
  if (const std::optional<Dot4> dot = as_dot4(e)) return dot->b;
  if (const std::optional<PairDot> dot = as_pair_dot(e)) return dot->b;
  if (const std::optional<Dot8> dot = as_dot8(e)) return dot->b;
  if (const std::optional<BFloatDot> dot = as_bfloat_dot(e)) return dot->b;
  return {};
}

}  // namespace relaxc::arith
