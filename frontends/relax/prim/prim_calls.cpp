// prim_calls.cpp: inlines calls of prim funcs in prim funcs.
//
// The callee's body replaces the call: its buffers are views of the arguments, its scalars have their values. So
// schedules, bounds and the memory plan see one function, and the callee's allocations are the caller's. Rejected: a
// call in the object, which needs hidden parameters for the callee's scratch memory and hides its accesses from every
// analysis. A module whose calls double statements or expressions repeatedly is refused by a limit on their number.
#include "compiler/arith/visit.h"
#include "compiler/relax/call_symbols.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/visit.h"
#include "frontends/relax/prim/buffers.h"
#include "frontends/relax/prim/statements.h"
#include "frontends/relax/shared/returned_scalar.h"
#include "frontends/relax/text/call_text.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

constexpr size_t kMostInlined = 100'000;  ///< statements and operations

/// Counts what calls inline; reports more than a module may have.
Status count_inlined(PrimParts& fn, size_t more, Place place) {
  fn.scope.inlined += more;
  if (fn.scope.inlined <= kMostInlined) return Done{};
  return fn.source.error(place, Kind::unsupported,
                         "calls of prim funcs make more than {} statements and operations of this module",
                         kMostInlined);
}

/// Returns the prim func that is called; reports one that calls itself.
Result<const tir::PrimFunc*> read_callee(PrimParts& fn, const Global& callee, Place place) {
  const std::string& defined = callee.definition->text;
  const tir::PrimFunc* prim = fn.scope.prim_func(defined);
  if (prim == nullptr && !fn.scope.read_prim_func(defined)) {
    if (callee.kind == Global::kPoison) return fn.diag().failed();
    return fn.source.error(place, Kind::unsupported,
                           "'{}' calls itself; a prim func is inlined where it is called, so it cannot", defined);
  }
  prim = fn.scope.prim_func(defined);
  if (prim == nullptr) return fn.diag().failed();  // the callee was refused, which was reported
  return prim;
}

/// Reads one call of a prim func, and inlines the callee's body.
class PrimCall {
 public:
  PrimCall(PrimParts& fn, const tir::PrimFunc& callee, const ast::Expr& call, tir::BufferRef result)
      : fn_(fn), callee_(callee), call_(call), result_(result) {}

  Status run(Suite& out) {
    size_t given = call_.items.size() - 1 + (result_ != nullptr ? 1 : 0);
    if (given != callee_.params.size() || !call_.keywords.empty())
      return fn_.source.error(call_.place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", callee_.name,
                              callee_.params.size() - (result_ != nullptr ? 1 : 0), call_.items.size() - 1);
    for (size_t i = 0; i < callee_.params.size(); ++i) RELAXC_DO(argument(i));
    for (tir::Var symbol : callee_.symbols)
      if (values_.count(symbol) == 0)
        return fn_.source.error(call_.place, Kind::shape_mismatch,
                                "a pointer does not say what '{}' of '{}' is; pass the whole buffer", symbol.name(),
                                callee_.name);
    RELAXC_DO(check_dims());
    size_t statements = 0;
    tir::for_each_stmt(callee_.body, [&](tir::Stmt) { ++statements; });
    RELAXC_DO(count_inlined(fn_, statements, call_.place));
    tir::PrimFunc copy = tir::clone(fn_.context(), callee_, values_);
    tir::Stmt body = copy.body;
    for (size_t i = pointers_.size(); i-- > 0;)
      body = fn_.builder.view(copy.params[i].buffer, pointers_[i].buffer, pointers_[i].byte_offset, body,
                              pointers_[i].round_up);
    for (size_t i = lets_.size(); i-- > 0;) body = fn_.builder.let(lets_[i].first, lets_[i].second, body);
    out.add(body);
    return Done{};
  }

 private:
  Status argument(size_t i) {
    const tir::Param& param = callee_.params[i];
    if (i + 1 == callee_.params.size() && result_ != nullptr) {
      if (param.buffer == nullptr) return fn_.diag().failed();
      pointers_.push_back({result_, fn_.context().index(0)});
      formals_.push_back(param.buffer);
      return Done{};
    }
    const ast::Expr& e = *call_.items[i + 1];
    if (param.buffer == nullptr) return scalar(param.var, e);
    RELAXC_TRY(Pointer at, read_pointer(fn_, e));
    if (at.buffer == nullptr || at.buffer->dtype != param.buffer->dtype)
      return fn_.source.error(e.place, Kind::dtype_mismatch, "'{}' of '{}' is a buffer of {}", param.buffer->name,
                              callee_.name, to_string(param.buffer->dtype));
    bool whole = at.byte_offset.is_constant(0) && at.buffer->shape.size() == param.buffer->shape.size();
    if (whole && e.is(AstKind::kName)) relax::solve_bare(param.buffer->shape, at.buffer->shape, values_);
    fn_.note_store(at.buffer, {});
    pointers_.push_back(at);
    formals_.push_back(param.buffer);
    return Done{};
  }

  Status scalar(tir::Var var, const ast::Expr& e) {
    RELAXC_TRY(arith::Expr value, fn_.scalars.value(e, var.dtype()));
    bool plain = value.constant() != nullptr || value.as<arith::VarNode>() != nullptr;
    if (plain) return values_[var] = value, Done{};
    tir::Var kept = fn_.context().var(var.name(), var.dtype());
    lets_.emplace_back(kept, value);
    values_[var] = kept;
    return Done{};
  }

  /// Reports an argument that certainly has fewer bytes than the callee's buffer.
  Status check_dims() {
    for (size_t i = 0; i < pointers_.size(); ++i) {
      arith::Expr wanted = arith::substitute(tir::byte_size(fn_.context(), *formals_[i]), values_);
      arith::Expr given = tir::byte_size(fn_.context(), *pointers_[i].buffer) - pointers_[i].byte_offset;
      if (!arith::prove_lt(given, wanted)) continue;
      return fn_.source.error(call_.place, Kind::shape_mismatch, "'{}' of '{}' has {} bytes, found {}",
                              formals_[i]->name, callee_.name, arith::to_string(arith::simplify(wanted)),
                              arith::to_string(arith::simplify(given)));
    }
    return Done{};
  }

  PrimParts& fn_;
  const tir::PrimFunc& callee_;
  const ast::Expr& call_;
  tir::BufferRef result_;
  arith::Substitution values_;
  std::vector<Pointer> pointers_;        ///< arguments for buffer parameters, in order
  std::vector<tir::BufferRef> formals_;  ///< those parameters
  std::vector<std::pair<tir::Var, arith::Expr>> lets_;
};

}  // namespace

const Global* called_prim_func(PrimParts& fn, const ast::Expr& e) {
  if (!e.is(AstKind::kCall)) return nullptr;
  std::string path = callee_of(&e);
  size_t dot = path.rfind('.');
  std::string head = dot == std::string::npos ? "" : path.substr(0, dot);
  if (!head.empty() && head != "cls" && fn.scope.module_names.count(head) == 0) return nullptr;
  auto known = fn.scope.globals.find(head.empty() ? path : path.substr(dot + 1));
  bool prim = known != fn.scope.globals.end() && known->second.kind != Global::kFunction &&
              known->second.definition->text == known->first;
  return prim && (!head.empty() || fn.names.find(path) == nullptr) ? &known->second : nullptr;
}

Status call_prim_func(PrimParts& fn, const Global& callee, const ast::Expr& call, Suite& out, tir::BufferRef result) {
  RELAXC_TRY(const tir::PrimFunc* prim, read_callee(fn, callee, call.place));
  return PrimCall(fn, *prim, call, result).run(out);
}

Result<Scalar> value_of_call(PrimParts& fn, const Global& callee, const ast::Expr& call) {
  const std::string& defined = callee.definition->text;
  RELAXC_TRY(const tir::PrimFunc* prim, read_callee(fn, callee, call.place));
  const size_t count = callee.definition->params.size();
  const tir::Store* store = returned_scalar(*prim, count);
  if (store == nullptr) {
    Failure failure =
        fn.source.error(call.place, Kind::unsupported,
                        "'{}' does more than return an expression of scalars, so its call stands alone", defined);
    fn.source.hint("name its value first, as in value = {}(…)", defined);
    return failure;
  }
  if (call.items.size() != count + 1 || !call.keywords.empty())
    return fn.source.error(call.place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", defined, count,
                           call.items.size() - 1);
  size_t operations = 0;
  arith::for_each_node(store->value, [&](arith::Expr) { ++operations; });
  RELAXC_DO(count_inlined(fn, operations, call.place));
  arith::Substitution values;
  for (size_t i = 0; i < count; ++i) {
    RELAXC_TRY(arith::Expr value, fn.scalars.value(*call.items[i + 1], prim->params[i].var.dtype()));
    values.emplace(prim->params[i].var, value);
  }
  return Scalar{arith::substitute(store->value, values)};
}

Result<Scalar> value_or_call(PrimParts& fn, const ast::Expr& e, Suite& out) {
  const Global* callee = called_prim_func(fn, e);
  if (callee == nullptr) return fn.scalars.read(e);
  const std::string& defined = callee->definition->text;
  RELAXC_TRY(const tir::PrimFunc* prim, read_callee(fn, *callee, e.place));
  if (prim->params.empty() || prim->params.back().buffer == nullptr ||
      prim->params.size() != callee->definition->params.size() + 1)
    return fn.source.error(e.place, Kind::ill_formed, "'{}' returns nothing", defined);
  DType dtype = prim->params.back().buffer->dtype;
  tir::BufferRef result = fn.builder.buffer(defined + "_result", dtype, {fn.context().index(1)}, tir::Scope::kLocal);
  RELAXC_DO(out.check_room(fn.source, e.place));
  out.open([&fn, result](tir::Stmt body) { return fn.builder.alloc(result, body); });
  RELAXC_DO(call_prim_func(fn, *callee, e, out, result));
  return Scalar{fn.builder.load(result, {fn.context().index(0)})};
}

}  // namespace relaxc::frontend
