// same_meaning.cpp: random inputs, two runs, one comparison.
//
// Sizes are small and differ from symbol to symbol, so that a swapped dim shows; 1 is among them, for broadcasts.
// Integers stay in 0..3, since many are used as indices. The generator is seeded by the function's name: a failure
// repeats.
#include "tests/golden/same_meaning.h"

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "compiler/relax/interpret.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::test {
namespace {

using relax::HostTensor;

constexpr int kTrials = 4;

class RandomInputs {
 public:
  explicit RandomInputs(uint32_t seed) : random_(seed) {}

  std::vector<HostTensor> of(const relax::Function& function) {
    for (arith::Var symbol : function.symbols) {
      arith::Range range = function.facts.range_of(symbol);
      int64_t value = kSizes[random_() % std::size(kSizes)];
      if (range.has_lower()) value = std::max(value, range.lower);
      if (range.has_upper()) value = std::min(value, range.upper);
      int64_t multiple = function.facts.multiple_of(symbol);
      sizes_[symbol] = multiple > 1 ? value * multiple : value;
    }
    for (const relax::Value* argument : function.body().arguments) add(argument->info);
    return std::move(inputs_);
  }

 private:
  static constexpr int64_t kSizes[] = {1, 2, 3, 5, 6};

  int64_t value(arith::Expr e) {
    return arith::evaluate(e, [&](arith::Var var) { return sizes_.at(var); }).value_or(1);
  }

  void add(relax::Info info) {
    if (const auto* tuple = info->as<relax::TupleInfo>()) {
      for (relax::Info field : tuple->fields) add(field);
    } else if (const auto* tensor = info->as<relax::TensorInfo>()) {
      std::vector<int64_t> shape;
      int32_t rank = tensor->ndim < 0 ? 2 : tensor->ndim;
      for (int32_t i = 0; i < rank; ++i) shape.push_back(tensor->shape ? value((*tensor->shape)[i]) : i + 2);
      add(tensor->dtype.value_or(DType::f(32)), std::move(shape));
    } else if (const auto* shape = info->as<relax::ShapeInfo>()) {
      std::vector<int64_t> dims;
      for (int32_t i = 0; i < std::max(shape->ndim, 0); ++i) dims.push_back(shape->dims ? value((*shape->dims)[i]) : 2);
      add_int64(dims, {static_cast<int64_t>(dims.size())});
    } else if (const auto* prim = info->as<relax::PrimInfo>()) {
      if (prim->dtype.is_index())
        add_int64({prim->value ? value(prim->value) : 3}, {});
      else
        add(prim->dtype, {});
    }
  }

  void add_int64(const std::vector<int64_t>& values, std::vector<int64_t> shape) {
    HostTensor t{DType::i(64), std::move(shape), std::vector<std::byte>(values.size() * sizeof(int64_t))};
    if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
    inputs_.push_back(std::move(t));
  }

  void add(DType dtype, std::vector<int64_t> shape) {
    HostTensor t{dtype, std::move(shape), {}};
    std::uniform_real_distribution<double> real(-2, 2);
    for (int64_t i = 0; i < t.elements(); ++i) {
      double number = dtype.is_float() ? real(random_) : static_cast<double>(random_() % (dtype.is_bool() ? 2 : 4));
      std::vector<std::byte> bytes = relax::encode_scalar(dtype, number);
      t.bytes.insert(t.bytes.end(), bytes.begin(), bytes.end());
    }
    inputs_.push_back(std::move(t));
  }

  std::mt19937 random_;
  std::unordered_map<arith::Expr, int64_t> sizes_;
  std::vector<HostTensor> inputs_;
};

/// Stands for every external function: writes numbers that depend on its name and position into its last argument.
int32_t external_function(const std::string& name, std::span<const tir::ExternalArg> args) {
  if (args.empty()) return 0;
  const tir::ExternalArg& out = args.back();
  int64_t elements = 1;
  for (int64_t dim : out.shape) elements *= dim;
  auto* at = static_cast<std::byte*>(out.data);
  for (int64_t i = 0; i < elements; ++i) {
    double number = out.dtype.is_float() ? 0.25 * static_cast<double>(i % 7) + static_cast<double>(name.size()) : 2;
    std::vector<std::byte> bytes = relax::encode_scalar(out.dtype, number);
    std::memcpy(at + static_cast<size_t>(i) * bytes.size(), bytes.data(), bytes.size());
  }
  return 0;
}

using Outcome = std::variant<std::vector<HostTensor>, relax::RunFault>;

Outcome run(relax::Module& module, const relax::OpTable& ops, const relax::Function& function,
            const std::vector<HostTensor>& inputs) {
  auto evaluator =
      tir::make_interpreter([&](const std::string& name) { return module.find_prim_func(name); }, external_function);
  return relax::interpret(module, ops, function, inputs, *evaluator, external_function);
}

std::string compare(const Outcome& a, const Outcome& b) {
  const auto *fault_a = std::get_if<relax::RunFault>(&a), *fault_b = std::get_if<relax::RunFault>(&b);
  if (fault_a != nullptr && fault_b != nullptr)
    return fault_a->status.code == fault_b->status.code
               ? ""
               : fmt::format("one ends with code {}, the other with {}", fault_a->status.code, fault_b->status.code);
  if (fault_a != nullptr) return "only the first ends early: " + fault_a->text;
  if (fault_b != nullptr) return "only the second ends early: " + fault_b->text;
  const auto &x = std::get<0>(a), &y = std::get<0>(b);
  if (x.size() != y.size()) return fmt::format("{} outputs and {}", x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].dtype != y[i].dtype || x[i].shape != y[i].shape) return fmt::format("output {} has another type", i);
    size_t size = static_cast<size_t>(x[i].dtype.bytes());
    for (size_t k = 0; k < x[i].bytes.size(); ++k)
      if (x[i].bytes[k] != y[i].bytes[k])
        return fmt::format("element {} of output {} is {} and {}", k / size, i,
                           relax::decode_scalar(x[i].dtype, x[i].bytes.data() + k / size * size),
                           relax::decode_scalar(y[i].dtype, y[i].bytes.data() + k / size * size));
  }
  return {};
}

}  // namespace

std::string meaning_differs(relax::Module& a, relax::Module& b, const relax::OpTable& ops) {
  for (const relax::Function* function : a.functions()) {
    const relax::Function* other = b.find_function(function->name);
    if (function->is_private || other == nullptr) continue;
    for (int trial = 0; trial < kTrials; ++trial) {
      uint32_t seed = static_cast<uint32_t>(trial);
      for (char c : function->name) seed = seed * 31 + static_cast<unsigned char>(c);
      std::vector<HostTensor> inputs = RandomInputs(seed).of(*function);
      std::string difference = compare(run(a, ops, *function, inputs), run(b, ops, *other, inputs));
      if (!difference.empty()) return fmt::format("'{}', trial {}: {}", function->name, trial, difference);
    }
  }
  return {};
}

}  // namespace relaxc::test
