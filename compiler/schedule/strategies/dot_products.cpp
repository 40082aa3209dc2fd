// dot_products.cpp: products of bytes, summed four at a time, where one operand is a constant that can be packed for
// it.
#include <fmt/format.h>

#include <array>

#include "compiler/schedule/primitives/tensorize_dot4.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/vectors.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

Legal<WordsOf> match_words(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const Target& target = *draft.target;
  RELAXC_FITS(target.dots.of(target.vector_bits) != DotProduct::kNone, "the target has no dot products of bytes");
  std::optional<WordsOf> of = can_tensorize_dot4(draft.tree, form.block, form.reduced.back());
  RELAXC_FITS(of, "it sums no products of bytes that lie side by side");
  const ReductionView view(draft);
  of->buffer = view.original(of->buffer);
  RELAXC_FITS(view.is_packable(of->buffer), "neither operand is a constant that can be packed");
  return *of;
}

struct DotWords {
  WordsOf of;

  std::string text() const { return fmt::format("four bytes of {} at a time", of.buffer->name); }
  Legal<> carry_out(Draft& draft) const {
    ReductionForm& form = draft.reduction;
    form.words_of = of;
    RELAXC_STEP(form.words, apply(draft.tree, TensorizeDot4{form.block, form.reduced.back()}));
    return drop_unit_loops(draft.tree, form.reduced);
  }
};

Legal<DotWords> plan_words(const Draft&, const WordsOf& of) {
  return DotWords{of};
}

struct AsTheyLie {
  static std::string text() { return "operands are read as they lie"; }
  static Legal<> carry_out(Draft&) { return Done{}; }
};

Legal<Done> match_any(const Draft&) {
  return Done{};
}

Legal<AsTheyLie> plan_as_they_lie(const Draft&, const Done&) {
  return AsTheyLie{};
}

}  // namespace

std::span<const Strategy> dot_products_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "dot_products",
               .stage = Stage::kOperands,
               .priority = 30,
               .doc = "Products of bytes are summed four at a time, by the dot products of the target, where one "
                      "operand is a constant that can be packed in words.",
               .propose = propose<match_words, kNotEstimated, plan_words>},
      Strategy{.name = "as_they_lie",
               .stage = Stage::kOperands,
               .priority = 10,
               .doc = "Operands are read where they are.",
               .propose = propose<match_any, kNotEstimated, plan_as_they_lie>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
