// explanation.h: which strategies were asked for a kernel, and what each of them answered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relaxc::schedule {

/// When strategies are asked. Those of a later stage see what an earlier one made of the kernel.
enum class Stage : uint8_t {
  kKernel,    ///< the kernel as fusion left it: is it cut into blocks of rows?
  kNests,     ///< a nest, or a reduction with its consumers
  kOperands,  ///< a reduction whose axes are in order: how are its operands read?
  kLanes,     ///< the same, after its operands are settled: which axis is in lanes?
  kRows,      ///< nests one behind the other over the same rows
  kTasks,     ///< the kernel with all of its loops: what is shared among cores?
};
/// "kernel", "nests" …
std::string_view to_text(Stage stage);

/// A strategy that was asked.
struct Considered {
  std::string_view strategy;
  Stage stage = Stage::kKernel;
  bool taken = false;
  std::string plan = {};    ///< what it would do; empty: it has no plan
  double cycles = 0;        ///< estimate; 0: it has no plan
  std::string reason = {};  ///< why it was not taken; empty: it was, or one before it was
};

/// What is scheduled together: a nest, or several that go as one.
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
