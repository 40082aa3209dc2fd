// call_arguments.cpp: matches a callee's symbols with the arguments of a call.
#include "compiler/transform/lower/host/call_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/transform/lower/host/entry_functions.h"

namespace relaxc::lower {

using namespace relax;

CallArguments::CallArguments(HostLowering& host, const Op& op, const HostCallee& callee)
    : host_(host),
      op_(op),
      callee_(callee),
      build_(host.at.build()),
      shapes_(host.shapes),
      symbols_(host.shapes.symbols()) {
  for (size_t i = 0; i < op.operands().size(); ++i) {
    leaves(callee.function->body().arguments[i]->info, formals_);
    leaves(op.operand(i)->info, actuals_);
    list(host.values.slot(*op.operand(i)), op.operand(i)->info);
  }
}

void CallArguments::list(const ValueStorage& from, Info info) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i) list(from.fields[i], tuple->fields[i]);
    return;
  }
  bool has_memory = info->as<TensorInfo>() != nullptr || (info->as<PrimInfo>() && !info->as<PrimInfo>()->value);
  memories_.push_back(has_memory ? from.buffer : nullptr);
  inputs_.push_back(host_.signature.input_of(from.buffer));
}

bool CallArguments::decide(Expr e) const {
  std::vector<Var> inner = arith::free_vars(e);
  return std::all_of(inner.begin(), inner.end(), [&](Var v) { return found_.count(v) != 0; });
}

Status CallArguments::solve() {
  RELAXC_DO(match_dims());
  require_dims();
  read_values();
  require_declared();
  require_guards();
  put_in_memory();
  return Done{};
}

/// Binds the callee's symbols to the numbers that the arguments have in their place.
Status CallArguments::match_dims() {
  for (size_t i = 0; i < formals_.size(); ++i) {
    std::vector<Expr> formal = numbers(formals_[i]), actual = symbols_.known(numbers(actuals_[i]));
    if (actual.empty() && !formal.empty() && memories_[i] != nullptr)
      actual.push_back(build_.load(memories_[i], {}));                             // a scalar in memory
    if (formal.empty() && formals_[i]->as<PrimInfo>() != nullptr) actual.clear();  // the callee reads it
    if (formal.size() != actual.size())
      return host_.diag().error(op_.location, Kind::rank_mismatch, "argument {} of '{}' is {}, expected {}", i,
                                op_.callee, to_string(actuals_[i]), to_string(formals_[i]));
    for (size_t k = 0; k < formal.size(); ++k) {
      const auto* var = formal[k].as<arith::VarNode>();
      if (var == nullptr || found_.count(formal[k]) != 0) continue;
      if (actual[k].as<arith::Load>() != nullptr && actual[k].dtype() != formal[k].dtype())
        actual[k] = read_scalar(Var(var), actual[k]);
      found_.emplace(formal[k], actual[k]);
    }
  }
  return Done{};
}

/// Returns a symbol of the caller, with the callee's name for it, that is bound to a value read from data.
Expr CallArguments::read_scalar(Var name, Expr value) {
  Var read = host_.context().var(name.name());
  shapes_.bind_from_data(read, value, {}, false);
  return read;
}

/// Requires the dims of arguments to equal those of the parameters; dims that define a symbol do so trivially.
void CallArguments::require_dims() {
  for (size_t i = 0; i < formals_.size(); ++i) {
    std::vector<Expr> formal = replace(numbers(formals_[i]), found_), actual = numbers(actuals_[i]);
    for (size_t k = 0; k < formal.size() && k < actual.size(); ++k) {
      if (!formal[k].dtype().is_index()) continue;
      tir::Guard record;
      record.code = kDerivedDim, record.tensor = inputs_[i], record.axis = static_cast<int32_t>(k);
      record.expected = formal[k], record.actual = actual[k];
      shapes_.require(arith::eq(formal[k], actual[k]), std::move(record),
                      {Finding::kExact, fmt::format("dim {} of argument {}", k, i)});
    }
  }
}

/// Reads the numbers that the callee's entry would read: elements of arguments and results of shape functions.
void CallArguments::read_values() {
  std::map<const Op*, BufferRef> answers;
  for (size_t k = 0; k < callee_.values.size(); ++k) {
    const ValueSymbol& value = callee_.values[k];
    if (found_.count(value.var) != 0) continue;
    if (const Var* ours = host_.entry.called_value(op_, k))
      found_.emplace(value.var, *ours);
    else
      read_value(value, answers);
  }
  for (Var symbol : callee_.symbols)
    RELAXC_CHECK(found_.count(symbol) != 0, "symbol " + symbol.name() + " of " + op_.callee + " has no value");
}

void CallArguments::read_value(const ValueSymbol& value, std::map<const Op*, BufferRef>& answers) {
  BufferRef from = nullptr;
  if (value.function != nullptr) {
    from = ask(value, answers);
  } else {
    auto input = std::find(callee_.inputs.begin(), callee_.inputs.end(), value.buffer);
    size_t leaf = static_cast<size_t>(input - callee_.inputs.begin());
    from = memories_.at(leaf);
    if (from == nullptr) {  // the numbers of a shape or scalar are known
      Expr given = symbols_.known(numbers(actuals_[leaf])).at(static_cast<size_t>(value.element));
      found_.emplace(value.var, given);
      return;
    }
    if (from->shape.size() > 1)
      from = host_.memory.view_as(from, from->name, from->dtype, {tir::element_count(host_.context(), *from)});
  }
  Var read = host_.context().var(value.var.name());
  host_.function.facts.bound(read, callee_.function->facts.range_of(value.var));
  symbols_.declare(read, callee_.function->facts.range_of(value.var));
  tir::Indices at(from->shape.size(), build_.index(value.element));
  shapes_.bind_from_data(read, build_.load(from, at), {}, false);
  found_.emplace(value.var, read);
}

/// Returns the result of a shape function, which is called once for all its values.
BufferRef CallArguments::ask(const ValueSymbol& value, std::map<const Op*, BufferRef>& answers) {
  BufferRef& answer = answers[value.function];
  if (answer == nullptr)
    answer = call_shape_function(host_, value, symbols_.known(replace(value.asked, found_)), tir::Scope::kGlobal,
                                 host_.at.steps());
  return answer;
}

/// Requires of the caller's values what the callee declares of its symbols: ranges, multiples and assumptions.
void CallArguments::require_declared() {
  const arith::Facts& facts = callee_.function->facts;
  for (Var symbol : callee_.symbols) {
    Expr actual = found_.at(symbol);
    arith::Range range = facts.range_of(symbol);
    auto check = [&](Expr condition, int64_t limit, Finding finding) {
      tir::Guard record;
      record.code = kDimBounds, record.expected = build_.index(limit), record.actual = actual;
      shapes_.require(condition, std::move(record), {finding, "'" + symbol.name() + "'"});
    };
    if (range.has_upper()) check(arith::le(actual, build_.index(range.upper)), range.upper, Finding::kAtMost);
    if (range.has_lower()) check(arith::ge(actual, build_.index(range.lower)), range.lower, Finding::kAtLeast);
    int64_t multiple = facts.multiple_of(symbol);
    if (multiple > 1) check(arith::eq(arith::floormod(actual, multiple), 0), multiple, Finding::kMultiple);
  }
  for (Expr assumed : facts.assumptions()) {
    Expr condition = in_ours(assumed);
    if (decide(assumed)) shapes_.require(condition, relation(condition), {Finding::kRelation, to_string(assumed)});
  }
}

/// Requires the conditions that the callee guards at its entry, in terms of the caller's symbols.
void CallArguments::require_guards() {
  for (tir::Guard guard : callee_.guards) {
    if (guard.expected) guard.expected = in_ours(guard.expected);
    if (guard.actual) guard.actual = in_ours(guard.actual);
    std::string what = fmt::format("dim {} of argument {}", guard.axis, guard.tensor);
    bool of_input = guard.tensor >= 0 && static_cast<size_t>(guard.tensor) < inputs_.size();
    guard.tensor = of_input ? inputs_[static_cast<size_t>(guard.tensor)] : -1;
    if (guard.symbol >= 0)
      guard.symbol = shapes_.our_symbol(found_.at(callee_.symbols.at(static_cast<size_t>(guard.symbol))));
    Expr condition = in_ours(guard.condition);
    Finding finding = guard.code == kDimBounds ? Finding::kAtLeast : Finding::kExact;
    shapes_.require(condition, std::move(guard), {finding, what});
  }
}

/// Puts shapes and scalars in memory before the call's other allocations, so that stores and call are in one nest.
void CallArguments::put_in_memory() {
  for (size_t i = 0; i < memories_.size(); ++i) {
    if (memories_[i] != nullptr) continue;
    const auto* prim = formals_[i]->as<PrimInfo>();
    DType dtype = prim == nullptr ? DType::i(64) : stored_dtype(prim->dtype);
    memories_[i] = host_.memory.in_memory(actuals_[i], dtype, callee_.read.count(callee_.inputs[i]) != 0);
  }
}

}  // namespace relaxc::lower
