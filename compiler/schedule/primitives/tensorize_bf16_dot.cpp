// tensorize_bf16_dot.cpp: processes reductions of bfloat16 two terms at a time.
//
// vdpbf16ps and bfdot add two products of bfloat16 to a float32 in each lane. A product of two numbers of 8 significant
// bits is exact in float32, so only the order and the rounding of the sums differ from arithmetic in float32, and
// subnormals are flushed (docs/numerics.md).
#include "compiler/schedule/primitives/tensorize_bf16_dot.h"

#include "compiler/arith/dot.h"

namespace relaxc::schedule {

const WordForm kBFloatWords{.terms = 2, .bytes = 4, .sum = DType::f(32), .multiplies = [](DType a, DType b) {
                              return a == DType::bf16() && b == DType::bf16();
                            }};

Legal<TensorizeBFloatDot::Facts> TensorizeBFloatDot::legal(const Tree& tree) const {
  return words_of_sum(tree, block, loop, kBFloatWords);
}

TensorizeBFloatDot::Made TensorizeBFloatDot::apply(Tree& tree, const Facts& facts) const {
  return sum_in_words(tree, loop, facts, kBFloatWords, [](std::span<const Expr> a, Expr word) {
    return arith::bfloat_dot({{a[0], a[1]}, word});
  });
}

}  // namespace relaxc::schedule
