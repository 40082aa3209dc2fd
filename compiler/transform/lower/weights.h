// weights.h: the offset of each constant in the model's read-only data.
//
// Offsets follow the order in which constants are placed, so equal inputs give equal layouts. Equal bytes are kept
// once: a hash finds candidates, only these are compared, and no copy of the data is kept.
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

  /// Returns the byte offset of `constant`, a multiple of kAlignment; `name` is only for people to read.
  uint64_t place(const relax::ConstantRef& constant, std::string_view name = {});
  uint64_t bytes() const { return bytes_; }
  /// Returns the record that writes the data; it refers to the constants, not to this object.
  interface::Weights finish() const;

 private:
  std::vector<WeightStream::Piece> pieces_;
  std::multimap<uint64_t, size_t> by_hash_;
  std::map<const relax::ConstantData*, uint64_t> placed_;  // never iterated
  uint64_t bytes_ = 0;
};

}  // namespace relaxc::lower
