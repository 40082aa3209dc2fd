// step_budget.h: the steps that a query to Canonical may take.
//
// A step is a term that is visited. Counting steps instead of time makes answers independent of a clock, and bounds the
// cost of every expression by a time linear in its nodes; only precision suffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relaxc::arith {

class StepBudget {
 public:
  /// The steps that the current query has left.
  struct Allowance {
    int64_t left = 0;
    bool asked = false;  ///< whether a query is being answered
  };

  /// Subtracts `cost` from the allowance; returns false if nothing is left.
  bool afford(size_t cost) {
    allowance_.left -= static_cast<int64_t>(cost);
    steps_ += static_cast<int64_t>(cost);
    return !is_spent();
  }
  bool is_spent() const { return allowance_.left < 0; }
  /// Returns the steps of all queries so far.
  int64_t steps() const { return steps_; }

  Allowance allowance() const { return allowance_; }
  void set_allowance(Allowance allowance) { allowance_ = allowance; }

 private:
  Allowance allowance_;
  int64_t steps_ = 0;
};

}  // namespace relaxc::arith
