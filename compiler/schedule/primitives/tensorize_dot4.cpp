// tensorize_dot4.cpp: processes reductions of bytes four terms at a time.
//
// A machine with a dot-product instruction multiplies four unsigned by four signed bytes and adds the products to an
// int32 in each lane. The lanes are along another axis than the four, so the signed operand must have four neighbours
// along the reduction in one element: packing a constant makes these at no cost. The unsigned operand is read in place
// if the reduction is its last axis. In a depthwise window, taps are a pixel apart; but there each lane has a channel
// of its own, and its words are assembled from a vector of channels for each tap. That takes three steps, of which
// adjacent pixels share most, while three multiplications in 32 bits take six.
#include "compiler/schedule/primitives/tensorize_dot4.h"

#include "compiler/arith/dot.h"

namespace relaxc::schedule {

const WordForm kByteWords{.terms = 4,
                          .bytes = 4,
                          .sum = DType::i(32),
                          .multiplies = [](DType a, DType b) { return a == DType::u(8) && b == DType::i(8); },
                          .channels = true};

Legal<TensorizeDot4::Facts> TensorizeDot4::legal(const Tree& tree) const {
  return words_of_sum(tree, block, loop, kByteWords);
}

TensorizeDot4::Made TensorizeDot4::apply(Tree& tree, const Facts& facts) const {
  return sum_in_words(tree, loop, facts, kByteWords, [](std::span<const Expr> a, Expr word) {
    arith::Dot4 dot;
    std::copy(a.begin(), a.end(), dot.a.begin());
    dot.b = word;
    return arith::dot4(dot);
  });
}

}  // namespace relaxc::schedule
