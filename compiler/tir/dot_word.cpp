// dot_word.cpp: see dot_word.h.
#include "compiler/tir/dot_word.h"

#include <span>

#include "compiler/arith/simplify.h"

namespace relaxc::tir {

namespace {

/// The load of the first byte, if all are adjacent in one buffer; else null.
const arith::Load* first_of(std::span<const arith::Expr> bytes) {
  const arith::Load* first = nullptr;
  arith::Expr begin;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto* cast = bytes[i].as<arith::Cast>();
    const auto* load = cast != nullptr ? cast->value.as<arith::Load>() : nullptr;
    if (load == nullptr || load->indices.empty() || !load->buffer->strides.empty()) return nullptr;
    arith::Context& context = load->indices[0].context();
    const arith::Expr place = element_offset(context, *load->buffer, load->indices);
    if (i == 0) first = load, begin = place;
    if (load->buffer != first->buffer) return nullptr;
    if (!arith::prove_equal(place, begin + static_cast<int64_t>(i))) return nullptr;
  }
  return first;
}

}  // namespace

const arith::Load* word_of(const arith::Dot4& dot) {
  return first_of(dot.a);
}

const arith::Load* pairs_of(const arith::PairDot& dot) {
  return first_of(dot.a);
}

const arith::Load* octet_of(const arith::Dot8& dot) {
  return first_of(dot.a);
}

}  // namespace relaxc::tir
