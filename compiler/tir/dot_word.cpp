// dot_word.cpp: see dot_word.h.
#include "compiler/tir/dot_word.h"

#include "compiler/arith/simplify.h"

namespace relaxc::tir {

const arith::Load* word_of(const arith::Dot4& dot) {
  const arith::Load* first = nullptr;
  arith::Expr begin;
  for (size_t i = 0; i < dot.a.size(); ++i) {
    const auto* cast = dot.a[i].as<arith::Cast>();
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

}  // namespace relaxc::tir
