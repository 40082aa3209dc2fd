// random_inputs.cpp: draws sizes for the symbols first, then the elements of every parameter.
#include "compiler/equivalence/random_inputs.h"

#include <cmath>
#include <cstring>
#include <random>

namespace relaxc::equivalence {
namespace {

using relax::HostTensor;

class RandomInputs {
 public:
  RandomInputs(uint32_t seed, const SizeOf& size_of, bool whole) : random_(seed), size_of_(size_of), whole_(whole) {}

  std::vector<HostTensor> of(const relax::Function& function) {
    for (arith::Var symbol : function.symbols) {
      const arith::Range range = function.facts.range_of(symbol);
      const int64_t multiple = std::max<int64_t>(function.facts.multiple_of(symbol), 1);
      int64_t steps = size_of_ ? size_of_(symbol) : kSizes[random_() % std::size(kSizes)];
      if (range.has_lower()) steps = std::max(steps, (range.lower + multiple - 1) / multiple);
      if (range.has_upper()) steps = std::min(steps, range.upper / multiple);
      sizes_[symbol] = steps * multiple;
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
      double number = dtype.is_float() ? (whole_ ? std::round(real(random_)) : real(random_))
                                       : static_cast<double>(random_() % (dtype.is_bool() ? 2 : 4));
      std::vector<std::byte> bytes = relax::encode_scalar(dtype, number);
      t.bytes.insert(t.bytes.end(), bytes.begin(), bytes.end());
    }
    inputs_.push_back(std::move(t));
  }

  std::mt19937 random_;
  const SizeOf& size_of_;
  bool whole_;
  std::unordered_map<arith::Expr, int64_t> sizes_;
  std::vector<HostTensor> inputs_;
};

}  // namespace

std::vector<HostTensor> random_inputs(const relax::Function& function, uint32_t seed, const SizeOf& size_of,
                                      bool whole) {
  return RandomInputs(seed, size_of, whole).of(function);
}

}  // namespace relaxc::equivalence
