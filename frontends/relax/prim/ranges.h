// ranges.h: finds subscripts that are certainly out of bounds, by exact ranges of variables.
//
// A subscript is certainly wrong if it is out of bounds in every iteration, or if it has one value out of bounds and is
// executed unconditionally. The second case needs exact ranges: variables of loops with constant bounds have all their
// values, and so does a sum of constant multiples of different ones. An axis of a block is what it is bound to, so that
// axes which move together are not taken for independent ones.
#pragma once

#include <map>
#include <optional>

#include "compiler/arith/facts.h"
#include "compiler/arith/simplify.h"
#include "compiler/support/result.h"
#include "compiler/tir/stmt.h"
#include "frontends/relax/shared/save_and_restore.h"
#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

class Ranges {
 public:
  explicit Ranges(SourceText& source) : source_(source) {}
  Ranges(const Ranges&) = delete;

  /// Records the range of a loop variable, which begins at `min`.
  void note_loop(arith::Var var, arith::Expr min, arith::Expr extent);
  /// Records that a variable equals `value`.
  void note_value(arith::Var var, arith::Expr value);
  /// Reports a subscript that is certainly out of bounds. `certain`: it is executed unconditionally.
  Status check(tir::BufferRef buffer, size_t axis, arith::Expr at, bool certain, Place place) const;

  /// While it lives, subscripts may be anything if `unreached`: TVM's passes leave branches whose condition is false.
  class Unreached : SaveAndRestore<bool> {
   public:
    Unreached(Ranges& ranges, bool unreached) : SaveAndRestore(ranges.unreached_, ranges.unreached_ || unreached) {}
  };

  /// Simplifies an index expression by the ranges of its loop variables.
  arith::Expr simplified(arith::Expr e) const { return arith::simplify(e, facts_); }

 private:
  void note(arith::Var var, arith::Range range);
  std::optional<arith::Range> attained(arith::Expr e) const;

  SourceText& source_;
  std::map<uint32_t, arith::Range> attained_;  ///< of loop variables, by their ids
  std::map<uint32_t, arith::Expr> values_;     ///< what axes of blocks are bound to, by their ids
  arith::Facts facts_;                         ///< the ranges of both
  bool unreached_ = false;                     ///< whether the statements that are read are never executed
};

}  // namespace relaxc::frontend
