// core_speed.cpp: measures clock and memory, which no system file has reliably.
//
// A CPU's name tells its operations per cycle, but not its clock: that differs between parts of one name, and is higher
// with few active cores. So the clock is measured by a chain of operations that take one cycle each, and the memory
// bandwidth by reading more than the caches hold. The best of several tries counts, since other programs can only slow
// them down.
#include "compiler/driver/tools/core_speed.h"

#include <algorithm>
#include <vector>

namespace relaxc::driver {
namespace {

/// Each xor depends on the one before, so a step takes one cycle. The empty asm statements prevent folding.
double measured_clock() {
  constexpr int64_t kSteps = 100000, kCycles = 8;
  uint64_t a = 1, b = 3;
  double best = 0;
  for (int tries = 0; tries < 30; ++tries) {
    double took = seconds_of([&] {
      for (int64_t i = 0; i < kSteps; ++i)
        for (int64_t k = 0; k < kCycles / 2; ++k) {
          a ^= b;
          asm volatile("" : "+r"(a));
          b ^= a;
          asm volatile("" : "+r"(b));
        }
    });
    best = std::max(best, static_cast<double>(kSteps * kCycles) / took);
  }
  return best;
}

double measured_memory() {
  constexpr size_t kWords = size_t{8} << 20;  // 64 MB, more than one core's share of the last cache on most machines
  std::vector<uint64_t> words(kWords, 1);
  double best = 0;
  for (int tries = 0; tries < 3; ++tries) {
    uint64_t sum = 0;
    double took = seconds_of([&] {
      for (uint64_t word : words) sum += word;
      asm volatile("" : "+r"(sum));
    });
    best = std::max(best, static_cast<double>(kWords * sizeof(uint64_t)) / took);
  }
  return best;
}

}  // namespace

CoreSpeed measured_speed() {
  return {measured_clock(), measured_memory()};
}

}  // namespace relaxc::driver
