// sizes.cpp: searches for sizes that guards accept.
//
// A guard is any condition over any symbols (a convolution without padding needs room for its filter, a merge needs n =
// 2 m), so nothing is solved. First all symbols change together, from the wanted size upwards; then each in turn is set
// to the value nearest to the wanted size with the fewest failing guards.
#include "compiler/api/observe/sizes.h"

#include <algorithm>
#include <cmath>

#include "compiler/analysis/kernel_work.h"
#include "compiler/tir/visit.h"

namespace relaxc::api {
namespace {

using analysis::Numbers;

class Sizes {
 public:
  Sizes(const relax::Module& module, const interface::Entry& entry)
      : entry_(entry), checks_(*module.find_prim_func(entry.shapes)) {}

  std::vector<int64_t> near(int64_t wanted) const {
    constexpr int64_t kStepsUp = 256;
    std::vector<int64_t> best = all_at(wanted);
    for (int64_t up = 0; up <= kStepsUp && refusing(best) > 0; ++up)
      if (std::vector<int64_t> next = all_at(wanted + up); refusing(next) < refusing(best)) best = next;
    for (size_t round = 0; round < best.size() && refusing(best) > 0; ++round) adjust_one(best, wanted);
    return best;
  }

 private:
  std::vector<int64_t> all_at(int64_t size) const {
    std::vector<int64_t> values;
    for (const interface::Symbol& symbol : entry_.symbols) values.push_back(within(symbol, size));
    return values;
  }

  /// Returns an allowed value near `wanted`: within the bounds, and a multiple of the symbol's `multiple_of`.
  static int64_t within(const interface::Symbol& symbol, int64_t wanted) {
    int64_t value = std::clamp(wanted, symbol.lower, symbol.upper);
    int64_t up = (value + symbol.multiple_of - 1) / symbol.multiple_of * symbol.multiple_of;
    return up <= symbol.upper ? up : value / symbol.multiple_of * symbol.multiple_of;
  }

  /// Sets one symbol so that the fewest guards refuse the sizes; of equally good values, to the nearest to `wanted`.
  void adjust_one(std::vector<int64_t>& values, int64_t wanted) const {
    std::vector<int64_t> tries;
    for (int64_t size = 0; size <= 64; ++size) tries.push_back(size);
    for (int64_t factor = 2; factor <= 8; ++factor)
      for (int64_t near : {int64_t{-1}, int64_t{0}, int64_t{1}})
        tries.push_back(wanted * factor + near), tries.push_back(wanted / factor + near);
    auto times_off = [&](int64_t size) {
      return std::abs(std::log2((static_cast<double>(size) + 1) / (static_cast<double>(wanted) + 1)));
    };
    std::vector<int64_t> best = values;
    std::pair<size_t, double> least{refusing(values), 0};
    for (size_t k = 0; k < values.size(); ++k)
      for (int64_t size : tries) {
        std::vector<int64_t> tried = values;
        tried[k] = within(entry_.symbols[k], size);
        std::pair<size_t, double> cost{refusing(tried), times_off(tried[k])};
        if (cost < least) least = cost, best = std::move(tried);
      }
    values = best;
  }

  size_t refusing(const std::vector<int64_t>& values) const {
    Numbers numbers(1);  // every load gives 1, so a condition that reads data counts as true
    size_t k = 0, count = 0;
    for (const tir::Param& param : checks_.params)
      if (param.buffer == nullptr) numbers.set(param.var, values.at(k++));
    tir::for_each_stmt(checks_.body, [&](tir::Stmt s) {
      if (const auto* let = s.as<tir::Let>()) numbers.let(let->var, let->value);
      if (const auto* guard = s.as<tir::Guard>()) count += numbers.of(guard->condition) == 0;
    });
    return count;
  }

  const interface::Entry& entry_;
  const tir::PrimFunc& checks_;
};

}  // namespace

std::vector<int64_t> admissible_sizes(const relax::Module& module, const interface::Entry& entry, int64_t wanted) {
  return Sizes(module, entry).near(wanted);
}

}  // namespace relaxc::api
