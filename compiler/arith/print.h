// print.h: the text of expressions, for printers that have names of their own.
#pragma once

#include <functional>
#include <string>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// How variables and buffers are called. To print a whole function, give names that are unique in it.
struct Names {
  std::function<std::string(Var)> var;
  std::function<std::string(const tir::Buffer*)> buffer;
  std::function<std::string()> part;  ///< a new name for a part of an expression; null: parts get no names
};

/// `e` in the text IR's spelling, with as few parentheses as it needs. A part that occurs several times in a large
/// expression is written once, `T.Let(t * t, where={t: a + b})`, so that the text is as long as the graph, not as the
/// tree that it stands for.
std::string print(Expr e, const Names& names);

/// A float constant as Python writes it ("0.5", "1e-05"), with the fewest digits that read back as `value`; "inf",
/// "-inf" and "nan" are quoted.
std::string float_text(double value, DType dtype);

}  // namespace relaxc::arith
