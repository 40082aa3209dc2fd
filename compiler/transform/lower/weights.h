// weights.h: where each constant is in the model's read-only data.
//
// Offsets are given in the order in which constants are first met, so one input gives one layout. Equal bytes are kept
// once: they are found by a hash first, so that only likely pairs are compared, and no copy of the data is kept.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/constant.h"
#include "compiler/transform/lower/weight_stream.h"

namespace relaxc::lower {

class WeightLayout {
 public:
  static constexpr uint32_t kAlignment = 64;

  /// The byte offset of `constant`, a multiple of kAlignment; `name` is for people to read.
  uint64_t place(const relax::ConstantRef& constant, std::string_view name = {});
  uint64_t bytes() const { return bytes_; }
  /// The record that writes the data; it refers to the constants, not to this object.
  interface::Weights finish() const;

 private:
  std::vector<WeightStream::Piece> pieces_;
  std::multimap<uint64_t, size_t> by_hash_;
  std::map<const relax::ConstantData*, uint64_t> placed_;  // looked up only
  uint64_t bytes_ = 0;
};

}  // namespace relaxc::lower
