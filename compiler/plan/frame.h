// frame.h: the memory of one host function, placed in one arena.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/plan/lifetime.h"
#include "compiler/plan/storage.h"
#include "compiler/support/result.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::plan {

/// The place of an allocation.
struct Placement {
  tir::BufferRef buffer = nullptr;
  Piece piece;
  Expr offset;                     ///< bytes from the start of the arena or of `donor`
  tir::BufferRef donor = nullptr;  ///< a parameter whose memory it has; null: the arena's
  bool lines = false;              ///< from the first line of cache on that begins in the donor
};

/// Memories beside the arena, in the order in which they are filled.
struct Pools {
  std::vector<tir::BufferRef> buffers;       ///< parameters
  std::vector<int64_t> bytes;                ///< how large each is
  std::map<tir::BufferRef, double> traffic;  ///< bytes that the body moves to and from each allocation
};

struct Frame {
  std::vector<Placement> placements;
  Expr bytes;                       ///< the high-water mark, over entry symbols
  std::vector<int64_t> pool_bytes;  ///< that of each pool, at most
  std::set<std::string> in_place;   ///< callees whose calls write memory that they read
};

/// Places all global allocations of `body`, whose sizes must be expressions of the function's parameters. Fails
/// (reported at `location`) if they cannot be added up in int64. Calls that `in_place` allows to write what they read
/// do so where that makes the frame no larger. `donors` are parameters whose contents do not count before `body` names
/// them, and which share no byte with others: allocations that are not needed any more by then may be there, where
/// that makes the frame smaller. What `pools` take is in none of the others.
Result<Frame> plan_frame(Context& context, tir::Stmt body, const arith::Facts& facts, Location location,
                         Diagnostics& diag, const Calls& calls = {}, const std::vector<tir::BufferRef>& donors = {},
                         const Pools& pools = {});

/// `body` with every global Alloc replaced by a view of `arena` as `frame` says. Views surround the statements that
/// use them and nowhere else, so that the nesting does not grow with the length of the body. `old_arena` is replaced.
tir::Stmt place_in_arena(Context& context, tir::Stmt body, const Frame& frame, tir::BufferRef old_arena,
                         tir::BufferRef arena);

}  // namespace relaxc::plan
