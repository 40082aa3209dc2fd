// prim_stmt.cpp: the statements of a prim func.
//
// Python's statements are flat where TIR's nest: a buffer or a scalar holds for the rest of its suite. A suite is
// therefore read into pieces, one an opening, and folded from its end, so that a suite of a thousand openings does not
// recurse while it is read.
#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

/// Statements nest in TIR as deep as scopes are open; every walk over TIR recurses that deep.
constexpr size_t kMostOpenScopes = 2000;

std::string callee_of(const ast::Expr* e) {
  if (e == nullptr || !e->is(AstKind::kCall)) return {};
  return dotted_path(*e->items[0]).value_or("");
}

bool declares_symbol(const ast::Expr& e) {
  std::string callee = callee_of(&e);
  bool typed = callee == "T.int64" || callee == "T.int32" || callee == "T.index";
  bool named = callee == "T.var" || callee == "T.Var" || callee == "T.SizeVar" || callee == "tir.Var";
  return named || (typed && e.items.size() == 1);
}

bool same_buffer(const tir::Buffer& a, const tir::Buffer& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.scope == b.scope &&
         a.alignment == b.alignment;
}

}  // namespace

Result<tir::Stmt> PrimFuncReader::suite(const Body& body) {
  Diagnostics& diag = source_.diag();
  names_.push();
  Suite pieces(1);
  bool ok = true;
  for (const ast::Stmt* stmt : body) {
    if (!statement(*stmt, pieces)) {
      ok = false;
      poison(stmt->target);
    }
  }
  names_.pop();
  if (!ok) return diag.failed();
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
      if (loop_depth_ == 0) return source_.error(stmt.place, Kind::ill_formed, "'break' stands in no loop");
      out.back().stmts.push_back(builder_.leave_loop());
      return Done{};
    case StmtKind::kIf: {
      Result<arith::Expr> test = condition(*stmt.value);
      Result<tir::Stmt> then_body = suite(stmt.body);
      Result<tir::Stmt> else_body = suite(stmt.orelse);
      if (!test || !then_body || !else_body) return diag.failed();
      out.back().stmts.push_back(builder_.branch(*test, *then_body, stmt.orelse.empty() ? tir::Stmt() : *else_body));
      return Done{};
    }
    case StmtKind::kWhile: {
      Result<arith::Expr> test = condition(*stmt.value);
      ++loop_depth_;
      Result<tir::Stmt> body = suite(stmt.body);
      --loop_depth_;
      if (!test || !body) return diag.failed();
      out.back().stmts.push_back(builder_.loop_while(*test, *body));
      return Done{};
    }
    case StmtKind::kAssert:
      return source_.error(stmt.place, Kind::unsupported, "'assert' has no meaning yet in a prim func");
    case StmtKind::kContinue:
      return source_.error(stmt.place, Kind::unsupported, "'continue' has no meaning yet; write an 'if'");
    case StmtKind::kClass:
    case StmtKind::kFunction:
      break;
  }
  return source_.error(stmt.place, Kind::ill_formed, "a definition cannot stand inside a prim func");
}

Status PrimFuncReader::assignment(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
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
  names_.bind_outermost(name, {PrimName::kScalar, context_.var(name), nullptr, 0, true}, place);
}

/// `n = T.int64()`, `M, N = T.int64(), T.int64()`, `n = T.var("n")`.
Status PrimFuncReader::declare_symbols(const ast::Stmt& stmt, bool& done) {
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target), values = targets_of(*stmt.value);
  for (const ast::Expr* value : values)
    if (!declares_symbol(*value)) return Done{};
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
  if (callee == "T.match_buffer") {
    done = true;
    return match_buffer(stmt);
  }
  for (std::string_view name : {"T.alloc_buffer", "T.sblock_alloc_buffer", "T.decl_buffer", "T.allocate"}) {
    if (callee != name) continue;
    done = true;
    return open_buffer(callee, stmt, out);
  }
  return Done{};
}

Status PrimFuncReader::match_buffer(const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& call = *stmt.value;
  if (!stmt.target->is(AstKind::kName) || call.items.size() < 2 || !call.items[1]->is(AstKind::kName))
    return source_.error(call.place, Kind::ill_formed, "expected A = T.match_buffer(handle, shape, dtype)");
  auto* handle = names_.find(call.items[1]->text);
  if (handle == nullptr) return unbound(*call.items[1]);
  if (handle->value.kind == PrimName::kPoison) return diag.failed();
  if (handle->value.kind != PrimName::kHandle)
    return source_.error(call.items[1]->place, Kind::invalid_value, "'{}' is not a handle", call.items[1]->text);
  size_t position = handle->value.param;
  if (function_.params[position].buffer != nullptr)
    return source_.error(call.items[1]->place, Kind::redefinition, "the handle '{}' is matched twice",
                         call.items[1]->text);
  RELAXC_TRY(tir::BufferRef made, buffer(call, 2, stmt.target->text));
  function_.params[position].buffer = made;
  names_.bind_outermost(stmt.target->text, {PrimName::kBuffer, {}, made}, stmt.target->place);
  return Done{};
}

Status PrimFuncReader::open_buffer(const std::string& callee, const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  if (!stmt.target->is(AstKind::kName))
    return source_.error(stmt.target->place, Kind::syntax, "expected a name for the buffer");
  if (++open_scopes_ > kMostOpenScopes) {
    --open_scopes_;
    return source_.error(stmt.place, Kind::unsupported, "more than {} buffers and names in one scope", kMostOpenScopes);
  }
  Result<tir::BufferRef> made = buffer(*stmt.value, 1, stmt.target->text);
  if (!made) {
    --open_scopes_;
    return diag.failed();
  }
  auto* known = names_.find(stmt.target->text);
  tir::BufferRef before = known != nullptr ? known->value.buffer : nullptr;
  bind(stmt.target->text, {PrimName::kBuffer, {}, *made}, stmt.target->place);
  tir::BufferRef opened = *made;
  if (const ast::Keyword* data = stmt.value->keyword("data"); data != nullptr && callee == "T.decl_buffer") {
    RELAXC_TRY(auto memory, memory_of(*data->value, stmt.value->keyword("byte_offset")));
    auto [base, offset] = memory;
    // A view that is opened again is the same buffer, and an opening in this suite ends here: the printer writes two
    // scopes so.
    auto [seen, first] = views_.emplace(stmt.target->text, opened);
    size_t here = 1;
    while (here < out.size() && out[here].view != before) ++here;
    bool ends = before != nullptr && before == seen->second && here < out.size();
    if (!first && same_buffer(*seen->second, *opened) && (before == nullptr || ends)) {
      opened = seen->second;
      if (ends) reopen(out, here);
      bind(stmt.target->text, {PrimName::kBuffer, {}, opened}, stmt.target->place);
    }
    seen->second = opened;
    auto wrap = [this, opened, base, offset](tir::Stmt body) { return builder_.view(opened, base, offset, body); };
    out.push_back({wrap, {}, opened});
    return Done{};
  }
  out.push_back({[this, opened](tir::Stmt body) { return builder_.alloc(opened, body); }, {}, nullptr});
  return Done{};
}

/// `A.data` with a byte offset, or `T.reinterpret("handle", address)`: a buffer (null: none) and the offset from there.
Result<std::pair<tir::BufferRef, arith::Expr>> PrimFuncReader::memory_of(const ast::Expr& data,
                                                                         const ast::Keyword* byte_offset) {
  Diagnostics& diag = source_.diag();
  arith::Expr offset = context_.index(0);
  if (byte_offset != nullptr) {
    RELAXC_TRY(offset, index(*byte_offset->value));
  }
  if (callee_of(&data) == "T.reinterpret" && data.items.size() == 3 && data.items[1]->is(AstKind::kString) &&
      data.items[1]->text == "handle") {
    RELAXC_TRY(arith::Expr address, index(*data.items[2]));
    return std::pair<tir::BufferRef, arith::Expr>(nullptr, address + offset);
  }
  if (!data.is(AstKind::kAttribute) || data.text != "data")
    return source_.error(data.place, Kind::invalid_value,
                         "expected another buffer's data, A.data, or an address, T.reinterpret(\"handle\", a)");
  RELAXC_TRY(tir::BufferRef base, find_buffer(*data.items[0]));
  return std::pair<tir::BufferRef, arith::Expr>(base, offset);
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
  Result<std::vector<arith::Expr>> indices = subscripts(*buffer, target);
  Result<Scalar> scalar = read(value);
  if (!indices || !scalar) return diag.failed();
  if (!op.empty()) {
    scalar = binary(op, Scalar{builder_.load(*buffer, *indices)}, *scalar, target.place);
    if (!scalar) return diag.failed();
  }
  RELAXC_TRY(arith::Expr typed, adapt(*scalar, (*buffer)->dtype, value.place));
  out.back().stmts.push_back(builder_.store(*buffer, std::move(*indices), typed));
  return Done{};
}

/// `x = value`, `x: T.float32 = value`, `x = T.bind(value)`: a scalar for the rest of the suite.
Status PrimFuncReader::let(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  if (!stmt.target->is(AstKind::kName))
    return source_.error(stmt.target->place, Kind::unsupported, "one name a line can be given a value");
  const ast::Expr* value = stmt.value;
  std::string callee = callee_of(value);
  if ((callee == "T.bind" || callee == "T.let" || callee == "T.LetStmt") && value->items.size() == 2)
    value = value->items[1];
  RELAXC_TRY(Scalar scalar, read(*value));
  arith::Expr typed = scalar.expr;
  if (stmt.annotation != nullptr) {
    std::string path = dotted_path(*stmt.annotation).value_or("");
    std::optional<DType> dtype = path.rfind("T.", 0) == 0 ? parse_dtype(path.substr(2)) : std::nullopt;
    if (!dtype) return source_.error(stmt.annotation->place, Kind::invalid_value, "expected a type such as T.float32");
    RELAXC_TRY(typed, adapt(scalar, *dtype, value->place));
  } else if (scalar.literal == Scalar::kReal) {
    return source_.error(value->place, Kind::dtype_mismatch, "a number without a dtype; write T.float32(…)");
  }
  if (++open_scopes_ > kMostOpenScopes) {
    --open_scopes_;
    return source_.error(stmt.place, Kind::unsupported, "more than {} buffers and names in one scope", kMostOpenScopes);
  }
  arith::Var var = context_.var(stmt.target->text, typed.dtype());
  bind(stmt.target->text, {PrimName::kScalar, var}, stmt.target->place);
  out.push_back({[this, var, typed](tir::Stmt body) { return builder_.let(var, typed, body); }, {}, nullptr});
  return Done{};
}

Status PrimFuncReader::expression(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& e = *stmt.value;
  if (e.is(AstKind::kString)) return Done{};  // a comment
  std::string callee = callee_of(&e);
  if (callee == "T.func_attr") return function_attributes(e);
  if (callee == "T.evaluate") return Done{};
  bool done = false;
  RELAXC_DO(block_clause(callee, e, done));
  if (done) return Done{};
  if (callee == "T.guard") return guard(e, out);
  if (callee == "T.invoke" || callee == "T.call_extern" || callee == "T.call_runtime") return invoke(e, out);
  if (callee.empty()) return source_.error(e.place, Kind::ill_formed, "this statement does nothing");
  return source_.error(e.items[0]->place, Kind::unsupported, "'{}' is not a statement of a prim func", callee);
}

/// T.guard(condition, code=7, tensor=1, axis=0, symbol=2, node=3, expected=n, actual=m)
Status PrimFuncReader::guard(const ast::Expr& call, Suite& out) {
  Diagnostics& diag = source_.diag();
  if (call.items.size() != 2) return source_.error(call.place, Kind::wrong_arity, "T.guard takes one condition");
  tir::Guard made;
  RELAXC_TRY(made.condition, condition(*call.items[1]));
  for (const ast::Keyword& keyword : call.keywords) {
    RELAXC_TRY(arith::Expr value, index(*keyword.value));
    if (keyword.name == "expected" || keyword.name == "actual") {
      (keyword.name == "expected" ? made.expected : made.actual) = value;
      continue;
    }
    int32_t* field = keyword.name == "code"     ? &made.code
                     : keyword.name == "tensor" ? &made.tensor
                     : keyword.name == "axis"   ? &made.axis
                     : keyword.name == "symbol" ? &made.symbol
                     : keyword.name == "node"   ? &made.error_node
                                                : nullptr;
    if (field == nullptr)
      return source_.error(keyword.place, Kind::invalid_attribute, "T.guard has no field '{}'", keyword.name);
    const int64_t* number = value.constant();
    if (number == nullptr || *number < INT32_MIN || *number > INT32_MAX)
      return source_.error(keyword.value->place, Kind::invalid_value, "expected a small integer");
    *field = static_cast<int32_t>(*number);
  }
  out.back().stmts.push_back(builder_.guard(made));
  return Done{};
}

/// T.invoke("kernel", X, n, trace=3), T.call_extern("int32", "custom", X, n), T.call_runtime("rlx_…", X, n)
Status PrimFuncReader::invoke(const ast::Expr& call, Suite& out) {
  Diagnostics& diag = source_.diag();
  tir::Invoke made;
  std::string head = callee_of(&call);
  made.runtime = head == "T.call_runtime";
  made.external = made.runtime || head == "T.call_extern";
  size_t name_at = head == "T.call_extern" ? 2 : 1;
  if (call.items.size() <= name_at) return source_.error(call.place, Kind::wrong_arity, "the call names no function");
  RELAXC_TRY(made.callee, string_value(source_, *call.items[name_at], "a function's name"));
  if (made.runtime && made.callee.rfind("rlx_", 0) != 0)
    return source_.error(call.items[name_at]->place, Kind::invalid_value,
                         "'{}' is no function of the runtime; their names begin with rlx_", made.callee);
  bool ok = true;
  for (size_t i = name_at + 1; i < call.items.size(); ++i) {
    const ast::Expr& argument = *call.items[i];
    auto* known = argument.is(AstKind::kName) ? names_.find(argument.text) : nullptr;
    if (known != nullptr && known->value.kind == PrimName::kBuffer) {
      made.args.emplace_back(known->value.buffer);
      continue;
    }
    Result<Scalar> value = read(argument);
    ok = ok && value;
    if (value) made.args.emplace_back(value->expr);
  }
  if (const ast::Keyword* trace = call.keyword("trace")) {
    RELAXC_TRY(arith::Expr node, index(*trace->value));
    if (node.constant() == nullptr || *node.constant() < 0 || *node.constant() > INT32_MAX)
      return source_.error(trace->value->place, Kind::invalid_value, "expected a small integer");
    made.trace_node = static_cast<int32_t>(*node.constant());
  }
  if (!ok) return diag.failed();
  out.back().stmts.push_back(builder_.invoke(std::move(made)));
  return Done{};
}

}  // namespace relaxc::frontend
