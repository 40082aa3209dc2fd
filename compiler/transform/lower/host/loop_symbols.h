// loop_symbols.h: symbols whose values change from one iteration of a loop to the next.
//
// A free function over the shape program; it owns nothing.
#pragma once

#include <vector>

#include "compiler/transform/lower/host/shape_program.h"

namespace relaxc::lower {

struct LoopSymbols {
  std::vector<Var> symbols;
  std::vector<Expr> initial, next;  ///< the first value of each, and its value after one more iteration
  std::vector<Expr> bounds;         ///< upper bounds in entry symbols; null: none
};

/// Returns the symbols that `loop` carries; `trips` is its number of iterations (null: until its condition fails).
/// Requires the other dims of first values to be as in the body.
LoopSymbols carried_symbols(ShapeProgram& shapes, const relax::Op& loop, Expr trips);

}  // namespace relaxc::lower
