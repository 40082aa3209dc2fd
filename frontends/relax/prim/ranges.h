// ranges.h: which values variables take for certain, and subscripts that leave their dims.
//
// A subscript is wrong for certain where it leaves its dim in every iteration, or where it takes, in a place that is
// reached unconditionally, a value beyond it. The second needs exact ranges: variables of loops with constant bounds
// take all their values, and so does a sum of constant multiples of different ones.
#pragma once

#include <map>
#include <optional>

#include "compiler/arith/simplify.h"
#include "compiler/support/result.h"
#include "compiler/tir/stmt.h"
#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

class Ranges {
 public:
  explicit Ranges(SourceText& source) : source_(source) {}
  Ranges(const Ranges&) = delete;

  /// A variable that counts from `min`.
  void note_loop(arith::Var var, arith::Expr min, arith::Expr extent);
  /// A variable that is `value`.
  void note_value(arith::Var var, arith::Expr value);
  /// Reports a subscript that leaves its dim whenever it is reached. `certain`: it is reached unconditionally.
  Status check(tir::BufferRef buffer, size_t axis, arith::Expr at, bool certain, Place place) const;

 private:
  std::optional<arith::Range> attained(arith::Expr e) const;

  SourceText& source_;
  std::map<uint32_t, arith::Range> attained_;  ///< by the variable's id
};

}  // namespace relaxc::frontend
