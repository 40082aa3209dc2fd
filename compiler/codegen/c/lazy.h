// lazy.h: what an expression computes only where a select, an `and` or an `or` asks for it.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::codegen_c {

/// Under which condition each node of `roots` is computed; nodes that always are have none. `order`: the distinct
/// nodes, operands before what uses them.
///
/// A condition is to be evaluated from left to right, as C does: its parts may themselves be lazy.
std::unordered_map<arith::Expr, arith::Expr> lazy_nodes(const std::vector<arith::Expr>& roots,
                                                        const std::vector<arith::Expr>& order);

}  // namespace relaxc::codegen_c
