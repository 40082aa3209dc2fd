// prim_call.cpp: the statements of a prim func that are calls.
//
// A packed function takes the tensors of the ABI and may fail; a plain one (T.call_extern) is any C function, which
// takes pointers and numbers. What only a GPU can do is an error; what only tells a compiler how to schedule is read
// and has no effect, because schedules are chosen anew here.
#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"
#include "frontends/relax/unsupported_aot.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

bool is_packed(const std::string& callee) {
  return callee == "T.call_packed" || callee == "T.call_cpacked" || callee == "T.tvm_call_packed" ||
         callee == "T.tvm_call_cpacked";
}

bool is_plain(const std::string& callee) {
  return callee == "T.call_extern" || callee == "T.call_pure_extern";
}

bool has_c_type(DType dtype) {
  bool whole = dtype.is_bool() || dtype.is_index() || (dtype.is_integer() && dtype.bits >= 8);
  return whole || (dtype.is_float() && dtype.bits >= 32);
}

bool is_c_name(std::string_view name) {
  bool ok = !name.empty() && (name.front() < '0' || name.front() > '9');
  for (char c : name)
    ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  return ok;
}

}  // namespace

Status PrimFuncReader::expression(const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& e = *stmt.value;
  if (e.is(AstKind::kString)) return Done{};  // a comment
  std::string callee = callee_of(&e);
  if (callee == "T.func_attr") return function_attributes(e);
  bool done = false;
  RELAXC_DO(block_clause(callee, e, done));
  if (done) return Done{};
  if (callee == "T.evaluate" && e.items.size() == 2) {
    const ast::Expr& inner = *e.items[1];
    bool nothing = inner.is(AstKind::kInt) || inner.is(AstKind::kNone) || inner.is(AstKind::kString);
    return nothing ? Status(Done{}) : effect(inner, stmt, out);
  }
  return effect(e, stmt, out);
}

/// A call for what it does; in T.evaluate a value may stand too, which is computed for nothing.
Status PrimFuncReader::effect(const ast::Expr& e, const ast::Stmt& stmt, Suite& out) {
  std::string callee = callee_of(&e);
  if (callee == "T.guard") return guard(e, out);
  if (callee == "T.invoke" || callee == "T.call_runtime" || is_packed(callee)) return invoke(e, callee, out);
  if (is_plain(callee)) return call_plain(e, out);
  if (callee == "T.attr") return attribute_scope(e);
  if (callee == "T.buffer_store" || callee == "T.store") return old_store(e, out);
  if (e.is(AstKind::kCall) && e.items[0]->is(AstKind::kAttribute) && e.items[0]->text == "vstore")
    return vector_store(e, out);
  if ((callee == "T.Assert" || callee == "T.assume") && e.items.size() >= 2) {
    const ast::Expr* message = e.items.size() > 2 ? e.items[2] : nullptr;
    if (callee == "T.Assert") return assertion(*e.items[1], message, out);
    RELAXC_TRY(arith::Expr ignored, condition(*e.items[1]));
    static_cast<void>(ignored);
    return Done{};
  }
  if (callee == "T.break_loop" || callee == "T.continue_loop")
    return leave_iteration(callee == "T.break_loop", e.place, out);
  if (callee == "T.bind" && block_.block != nullptr && e.items.size() == 3) return bind_axis(e);
  if ((callee == "T.let" || callee == "T.LetStmt" || callee == "T.Bind") && e.items.size() >= 2) {
    const ast::Keyword* var = e.keyword("var");
    const ast::Expr* target = var != nullptr ? var->value : e.items.size() == 3 ? e.items[1] : nullptr;
    if (target == nullptr || !target->is(AstKind::kName))
      return source_.error(e.place, Kind::ill_formed, "expected the name that gets the value");
    RELAXC_TRY(arith::Expr typed, let_type(stmt, *e.items.back()));
    return bind_scalar(*target, typed, stmt, out);
  }
  bool status = e.items.size() == 2 && e.items[1]->is(AstKind::kInt) && e.items[1]->text == "0";
  if (callee == "T.ret" && status && suites_ == 1) return Done{};  // what TVM ends a lowered function with
  if (callee == "T.ret" || callee == "T.Return")
    return source_.error(e.place, Kind::unsupported, "a prim func returns nothing; it writes into its buffers");
  if (callee == "T.launch_thread" || callee.rfind("T.tvm_storage_sync", 0) == 0 || callee.rfind("T.ptx_", 0) == 0)
    return source_.error(e.place, Kind::unsupported, "{} belongs to a GPU; this is compiled for a CPU", callee);
  if (std::string_view why = why_unsupported_aot(callee); !why.empty())
    return source_.error(e.place, Kind::unsupported, "'{}' {}", callee, why);
  if (stmt.value != &e) {  // inside T.evaluate
    RELAXC_TRY(Scalar ignored, read(e));
    static_cast<void>(ignored);
    return Done{};
  }
  if (callee.empty()) return source_.error(e.place, Kind::ill_formed, "this statement does nothing");
  return source_.error(e.items[0]->place, Kind::unsupported, "'{}' is not a statement of a prim func", callee);
}

/// T.attr(node, "key", value) and T.attr({"key": value}): a thread's extent is for GPUs; a pragma advises a schedule
/// that is chosen anew here.
Status PrimFuncReader::attribute_scope(const ast::Expr& call) {
  bool dict = call.items.size() == 2 && call.items[1]->is(AstKind::kDict);
  if (!dict && call.items.size() < 3)
    return source_.error(call.place, Kind::wrong_arity, "T.attr takes a node, a key and a value, or a dict");
  std::vector<const ast::Expr*> keys{dict ? nullptr : call.items[2]};
  if (dict) {
    keys.clear();
    for (size_t i = 0; i < call.items[1]->items.size(); i += 2) keys.push_back(call.items[1]->items[i]);
  }
  for (const ast::Expr* written : keys) {
    RELAXC_TRY(std::string key, string_value(source_, *written, "a key"));
    bool threads = key == "thread_extent" || key == "virtual_thread" || key.find("async") != std::string::npos;
    if (threads)
      return source_.error(written->place, Kind::unsupported,
                           "\"{}\" binds GPU threads, which cannot be compiled ahead of time for a CPU; T.parallel can",
                           key);
  }
  return Done{};
}

/// T.buffer_store(A, value, [i, j]) and T.store(A, i, value).
Status PrimFuncReader::old_store(const ast::Expr& call, Suite& out) {
  bool newer = callee_of(&call) == "T.buffer_store";
  if (call.items.size() < 4)
    return source_.error(call.place, Kind::wrong_arity, "expected a buffer, subscripts and a value");
  const ast::Expr &at = *call.items[newer ? 3 : 2], &value = *call.items[newer ? 2 : 3];
  RELAXC_TRY(tir::BufferRef buffer, find_buffer(*call.items[1]));
  RELAXC_TRY(std::vector<arith::Expr> indices, subscripts(buffer, targets_of(at), at.place));
  RELAXC_TRY(Scalar scalar, read(value));
  return store_element(buffer, std::move(indices), scalar, value.place, out);
}

/// T.guard(condition, code=7, tensor=1, axis=0, symbol=2, node=3, expected=n, actual=m, message="…")
Status PrimFuncReader::guard(const ast::Expr& call, Suite& out) {
  if (call.items.size() != 2) return source_.error(call.place, Kind::wrong_arity, "T.guard takes one condition");
  tir::Guard made;
  RELAXC_TRY(made.condition, condition(*call.items[1]));
  for (const ast::Keyword& keyword : call.keywords) {
    if (keyword.name == "message") {
      RELAXC_TRY(made.message, string_value(source_, *keyword.value, "a message"));
      continue;
    }
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
  out.back().stmts.push_back(builder_.guard(std::move(made)));
  return Done{};
}

Result<std::string> PrimFuncReader::external_name(const ast::Expr& e) {
  Result<std::string> name = string_value(source_, e, "a function's name");
  if (!name || is_c_name(*name)) return name;
  return source_.error(e.place, Kind::invalid_value, "\"{}\" is no name of a C function", *name);
}

/// T.invoke("kernel", X, n, trace=3), T.call_packed("custom", X, n), T.call_runtime("rlx_…", X, n)
Status PrimFuncReader::invoke(const ast::Expr& call, const std::string& callee, Suite& out) {
  Diagnostics& diag = source_.diag();
  tir::Invoke made;
  made.runtime = callee == "T.call_runtime";
  made.external = made.runtime || is_packed(callee);
  if (call.items.size() < 2) return source_.error(call.place, Kind::wrong_arity, "the call names no function");
  if (made.external) {
    RELAXC_TRY(made.callee, external_name(*call.items[1]));
  } else {
    RELAXC_TRY(made.callee, string_value(source_, *call.items[1], "a function's name"));
  }
  if (made.runtime && made.callee.rfind("rlx_", 0) != 0)
    return source_.error(call.items[1]->place, Kind::invalid_value,
                         "'{}' is no function of the runtime; their names begin with rlx_", made.callee);
  bool ok = true;
  for (size_t i = 2; i < call.items.size(); ++i) {
    const ast::Expr& argument = *call.items[i];
    if (is_pointer(argument)) {
      Result<Pointer> tensor = pointer(argument);
      bool whole = tensor && tensor->buffer != nullptr && tensor->byte_offset.is_constant(0);
      if (tensor && !whole)
        (void)source_.error(argument.place, Kind::unsupported, "a packed function takes whole buffers");
      ok = ok && whole;
      if (whole) made.args.emplace_back(tensor->buffer), note_store(tensor->buffer, {});
      continue;
    }
    Result<Scalar> value = read(argument);
    ok = ok && value;
    if (value && made.external && value->expr.dtype().is_float()) {
      (void)source_.error(argument.place, Kind::dtype_mismatch,
                          "a packed function takes tensors and integers, found {}; T.call_extern takes floats",
                          to_string(value->expr.dtype()));
      ok = false;
    }
    if (value) made.args.emplace_back(value->expr);
  }
  for (auto [name, field] : {std::pair{"trace", &made.trace_node}, {"node", &made.error_node}}) {
    const ast::Keyword* given = call.keyword(name);
    if (given == nullptr) continue;
    RELAXC_TRY(arith::Expr node, index(*given->value));
    if (node.constant() == nullptr || *node.constant() < 0 || *node.constant() > INT32_MAX)
      return source_.error(given->value->place, Kind::invalid_value, "expected a small integer");
    *field = static_cast<int32_t>(*node.constant());
  }
  if (!ok) return diag.failed();
  out.back().stmts.push_back(builder_.invoke(std::move(made)));
  return Done{};
}

Result<PrimFuncReader::PlainCall> PrimFuncReader::plain_call(const ast::Expr& call) {
  if (const ast::Keyword* dtype = call.keyword("dtype"); dtype != nullptr && call.items.size() >= 2)
    return PlainCall{dtype->value, call.items[1], 2};
  if (call.items.size() >= 3) return PlainCall{call.items[1], call.items[2], 3};
  return source_.error(call.place, Kind::wrong_arity, "T.call_extern takes a dtype, a function's name and arguments");
}

/// T.call_extern("int32", "update", C.data, A.access_ptr("r", offset=8), n): a C function with pointers; a part of a
/// buffer is a view that exists during the call.
Status PrimFuncReader::call_plain(const ast::Expr& call, Suite& out) {
  RELAXC_TRY(PlainCall parts, plain_call(call));
  tir::Invoke made;
  made.external = made.plain = true;
  bool nothing = parts.dtype->is(AstKind::kString) && (parts.dtype->text == "void" || parts.dtype->text.empty());
  made.result = DType::handle();
  if (!nothing) {
    RELAXC_TRY(made.result, dtype_value(source_, *parts.dtype));
  }
  if (made.result != DType::handle() && !has_c_type(made.result))
    return source_.error(parts.dtype->place, Kind::dtype_mismatch, "C has no type for {}", to_string(made.result));
  RELAXC_TRY(made.callee, external_name(*parts.name));
  std::vector<std::pair<tir::BufferRef, Pointer>> views;
  for (size_t i = parts.arguments; i < call.items.size(); ++i) {
    const ast::Expr& argument = *call.items[i];
    if (!is_pointer(argument)) {
      RELAXC_TRY(Scalar value, read(argument));
      RELAXC_TRY(arith::Expr typed, c_argument(value, argument.place));
      made.args.emplace_back(typed);
      continue;
    }
    RELAXC_TRY(Pointer at, pointer(argument));
    if (at.buffer == nullptr)
      return source_.error(argument.place, Kind::unsupported,
                           "an address belongs to no buffer; T.decl_buffer gives one");
    note_store(at.buffer, {});
    tir::BufferRef passed = at.buffer;
    if (!at.byte_offset.is_constant(0)) {
      passed = builder_.buffer(at.buffer->name, at.buffer->dtype, {context_.index(1)}, at.buffer->scope);
      views.push_back({passed, at});
    }
    made.args.emplace_back(passed);
  }
  tir::Stmt s = builder_.invoke(std::move(made));
  for (size_t i = views.size(); i-- > 0;)
    s = builder_.view(views[i].first, views[i].second.buffer, views[i].second.byte_offset, s);
  out.back().stmts.push_back(s);
  return Done{};
}

/// A scalar as a C function takes it: bare integers are int32, as C's are.
Result<arith::Expr> PrimFuncReader::c_argument(const Scalar& scalar, Place place) {
  if (scalar.literal == Scalar::kInteger) return adapt(scalar, DType::i(32), place);
  if (scalar.literal == Scalar::kDimLiteral) return adapt(scalar, scalar.expr.dtype(), place);
  if (scalar.literal == Scalar::kReal)
    return source_.error(place, Kind::dtype_mismatch, "a number without a dtype; write T.float32(…)");
  if (has_c_type(scalar.expr.dtype())) return scalar.expr;
  Failure failure = source_.error(place, Kind::dtype_mismatch, "C has no type for {}", to_string(scalar.expr.dtype()));
  source_.hint("convert it: T.Cast(\"float32\", …)");
  return failure;
}

/// T.call_extern("float32", "myfunc", x) as a value.
Result<Scalar> PrimFuncReader::external_value(const ast::Expr& e) {
  RELAXC_TRY(PlainCall parts, plain_call(e));
  RELAXC_TRY(DType dtype, dtype_value(source_, *parts.dtype));
  if (!has_c_type(dtype))
    return source_.error(parts.dtype->place, Kind::dtype_mismatch, "C has no type for {}", to_string(dtype));
  RELAXC_TRY(std::string name, external_name(*parts.name));
  std::vector<arith::Expr> args;
  for (size_t i = parts.arguments; i < e.items.size(); ++i) {
    if (is_pointer(*e.items[i]))
      return source_.error(e.items[i]->place, Kind::unsupported,
                           "a call that is a value takes numbers; one with pointers is a statement");
    RELAXC_TRY(Scalar value, read(*e.items[i]));
    RELAXC_TRY(arith::Expr typed, c_argument(value, e.items[i]->place));
    args.push_back(typed);
  }
  return Scalar{context_.external(dtype, name, std::move(args))};
}

void PrimFuncReader::name_part(const std::string& name, const Scalar& part, Place place) {
  bind(name, {.kind = PrimName::kScalar, .scalar = part.expr}, place);
}

Result<Scalar> PrimFuncReader::other_call(const ast::Expr& e, const std::string& given) {
  std::string callee = callee_of(&e);
  if (is_plain(callee)) return external_value(e);
  if (callee == "T.Broadcast" && lanes_.count > 0 && e.items.size() == 3) return read(*e.items[1]);
  if (callee == "T.Ramp" && lanes_.count > 0) {
    RELAXC_TRY(arith::Expr at, lane_subscript(e, {}));
    return Scalar{at};
  }
  if (callee == "T.Shuffle") return shuffle(e);
  if (std::string_view why = why_unsupported_aot(callee); !why.empty())
    return source_.error(e.place, Kind::unsupported, "'{}' {}", callee, why);
  bool lanes = (callee == "T.Ramp" || callee == "T.Broadcast") && e.items.size() >= 2;
  if (lanes && !e.items.back()->is(AstKind::kInt)) {
    RELAXC_TRY(arith::Expr count, index(*e.items.back()));
    if (count.constant() == nullptr)
      return source_.error(e.items.back()->place, Kind::unsupported, "a number of lanes is a constant");
  }
  if (callee == "T.Ramp" || callee == "T.Broadcast")
    return source_.error(e.place, Kind::unsupported,
                         "a value of several lanes stands in a store only, as in A[T.Ramp(i, 1, 4)] = …");
  if (is_packed(callee))
    return source_.error(e.place, Kind::unsupported, "a packed function gives no scalar; T.call_extern does");
  const ast::Expr& head = *e.items[0];
  if (size_t x = callee.rfind('x'); lanes_.count > 0 && x != std::string::npos && callee.rfind("T.", 0) == 0)
    if (std::optional<DType> dtype = parse_dtype(callee.substr(2, x - 2))) return conversion(e, *dtype);
  bool old_load = callee == "T.load" && e.items.size() == 4;
  if (old_load) return element(*e.items[2], *e.items[3]);
  if (head.is(AstKind::kAttribute) && head.text == "vload" && e.items.size() >= 2) return vector_load(e);
  if (callee == "T.get_active_lane_mask" && lanes_.count > 0) return active_lane(e);
  if (callee == "T.isnullptr")
    return source_.error(e.place, Kind::unsupported, "a buffer is never null here; the guards of the entry see to it");
  return ScalarReader::other_call(e, given);
}

}  // namespace relaxc::frontend
