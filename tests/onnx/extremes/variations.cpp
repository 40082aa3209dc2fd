// variations.cpp: extremes of the dtype, and true values plus and minus one.
#include "tests/onnx/extremes/variations.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace relaxc::onnx_tests {
namespace {

using relax::HostTensor;

constexpr int64_t k31 = int64_t{1} << 31, k32 = int64_t{1} << 32, k62 = int64_t{1} << 62;

template <typename T>
class Vary {
 public:
  Vary(const std::vector<HostTensor>& inputs, size_t which,
       const std::function<void(const std::vector<HostTensor>&, const std::string&)>& f)
      : inputs_(inputs), which_(which), f_(f), true_(inputs[which].bytes.size() / sizeof(T)) {
    if (!true_.empty()) std::memcpy(true_.data(), inputs[which].bytes.data(), inputs[which].bytes.size());
  }

  void run() {
    for (size_t i = 0; i < true_.size(); ++i) {
      for (T value : extremes(true_[i])) {
        std::vector<T> changed = true_;
        changed[i] = value;
        give(changed, fmt::format("input {} element {} = {}", which_, i, value));
      }
    }
    if (true_.size() < 2) return;
    for (T value : extremes(true_[0]))
      give(std::vector<T>(true_.size(), value), fmt::format("input {} all {}", which_, value));
    for (size_t i = 0; i + 1 < true_.size(); ++i) vary_pair(i);
  }

 private:
  static std::vector<T> extremes(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      T most = std::numeric_limits<T>::max(), endless = std::numeric_limits<T>::infinity();
      return {0,
              1,
              -1,
              T(k31),
              T(k32),
              T(k62),
              T(2) * T(k62),
              -T(2) * T(k62),
              most,
              endless,
              -endless,
              std::numeric_limits<T>::quiet_NaN(),
              value + 1,
              value - 1};
    } else {
      constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
      std::vector<T> out{0, 1, T(-1), most, least, static_cast<T>(most / 2 + 1)};
      if (sizeof(T) == 8) out.insert(out.end(), {T(k31), T(k32), T(k32 - 1)});
      if (value != most) out.push_back(static_cast<T>(value + 1));
      if (value != least) out.push_back(static_cast<T>(value - 1));
      return out;
    }
  }

  /// Products that are what they were modulo 2^64, or 0, and two signs that cancel.
  void vary_pair(size_t i) {
    std::vector<std::pair<T, T>> pairs{{static_cast<T>(-true_[i]), static_cast<T>(-true_[i + 1])}};
    if (sizeof(T) == 8) {
      T product = static_cast<T>(true_[i] * true_[i + 1]);
      pairs.insert(pairs.end(), {{T(k32), T(k32)}, {T(k62), T(4)}, {T(4), T(k62)}, {T(k31), T(k32)}});
      pairs.push_back({T(k62) + product / 4, T(4)});
    }
    for (const auto& [a, b] : pairs) {
      std::vector<T> changed = true_;
      changed[i] = a, changed[i + 1] = b;
      give(changed, fmt::format("input {} elements {} and {} = {}, {}", which_, i, i + 1, a, b));
    }
  }

  void give(const std::vector<T>& values, const std::string& what) {
    std::vector<HostTensor> changed = inputs_;
    if (!values.empty()) std::memcpy(changed[which_].bytes.data(), values.data(), changed[which_].bytes.size());
    f_(changed, what);
  }

  const std::vector<HostTensor>& inputs_;
  size_t which_;
  const std::function<void(const std::vector<HostTensor>&, const std::string&)>& f_;
  std::vector<T> true_;
};

}  // namespace

void for_each_variation(const std::vector<HostTensor>& inputs, const std::vector<bool>& sizes,
                        const std::function<void(const std::vector<HostTensor>&, const std::string&)>& f) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    DType dtype = inputs[i].dtype;
    if (inputs[i].elements() > kMostVaried) continue;
    if (dtype == DType::i(64)) Vary<int64_t>(inputs, i, f).run();
    if (dtype == DType::i(32)) Vary<int32_t>(inputs, i, f).run();
    if (dtype == DType::f(64) && sizes[i]) Vary<double>(inputs, i, f).run();
    if (dtype == DType::f(32) && sizes[i]) Vary<float>(inputs, i, f).run();
  }
}

}  // namespace relaxc::onnx_tests
