// loop_symbols.h: numbers that change from iteration to iteration of a loop.
//
// A free function over the shape program; it owns nothing.
#pragma once

#include <vector>

#include "compiler/transform/lower/host/shape_program.h"

namespace relaxc::lower {

struct LoopSymbols {
  std::vector<Var> symbols;
  std::vector<Expr> initial, next;  ///< where each starts, and what an iteration makes of it
  std::vector<Expr> bounds;         ///< in entry symbols; null: none
};

/// The symbols that `loop` carries, which runs `trips` times (null: until its condition fails). Dims of first values
/// that are no such symbols are required to be what the body says.
LoopSymbols carried_symbols(ShapeProgram& shapes, const relax::Op& loop, Expr trips);

}  // namespace relaxc::lower
