// lend.h: memory of the caller that is not needed yet.
#pragma once

#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// Memory that may hold pieces that end before `until`.
struct Lender {
  Size size;
  uint32_t until = 0;
  int64_t alignment = 1;  ///< that its begin is known to have
};

/// Storage of pieces of which some lie in lent memory.
struct LentStorage {
  Storage storage;           ///< offsets of lent pieces are those in their lender
  std::vector<int> lenders;  ///< of each piece; -1: the arena
  std::vector<bool> lines;   ///< of each piece: its lender is taken from the first line of cache on that begins in it
};

/// assign_storage, where what fits a lender, for all values of the symbols that `facts` allows, is taken out of the
/// arena if that makes it smaller.
LentStorage assign_with_lenders(Context& context, const std::vector<Piece>& pieces, const std::vector<Lender>& lenders,
                                const arith::Facts& facts, Comparisons& known);
inline LentStorage assign_with_lenders(Context& context, const std::vector<Piece>& pieces,
                                       const std::vector<Lender>& lenders, const arith::Facts& facts) {
  Comparisons known(context, facts);
  return assign_with_lenders(context, pieces, lenders, facts, known);
}

}  // namespace relaxc::plan
