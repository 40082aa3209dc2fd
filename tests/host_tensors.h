// host_tensors.h: tensors of numbers written down in tests.
#pragma once

#include <utility>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::test {

using relax::HostTensor;

/// Each value rounded to `dtype`.
inline HostTensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor made{dtype, std::move(shape), {}};
  for (double value : values) {
    std::vector<std::byte> bytes = relax::encode_scalar(dtype, value);
    made.bytes.insert(made.bytes.end(), bytes.begin(), bytes.end());
  }
  return made;
}

inline HostTensor scalar(DType dtype, double value) {
  return tensor(dtype, {}, {value});
}
/// A vector of integers.
inline HostTensor ints(const std::vector<double>& values, DType dtype = DType::i(64)) {
  return tensor(dtype, {static_cast<int64_t>(values.size())}, values);
}

/// A tensor of float32 counting from `first` in steps of a quarter.
inline HostTensor floats(std::vector<int64_t> shape, double first = 0) {
  HostTensor made{DType::f(32), std::move(shape), {}};
  std::vector<double> values;
  for (int64_t i = 0; i < made.elements(); ++i) values.push_back(first + 0.25 * static_cast<double>(i));
  return tensor(made.dtype, made.shape, values);
}

/// The elements as doubles.
inline std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values;
  for (size_t at = 0; at < tensor.bytes.size(); at += static_cast<size_t>(tensor.dtype.bytes()))
    values.push_back(relax::decode_scalar(tensor.dtype, tensor.bytes.data() + at));
  return values;
}

}  // namespace relaxc::test
