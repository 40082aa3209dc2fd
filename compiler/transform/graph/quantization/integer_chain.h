// integer_chain.h: operators on integers, one after the other, as a function of the number that the first one takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/transform/graph/quantization/integer_range.h"
#include "compiler/transform/graph/quantization/multiply_shift.h"

namespace relaxc {

/// Operators that are non-decreasing in one int32 tensor; their other operands are constants.
class IntegerChain {
 public:
  /// The chain that ends with `op`; nothing if there is none, it is not known to be non-decreasing, or some result on
  /// the way might wrap.
  static std::optional<IntegerChain> ending_with(const relax::Op& op);

  relax::Value* input() const { return input_; }
  /// Whether there are numbers of 64 bits on the way.
  bool is_wide() const { return wide_; }
  /// How many functions there are, and along which axis: the channels of constants and of the input's range.
  size_t channels() const { return channels_; }
  size_t from_end() const { return from_end_; }
  /// Channel c as a function of the numbers that the input can have. Must not outlive the chain.
  Staircase channel(size_t c) const;

 private:
  enum class Kind : uint8_t { kInput, kConstant, kAdd, kMultiply, kShiftRight, kShiftLeft, kMaximum, kMinimum, kCast };
  struct Step {
    Kind kind = Kind::kInput;
    DType dtype;
    size_t a = 0, b = 0;          ///< steps before
    std::vector<int64_t> values;  ///< of a constant: one, or by channel
  };

  /// The place in steps_ of what computes `value`; nothing: no chain.
  std::optional<size_t> step_of(relax::Value* value, const relax::Op& last);
  std::optional<size_t> step_of_op(const relax::Op& op, Kind kind, const relax::Op& last);
  std::optional<size_t> constant_step(const relax::Value& value);
  bool take_axis(size_t count, size_t from_end);
  bool operands_fit(const Step& step) const;
  size_t added(Step step);
  /// The last result; nothing if one wraps.
  std::optional<int64_t> checked(int64_t x, size_t channel) const;
  int64_t at(int64_t x, size_t channel) const;
  /// About what the steps give: shifts do not round, and nothing is cut.
  double line(double x, size_t channel) const;

  std::vector<Step> steps_;
  std::map<const relax::Value*, size_t> places_;  ///< of values in steps_; looked up, never walked
  relax::Value* input_ = nullptr;
  std::optional<IntegerRange> range_;
  size_t channels_ = 1, from_end_ = 0;
  bool wide_ = false;
};

}  // namespace relaxc
