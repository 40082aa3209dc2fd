// reader.cpp: reads a Relax function, head first; the body when something needs its results, or at the end.
#include "frontends/relax/function/reader.h"

#include "compiler/relax/callable.h"
#include "frontends/relax/function/casts.h"
#include "frontends/relax/function/signature.h"
#include "frontends/relax/function/statements.h"

namespace relaxc::frontend {

using relax::Info;
using relax::Value;

namespace {

/// Maximum number of bodies read at once: a call reads its callee's body, but a chain of calls must not fill the stack.
constexpr size_t kMostOpenBodies = 64;

/// Checks the returned values against declared results; a value whose type is less precise is cast with a guard.
Status check_results(FunctionParts& fn, std::vector<Value*>& values, Place place) {
  if (!fn.results.are_declared()) return Done{};
  const std::vector<Info>& declared = fn.results.declared();
  if (declared.size() != values.size())
    return fn.source.error(place, Kind::wrong_arity, "'{}' declares {} results and returns {}", fn.definition.text,
                           declared.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    RELAXC_TRY(values[i], cast_to(fn, values[i], declared[i], {}, place));
  }
  return Done{};
}

}  // namespace

RelaxFunctionReader::RelaxFunctionReader(FunctionParts& outer, const ast::Stmt& definition, relax::Function& function)
    : parts_(outer.scope, definition, function) {
  parts_.captures = std::make_unique<Captures>(outer, parts_);
  parts_.names.bind(definition.text, Term::of(Term::kSelf), definition.name_place);
}

bool RelaxFunctionReader::signature() {
  signature_ok_ = read_signature(parts_);
  return signature_ok_;
}

bool RelaxFunctionReader::body() {
  if (state_ == State::kDone) return true;
  if (state_ != State::kNew) return false;
  state_ = State::kRunning;
  ++parts_.scope.open_bodies;
  std::vector<Value*> returned;
  bool ok = read_body(returned);
  if (ok)
    for (Value* value : returned) parts_.function.body().yield->add_operand(value);
  --parts_.scope.open_bodies;
  state_ = ok ? State::kDone : State::kFailed;
  return ok;
}

bool RelaxFunctionReader::read_body(std::vector<Value*>& returned) {
  const ast::Stmt& definition = parts_.definition;
  Results::Into into(parts_.results, &returned);
  declare_module_symbols(parts_);
  bool ok = bool(suite(parts_, definition.body));
  bool nothing = definition.annotation != nullptr && definition.annotation->is(ast::ExprKind::kNone);
  if (ok && !parts_.results.returned() && !nothing) {
    (void)parts_.source.error(definition.name_place, Kind::ill_formed, "'{}' returns nothing", definition.text);
    return false;
  }
  return ok && signature_ok_ && parts_.memory.check(parts_) && check_results(parts_, returned, definition.name_place) &&
         ranks_are_known(parts_) && check_open_results(parts_);
}

Result<std::vector<Info>> RelaxFunctionReader::results(Place call) {
  if (state_ == State::kNew && parts_.scope.open_bodies < kMostOpenBodies) (void)body();
  if (state_ == State::kNew && !parts_.results.are_declared())
    return parts_.source.error(call, Kind::unsupported,
                               "'{}' must declare what it returns: more than {} functions call each other",
                               parts_.definition.text, kMostOpenBodies);
  if (state_ == State::kFailed || !signature_ok_) return parts_.diag().failed();
  std::vector<Info> infos;
  if (state_ == State::kDone) {
    for (Value* value : parts_.function.body().results()) infos.push_back(value->info);
    return infos;
  }
  RELAXC_TRY(infos, parts_.results.needed(call));
  for (Info& declared : infos) declared = relax::with_named_dims(parts_.context(), declared);
  return infos;
}

}  // namespace relaxc::frontend
