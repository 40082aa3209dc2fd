// vector.h: reads values of several lanes.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// Returns the lanes of "float32x4"; 0 if there are none.
int64_t dtype_lanes(std::string_view text);
/// Returns the lanes in an expression: of a Ramp, a Broadcast, a slice of constant length or a dtype; 0 if none.
int64_t lanes_in(PrimParts& fn, const ast::Expr& root);
/// Returns the lanes of the value that a name has, `v: T.let[T.float32x4] = …`; 0 if it is no such name.
int64_t lanes_of_name(PrimParts& fn, const ast::Expr& e);
/// Returns the value of one lane of such a name.
Result<Scalar> value_of_lane(PrimParts& fn, const ast::Expr& e);
/// Gives a name a value of `count` lanes for the rest of the suite.
Status bind_lanes(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& value, int64_t count, Suite& out);
/// Returns T.Ramp(begin, stride, lanes) or begin : end : step as the subscript of one lane.
Result<arith::Expr> lane_subscript(PrimParts& fn, const ast::Expr& e, arith::Expr extent);
/// Reads A.vload([i, j], "float32x4", predicate=mask).
Result<Scalar> vector_load(PrimParts& fn, const ast::Expr& call);
/// Reads T.get_active_lane_mask("uint1x4", begin, end): whether begin + lane < end.
Result<Scalar> active_lane(PrimParts& fn, const ast::Expr& call);
/// Reads T.Shuffle([a, b, c], [2, 0]): the values at these indices, one for each lane.
Result<Scalar> shuffle(PrimParts& fn, const ast::Expr& call);

}  // namespace relaxc::frontend
