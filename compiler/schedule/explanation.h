// explanation.h: the strategies that were considered for a kernel, with their plans or reasons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relaxc::schedule {

/// The stages of scheduling, in order. A strategy of a stage sees the kernel as earlier stages have left it.
enum class Stage : uint8_t {
  kKernel,    ///< the kernel as fusion left it: is it divided into blocks of rows?
  kNests,     ///< a nest, or a reduction with its consumers
  kOperands,  ///< a reduction whose loops are ordered: how are its operands read?
  kLanes,     ///< the same with its operands decided: which axis is vectorized?
  kRows,      ///< consecutive nests over the same rows: do they share a loop?
  kTasks,     ///< the kernel with all of its loops: which loop runs on several cores?
};
/// "kernel", "nests" …
std::string_view to_text(Stage stage);

/// A strategy that was considered.
struct Considered {
  std::string_view strategy;
  Stage stage = Stage::kKernel;
  bool taken = false;
  std::string plan = {};    ///< what it would do; empty if it has no plan
  double cycles = 0;        ///< the plan's estimate; 0 if there is none
  std::string reason = {};  ///< why it was not taken; empty if it was, or another one before it
};

/// The strategies that were considered for a nest, or for nests that are scheduled together.
struct PartExplanation {
  std::string part;  ///< names of the blocks; empty: the whole kernel
  std::vector<Considered> considered;
};

struct KernelExplanation {
  std::vector<PartExplanation> parts;
};

/// A line for each part, and one for each strategy under it.
std::string to_text(const KernelExplanation& explanation);

}  // namespace relaxc::schedule
