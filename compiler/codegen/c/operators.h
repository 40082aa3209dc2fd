// operators.h: the C operators of expression kinds.
#pragma once

#include <string>
#include <string_view>

#include "compiler/arith/expr.h"

namespace relaxc::codegen_c {

/// Returns the C operator of a binary kind: "+", "<=", "&&"; empty if it is printed as a call (minimum, modulo). The
/// caller handles the cases in which C's operator differs: "+" of integers overflows, "/" truncates.
std::string_view operator_text(arith::ExprKind kind);
/// Whether the kind compares numbers; kAnd and kOr, which join conditions, do not.
bool is_comparison(arith::ExprKind kind);
/// Returns the text in exactly one pair of parentheses: compilers warn of `((a == b))`.
std::string in_parentheses(const std::string& text);
/// Returns the condition for an `if`: an element or a name, which has an integer type in C, is compared with 0.
std::string truth(const std::string& condition);

}  // namespace relaxc::codegen_c
