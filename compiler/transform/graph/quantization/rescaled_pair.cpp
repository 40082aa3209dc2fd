// rescaled_pair.cpp: sums of two scaled tensors of bytes by two products of 32 bits and one shift.
//
// The problem: TFLite adds two tensors of bytes as (a - zero) << 20 and (b - zero) << 20, scales either by a mantissa
// of 31 bits and rounds, adds, scales the sum, and rounds twice: three products of 64 bits for one byte, half of what a
// residual layer of a network takes on a Cortex-M55.
//
// The method: whatever the operators compute, they are a function of two bytes, whose 65,536 results are computed here.
// pair_line.h finds a line in 32 bits that gives the same results, as it nearly always is there: the model's integers
// have about as many bits. Differences have a slope below 0. What is not a line, like a product, is left alone.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "compiler/relax/op_def.h"
#include "compiler/transform/graph/quantization/fixed_point.h"
#include "compiler/transform/graph/quantization/pair_line.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

using namespace relax;

namespace {

constexpr size_t kMostPairSteps = 64;

bool are_bytes(const Value& value) {
  return value.dtype().is_integer() && value.dtype().bits == 8;
}

int64_t least_of(DType dtype) {
  return dtype.is_int() ? -(int64_t{1} << (dtype.bits - 1)) : 0;
}

/// Results of an operator for all values of the bytes that it depends on: the place of a is multiplied by `a_stride`.
template <class Number>
struct Results {
  std::vector<Number> values;
  size_t a_stride = 0, b_stride = 0;

  Number at(size_t a, size_t b) const { return values[a * a_stride + b * b_stride]; }
};

/// Integer operators whose constants are single numbers, as a function of two tensors of bytes.
class PairSteps {
 public:
  /// False: the operators that end with `last` are no such function.
  bool collect(const Op& last) { return step_of(last, true) && leaves_.size() == 2 && wide_; }

  Value* leaf(size_t i) const { return leaves_[i]; }

  /// The results, computed as the operators do; nothing if a number wraps on the way.
  std::optional<Results<int64_t>> integers() const {
    bool wraps = false;
    const auto results = computed<int64_t>(kBytes, [&](Kind kind, DType dtype, int64_t a, int64_t b) {
      const int64_t y = integer(kind, a, b, wraps);
      if (dtype.bits < 64) wraps |= y < least_of(dtype) || y >= least_of(dtype) + (int64_t{1} << dtype.bits);
      return y;
    });
    return wraps ? std::nullopt : std::optional(results);
  }

  /// About what they give, at the least and the largest bytes: shifts do not round, and nothing is cut.
  Results<double> line() const {
    return computed<double>(2, [](Kind kind, DType, double a, double b) { return real(kind, a, b); });
  }

 private:
  enum class Kind : uint8_t { kLeaf, kConstant, kCast, kAdd, kSubtract, kMultiply, kRight, kLeft, kMaximum, kMinimum };
  struct Step {
    Kind kind = Kind::kLeaf;
    DType dtype;
    size_t a = 0, b = 0;  ///< steps before
    int64_t number = 0;   ///< of a constant; of a leaf: which one it is
  };
  static constexpr size_t kBytes = 256;

  static int64_t integer(Kind kind, int64_t a, int64_t b, bool& wraps) {
    int64_t y = a;  // of casts
    if (kind == Kind::kAdd) wraps |= __builtin_add_overflow(a, b, &y);
    if (kind == Kind::kSubtract) wraps |= __builtin_sub_overflow(a, b, &y);
    if (kind == Kind::kMultiply) wraps |= __builtin_mul_overflow(a, b, &y);
    if (kind == Kind::kMaximum) y = std::max(a, b);
    if (kind == Kind::kMinimum) y = std::min(a, b);
    if (kind == Kind::kRight || kind == Kind::kLeft) {
      if (b < 0 || b > 62) return wraps = true, 0;
      if (kind == Kind::kLeft) wraps |= __builtin_mul_overflow(a, int64_t{1} << b, &y);
      if (kind == Kind::kRight) y = a >> b;
    }
    return y;
  }

  static double real(Kind kind, double a, double b) {
    if (kind == Kind::kAdd) return a + b;
    if (kind == Kind::kSubtract) return a - b;
    if (kind == Kind::kMultiply) return a * b;
    if (kind == Kind::kLeft) return a * std::exp2(b);
    if (kind == Kind::kRight) return (a + 0.5) * std::exp2(-b) - 0.5;
    return a;  // casts, minima and maxima with a constant
  }

  /// The place of a step in steps_; nothing: it is none of those that are known here.
  std::optional<size_t> step_of(Value* value) {
    if (value == nullptr || value->info->as<TensorInfo>() == nullptr || !value->dtype().is_integer()) return {};
    if (const auto place = places_.find(value); place != places_.end()) return place->second;
    if (constant_of(value) != nullptr) {
      const auto number = is_single(*value) ? uniform_value(value) : std::nullopt;
      if (!number || !(std::abs(*number) < 1e15)) return {};  // which a float64 holds
      return places_[value] = added({Kind::kConstant, value->dtype(), 0, 0, static_cast<int64_t>(*number)});
    }
    if (are_bytes(*value)) {
      leaves_.push_back(value);
      return places_[value] = added({Kind::kLeaf, value->dtype(), 0, 0, static_cast<int64_t>(leaves_.size()) - 1});
    }
    if (value->op == nullptr || !step_of(*value->op, false)) return {};
    return places_[value] = steps_.size() - 1;
  }

  /// Adds the step of an operator behind those of its operands.
  bool step_of(const Op& op, bool is_last) {
    struct Named {
      OpName name;
      Kind kind;
    };
    static constexpr Named kKinds[] = {{"astype", Kind::kCast},       {"add", Kind::kAdd},
                                       {"subtract", Kind::kSubtract}, {"multiply", Kind::kMultiply},
                                       {"maximum", Kind::kMaximum},   {"minimum", Kind::kMinimum},
                                       {"right_shift", Kind::kRight}, {"left_shift", Kind::kLeft}};
    if (op.kind != OpKind::kOperator || steps_.size() > kMostPairSteps || leaves_.size() > 2) return false;
    const auto* found =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return op.is(k.name); });
    if (found == std::end(kKinds) || (is_last && found->kind != Kind::kCast)) return false;
    Step step{found->kind, op.result()->dtype(), 0, 0, 0};
    const auto a = step_of(op.operand(0)), b = found->kind == Kind::kCast ? a : step_of(op.operand(1));
    if (!a || !b) return false;
    step.a = *a, step.b = *b;
    const bool cuts = step.kind == Kind::kMaximum || step.kind == Kind::kMinimum;
    const bool by_constant = cuts || step.kind == Kind::kRight || step.kind == Kind::kLeft;
    if (by_constant && steps_[step.b].kind != Kind::kConstant) return false;
    wide_ |= step.dtype.bits == 64;
    added(step);
    return true;
  }

  size_t added(const Step& step) {
    steps_.push_back(step);
    return steps_.size() - 1;
  }

  /// The last step's results for `count` values of either byte, which are spread from the least to the largest.
  template <class Number, class Function>
  Results<Number> computed(size_t count, const Function& function) const {
    std::vector<Results<Number>> all;
    for (const Step& step : steps_) {
      Results<Number> own;
      if (step.kind == Kind::kConstant) {
        own.values = {static_cast<Number>(step.number)};
      } else if (step.kind == Kind::kLeaf) {
        for (size_t i = 0; i < count; ++i)
          own.values.push_back(static_cast<Number>(least_of(step.dtype) + static_cast<int64_t>(i * 255 / (count - 1))));
        (step.number == 0 ? own.a_stride : own.b_stride) = 1;
      } else {
        const Results<Number>&x = all[step.a], &y = all[step.b];
        const size_t as = x.a_stride + y.a_stride > 0 ? count : 1, bs = x.b_stride + y.b_stride > 0 ? count : 1;
        own.a_stride = as > 1 ? bs : 0, own.b_stride = bs > 1 ? 1 : 0;
        own.values.reserve(as * bs);
        for (size_t i = 0; i < as; ++i)
          for (size_t j = 0; j < bs; ++j) own.values.push_back(function(step.kind, step.dtype, x.at(i, j), y.at(i, j)));
      }
      all.push_back(std::move(own));
    }
    return all.back();
  }

  std::vector<Step> steps_;
  std::map<const Value*, size_t> places_;  ///< looked up, never walked
  std::vector<Value*> leaves_;
  bool wide_ = false;
};

/// The function, if its line is one; `results` must outlive it.
std::optional<PairFunction> function_of(const PairSteps& steps, const Results<int64_t>& results) {
  const Results<double> line = steps.line();
  if (line.a_stride == 0 || line.b_stride == 0) return {};
  PairFunction f;
  f.a_low = least_of(steps.leaf(0)->dtype()), f.b_low = least_of(steps.leaf(1)->dtype());
  f.a_high = f.a_low + 255, f.b_high = f.b_low + 255;
  f.a_slope = (line.at(1, 0) - line.at(0, 0)) / 255, f.b_slope = (line.at(0, 1) - line.at(0, 0)) / 255;
  f.intercept = line.at(0, 0) - f.a_slope * static_cast<double>(f.a_low) - f.b_slope * static_cast<double>(f.b_low);
  if (!(std::abs(line.at(1, 1) - line.at(1, 0) - line.at(0, 1) + line.at(0, 0)) < 1.0 / 64)) return {};
  const auto [least, most] = std::minmax_element(results.values.begin(), results.values.end());
  f.low = *least, f.high = *most;
  f.at = [&results, a_low = f.a_low, b_low = f.b_low](int64_t a, int64_t b) {
    return results.at(static_cast<size_t>(a - a_low), static_cast<size_t>(b - b_low));
  };
  return f;
}

}  // namespace

Value* rescaled_pair_by_line(GraphBuilder& b, const Op& op) {
  if (!op.is("astype") || !are_bytes(*op.result()) || op.operand(0)->dtype() != DType::i(32)) return nullptr;
  PairSteps pair;
  if (!pair.collect(op)) return nullptr;
  const auto results = pair.integers();
  const auto f = results ? function_of(pair, *results) : std::nullopt;
  const auto line = f ? pair_line_of(*f) : std::nullopt;
  if (!line || !line->exact) return nullptr;
  const IntegerSteps steps(b);
  return steps.line(*line, pair.leaf(0), pair.leaf(1), f->low, f->high, op.result()->dtype());
}

}  // namespace relaxc
