// prim_stmt.cpp: the statements of a prim func.
//
// Python's statements are flat where TIR's nest: a buffer or a scalar holds for the rest of its suite. A suite is
// therefore read into pieces, one an opening, and folded from its end, so that a suite of a thousand openings does not
// recurse while it is read. The `with` forms that older programs write are the same openings with a suite of their own.
#include <algorithm>

#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

constexpr std::string_view kBufferFunctions[] = {
    "T.alloc_buffer", "T.sblock_alloc_buffer", "T.decl_buffer", "T.buffer_decl",
    "T.allocate",     "T.allocate_const",      "T.alloc_local", "T.Buffer"};

/// `x = T.float32()`: a name that a T.Bind or T.LetStmt below gives its value (var=).
bool announces_scalar(const ast::Expr& e) {
  std::string callee = callee_of(&e);
  return e.items.size() == 1 && callee.rfind("T.", 0) == 0 && parse_dtype(callee.substr(2)).has_value();
}

bool declares_symbol(const ast::Expr& e) {
  std::string callee = callee_of(&e);
  bool typed = callee == "T.int64" || callee == "T.int32" || callee == "T.index";
  bool named = callee == "T.var" || callee == "T.Var" || callee == "T.SizeVar" || callee == "T.dyn";
  return named || (typed && e.items.size() == 1);
}

bool binds_scalar(const std::string& callee) {
  return callee == "T.bind" || callee == "T.Bind" || callee == "T.let" || callee == "T.LetStmt";
}

}  // namespace

Result<tir::Stmt> PrimFuncReader::suite(const Body& body) {
  Diagnostics& diag = source_.diag();
  names_.push();
  ++suites_;
  Suite pieces(1);
  bool ok = true;
  for (const ast::Stmt* stmt : body) {
    bool last = suites_ == 1 && stmt == body.back();
    if (stmt->kind == StmtKind::kReturn && !last && (stmt->value == nullptr || stmt->value->is(AstKind::kNone))) {
      (void)source_.error(stmt->place, Kind::unsupported,
                          "a prim func ends with its last statement; 'break' leaves a loop, an 'if' skips the rest");
      ok = false;
    } else if (!statement(*stmt, pieces)) {
      ok = false;
      if (stmt->kind == StmtKind::kAssign) poison(stmt->target);
    }
  }
  --suites_;
  names_.pop();
  if (!ok) {
    open_scopes_ -= pieces.size() - 1;
    return diag.failed();
  }
  close(pieces, 1);
  return builder_.seq(std::move(pieces[0].stmts));
}

void PrimFuncReader::close(Suite& pieces, size_t left) {
  for (; pieces.size() > left; pieces.pop_back(), --open_scopes_) {
    Piece& last = pieces.back();
    tir::Stmt inner = last.wrap(builder_.seq(std::move(last.stmts)));
    pieces[pieces.size() - 2].stmts.push_back(inner);
  }
}

/// Ends the scope `left` and those inside of it. Scopes that were opened since and hold nothing yet are not inside:
/// they begin what comes next.
void PrimFuncReader::reopen(Suite& pieces, size_t left) {
  Suite fresh;
  for (; pieces.size() > left + 1 && pieces.back().stmts.empty(); pieces.pop_back())
    fresh.push_back(std::move(pieces.back()));
  close(pieces, left);
  while (!fresh.empty()) {
    pieces.push_back(std::move(fresh.back()));
    fresh.pop_back();
  }
}

Status PrimFuncReader::statement(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  switch (stmt.kind) {
    case StmtKind::kPass:
    case StmtKind::kImport:
      return Done{};
    case StmtKind::kAssign:
      return assignment(stmt, out);
    case StmtKind::kAugmentAssign:
      return store(*stmt.target, *stmt.value, stmt.text, out);
    case StmtKind::kExpr:
      return expression(stmt, out);
    case StmtKind::kFor:
      return loop(*stmt.value, *stmt.target, stmt.body, out);
    case StmtKind::kWith:
      return with(stmt, out);
    case StmtKind::kReturn:
      if (stmt.value == nullptr || stmt.value->is(AstKind::kNone)) return Done{};
      return source_.error(stmt.place, Kind::unsupported, "a prim func returns nothing; it writes into its buffers");
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      return leave_iteration(stmt.kind == StmtKind::kBreak, stmt.place, out);
    case StmtKind::kIf:
      return branch(stmt, out);
    case StmtKind::kWhile: {
      Result<arith::Expr> test = condition(*stmt.value);
      ++loop_depth_, ++choices_;
      Result<tir::Stmt> body = suite(stmt.body);
      --loop_depth_, --choices_;
      if (!test || !body) return diag.failed();
      out.back().stmts.push_back(builder_.loop_while(*test, *body));
      return Done{};
    }
    case StmtKind::kAssert:
      return assertion(*stmt.value, stmt.target, out);
    case StmtKind::kClass:
    case StmtKind::kFunction:
      break;
  }
  return source_.error(stmt.place, Kind::ill_formed, "a definition cannot stand inside a prim func");
}

Status PrimFuncReader::branch(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  Result<arith::Expr> test = condition(*stmt.value);
  ++choices_;
  Result<tir::Stmt> then_body = suite(stmt.body);
  Result<tir::Stmt> else_body = suite(stmt.orelse);
  --choices_;
  if (!test || !then_body || !else_body) return diag.failed();
  out.back().stmts.push_back(builder_.branch(*test, *then_body, stmt.orelse.empty() ? tir::Stmt() : *else_body));
  return Done{};
}

/// `break` and `continue`, which TVM prints as T.break_loop() and T.continue_loop().
Status PrimFuncReader::leave_iteration(bool loop, Place place, Suite& out) {
  if (loop_depth_ == 0)
    return source_.error(place, Kind::ill_formed, "'{}' stands in no loop", loop ? "break" : "continue");
  out.back().stmts.push_back(loop ? builder_.leave_loop() : builder_.next_iteration());
  return Done{};
}

/// `assert condition, "message"`, or behind it ("RuntimeError", ["message"]): leaves the function with RLX_ASSERTION.
Status PrimFuncReader::assertion(const ast::Expr& test, const ast::Expr* message, Suite& out) {
  tir::Guard made;
  made.code = tir::kAssertion;
  RELAXC_TRY(made.condition, condition(test));
  bool parts = message != nullptr && message->is(AstKind::kTuple) && message->items.size() == 2 &&
               message->items[0]->is(AstKind::kString) && message->items[1]->is_sequence();
  std::vector<const ast::Expr*> texts;
  if (message != nullptr) texts = parts ? message->items[1]->items : std::vector{message};
  for (const ast::Expr* text : texts) {
    RELAXC_TRY(std::string part, string_value(source_, *text, "a message"));
    made.message += part;
  }
  out.back().stmts.push_back(builder_.guard(std::move(made)));
  return Done{};
}

Status PrimFuncReader::assignment(const ast::Stmt& stmt, Suite& out) {
  if (stmt.value == nullptr)
    return source_.error(stmt.place, Kind::ill_formed, "a declaration without a value means nothing here");
  if (stmt.target->is(AstKind::kSubscript)) return store(*stmt.target, *stmt.value, "", out);
  bool done = false;
  RELAXC_DO(declare_symbols(stmt, done));
  if (done) return Done{};
  std::string callee = callee_of(stmt.value);
  if (callee.rfind("T.axis.", 0) == 0) return axes(callee, stmt);
  RELAXC_DO(declare(callee, stmt, out, done));
  return done ? Status(Done{}) : let(stmt, out);
}

void PrimFuncReader::declare_symbol(const std::string& name, Place place) {
  symbols_.push_back({name, place});
  PrimName symbol{.kind = PrimName::kScalar, .scalar = context_.var(name), .unbound = true};
  names_.bind_outermost(name, symbol, place);
}

/// `n = T.int64()`, `M, N = T.int64(), T.int64()`, `n = T.var("n")`.
Status PrimFuncReader::declare_symbols(const ast::Stmt& stmt, bool& done) {
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target), values = targets_of(*stmt.value);
  for (const ast::Expr* value : values)
    if (!declares_symbol(*value)) {
      done = stmt.value->is(AstKind::kCall) && announces_scalar(*stmt.value);
      return Done{};
    }
  done = true;
  if (targets.size() != values.size())
    return source_.error(stmt.place, Kind::wrong_arity, "{} names for {} values", targets.size(), values.size());
  for (const ast::Expr* target : targets) {
    if (!target->is(AstKind::kName))
      return source_.error(target->place, Kind::syntax, "expected a name for the symbol");
    auto* known = names_.find(target->text);
    bool again = known != nullptr && known->value.kind == PrimName::kScalar && known->value.scalar.dtype().is_index();
    if (!again) declare_symbol(target->text, target->place);
  }
  return Done{};
}

Status PrimFuncReader::declare(const std::string& callee, const ast::Stmt& stmt, Suite& out, bool& done) {
  done = true;
  if (callee == "T.match_buffer") return match_buffer(stmt, out);
  for (std::string_view name : kBufferFunctions)
    if (callee == name) return open_buffer(callee, stmt, out);
  if (callee == "T.alloc_shared" || callee == "T.alloc_fragment" || callee == "T.env_thread" ||
      callee == "T.launch_thread")
    return source_.error(stmt.value->place, Kind::unsupported, "{} belongs to a GPU; this is compiled for a CPU",
                         callee);
  // A pointer under another name is another name of its buffer.
  bool pointer_name = stmt.target->is(AstKind::kName) && stmt.value->is(AstKind::kAttribute) && is_pointer(*stmt.value);
  done = pointer_name;
  if (!pointer_name) return Done{};
  RELAXC_TRY(Pointer base, pointer(*stmt.value));
  bind(stmt.target->text, {PrimName::kBuffer, {}, base.buffer}, stmt.target->place);
  return Done{};
}

Status PrimFuncReader::store(const ast::Expr& target, const ast::Expr& value, const std::string& op, Suite& out) {
  Diagnostics& diag = source_.diag();
  if (!target.is(AstKind::kSubscript))
    return source_.error(target.place, Kind::unsupported, "only an element of a buffer can be changed");
  Result<tir::BufferRef> buffer = find_buffer(*target.items[0]);
  if (!buffer) {
    (void)read(value);  // its own errors have causes of their own
    return diag.failed();
  }
  lanes_.count = std::max(lanes_in(target), lanes_in(value));
  lanes_.var = lanes_.count > 0 ? context_.var("lane") : arith::Var();
  Result<std::vector<arith::Expr>> indices =
      subscripts(*buffer, {target.items.begin() + 1, target.items.end()}, target.place);
  Result<Scalar> scalar = read(value);
  if (indices && scalar && !op.empty())
    scalar = binary(op, Scalar{builder_.load(*buffer, *indices)}, *scalar, target.place);
  Status stored = indices && scalar ? store_element(*buffer, std::move(*indices), *scalar, value.place, out)
                                    : Status(diag.failed());
  lanes_ = {};
  return stored;
}

Status PrimFuncReader::store_element(tir::BufferRef buffer, std::vector<arith::Expr> indices, Scalar scalar,
                                     Place place, Suite& out, arith::Expr mask) {
  RELAXC_TRY(arith::Expr typed, adapt(scalar, buffer->dtype, place));
  note_store(buffer, typed);
  if (lanes_.count > 0) return store_lanes(buffer, std::move(indices), typed, mask, place, out);
  out.back().stmts.push_back(if_chosen(mask, builder_.store(buffer, std::move(indices), typed)));
  return Done{};
}

/// `x = value`, `x: T.float32 = value`, `x: T.let[T.float32] = value`, `x = T.bind(value)`, T.let, T.LetStmt: a scalar
/// for the rest of the suite.
Status PrimFuncReader::let(const ast::Stmt& stmt, Suite& out) {
  if (!stmt.target->is(AstKind::kName))
    return source_.error(stmt.target->place, Kind::unsupported, "one name a line can be given a value");
  const ast::Expr* value = stmt.value;
  if (binds_scalar(callee_of(value)) && value->items.size() >= 2) {
    const ast::Keyword* var = value->keyword("var");
    value = value->items[1];
    if (var != nullptr && var->value->is(AstKind::kName)) {  // both names are the same scalar
      RELAXC_TRY(arith::Expr typed, let_type(stmt, *value));
      RELAXC_DO(bind_scalar(*var->value, typed, stmt, out));
      if (var->value->text != stmt.target->text)
        bind(stmt.target->text, names_.find(var->value->text)->value, stmt.target->place);
      return Done{};
    }
  }
  RELAXC_TRY(arith::Expr typed, let_type(stmt, *value));
  return bind_scalar(*stmt.target, typed, stmt, out);
}

/// The value of a scalar, in the dtype of its annotation.
Result<arith::Expr> PrimFuncReader::let_type(const ast::Stmt& stmt, const ast::Expr& value) {
  RELAXC_TRY(Scalar scalar, read(value));
  const ast::Expr* type = stmt.annotation;
  if (type != nullptr && type->is(AstKind::kSubscript) && type->items.size() == 2) type = type->items[1];
  bool open = type == nullptr || dotted_path(*type) == "T.let";
  if (open && scalar.literal == Scalar::kReal)
    return source_.error(value.place, Kind::dtype_mismatch, "a number without a dtype; write T.float32(…)");
  if (open) return scalar.expr;
  std::string path = dotted_path(*type).value_or("");
  std::optional<DType> dtype = path.rfind("T.", 0) == 0 ? parse_dtype(path.substr(2)) : std::nullopt;
  if (!dtype) return source_.error(type->place, Kind::invalid_value, "expected a type such as T.float32");
  return adapt(scalar, *dtype, value.place);
}

Status PrimFuncReader::bind_scalar(const ast::Expr& target, arith::Expr value, const ast::Stmt& stmt, Suite& out) {
  auto* known = names_.find(target.text);
  if (known != nullptr && known->value.bound_in != 0 && known->value.bound_in < suites_) {
    Failure failure = source_.error(stmt.place, Kind::redefinition,
                                    "'{}' has its value from an outer suite, and keeps it there", target.text);
    source_.hint("a value that changes is kept in a buffer: {0} = T.alloc_buffer((1,), …), {0}[0] = …", target.text);
    return failure;
  }
  if (known != nullptr && known->value.unbound) known->value.unbound = false;  // `x = T.var(…)` before a T.let of it
  RELAXC_DO(open_scope(stmt));
  arith::Var var = context_.var(target.text, value.dtype());
  bind(target.text, {.kind = PrimName::kScalar, .scalar = var, .bound_in = suites_}, target.place);
  out.push_back({[this, var, value](tir::Stmt body) { return builder_.let(var, value, body); }, {}, nullptr});
  return Done{};
}

/// Blocks and loops have suites of their own; everything else that a `with` opens is an opening of the suite below it.
Status PrimFuncReader::with(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  const ast::WithItem& item = stmt.with.front();
  std::string callee = callee_of(item.value);
  if (stmt.with.size() == 1 && (callee == "T.block" || callee == "T.sblock")) return block(stmt, *item.value, out);
  if (stmt.with.size() == 1 && callee == "T.init") return block_init(stmt);
  if (stmt.with.size() == 1 && item.target != nullptr && is_loop(callee))
    return loop(*item.value, *item.target, stmt.body, out);  // 2021: `with T.grid(n) as i:`
  names_.push();
  ++suites_;
  Suite pieces(1);
  bool ok = true;
  for (const ast::WithItem& opened : stmt.with) {
    ast::Stmt opening;
    opening.place = opened.value->place;
    opening.value = opened.value, opening.target = opened.target;
    opening.kind = opened.target != nullptr ? StmtKind::kAssign : StmtKind::kExpr;
    if (opened.value->is(AstKind::kCall) && statement(opening, pieces)) continue;
    if (!opened.value->is(AstKind::kCall))
      (void)source_.error(opened.value->place, Kind::unsupported,
                          "'with' opens a block (T.sblock), an initialisation (T.init), a buffer or a name here");
    ok = false;
    poison(opened.target);
  }
  Result<tir::Stmt> body = suite(stmt.body);
  --suites_;
  names_.pop();
  if (!ok || !body) {
    open_scopes_ -= pieces.size() - 1;
    return diag.failed();
  }
  pieces.back().stmts.push_back(*body);
  close(pieces, 1);
  out.back().stmts.push_back(builder_.seq(std::move(pieces[0].stmts)));
  return Done{};
}

}  // namespace relaxc::frontend
