#include "compiler/codegen/c/operators.h"

namespace relaxc::codegen_c {

using arith::ExprKind;

std::string_view operator_text(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return "+";
    case ExprKind::kSub:
      return "-";
    case ExprKind::kMul:
      return "*";
    case ExprKind::kDiv:
      return "/";
    case ExprKind::kEq:
      return "==";
    case ExprKind::kNe:
      return "!=";
    case ExprKind::kLt:
      return "<";
    case ExprKind::kLe:
      return "<=";
    case ExprKind::kAnd:
      return "&&";
    case ExprKind::kOr:
      return "||";
    default:
      return {};
  }
}

bool is_comparison(ExprKind kind) {
  return kind == ExprKind::kEq || kind == ExprKind::kNe || kind == ExprKind::kLt || kind == ExprKind::kLe;
}

}  // namespace relaxc::codegen_c
