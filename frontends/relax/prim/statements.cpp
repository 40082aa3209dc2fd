// statements.cpp: the statements of a prim func.
//
// The `with` forms that older programs write are openings with a suite of their own.
#include "frontends/relax/prim/statements.h"

#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

Status branch_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  Result<arith::Expr> test = fn.scalars.condition(*stmt.value);
  ScalarReader::Choice choice(fn.scalars);
  Result<tir::Stmt> then_body = prim_suite(fn, stmt.body);
  Result<tir::Stmt> else_body = prim_suite(fn, stmt.orelse);
  if (!test || !then_body || !else_body) return fn.diag().failed();
  out.add(fn.builder.branch(*test, *then_body, stmt.orelse.empty() ? tir::Stmt() : *else_body));
  return Done{};
}

Status while_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  Result<arith::Expr> test = fn.scalars.condition(*stmt.value);
  ScalarReader::Choice choice(fn.scalars);
  Loops::Inside loop(fn.loops, {});
  Result<tir::Stmt> body = prim_suite(fn, stmt.body);
  if (!test || !body) return fn.diag().failed();
  out.add(fn.builder.loop_while(*test, *body));
  return Done{};
}

/// Blocks and loops have suites of their own; everything else that a `with` opens is an opening of the suite below it.
Status with_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  const ast::WithItem& item = stmt.with.front();
  std::string callee = callee_of(item.value);
  if (stmt.with.size() == 1 && (callee == "T.block" || callee == "T.sblock"))
    return block_statement(fn, stmt, *item.value, out);
  if (stmt.with.size() == 1 && callee == "T.init") return init_statement(fn, stmt, out);
  if (stmt.with.size() == 1 && item.target != nullptr && is_loop(callee))
    return loop_statement(fn, *item.value, *item.target, stmt.body, out);  // 2021: `with T.grid(n) as i:`
  Suite opened_suite(fn.names, fn.builder, fn.open);
  bool ok = true;
  for (const ast::WithItem& opened : stmt.with) {
    ast::Stmt opening;
    opening.place = opened.value->place;
    opening.value = opened.value, opening.target = opened.target;
    opening.kind = opened.target != nullptr ? StmtKind::kAssign : StmtKind::kExpr;
    if (opened.value->is(AstKind::kCall) && prim_statement(fn, opening, opened_suite)) continue;
    if (!opened.value->is(AstKind::kCall))
      (void)fn.source.error(opened.value->place, Kind::unsupported,
                            "'with' opens a block (T.sblock), an initialisation (T.init), a buffer or a name here");
    ok = false;
    fn.names.poison(opened.target);
  }
  Result<tir::Stmt> body = prim_suite(fn, stmt.body);
  if (!ok || !body) return fn.diag().failed();
  opened_suite.add(*body);
  out.add(opened_suite.finish());
  return Done{};
}

}  // namespace

Result<tir::Stmt> prim_suite(PrimParts& fn, const Body& body) {
  Suite statements(fn.names, fn.builder, fn.open);
  bool ok = true;
  for (const ast::Stmt* stmt : body) {
    bool last = fn.open.suites == 1 && stmt == body.back();
    if (stmt->kind == StmtKind::kReturn && !last && (stmt->value == nullptr || stmt->value->is(AstKind::kNone))) {
      (void)fn.source.error(stmt->place, Kind::unsupported,
                            "a prim func ends with its last statement; 'break' leaves a loop, an 'if' skips the rest");
      ok = false;
    } else if (!prim_statement(fn, *stmt, statements)) {
      ok = false;
      if (stmt->kind == StmtKind::kAssign) fn.names.poison(stmt->target);
    }
  }
  if (!ok) return fn.diag().failed();
  return statements.finish();
}

Status prim_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  switch (stmt.kind) {
    case StmtKind::kPass:
    case StmtKind::kImport:
      return Done{};
    case StmtKind::kAssign:
      return prim_assignment(fn, stmt, out);
    case StmtKind::kAugmentAssign:
      return store_statement(fn, *stmt.target, *stmt.value, stmt.text, out);
    case StmtKind::kExpr:
      return call_statement(fn, stmt, out);
    case StmtKind::kFor:
      return loop_statement(fn, *stmt.value, *stmt.target, stmt.body, out);
    case StmtKind::kWith:
      return with_statement(fn, stmt, out);
    case StmtKind::kReturn:
      if (stmt.value == nullptr || stmt.value->is(AstKind::kNone)) return Done{};
      return fn.source.error(stmt.place, Kind::unsupported, "a prim func returns nothing; it writes into its buffers");
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      return leave_iteration(fn, stmt.kind == StmtKind::kBreak, stmt.place, out);
    case StmtKind::kIf:
      return branch_statement(fn, stmt, out);
    case StmtKind::kWhile:
      return while_statement(fn, stmt, out);
    case StmtKind::kAssert:
      return assertion(fn, *stmt.value, stmt.target, out);
    case StmtKind::kClass:
    case StmtKind::kFunction:
      break;
  }
  return fn.source.error(stmt.place, Kind::ill_formed, "a definition cannot stand inside a prim func");
}

Status leave_iteration(PrimParts& fn, bool loop, Place place, Suite& out) {
  if (!fn.loops.any())
    return fn.source.error(place, Kind::ill_formed, "'{}' is outside of a loop", loop ? "break" : "continue");
  out.add(loop ? fn.builder.leave_loop() : fn.builder.next_iteration());
  return Done{};
}

Status assertion(PrimParts& fn, const ast::Expr& test, const ast::Expr* message, Suite& out) {
  tir::Guard made;
  made.code = tir::kAssertion;
  RELAXC_TRY(made.condition, fn.scalars.condition(test));
  bool parts = message != nullptr && message->is(AstKind::kTuple) && message->items.size() == 2 &&
               message->items[0]->is(AstKind::kString) && message->items[1]->is_sequence();
  std::vector<const ast::Expr*> texts;
  if (message != nullptr) texts = parts ? message->items[1]->items : std::vector{message};
  for (const ast::Expr* text : texts) {
    RELAXC_TRY(std::string part, string_value(fn.source, *text, "a message"));
    made.message += part;
  }
  out.add(fn.builder.guard(std::move(made)));
  return Done{};
}

}  // namespace relaxc::frontend
