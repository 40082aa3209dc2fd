// kernel_runs.cpp: see kernel_runs.h.
#include "compiler/proof/kernels/kernel_runs.h"

#include <fmt/format.h>

#include <bit>

#include "compiler/analysis/pattern.h"
#include "compiler/arith/simplify.h"
#include "compiler/proof/kernels/packed_contents.h"
#include "compiler/schedule/trace/trace.h"

namespace relaxc::proof {

namespace {

constexpr tir::interpreter::CodeOptions kCode{.math_calls = true, .batches = true, .arrays_in_lanes = true};

/// Maximum elements of a buffer, also used if its size overflows.
constexpr int64_t kUnbounded = INT64_MAX / 64;

/// Returns a hash of the three numbers.
uint64_t mixed(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t all = (a * 0x9E3779B97F4A7C15 ^ b) * 0xBF58476D1CE4E5B9;
  all = (all ^ (all >> 29) ^ c) * 0x94D049BB133111EB;
  return all ^ (all >> 32);
}

Contents contents_of(const Algebra& algebra, uint64_t param, DType dtype, const std::optional<ChosenData>& chosen) {
  if (!chosen || (dtype.is_float() && !chosen->floats))
    return [&algebra, param, dtype](int64_t i) { return algebra.input(param, static_cast<uint64_t>(i), dtype); };
  ChosenData range = *chosen;
  if (dtype.is_bool()) range.least = 0, range.span = 2;
  if (dtype.is_uint() && range.least < 0) range.least = 0;
  return [&algebra, param, range, dtype](int64_t i) {
    const uint64_t place = mixed(range.seed, param, static_cast<uint64_t>(i));
    const int64_t value = range.least + static_cast<int64_t>(place % static_cast<uint64_t>(range.span));
    return dtype.is_float() ? algebra.constant(static_cast<double>(value)) : number_term(value);
  };
}

std::string subscripts(tir::BufferRef buffer, int64_t flat, const std::function<int64_t(arith::Var)>& value_of) {
  std::vector<int64_t> dims;
  for (const arith::Expr dim : buffer->shape) dims.push_back(arith::evaluate(dim, value_of).value_or(1));
  std::string text;
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t dim = std::max<int64_t>(dims[i], 1);
    text = fmt::format("{}{}{}", i == 0 ? flat : flat % dim, text.empty() ? "" : ", ", text);
    flat /= dim;
  }
  return fmt::format("{}[{}]", buffer->name, text);
}

}  // namespace

/// A run of one form of the kernel, with its memory.
struct KernelRuns::Run {
  explicit Run(Algebra& algebra) : memory(algebra), machine(algebra, memory) {}
  Memory memory;
  Machine machine;
  std::vector<uint64_t> buffers;
  RunResult result;
};

KernelRuns::KernelRuns(const ScheduledKernel& kernel, const Positions* only)
    : kernel_(kernel),
      only_(only),
      before_(tir::interpreter::compile(kernel.before, kCode)),
      after_(tir::interpreter::compile(kernel.after, kCode)),
      params_(analysis::buffer_params(kernel.before)),
      scheduled_params_(analysis::buffer_params(kernel.after)) {
  for (const tir::Param& param : kernel.before.params)
    if (param.buffer == nullptr) scalars_.push_back(param.var);
  scalars_.insert(scalars_.end(), kernel.before.symbols.begin(), kernel.before.symbols.end());
  changes_bits_ =
      schedule::changes_bits(kernel.after.schedule.steps) || schedule::rounds_by_machine(kernel.after.schedule.steps);
  exponential_ = kernel.after.schedule.steps.find("online_softmax") != std::string::npos;
}

const schedule::PackedParam* KernelRuns::packed(size_t i) const {
  for (const schedule::PackedParam& one : kernel_.packed)
    if (one.packed == scheduled_params_[i]) return &one;
  return nullptr;
}

int64_t KernelRuns::value_of(arith::Var var, const std::vector<int64_t>& values) const {
  for (size_t i = 0; i < scalars_.size(); ++i)
    if (scalars_[i] == var) return values[i];
  return 1;
}

std::optional<std::vector<int64_t>> KernelRuns::counts(const std::vector<int64_t>& values) const {
  std::vector<int64_t> counts;
  for (const tir::BufferRef buffer : params_) {
    int64_t count = 1;
    for (const arith::Expr dim : buffer->shape) {
      const int64_t extent = arith::evaluate(dim, [&](arith::Var v) { return value_of(v, values); }).value_or(1);
      if (extent < 0) return std::nullopt;
      if (__builtin_mul_overflow(count, extent, &count)) count = kUnbounded;
    }
    counts.push_back(std::min(count, kUnbounded));
  }
  return counts;
}

std::string KernelRuns::difference(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& values,
                                   size_t i, int64_t k, bool& suitable) const {
  auto name = [&] { return subscripts(params_[i], k, [&](arith::Var v) { return value_of(v, values); }); };
  const Term wanted = before.memory.element(before.buffers[i], k), made = after.memory.element(after.buffers[i], k);
  suitable = !wanted.is_poison();
  if (!suitable) return fmt::format("in the definition, {} is {}", name(), algebra.text(wanted));
  if (algebra.equal(wanted, made)) return {};
  return fmt::format("{} is {} and not {}", name(), algebra.text(made), algebra.text(wanted));
}

std::string KernelRuns::difference(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& values,
                                   bool& suitable) const {
  const std::vector<int64_t> sizes = *counts(values);
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!before.memory.is_written(before.buffers[i]) && !after.memory.is_written(after.buffers[i])) continue;
    const int64_t count = only_ == nullptr ? sizes[i] : static_cast<int64_t>((*only_)[i].size());
    for (int64_t k = 0; k < count; ++k) {
      const int64_t position = only_ == nullptr ? k : (*only_)[i][static_cast<size_t>(k)];
      std::string found = difference(algebra, before, after, values, i, position, suitable);
      if (!found.empty()) return found;
    }
  }
  return {};
}

/// Returns the outcome for a run that ended early.
RunComparison KernelRuns::early_end(const RunResult& result, bool definition) {
  switch (result.end) {
    case RunEnd::kNeedsData:
      return {RunComparison::kNeedsData, result.text, result.instructions};
    case RunEnd::kFault:
      if (!definition) return {RunComparison::kDifferent, result.text, result.instructions};
      return {RunComparison::kUnsuitable, "in the definition, " + result.text, result.instructions};
    case RunEnd::kOverLimit:
      return {RunComparison::kOverLimit, result.text, result.instructions};
    default:
      return {RunComparison::kUndecided, result.text, result.instructions};
  }
}

bool KernelRuns::enter(Algebra& algebra, Run& before, Run& after, const std::vector<int64_t>& sizes,
                       const std::optional<ChosenData>& chosen) const {
  for (size_t i = 0; i < params_.size(); ++i) {
    const DType dtype = params_[i]->dtype;
    const Contents contents = contents_of(algebra, i, dtype, chosen);
    before.buffers.push_back(before.memory.add(dtype, sizes[i], contents));
    const schedule::PackedParam* pack = packed(i);
    if (pack == nullptr) {
      after.buffers.push_back(after.memory.add(dtype, sizes[i], contents));
      continue;
    }
    const Contents moved = packed_contents(algebra, pack->packing, dtype, contents);
    if (!moved) return false;
    int64_t count = 1;
    for (const int64_t dim : pack->packing.packed_shape()) count *= dim;
    after.buffers.push_back(after.memory.add(pack->packed->dtype, count, moved));
  }
  return true;
}

RunComparison KernelRuns::compare(const std::vector<int64_t>& values, const std::optional<ChosenData>& chosen,
                                  int64_t limit, uint64_t seed) const {
  Way way;
  std::optional<RunComparison> found;
  while (!found) found = compare(values, chosen, limit, seed, way);
  return *found;
}

std::optional<RunComparison> KernelRuns::compare(const std::vector<int64_t>& values,
                                                 const std::optional<ChosenData>& chosen, int64_t limit, uint64_t seed,
                                                 Way& way) const {
  const Meaning meaning = exponential_ ? Meaning::kExponential : changes_bits_ ? Meaning::kField : Meaning::kExact;
  const std::optional<std::vector<int64_t>> sizes = counts(values);
  if (!sizes) return RunComparison{RunComparison::kUnsuitable, "a dim is negative"};
  Algebra algebra(meaning, seed, way.operands);
  std::vector<Term> scalars;
  for (size_t i = 0; i < scalars_.size(); ++i)
    scalars.push_back(scalars_[i].dtype().is_float() ? algebra.input(params_.size() + i, 0, scalars_[i].dtype())
                                                     : number_term(values[i]));
  Run before(algebra), after(algebra);
  if (!enter(algebra, before, after, *sizes, chosen))
    return RunComparison{RunComparison::kUndecided, "a packed constant has too many elements"};
  auto ended = [](const RunResult& result) { return result.end == RunEnd::kDone || result.end == RunEnd::kStatus; };
  auto runs_apart = [](const RunResult& result, std::set<int64_t>& loops) {
    if (result.end == RunEnd::kSerial) loops.insert(result.loop);
    return result.end != RunEnd::kSerial;
  };
  before.result = before.machine.run(before_, before.buffers, scalars, limit, true, way.serial_before);
  if (!runs_apart(before.result, way.serial_before)) return std::nullopt;
  if (!ended(before.result)) return early_end(before.result, true);
  after.result = after.machine.run(after_, after.buffers, scalars, limit, true, way.serial_after);
  if (!runs_apart(after.result, way.serial_after)) return std::nullopt;
  if (!ended(after.result)) return early_end(after.result, false);
  return compare(algebra, before, after, values, way);
}

std::optional<RunComparison> KernelRuns::compare(Algebra& algebra, Run& before, Run& after,
                                                 const std::vector<int64_t>& values, Way& way) const {
  RunComparison found{RunComparison::kEqual, {}, before.result.instructions + after.result.instructions};
  if (before.result.status != after.result.status) {
    found.outcome = RunComparison::kDifferent;
    found.text = fmt::format("it ends with status {} and not {}", after.result.status, before.result.status);
  }
  if (before.result.status != 0 || after.result.status != 0) return found;
  bool suitable = true;
  found.text = difference(algebra, before, after, values, suitable);
  if (found.text.empty()) return found;
  found.outcome = suitable ? RunComparison::kDifferent : RunComparison::kUnsuitable;
  if (suitable && way.operands == Operands::kAll && algebra.has_extremes()) {
    way.operands = Operands::kOnce;
    return std::nullopt;
  }
  if (suitable && algebra.over_limit())
    return RunComparison{RunComparison::kOverLimit, "it has more maxima and minima than the limit", found.instructions};
  return found;
}

}  // namespace relaxc::proof
