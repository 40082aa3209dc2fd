// knobs.h: what a strategy leaves open, as data.
//
// A strategy decides most things by structure. Where several ways give the same bits and only a measurement can show
// which is fastest (the shape of a tile, the order of two loops), it asks here. What is answered is the first option,
// which the model of the machine prefers, unless somebody said otherwise: the attribute `choices` of a prim func,
// written by hand or by a tuner. Scheduling completes that attribute, so that it shows what there was to choose from,
// and a kernel with the same attribute gets the same schedule again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace relaxc::schedule {

/// One point at which a strategy asked.
struct Decision {
  std::string point;                 ///< "tile"; the second of a kernel is "tile 2"
  std::vector<std::string> options;  ///< the usual one first
  size_t taken = 0;
};

class Knobs {
 public:
  Knobs() = default;
  /// Reads what `text` gives: "tile: 4x3; order: rows outside". What follows a word "of" is not looked at.
  explicit Knobs(std::string_view text);

  /// What to take at the next `point` of that name. An override that is not among the options is passed over.
  Decision decide(std::string_view point, std::vector<std::string> options) const;
  /// A plan that was made with this decision is carried out.
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
