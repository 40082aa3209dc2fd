// tensorize_dot8.cpp: processes reductions of bytes eight terms at a time, as matrix instructions do for two rows.
#include "compiler/schedule/primitives/tensorize_dot8.h"

#include "compiler/arith/dot.h"

namespace relaxc::schedule {
namespace {

bool is_byte(DType dtype) {
  return dtype.is_integer() && dtype.bits == 8;
}

}  // namespace

const WordForm kByteOctets{.terms = 8, .bytes = 8, .sum = DType::i(32), .multiplies = [](DType a, DType b) {
                             return is_byte(a) && is_byte(b);
                           }};

Legal<TensorizeDot8::Facts> TensorizeDot8::legal(const Tree& tree) const {
  return words_of_sum(tree, block, loop, kByteOctets);
}

TensorizeDot8::Made TensorizeDot8::apply(Tree& tree, const Facts& facts) const {
  return sum_in_words(tree, loop, facts, kByteOctets, [&](std::span<const Expr> a, Expr word) {
    arith::Dot8 dot{.a = {}, .b = word, .signed_b = !facts.of.buffer->dtype.is_uint()};
    std::copy(a.begin(), a.end(), dot.a.begin());
    return arith::dot8(dot);
  });
}

}  // namespace relaxc::schedule
