// knobs.cpp: decisions of strategies as text.
#include "compiler/schedule/strategies/parts/knobs.h"

#include <algorithm>

namespace relaxc::schedule {
namespace {

constexpr std::string_view kOf = " of ";

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

}  // namespace

Knobs::Knobs(std::string_view text) {
  for (const Decision& decision : read_decisions(text))
    if (!decision.options.empty()) overrides_[decision.point] = decision.options[decision.taken];
}

Decision Knobs::decide(std::string_view point, std::vector<std::string> options) const {
  auto same = [&](const auto& taken) { return taken->point.substr(0, taken->point.find(' ')) == point; };
  auto before = std::count_if(decisions_.begin(), decisions_.end(), same);
  Decision decision{std::string(point) + (before == 0 ? "" : " " + std::to_string(before + 1)), std::move(options), 0};
  if (auto found = overrides_.find(decision.point); found != overrides_.end()) {
    auto at = std::find(decision.options.begin(), decision.options.end(), found->second);
    if (at != decision.options.end()) decision.taken = static_cast<size_t>(at - decision.options.begin());
  }
  return decision;
}

std::string Knobs::text() const {
  std::string text;
  for (const auto& taken : decisions_) {
    const Decision& decision = *taken;
    text += (text.empty() ? "" : "; ") + decision.point + ": " + decision.options.at(decision.taken) + std::string(kOf);
    for (size_t i = 0; i < decision.options.size(); ++i) text += (i == 0 ? "" : ", ") + decision.options[i];
  }
  return text;
}

std::vector<Decision> read_decisions(std::string_view text) {
  std::vector<Decision> decisions;
  for (std::string_view part : parts_of(text, "; ")) {
    size_t colon = part.find(": ");
    if (colon == std::string_view::npos) continue;
    std::string_view answer = part.substr(colon + 2);
    size_t of = answer.find(kOf);
    Decision decision{std::string(part.substr(0, colon)), {}, 0};
    std::string taken(answer.substr(0, of));
    if (of != std::string_view::npos)
      for (std::string_view option : parts_of(answer.substr(of + kOf.size()), ", "))
        decision.options.emplace_back(option);
    auto at = std::find(decision.options.begin(), decision.options.end(), taken);
    if (at == decision.options.end()) at = decision.options.insert(at, taken);
    decision.taken = static_cast<size_t>(at - decision.options.begin());
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

}  // namespace relaxc::schedule
