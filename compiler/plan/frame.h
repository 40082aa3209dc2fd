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

/// Where an allocation is.
struct Placement {
  tir::BufferRef buffer = nullptr;
  Piece piece;
  Expr offset;                     ///< bytes from the start of the arena or of `donor`
  tir::BufferRef donor = nullptr;  ///< the parameter in whose memory it is; null: the arena
  bool lines = false;              ///< `offset` counts from the first cache line in the donor
};

/// Memories beside the arena, which are filled in this order.
struct Pools {
  std::vector<tir::BufferRef> buffers;       ///< the parameters
  std::vector<int64_t> bytes;                ///< size of each
  std::map<tir::BufferRef, double> traffic;  ///< bytes that the body moves to and from each allocation
};

struct Frame {
  std::vector<Placement> placements;
  Expr bytes;                       ///< the arena's high-water mark, over entry symbols
  std::vector<int64_t> pool_bytes;  ///< upper bounds of what is used of each pool
  std::set<std::string> in_place;   ///< callees of calls that write an output over an input
  /// Callees of calls whose result is partly in the memory of an operand, with the parameters that share memory.
  std::map<std::string, std::set<size_t>> overlapping;
};

/// Places all global allocations of `body`, whose sizes must be expressions of the function's parameters. Reports an
/// error at `location` if their sum does not fit int64. Calls that `calls.in_place` lets write an output over an input
/// do so if that does not make the frame larger. `donors` are parameters whose contents are not needed before `body`
/// first names them, and that overlap nothing else: they hold allocations that end before that, if it makes the frame
/// smaller. Allocations in `pools` are in none of the others.
Result<Frame> plan_frame(Context& context, tir::Stmt body, const arith::Facts& facts, Location location,
                         Diagnostics& diag, const Calls& calls = {}, const std::vector<tir::BufferRef>& donors = {},
                         const Pools& pools = {});

/// Returns `body` with every global Alloc replaced by a view of its place in `frame`, and `old_arena` by `arena`. Views
/// surround only the statements that use them, so that the nesting does not grow with the length of the body.
tir::Stmt place_in_arena(Context& context, tir::Stmt body, const Frame& frame, tir::BufferRef old_arena,
                         tir::BufferRef arena);

}  // namespace relaxc::plan
