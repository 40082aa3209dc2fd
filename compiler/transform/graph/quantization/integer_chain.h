// integer_chain.h: a chain of integer operators as a function of the number that the first one takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/transform/graph/quantization/integer_range.h"
#include "compiler/transform/graph/quantization/multiply_shift.h"

namespace relaxc {

/// A chain of operators that is non-decreasing in one int32 tensor; other operands are constants.
class IntegerChain {
 public:
  /// Returns the chain that ends with `op`; nothing if there is none, it is not known to be non-decreasing, or an
  /// intermediate result might wrap.
  static std::optional<IntegerChain> ending_with(const relax::Op& op);

  relax::Value* input() const { return input_; }
  /// Whether there are intermediate results of 64 bits.
  bool is_wide() const { return wide_; }
  /// The number of functions, and the axis along which they differ: the channels of constants and of the input's range.
  size_t channels() const { return channels_; }
  size_t from_end() const { return from_end_; }
  /// Returns channel c as a function of the numbers that the input can have. Must not outlive the chain.
  Staircase channel(size_t c) const;

 private:
  enum class Kind : uint8_t { kInput, kConstant, kAdd, kMultiply, kShiftRight, kShiftLeft, kMaximum, kMinimum, kCast };
  struct Step {
    Kind kind = Kind::kInput;
    DType dtype;
    size_t a = 0, b = 0;          ///< operands: indices of earlier steps
    std::vector<int64_t> values;  ///< of a constant: one, or one for each channel
  };

  /// Returns the index in steps_ of what computes `value`; nothing if that is no chain.
  std::optional<size_t> step_of(relax::Value* value, const relax::Op& last);
  std::optional<size_t> step_of_op(const relax::Op& op, Kind kind, const relax::Op& last);
  std::optional<size_t> constant_step(const relax::Value& value);
  bool take_axis(size_t count, size_t from_end);
  bool operands_fit(const Step& step) const;
  size_t added(Step step);
  /// Returns the last result; nothing if a result wraps.
  std::optional<int64_t> checked(int64_t x, size_t channel) const;
  int64_t at(int64_t x, size_t channel) const;
  /// Returns about what the steps compute, without rounding of shifts and without clamps.
  double line(double x, size_t channel) const;

  std::vector<Step> steps_;
  std::map<const relax::Value*, size_t> places_;  ///< indices in steps_ by value; never iterated
  relax::Value* input_ = nullptr;
  std::optional<IntegerRange> range_;
  size_t channels_ = 1, from_end_ = 0;
  bool wide_ = false;
};

}  // namespace relaxc
