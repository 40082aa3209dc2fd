// calls.cpp: reads calls of Relax functions.
//
// The result types of a call are the callee's, with its symbols replaced by what the arguments determine; a callee that
// does not declare its result is read first.
#include "frontends/relax/function/calls.h"

#include "compiler/relax/callable.h"
#include "compiler/relax/known.h"
#include "compiler/relax/name_dims.h"
#include "frontends/relax/function/reader.h"
#include "frontends/relax/function/values.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// Returns the dims of `f[n, m](…)`, one for each symbol that f lists in brackets.
Result<std::vector<arith::Expr>> explicit_symbols(FunctionParts& fn, const RelaxFunctionReader& callee,
                                                  const ast::Expr& list) {
  std::vector<arith::Expr> given;
  for (size_t i = 1; i < list.items.size(); ++i)
    if (Result<arith::Expr> value = fn.dims.dim(*list.items[i])) given.push_back(*value);
  size_t listed = callee.definition().type_params.size();
  if (given.size() + 1 != list.items.size()) return fn.source.diag().failed();
  if (given.size() != listed)
    return fn.source.error(list.place, Kind::wrong_arity, "'{}' lists {} symbols in brackets, found {}",
                           callee.definition().text, listed, given.size());
  return given;
}

/// Reports dims in brackets that differ from what the arguments give, since the callee reads symbols from arguments.
Status check_symbols(FunctionParts& fn, const RelaxFunctionReader& callee, const std::vector<arith::Expr>& given,
                     const arith::Substitution& symbols, const ast::Expr& list) {
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = callee.definition().type_params[i].name;
    for (const auto& [symbol, value] : symbols) {
      if (arith::Var(symbol.as<arith::VarNode>()).name() != name) continue;
      arith::Facts room;
      if (arith::prove_equal(value, given[i], relax::known_facts(fn.graph.region(), nullptr, room))) continue;
      return fn.source.error(list.items[i + 1]->place, Kind::shape_mismatch,
                             "the arguments give '{}' of '{}' the value {}, found {}", name, callee.definition().text,
                             arith::to_string(value), arith::to_string(given[i]));
    }
  }
  return Done{};
}

/// Returns whether the constant factors of the dims make a number of bytes that does not fit int64.
bool overflows(const relax::TensorInfo& tensor) {
  constexpr int kMost = 64;  // factors of a dim
  int64_t bytes = tensor.dtype ? tensor.dtype->bytes() : 1;
  for (arith::Expr dim : *tensor.shape)
    for (int taken = 0; dim && taken < kMost; ++taken) {
      const auto* both = dim.as<arith::Mul>();
      arith::Expr last = both == nullptr ? dim : both->b;
      const int64_t* factor = last.constant();
      if (factor != nullptr && __builtin_mul_overflow(bytes, *factor, &bytes)) return true;
      dim = both == nullptr ? arith::Expr() : both->a;
    }
  return false;
}

}  // namespace

Status check_result_sizes(FunctionParts& fn, const relax::Op& call, const std::string& callee, Place place) {
  for (const Value* result : call.results) {
    const auto* tensor = result->info->as<relax::TensorInfo>();
    if (tensor != nullptr && tensor->shape && overflows(*tensor))
      return fn.source.error(place, Kind::overflow, "the size of what '{}' gives does not fit 64 bits: {}", callee,
                             relax::to_string(tensor));
  }
  return Done{};
}

Result<Term> call_global(FunctionParts& fn, const std::string& name, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  const ast::Expr* explicit_list = e.items[0]->is(AstKind::kSubscript) ? e.items[0] : nullptr;
  const Global& global = fn.scope.globals.at(name);
  if (global.kind == Global::kPrimFunc && writes_memory(fn, e, 1)) return call_on_memory(fn, name, e);
  if (global.kind == Global::kPrimFunc) return call_prim_value(fn, name, e);
  RELAXC_TRY(std::vector<Value*> args, positional_arguments(fn, e, 1));
  if (global.kind == Global::kPoison) return diag.failed();
  relax::name_large_dims(fn.graph.at(e.place), args);
  RelaxFunctionReader& reader = *global.reader;
  const std::vector<Value*>& params = reader.function().body().arguments;
  if (params.size() != args.size())
    return fn.source.error(e.place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", name, params.size(),
                           args.size());
  arith::Substitution symbols;
  for (size_t i = 0; i < args.size(); ++i) {
    RELAXC_DO(match_argument(fn, params[i]->info, args[i]->info, symbols, e.items[i + 1]->place, params[i]->name));
  }
  if (explicit_list != nullptr) {
    RELAXC_TRY(std::vector<arith::Expr> given, explicit_symbols(fn, reader, *explicit_list));
    RELAXC_DO(check_symbols(fn, reader, given, symbols, *explicit_list));
  }
  RELAXC_TRY(std::vector<Info> results, reader.results(e.place));
  relax::Op* op = fn.graph.at(e.place).append(relax::OpKind::kCallFunction, args);
  op->callee = name;
  for (Info result : relax::results_of_call(fn.context(), std::move(results), symbols, op->binds))
    fn.function.make_result(op, {}, result);
  RELAXC_DO(check_result_sizes(fn, *op, name, e.place));
  return results_of(op);
}

}  // namespace relaxc::frontend
