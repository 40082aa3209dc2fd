// assignments.cpp: reads the assignments of a prim func: stores, buffers, symbols, axes and scalars.
#include "frontends/relax/prim/statements.h"

#include <algorithm>

#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/prim/vector.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

constexpr std::string_view kBufferFunctions[] = {
    "T.alloc_buffer", "T.sblock_alloc_buffer", "T.decl_buffer", "T.buffer_decl",
    "T.allocate",     "T.allocate_const",      "T.alloc_local", "T.Buffer"};

/// Returns whether `x = T.float32()` announces a name whose value a later T.Bind or T.LetStmt gives (var=).
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

/// Whether it is T.int64(), T.var("int64") or T.Var("n", "int64").
bool declares_long(const ast::Expr& e) {
  return callee_of(&e) == "T.int64" || std::any_of(e.items.begin() + 1, e.items.end(), [](const ast::Expr* item) {
           return item->is(AstKind::kString) && item->text == "int64";
         });
}

bool binds_scalar(const std::string& callee) {
  return callee == "T.bind" || callee == "T.Bind" || callee == "T.let" || callee == "T.LetStmt";
}

/// Reads `n = T.int64()`, `M, N = T.int64(), T.int64()` or `n = T.var("n")`; sets `done` if it is one of these.
Status declare_prim_symbols(PrimParts& fn, const ast::Stmt& stmt, bool& done) {
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target), values = targets_of(*stmt.value);
  for (const ast::Expr* value : values)
    if (!declares_symbol(*value)) {
      done = stmt.value->is(AstKind::kCall) && announces_scalar(*stmt.value);
      return Done{};
    }
  done = true;
  if (targets.size() != values.size())
    return fn.source.error(stmt.place, Kind::wrong_arity, "{} names for {} values", targets.size(), values.size());
  for (const ast::Expr* target : targets) {
    if (!target->is(AstKind::kName))
      return fn.source.error(target->place, Kind::syntax, "expected a name for the symbol");
    auto* known = fn.names.find(target->text);
    bool again = known != nullptr && known->value.kind == PrimName::kScalar && known->value.scalar.dtype().is_index();
    if (!again) fn.names.declare_symbol(target->text, target->place);
  }
  for (size_t i = 0; i < targets.size(); ++i)
    if (declares_long(*values[i])) fn.names.note_long(fn.names.find(targets[i]->text)->value.scalar);
  return Done{};
}

/// Reads `p = A.data` and `p: T.handle("int8") = T.address_of(A[256])`. A name for the address of a buffer is another
/// name for that buffer; a name for the address of an element is a buffer of the bytes from there on.
Status pointer_name(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  RELAXC_TRY(Pointer base, read_pointer(fn, *stmt.value));
  if (base.byte_offset.is_constant(0)) {
    fn.names.bind(stmt.target->text, {PrimName::kBuffer, {}, base.buffer}, stmt.target->place);
    return Done{};
  }
  arith::Expr rest = fn.context().index(base.buffer->dtype.bytes());
  for (arith::Expr dim : base.buffer->shape) rest = rest * dim;
  rest = arith::simplify(rest - base.byte_offset);
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  tir::BufferRef bytes = fn.builder.buffer(stmt.target->text, DType::u(8), {rest}, base.buffer->scope);
  return open_view(fn, stmt, bytes, base, out);
}

Status declaration(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt, Suite& out, bool& done) {
  done = true;
  if (callee == "T.match_buffer") return match_buffer(fn, stmt, out);
  for (std::string_view name : kBufferFunctions)
    if (callee == name) return open_buffer(fn, callee, stmt, out);
  if (callee == "T.alloc_shared" || callee == "T.alloc_fragment" || callee == "T.env_thread" ||
      callee == "T.launch_thread")
    return fn.source.error(stmt.value->place, Kind::unsupported, "{} belongs to a GPU; this is compiled for a CPU",
                           callee);
  const ast::Expr& head = stmt.value->is(AstKind::kCall) ? *stmt.value->items[0] : *stmt.value;
  bool viewed = stmt.value->is(AstKind::kCall) && head.is(AstKind::kAttribute) && head.text == "view";
  if (viewed) return view_buffer(fn, stmt, out);
  if (callee == "T.preflattened_buffer") {  // another name for the buffer that it describes
    RELAXC_DO(check_preflattened(fn, *stmt.value));
    RELAXC_TRY(tir::BufferRef buffer, fn.names.find_buffer(*stmt.value->items[1]));
    fn.names.bind_buffer(*stmt.target, buffer);
    return Done{};
  }
  done = stmt.target->is(AstKind::kName) && !stmt.value->is(AstKind::kName) && callee != "T.reinterpret" &&
         is_pointer(fn, *stmt.value);
  return done ? pointer_name(fn, stmt, out) : Status(Done{});
}

/// For `m: T.int32 = n` with an integer parameter n, returns n: m is another name of it, and may be a dim. Else null.
const PrimName* renamed_parameter(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& value, DType typed) {
  const auto* known = value.is(AstKind::kName) ? fn.names.find(value.text) : nullptr;
  if (known == nullptr || known->value.kind != PrimName::kScalar || fn.names.find(stmt.target->text) != nullptr)
    return nullptr;
  DType dtype = known->value.scalar.dtype();
  for (const tir::Param& param : fn.function.params)
    if (param.buffer == nullptr && param.var && arith::Expr(param.var) == known->value.scalar)
      return dtype.is_index() || (dtype.is_integer() && dtype == typed) ? &known->value : nullptr;
  return nullptr;
}

/// `x = value`, `x: T.float32 = value`, `x: T.let[T.float32] = value`, `x = T.bind(value)`, T.let, T.LetStmt: a scalar
/// for the rest of the suite.
Status let_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  if (!stmt.target->is(AstKind::kName))
    return fn.source.error(stmt.target->place, Kind::unsupported, "one name a line can be given a value");
  const ast::Expr* value = stmt.value;
  if (binds_scalar(callee_of(value)) && value->items.size() >= 2) {
    const ast::Keyword* var = value->keyword("var");
    value = value->items[1];
    if (var != nullptr && var->value->is(AstKind::kName)) {  // both names are the same scalar
      RELAXC_TRY(arith::Expr typed, let_type(fn, stmt, *value, out));
      RELAXC_DO(bind_scalar(fn, *var->value, typed, stmt, out));
      if (var->value->text != stmt.target->text)
        fn.names.bind(stmt.target->text, fn.names.find(var->value->text)->value, stmt.target->place);
      return Done{};
    }
  }
  if (const int64_t lanes = lanes_in(fn, *value); lanes > 0) return bind_lanes(fn, stmt, *value, lanes, out);
  RELAXC_TRY(arith::Expr typed, let_type(fn, stmt, *value, out));
  if (const PrimName* parameter = renamed_parameter(fn, stmt, *value, typed.dtype())) {
    fn.names.bind(stmt.target->text, *parameter, stmt.target->place);
    return Done{};
  }
  return bind_scalar(fn, *stmt.target, typed, stmt, out);
}

}  // namespace

Status prim_assignment(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  if (stmt.value == nullptr)
    return fn.source.error(stmt.place, Kind::ill_formed, "a declaration without a value has no effect here");
  if (stmt.target->is(AstKind::kSubscript)) return store_statement(fn, *stmt.target, *stmt.value, "", out);
  bool done = false;
  RELAXC_DO(declare_prim_symbols(fn, stmt, done));
  if (done) return Done{};
  std::string callee = callee_of(stmt.value);
  if (callee.rfind("T.axis.", 0) == 0) return axis_statement(fn, callee, stmt);
  RELAXC_DO(declaration(fn, callee, stmt, out, done));
  return done ? Status(Done{}) : let_statement(fn, stmt, out);
}

Result<arith::Expr> let_type(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& value, Suite& out) {
  RELAXC_TRY(Scalar scalar, value_or_call(fn, value, out));
  const ast::Expr* type = stmt.annotation;
  if (type != nullptr && type->is(AstKind::kSubscript) && type->items.size() == 2) type = type->items[1];
  bool open = type == nullptr || dotted_path(*type) == "T.let";
  if (open && scalar.literal == Scalar::kReal)
    return fn.source.error(value.place, Kind::dtype_mismatch, "a number without a dtype; write T.float32(…)");
  if (open) return scalar.expr;
  std::string path = dotted_path(*type).value_or("");
  if (path.rfind("tir.", 0) == 0) path = "T." + path.substr(4);               // the prefix of 2021
  const size_t lanes = fn.lanes.any() ? path.rfind('x') : std::string::npos;  // T.float32x4
  std::optional<DType> dtype = path.rfind("T.", 0) == 0
                                   ? parse_dtype(path.substr(2, lanes == std::string::npos ? lanes : lanes - 2))
                                   : std::nullopt;
  if (!dtype) return fn.source.error(type->place, Kind::invalid_value, "expected a type such as T.float32");
  return fn.scalars.adapt(scalar, *dtype, value.place);
}

Status bind_scalar(PrimParts& fn, const ast::Expr& target, arith::Expr value, const ast::Stmt& stmt, Suite& out) {
  auto* known = fn.names.find(target.text);
  if (known != nullptr && known->value.bound_in != 0 && known->value.bound_in < fn.open.suites) {
    Failure failure = fn.source.error(stmt.place, Kind::redefinition,
                                      "'{}' has its value from an outer suite, and keeps it there", target.text);
    fn.source.hint("a value that changes is kept in a buffer: {0} = T.alloc_buffer((1,), …), {0}[0] = …", target.text);
    return failure;
  }
  if (known != nullptr && known->value.unbound) known->value.unbound = false;  // `x = T.var(…)` before a T.let of it
  RELAXC_DO(out.check_room(fn.source, stmt.place));
  arith::Var var = fn.context().var(target.text, value.dtype());
  fn.names.bind(target.text, {.kind = PrimName::kScalar, .scalar = var, .bound_in = fn.open.suites}, target.place);
  out.open([&fn, var, value](tir::Stmt body) { return fn.builder.let(var, value, body); });
  return Done{};
}

}  // namespace relaxc::frontend
