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

std::string in_parentheses(const std::string& text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i + 1 < text.size()) return "(" + text + ")";
  }
  return text.empty() || text[0] != '(' ? "(" + text + ")" : text;
}

std::string truth(const std::string& condition) {
  bool logical = condition[0] == '(' || condition[0] == '!';
  return logical ? in_parentheses(condition) : "(" + condition + " != 0)";
}

}  // namespace relaxc::codegen_c
