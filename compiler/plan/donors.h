// donors.h: outputs whose memory holds intermediate values before they are written.
#pragma once

#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// Memory that may hold pieces which end before statement `until`.
struct Donor {
  Size size;
  uint32_t until = 0;
  int64_t alignment = 1;  ///< known alignment of its address, in bytes
};

/// Storage for pieces, some of which are in donors.
struct DonatedStorage {
  Storage storage;          ///< the offset of a donated piece is in its donor
  std::vector<int> donors;  ///< index of each piece's donor; -1: the arena
  std::vector<bool> lines;  ///< of each piece: its offset counts from the first cache line that begins in the donor
};

/// Does what assign_storage does, but moves pieces from the arena to donors that they fit for all values of the symbols
/// that `facts` allows, if that makes the arena smaller.
DonatedStorage assign_with_donors(Context& context, const std::vector<Piece>& pieces, const std::vector<Donor>& donors,
                                  const arith::Facts& facts, Comparisons& known);
inline DonatedStorage assign_with_donors(Context& context, const std::vector<Piece>& pieces,
                                         const std::vector<Donor>& donors, const arith::Facts& facts) {
  Comparisons known(context, facts);
  return assign_with_donors(context, pieces, donors, facts, known);
}

}  // namespace relaxc::plan
