// explanation.cpp: see explanation.h.
#include "compiler/schedule/explanation.h"

#include <fmt/format.h>

#include <array>

namespace relaxc::schedule {
namespace {

constexpr std::array<std::string_view, 6> kStages = {"kernel", "nests", "operands", "lanes", "rows", "tasks"};

std::string answer_of(const Considered& one) {
  std::string text = one.taken ? "taken" : one.reason.empty() ? "not asked further: another one was taken" : one.reason;
  if (!one.plan.empty()) text += (one.taken ? ": " : "; its plan: ") + one.plan;
  if (one.cycles > 0) text += fmt::format(" (about {:.3g} cycles)", one.cycles);
  return text;
}

}  // namespace

std::string_view to_text(Stage stage) {
  return kStages.at(static_cast<size_t>(stage));
}

std::string to_text(const KernelExplanation& explanation) {
  std::string text;
  for (const PartExplanation& part : explanation.parts) {
    text += (part.part.empty() ? "the whole kernel" : part.part) + "\n";
    for (const Considered& one : part.considered)
      text += fmt::format("  {:<9} {:<22} {}\n", to_text(one.stage), one.strategy, answer_of(one));
  }
  return text;
}

}  // namespace relaxc::schedule
