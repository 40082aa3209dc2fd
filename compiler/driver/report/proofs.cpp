// proofs.cpp: runs the checkers and counts their answers.
#include "compiler/driver/report/proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <thread>

#include "compiler/proof/frames.h"
#include "compiler/support/quote.h"

namespace relaxc::driver {
namespace {

constexpr size_t kAnswers = 5, kKinds = 5;
constexpr std::string_view kAnswerNames[kAnswers] = {"proved", "checked", "checked up to 8", "refuted", "undecided"};

std::string counted(const size_t (&count)[kAnswers]) {
  return fmt::format("{} proved, {} checked for sizes, {} checked up to 8, {} refuted, {} undecided", count[0],
                     count[1], count[2], count[3], count[4]);
}

std::vector<proof::Claims> memory_claims(const Artifact& artifact) {
  auto find = [&](const std::string& name) -> const tir::PrimFunc* { return artifact.module.find_prim_func(name); };
  const std::vector<tir::PrimFunc*> all = artifact.module.prim_funcs();
  return proof::check_frames({all.begin(), all.end()}, artifact.observed.unplanned, artifact.object, find);
}

std::string memory_text(const std::vector<proof::Claims>& all) {
  std::string text;
  for (const proof::Claims& claims : all) {
    text += fmt::format("memory   {}: {} proved, {} refuted, {} undecided\n", printable(claims.function), claims.proved,
                        claims.refuted.size(), claims.undecided.size());
    for (const std::string& claim : claims.refuted) text += fmt::format("         refuted: {}\n", printable(claim));
    for (const std::string& claim : claims.undecided) text += fmt::format("         undecided: {}\n", printable(claim));
  }
  return text;
}

std::string kernel_text(const proof::KernelVerdict& found) {
  std::string text = fmt::format("kernel   {} ({}): {}{}{}\n", printable(found.kernel), proof::name_of(found.kind),
                                 name_of(found.answer), found.text.empty() ? "" : ": ", printable(found.text));
  if (found.answer == proof::KernelAnswer::kRefuted)
    text += fmt::format("         steps: {}\n", printable(found.steps));
  return text;
}

/// Returns how many kernels have each answer, in total and by kind of proof.
std::string totals_text(const std::vector<proof::KernelVerdict>& all) {
  size_t total[kAnswers] = {}, by_kind[kKinds][kAnswers] = {};
  for (const proof::KernelVerdict& found : all) {
    const auto answer = static_cast<size_t>(found.answer);
    ++total[answer], ++by_kind[static_cast<size_t>(found.kind)][answer];
  }
  std::string text = fmt::format("kernels  {}\n", counted(total));
  for (size_t kind = 0; kind < kKinds; ++kind)
    if (const auto& count = by_kind[kind]; std::accumulate(std::begin(count), std::end(count), size_t{0}) != 0)
      text += fmt::format("         {}: {}\n", proof::name_of(static_cast<proof::KernelKind>(kind)), counted(count));
  return text;
}

}  // namespace

bool Proofs::refuted() const {
  auto is_refuted = [](const proof::KernelVerdict& one) { return one.answer == proof::KernelAnswer::kRefuted; };
  auto has_refuted = [](const proof::Claims& claims) { return !claims.refuted.empty(); };
  return (memory && std::any_of(memory->begin(), memory->end(), has_refuted)) ||
         (kernels && std::any_of(kernels->begin(), kernels->end(), is_refuted));
}

std::string_view name_of(proof::KernelAnswer answer) {
  return kAnswerNames[static_cast<size_t>(answer)];
}

Proofs prove(const Artifact& artifact, const std::string& what, int32_t jobs,
             const std::function<void(const std::string&)>& print) {
  Proofs found;
  if (what != "kernels") print(memory_text(found.memory.emplace(memory_claims(artifact))));
  if (what == "memory") return found;
  if (jobs == 0) jobs = static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
  found.kernels = proof::check_kernels(artifact.observed.scheduled_kernels, jobs,
                                       [&](const proof::KernelVerdict& verdict) { print(kernel_text(verdict)); });
  print(totals_text(*found.kernels));
  return found;
}

}  // namespace relaxc::driver
