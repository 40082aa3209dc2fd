// statements.cpp: reads the statements of a prim func.
//
// The `with` forms of older programs are openings with a suite of their own.
#include "frontends/relax/prim/statements.h"

#include "frontends/relax/prim/signature.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

Status branch_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  Result<arith::Expr> test = fn.scalars.condition(*stmt.value);
  ScalarReader::Choice choice(fn.scalars);
  auto read_side = [&](const Body& body, int64_t unreached_if) {
    Ranges::Unreached unreached(fn.ranges, test && fn.ranges.simplified(*test).is_constant(unreached_if));
    return prim_suite(fn, body);
  };
  Result<tir::Stmt> then_body = read_side(stmt.body, 0);
  Result<tir::Stmt> else_body = read_side(stmt.orelse, 1);
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

bool is_return(const ast::Stmt& stmt) {
  if (stmt.kind != StmtKind::kExpr) return stmt.kind == StmtKind::kReturn;
  std::string callee = callee_of(stmt.value);
  if (callee == "T.evaluate" && stmt.value->items.size() == 2) callee = callee_of(stmt.value->items[1]);
  return callee == "T.ret" || callee == "T.Return";
}

/// Returns whether every path through a suite ends with a return.
bool returns(const Body& body) {
  const Body* at = &body;
  while (!at->empty()) {
    const ast::Stmt& last = *at->back();
    if (is_return(last)) return true;
    if (last.kind != StmtKind::kIf || !returns(last.orelse)) return false;
    at = &last.body;
  }
  return false;
}

/// Returns the `if` with the statements that follow it appended to each branch that does not return.
ast::Stmt with_rest(const ast::Stmt& branch, const Body& rest) {
  ast::Stmt joined = branch;
  for (Body* side : {&joined.body, &joined.orelse})
    if (!returns(*side)) side->insert(side->end(), rest.begin(), rest.end());
  return joined;
}

/// Blocks and loops have suites of their own. Everything else in a `with` opens something for the suite below it.
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
  const bool tail = fn.open.tail;
  bool ok = true;
  for (size_t i = 0; i < body.size(); ++i) {
    const ast::Stmt* stmt = body[i];
    ast::Stmt joined;
    const bool splits = tail && stmt->kind == StmtKind::kIf && (returns(stmt->body) || returns(stmt->orelse));
    if (splits && i + 1 < body.size()) {
      joined = with_rest(*stmt, {body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end()});
      stmt = &joined, i = body.size() - 1;
    }
    const bool inner = stmt->kind == StmtKind::kIf || stmt->kind == StmtKind::kWith;
    fn.open.tail = tail && (is_return(*stmt) || (inner && i + 1 == body.size()));
    if (!prim_statement(fn, *stmt, statements)) {
      ok = false;
      if (stmt->kind == StmtKind::kAssign) fn.names.poison(stmt->target);
    }
    fn.open.tail = tail;
    if (is_return(*stmt)) break;  // the rest is unreachable
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
      return return_statement(fn, stmt.value, stmt.place, out);
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
  return fn.source.error(stmt.place, Kind::ill_formed, "a definition cannot be inside a prim func");
}

Status return_statement(PrimParts& fn, const ast::Expr* value, Place place, Suite& out) {
  if (!fn.open.tail)
    return fn.source.error(place, Kind::unsupported,
                           "a return must be at the end of a prim func or of a branch there; 'break' leaves a loop");
  if (is_none(value)) return Done{};
  Result<Scalar> scalar = value_or_call(fn, *value, out);
  if (!scalar) return fn.diag().failed();
  DType dtype = fn.result != nullptr                  ? fn.result->dtype
                : scalar->literal == Scalar::kInteger ? DType::i(32)
                : scalar->literal == Scalar::kReal    ? DType::f(32)
                                                      : scalar->expr.dtype();
  RELAXC_TRY(tir::BufferRef result, result_buffer(fn, dtype, place));
  RELAXC_TRY(arith::Expr typed, fn.scalars.adapt(*scalar, result->dtype, value->place));
  out.add(fn.builder.store(result, {fn.context().index(0)}, typed));
  return Done{};
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
