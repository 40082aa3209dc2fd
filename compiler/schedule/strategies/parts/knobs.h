// knobs.h: decisions of strategies that a tuner may override, as data.
//
// A strategy decides most things by structure. Where several options give the same bits and only a measurement can
// show which is fastest (the shape of a tile, the order of two loops), it asks here. The answer is the first option,
// which the machine model prefers, unless the attribute `choices` of the prim func overrides it, which a person or a
// tuner writes. Scheduling adds all options to that attribute; a kernel with the same attribute gets the same schedule.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relaxc::schedule {

/// A decision that a strategy made.
struct Decision {
  std::string point;                 ///< "tile"; the second of a kernel is "tile 2"
  std::vector<std::string> options;  ///< the default first
  size_t taken = 0;
};

class Knobs {
 public:
  Knobs() = default;
  /// Reads overrides: "tile: 4x3; order: rows outside". What follows a word "of" is ignored.
  explicit Knobs(std::string_view text);

  /// The decision at the next `point` of that name. An override that is not among the options is ignored.
  Decision decide(std::string_view point, std::vector<std::string> options) const;
  /// Records a decision whose plan is applied.
  void take(Decision decision) { decisions_.push_back(std::make_shared<const Decision>(std::move(decision))); }
  /// "tile: 4x3 of 6x2, 4x3, 12x1; order: rows outside of rows outside, columns outside"
  std::string text() const;

 private:
  std::map<std::string, std::string, std::less<>> overrides_;
  std::vector<std::shared_ptr<const Decision>> decisions_;  ///< shared by copies, since drafts make many
};

/// The decisions in `text` (Knobs::text).
std::vector<Decision> read_decisions(std::string_view text);

}  // namespace relaxc::schedule
