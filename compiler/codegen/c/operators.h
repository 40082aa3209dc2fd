// operators.h: operators of C.
#pragma once

#include <string>
#include <string_view>

#include "compiler/arith/expr.h"

namespace relaxc::codegen_c {

/// How C writes a binary operator: "+", "<=", "&&"; empty where it is a function (minimum, modulo). That "+" of
/// integers overflows and "/" of them truncates is for the caller to know.
std::string_view operator_text(arith::ExprKind kind);
/// Of numbers; conditions are joined by kAnd and kOr.
bool is_comparison(arith::ExprKind kind);
/// In one pair of parentheses: compilers take `((a == b))` for a slip.
std::string in_parentheses(const std::string& text);
/// The text of a condition behind `if`: an element or a name, whose type in C is not a Boolean, is compared with 0.
std::string truth(const std::string& condition);

}  // namespace relaxc::codegen_c
