// print.h: prints expressions with names that the printer chooses.
#pragma once

#include <functional>
#include <string>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// The names of variables and buffers. To print a whole function, they must be unique in it.
struct Names {
  std::function<std::string(Var)> var;
  std::function<std::string(const tir::Buffer*)> buffer;
  std::function<std::string()> part;  ///< a new name for a shared part of an expression; null: none
};

/// Returns `e` in the syntax of the text IR, with as few parentheses as needed. A part that occurs several times in a
/// large expression is printed once, `T.Let(t * t, where={t: a + b})`, so that the length of the text is linear in the
/// nodes of the graph, not in the tree that it represents.
std::string print(Expr e, const Names& names);

/// Returns a float constant in Python's syntax ("0.5", "1e-05"), with the fewest digits that read back as `value`;
/// "inf", "-inf" and "nan" are quoted.
std::string float_text(double value, DType dtype);

}  // namespace relaxc::arith
