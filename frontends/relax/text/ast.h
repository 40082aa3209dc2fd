// ast.h: the tree that the grammar makes: Python's syntax without semantics.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend::ast {

/// The use of `items` and `text` by each kind:
///   kName text; kInt, kFloat the digits; kString the contents; kTrue, kFalse, kNone, kEllipsis nothing
///   kAttribute items[0] . text;  kCall items[0](items[1..], keywords);  kSubscript items[0][items[1..]]
///   kSlice begin : end : step (null where absent);  kTuple, kList items;  kDict key, value, key, value, …
///   kUnary text items[0];  kBinary, kCompare, kBoolOp items[0] text items[1];  kIfElse then, condition, else; kStarred
///   *items[0];  kLambda parameters, body, of an index map
enum class ExprKind : uint8_t {
  kName,
  kInt,
  kFloat,
  kString,
  kTrue,
  kFalse,
  kNone,
  kEllipsis,
  kAttribute,
  kCall,
  kSubscript,
  kSlice,
  kTuple,
  kList,
  kDict,
  kUnary,
  kBinary,
  kCompare,
  kBoolOp,
  kIfElse,
  kStarred,
  kLambda,
};

struct Expr;
struct Keyword {
  std::string name;
  Place place;
  const Expr* value = nullptr;
};

struct Expr {
  ExprKind kind = ExprKind::kNone;
  Place place;
  std::string text;
  std::vector<const Expr*> items;
  std::vector<Keyword> keywords;
  uint32_t depth = 1;  ///< height of the tree; the grammar limits it

  bool is(ExprKind k) const { return kind == k; }
  bool is_sequence() const { return kind == ExprKind::kTuple || kind == ExprKind::kList; }
  const Keyword* keyword(std::string_view name) const {
    for (const Keyword& k : keywords)
      if (k.name == name) return &k;
    return nullptr;
  }
};

enum class StmtKind : uint8_t {
  kImport,
  kClass,
  kFunction,
  kAssign,         ///< target (: annotation) = value; either of annotation and value may be absent
  kAugmentAssign,  ///< target text= value
  kExpr,
  kReturn,
  kIf,
  kFor,
  kWhile,
  kWith,
  kPass,
  kBreak,
  kContinue,
  kAssert,  ///< value is the condition, target the message
};

struct Parameter {
  std::string name;
  Place place;
  const Expr* annotation = nullptr;
};
struct WithItem {
  const Expr* value = nullptr;
  const Expr* target = nullptr;
};

struct Stmt {
  StmtKind kind = StmtKind::kPass;
  Place place;       ///< the first line
  std::string text;  ///< a class's or function's name, or an operator
  Place name_place;
  const Expr* target = nullptr;
  const Expr* annotation = nullptr;  ///< of a function: its result type
  const Expr* value = nullptr;
  std::vector<WithItem> with;
  std::vector<const Stmt*> body, orelse;
  std::vector<const Expr*> decorators;
  std::vector<Parameter> params, type_params;
  bool broken = false;  ///< a syntax error inside was reported, so no other errors are
};

/// Owns the nodes of a file.
struct Tree {
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  std::vector<const Stmt*> file;
};

}  // namespace relaxc::frontend::ast
