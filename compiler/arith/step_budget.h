// step_budget.h: the steps that questions to Canonical may take.
//
// A step is a term that is looked at. Counting steps instead of time makes an answer depend on no clock, and bounds
// what the most contrived expression costs by a time linear in its nodes; only precision suffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relaxc::arith {

class StepBudget {
 public:
  /// What the question that is being answered may still take.
  struct Allowance {
    int64_t left = 0;
    bool asked = false;  ///< a question is being answered
  };

  /// Takes `cost` from the allowance; false if nothing is left.
  bool afford(size_t cost) {
    allowance_.left -= static_cast<int64_t>(cost);
    steps_ += static_cast<int64_t>(cost);
    return !is_spent();
  }
  bool is_spent() const { return allowance_.left < 0; }
  /// The steps of all questions so far.
  int64_t steps() const { return steps_; }

  Allowance allowance() const { return allowance_; }
  void set_allowance(Allowance allowance) { allowance_ = allowance; }

 private:
  Allowance allowance_;
  int64_t steps_ = 0;
};

}  // namespace relaxc::arith
