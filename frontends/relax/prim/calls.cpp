// calls.cpp: reads the statements of a prim func that are calls.
//
// Calls for GPUs are errors; hints for a compiler's schedules are accepted and have no effect, because relaxc chooses
// schedules itself.
#include "frontends/relax/prim/statements.h"

#include <algorithm>

#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/prim/signature.h"
#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/prim/vector.h"
#include "frontends/relax/scalars/scalar_calls.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/unsupported_aot.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// T.attr(node, "key", value) and T.attr({"key": value}): a thread's extent is for GPUs; a pragma advises a schedule
/// that is chosen anew here.
Status attribute_scope(PrimParts& fn, const ast::Expr& call) {
  bool dict = call.items.size() == 2 && call.items[1]->is(AstKind::kDict);
  if (!dict && call.items.size() < 3)
    return fn.source.error(call.place, Kind::wrong_arity, "T.attr takes a node, a key and a value, or a dict");
  std::vector<const ast::Expr*> keys{dict ? nullptr : call.items[2]};
  if (dict) {
    keys.clear();
    for (size_t i = 0; i < call.items[1]->items.size(); i += 2) keys.push_back(call.items[1]->items[i]);
  }
  for (const ast::Expr* written : keys) {
    RELAXC_TRY(std::string key, string_value(fn.source, *written, "a key"));
    bool threads = key == "thread_extent" || key == "virtual_thread" || key.find("async") != std::string::npos;
    if (threads)
      return fn.source.error(
          written->place, Kind::unsupported,
          "\"{}\" binds GPU threads, which cannot be compiled ahead of time for a CPU; T.parallel can", key);
  }
  return Done{};
}

/// Reads T.buffer_store(A, value, [i, j]) or T.store(A, i, value).
Status old_store(PrimParts& fn, const ast::Expr& call, Suite& out) {
  bool newer = callee_of(&call) == "T.buffer_store";
  if (call.items.size() < 4)
    return fn.source.error(call.place, Kind::wrong_arity, "expected a buffer, subscripts and a value");
  const ast::Expr &at = *call.items[newer ? 3 : 2], &value = *call.items[newer ? 2 : 3];
  Lanes::Store lanes(fn.lanes, std::max(lanes_in(fn, at), lanes_in(fn, value)));
  RELAXC_TRY(Element element, element_of(fn, *call.items[1], targets_of(at), at.place));
  RELAXC_TRY(Scalar scalar, fn.scalars.read(value));
  return store_element(fn, element.buffer, std::move(element.indices), scalar, value.place, out);
}

/// Reads T.guard(condition, code=7, tensor=1, axis=0, symbol=2, node=3, expected=n, actual=m, message="…").
Status guard_call(PrimParts& fn, const ast::Expr& call, Suite& out) {
  if (call.items.size() != 2) return fn.source.error(call.place, Kind::wrong_arity, "T.guard takes one condition");
  tir::Guard made;
  RELAXC_TRY(made.condition, fn.scalars.condition(*call.items[1]));
  for (const ast::Keyword& keyword : call.keywords) {
    if (keyword.name == "message") {
      RELAXC_TRY(made.message, string_value(fn.source, *keyword.value, "a message"));
      continue;
    }
    RELAXC_TRY(arith::Expr value, fn.scalars.index(*keyword.value));
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
    if (field == nullptr) {
      Failure failure =
          fn.source.error(keyword.place, Kind::invalid_attribute, "T.guard has no field '{}'", keyword.name);
      suggest(fn.source, keyword.name, {"message", "expected", "actual", "code", "tensor", "axis", "symbol", "node"});
      return failure;
    }
    const int64_t* number = value.constant();
    if (number == nullptr || *number < INT32_MIN || *number > INT32_MAX)
      return fn.source.error(keyword.value->place, Kind::invalid_value, "expected a small integer");
    *field = static_cast<int32_t>(*number);
  }
  out.add(fn.builder.guard(std::move(made)));
  return Done{};
}

/// Reads T.let(x, value) or T.LetStmt(value, var=x).
Status let_call(PrimParts& fn, const ast::Expr& e, const ast::Stmt& stmt, Suite& out) {
  const ast::Keyword* var = e.keyword("var");
  const ast::Expr* target = var != nullptr ? var->value : e.items.size() == 3 ? e.items[1] : nullptr;
  if (target == nullptr || !target->is(AstKind::kName))
    return fn.source.error(e.place, Kind::ill_formed, "expected the name that gets the value");
  RELAXC_TRY(arith::Expr typed, let_type(fn, stmt, *e.items.back(), out));
  return bind_scalar(fn, *target, typed, stmt, out);
}

Status return_call(PrimParts& fn, const ast::Expr& e, Suite& out) {
  bool status = e.items.size() == 2 && e.items[1]->is(AstKind::kInt) && e.items[1]->text == "0";
  if (status && fn.result == nullptr && fn.open.tail) return Done{};  // TVM ends a lowered function with T.ret(0)
  return return_statement(fn, e.items.size() == 2 ? e.items[1] : nullptr, e.place, out);
}

/// Reports a call that is no statement.
Failure no_statement(PrimParts& fn, const ast::Expr& e, const std::string& callee) {
  if (callee.empty()) return fn.source.error(e.place, Kind::ill_formed, "this statement does nothing");
  Failure failure =
      fn.source.error(e.items[0]->place, Kind::unsupported, "'{}' is not a statement of a prim func", callee);
  suggest(fn.source, callee,
          {"T.evaluate", "T.reads", "T.writes", "T.where", "T.sblock_attr", "T.func_attr", "T.call_extern",
           "T.call_packed", "T.bind", "T.attr", "T.Assert", "T.assume", "T.buffer_store"});
  return failure;
}

/// Reads a call for its effect; T.evaluate, and a statement alone, may also hold a value, which is checked and dropped.
Status effect_call(PrimParts& fn, const ast::Expr& e, const ast::Stmt& stmt, Suite& out) {
  std::string callee = callee_of(&e);
  if (callee == "T.guard") return guard_call(fn, e, out);
  if (const Global* prim = called_prim_func(fn, e)) return call_prim_func(fn, *prim, e, out);
  if (callee == "T.invoke" || callee == "T.call_runtime" || is_packed(callee)) return invoke_call(fn, e, callee, out);
  if (is_plain(callee)) return call_plain(fn, e, out);
  if (callee == "T.attr") return attribute_scope(fn, e);
  if (callee == "T.realize") return realize(fn, e, out);
  if (callee == "T.buffer_store" || callee == "T.store") return old_store(fn, e, out);
  if (e.is(AstKind::kCall) && e.items[0]->is(AstKind::kAttribute) && e.items[0]->text == "vstore")
    return vector_store(fn, e, out);
  if ((callee == "T.Assert" || callee == "T.assume") && e.items.size() >= 2) {
    const ast::Expr* message = e.items.size() > 2 ? e.items[2] : nullptr;
    if (callee == "T.Assert") return assertion(fn, *e.items[1], message, out);
    RELAXC_TRY(arith::Expr ignored, fn.scalars.condition(*e.items[1]));
    static_cast<void>(ignored);
    return Done{};
  }
  if (callee == "T.break_loop" || callee == "T.continue_loop")
    return leave_iteration(fn, callee == "T.break_loop", e.place, out);
  if (callee == "T.bind" && fn.blocks.current() != nullptr && e.items.size() == 3) return bind_axis(fn, e);
  if ((callee == "T.let" || callee == "T.LetStmt" || callee == "T.Bind" || callee == "T.bind") && e.items.size() >= 2)
    return let_call(fn, e, stmt, out);
  if (callee == "T.ret" || callee == "T.Return") return return_call(fn, e, out);
  if (callee == "T.launch_thread" || callee.rfind("T.tvm_storage_sync", 0) == 0 || callee.rfind("T.ptx_", 0) == 0)
    return fn.source.error(e.place, Kind::unsupported, "{} belongs to a GPU; this is compiled for a CPU", callee);
  if (std::string_view why = why_unsupported_aot(callee); !why.empty())
    return fn.source.error(e.place, Kind::unsupported, "'{}' {}", callee, why);
  if (callee == "T.preflattened_buffer") return check_preflattened(fn, e);
  if (is_pointer(fn, e) && callee != "T.reinterpret") return read_pointer(fn, e) ? Status(Done{}) : fn.diag().failed();
  if (callee == "T.prefetch") return Done{};  // a hint, which the processor gives itself
  if (stmt.value != &e || (callee.rfind("T.", 0) == 0 && ScalarCalls::is_function(callee.substr(2)))) {
    Lanes::Store lanes(fn.lanes, lanes_in(fn, e));
    RELAXC_TRY(Scalar ignored, fn.scalars.read(e));
    static_cast<void>(ignored);
    return Done{};
  }
  return no_statement(fn, e, callee);
}

}  // namespace

Status check_preflattened(PrimParts& fn, const ast::Expr& call) {
  if (call.items.size() < 3)
    return fn.source.error(call.place, Kind::wrong_arity, "T.preflattened_buffer takes a buffer and a shape");
  RELAXC_TRY(tir::BufferRef buffer, fn.names.find_buffer(*call.items[1]));
  RELAXC_TRY(std::vector<arith::Expr> dims, buffer_shape(fn, *call.items[2]));
  arith::Expr count = fn.context().index(1), own = fn.context().index(1);
  for (arith::Expr dim : dims) count = count * dim;
  for (arith::Expr dim : buffer->shape) own = own * dim;
  // Nothing depends on it, so a number that is not known to differ is taken.
  if (arith::simplify(count).constant() == nullptr || arith::simplify(own).constant() == nullptr) return Done{};
  if (arith::prove_equal(count, own)) return Done{};
  return fn.source.error(call.place, Kind::shape_mismatch, "'{}' has {} elements, found a shape of {}", buffer->name,
                         arith::to_string(arith::simplify(own)), arith::to_string(arith::simplify(count)));
}

Status call_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out) {
  const ast::Expr& e = *stmt.value;
  if (e.is(AstKind::kString)) return Done{};  // a string as a statement is a comment
  std::string callee = callee_of(&e);
  if (callee == "T.func_attr") return prim_attributes(fn, e);
  bool done = false;
  RELAXC_DO(block_clause(fn, callee, e, done));
  if (done) return Done{};
  if (callee == "T.evaluate" && e.items.size() == 2) {
    const ast::Expr& inner = *e.items[1];
    auto* known = inner.is(AstKind::kName) ? fn.names.find(inner.text) : nullptr;
    bool address =
        known != nullptr && (known->value.kind == PrimName::kHandle || known->value.kind == PrimName::kBuffer);
    bool nothing = inner.is(AstKind::kInt) || inner.is(AstKind::kNone) || inner.is(AstKind::kString) || address;
    return nothing ? Status(Done{}) : effect_call(fn, inner, stmt, out);
  }
  return effect_call(fn, e, stmt, out);
}

}  // namespace relaxc::frontend
