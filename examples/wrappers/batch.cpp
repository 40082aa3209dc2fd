// batch.cpp: handwritten digits in batches of any size, from C++17: one object, symbolic in the batch.
#include <algorithm>
#include <cstdio>

#include "relax_rt.hpp"
#include "samples.h"

extern "C" const rlx_model digits_model;

int main() {
  constexpr std::int64_t kSamples = SAMPLES, kClasses = 10;
  relax::Model digits(digits_model);
  for (std::int64_t batch : {1, 5, 12}) {
    int right = 0;
    for (std::int64_t first = 0; first < kSamples; first += batch) {
      std::int64_t n = std::min(batch, kSamples - first);
      std::vector<relax::Tensor> outputs = digits.run({relax::view(sample_pixels[first], {n, 1, 8, 8})});
      const float* logits = outputs[0].data<float>();
      for (std::int64_t i = 0; i < n; ++i) {
        const float* row = logits + i * kClasses;
        right += std::max_element(row, row + kClasses) - row == sample_truth[first + i];
      }
    }
    std::printf("in batches of %2d: %d of %d right\n", static_cast<int>(batch), right, static_cast<int>(kSamples));
  }
  const float wrong[4] = {};
  relax::Model::Result result = digits.try_run({relax::view(wrong, {2, 2})});
  if (auto* error = std::get_if<relax::Error>(&result)) std::printf("%s\n", error->what());
}
