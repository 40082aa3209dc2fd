// donors.h: memory of the caller that is not needed yet.
#pragma once

#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// Memory that may hold pieces that end before `until`.
struct Donor {
  Size size;
  uint32_t until = 0;
  int64_t alignment = 1;  ///< that its start is known to have
};

/// Storage of pieces, some of which are in donated memory.
struct DonatedStorage {
  Storage storage;          ///< offsets of donated pieces are those in their donor
  std::vector<int> donors;  ///< of each piece; -1: the arena
  std::vector<bool> lines;  ///< of each piece: its donor is taken from the first line of cache on that begins in it
};

/// assign_storage, where what fits a donor, for all values of the symbols that `facts` allows, is taken out of the
/// arena if that makes it smaller.
DonatedStorage assign_with_donors(Context& context, const std::vector<Piece>& pieces, const std::vector<Donor>& donors,
                                  const arith::Facts& facts, Comparisons& known);
inline DonatedStorage assign_with_donors(Context& context, const std::vector<Piece>& pieces,
                                         const std::vector<Donor>& donors, const arith::Facts& facts) {
  Comparisons known(context, facts);
  return assign_with_donors(context, pieces, donors, facts, known);
}

}  // namespace relaxc::plan
