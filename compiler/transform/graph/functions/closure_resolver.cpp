// closure_resolver.cpp: resolves the function values of one function: its calls, branches and tuples.
//
// A walk in the order of the ops. What is known of function values is kept beside the graph; ops that only make or move
// such values are dead at the end. A branch that yields a function yields what it captured instead, and zeros on the
// side that captured nothing of that kind.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/relax/builder.h"
#include "compiler/relax/callable.h"
#include "compiler/relax/join.h"
#include "compiler/transform/graph/functions/closure_resolver.h"

namespace relaxc::closures {

Status FunctionResolver::run() {
  RELAXC_DO(region(function_.body()));
  std::vector<Value*> results;
  for (Value* result : function_.body().results()) {
    into_.results.push_back(known(result));
    add_values(*into_.results.back(), results);
  }
  function_.body().yield->drop_operands();
  for (Value* result : results) function_.body().yield->add_operand(result);
  discard_dead();
  into_.done = true;
  return Done{};
}

Status FunctionResolver::region(Region& region) {
  for (Op* inner : ops_of(region)) RELAXC_DO(op(*inner));
  return Done{};
}

std::vector<KnownRef> FunctionResolver::known_operands(const Op& op) const {
  std::vector<KnownRef> operands;
  for (Value* operand : op.operands()) operands.push_back(known(operand));
  return operands;
}

/// Returns what is known of the field that a tuple_get takes out of its tuple.
KnownRef FunctionResolver::known_field(const Op& op) const {
  KnownRef tuple = known(op.operand(0));
  RELAXC_CHECK(tuple->kind == Known::kTuple, "a tuple with a function in it is not known");
  return tuple->parts.at(static_cast<size_t>(op.attrs.integer("index")));
}

/// Marks the op as dead, and gives the users of its result what is known of it.
void FunctionResolver::bind(Op& op, KnownRef result) {
  if (result->kind == Known::kPlain)
    op.result()->replace_all_uses_with(result->value);
  else
    known_[op.result()] = std::move(result);
  dead_.push_back(&op);
}

Status FunctionResolver::op(Op& op) {
  Diagnostics& diag = diag_;
  bool given = false, gives = false;
  for (const Value* operand : op.operands()) given |= operand != nullptr && holds_callable(operand->info);
  for (const Value* result : op.results) gives |= holds_callable(result->info);
  switch (op.kind) {
    case OpKind::kMakeClosure:
      bind(op, known_closure(op.callee, known_operands(op)));
      return Done{};
    case OpKind::kCallClosure:
    case OpKind::kCallFunction:
      return rewrite_call(op);
    case OpKind::kIf:
      return branch(op);
    case OpKind::kLoop:
      if (given || gives)
        return diag.error(op.location, Kind::unsupported,
                          "a loop cannot carry a function; what the function captures can be carried");
      return region(*op.regions[0]);
    case OpKind::kTuple:
      if (gives) bind(op, known_tuple(known_operands(op)));
      return Done{};
    case OpKind::kTupleGet:
      if (given) bind(op, known_field(op));
      return Done{};
    case OpKind::kMatchCast:
      if (!gives) return Done{};
      if (!given)
        return diag.error(op.location, Kind::unsupported, "a value of {} cannot be cast to a function",
                          to_string(op.operand(0)->info));
      bind(op, known(op.operand(0)));
      return Done{};
    default:
      if (given || gives)
        return diag.error(op.location, Kind::unsupported,
                          "a function can be called, captured, passed and returned, and nothing else");
      return Done{};
  }
}

Op* FunctionResolver::append(OpKind kind, Location location, Block* to) {
  Op* made = function_.make_op(kind, location);
  made->block = to;
  to->ops.push_back(made);
  return made;
}

/// Replaces a call by calls of functions of the module.
Status FunctionResolver::rewrite_call(Op& op) {
  bool closure = op.kind == OpKind::kCallClosure;
  std::vector<KnownRef> args;
  for (size_t i = closure ? 1 : 0; i < op.operands().size(); ++i) args.push_back(known(op.operand(i)));
  bool functions =
      std::any_of(args.begin(), args.end(), [](const KnownRef& arg) { return arg->kind != Known::kPlain; });
  for (const Value* result : op.results) functions |= holds_callable(result->info);
  if (!closure && !functions) {
    RELAXC_TRY(Resolved * callee, all_.find(op.callee, args, op.location));
    (void)callee;
    return Done{};
  }
  all_.changed_ = Changed::kYes;
  Block* block = op.block;
  Block* made = function_.make_block(block->parent, block->dataflow);
  block->parent->blocks.pop_back();  // its ops move to the place of the call
  KnownRef callee = closure ? known(op.operand(0)) : known_closure(op.callee, {});
  RELAXC_TRY(std::vector<KnownRef> results, call(*callee, args, op, made));
  // The infos of the call's results must still hold if the functions give others.
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i]->kind == Known::kPlain)
      results[i] = plain(cast(results[i]->value, op.results[i]->info, op.binds, made, op.location));
  for (Op* inner : made->ops) inner->block = block;
  block->ops.insert(std::find(block->ops.begin(), block->ops.end(), &op), made->ops.begin(), made->ops.end());
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (results[i]->kind != Known::kPlain) {
      known_[op.results[i]] = results[i];
      continue;
    }
    if (results[i]->value->name.empty()) results[i]->value->name = op.results[i]->name;
    op.results[i]->replace_all_uses_with(results[i]->value);
  }
  dead_.push_back(&op);
  return Done{};
}

/// Returns the results of calling a known closure or choice, one for each result of `op`.
Result<std::vector<KnownRef>> FunctionResolver::call(const Known& callee, const std::vector<KnownRef>& args,
                                                     const Op& op, Block* to) {
  Diagnostics& diag = diag_;
  RELAXC_CHECK(callee.kind == Known::kClosure || callee.kind == Known::kChoice, "a call of a value that is not known");
  if (callee.kind == Known::kClosure) {
    std::vector<KnownRef> all = args;
    all.insert(all.end(), callee.parts.begin(), callee.parts.end());
    return call_known(callee.callee, all, op, to);
  }
  Op* branch = append(OpKind::kIf, op.location, to);
  branch->add_operand(callee.value);
  branch->origins = op.origins;
  std::vector<KnownRef> sides[2];
  for (size_t side = 0; side < 2; ++side) {
    Region* region = function_.make_region(branch);
    Block* block = function_.make_block(region, to->dataflow);
    bool outer = std::exchange(in_choice_, true);
    Result<std::vector<KnownRef>> given = call(*callee.parts[side], args, op, block);
    in_choice_ = outer;
    if (!given) return diag.failed();
    sides[side] = std::move(*given);
  }
  std::vector<KnownRef> results;
  for (size_t i = 0; i < sides[0].size(); ++i) {
    RELAXC_TRY(KnownRef result, join(*branch, sides[0][i], sides[1][i]));
    results.push_back(std::move(result));
  }
  return results;
}

Result<std::vector<KnownRef>> FunctionResolver::call_known(const std::string& callee, const std::vector<KnownRef>& args,
                                                           const Op& op, Block* to) {
  Diagnostics& diag = diag_;
  RELAXC_TRY(Resolved * found, all_.find(callee, args, op.location));
  bool gives = false;
  for (const Value* result : found->function->body().results()) gives |= holds_callable(result->info);
  if (!found->done && gives)
    return diag.error(op.location, Kind::unbounded,
                      "'{}' calls itself before it is known which function it returns; let it return what that "
                      "function gives",
                      callee);
  std::vector<Value*> operands;
  for (const KnownRef& arg : args) add_values(*arg, operands);
  Op* made = append(OpKind::kCallFunction, op.location, to);
  made->callee = found->function->name;
  made->origins = op.origins;
  for (Value* operand : operands) made->add_operand(operand);
  std::vector<Info> infos = results_of_call(*found->function, *made, op);
  std::vector<Value*> values;
  for (Info info : infos) values.push_back(function_.make_result(made, {}, info));
  std::vector<KnownRef> results;
  size_t next = 0;
  if (!found->done) {  // a recursive call gives no functions
    for (Value* value : values) results.push_back(plain(value));
  } else {
    for (const KnownRef& result : found->results)
      results.push_back(with_values(*result, [&](Value*) { return values[next++]; }));
  }
  return results;
}

/// Returns the infos of a call's results. Symbols that the callee introduces are bound by the call, under the names
/// that the original call has for them, if any.
std::vector<Info> FunctionResolver::results_of_call(const Function& callee, Op& call, const Op& before) {
  arith::Substitution symbols;
  const std::vector<Value*>&formal = callee.body().arguments, &results = callee.body().results();
  for (size_t i = 0; i < formal.size(); ++i) solve_symbols(formal[i]->info, call.operand(i)->info, symbols);
  std::vector<Info> infos;
  for (const Value* result : results) infos.push_back(result->info);
  for (size_t i = 0; i < infos.size() && i < before.results.size() && !in_choice_; ++i) {
    std::vector<Expr> numbers = numbers_of(infos[i]), names = numbers_of(before.results[i]->info);
    for (size_t k = 0; k < numbers.size() && k < names.size(); ++k) {
      bool named = std::find(before.binds.begin(), before.binds.end(), names[k]) != before.binds.end();
      std::vector<arith::Var> vars = arith::free_vars(numbers[k]);
      bool given = std::all_of(vars.begin(), vars.end(), [&](arith::Var var) { return symbols.count(var) != 0; });
      if (named && !given && symbols.emplace(numbers[k], names[k]).second)
        call.binds.push_back(arith::Var(names[k].as<arith::VarNode>()));
    }
  }
  infos = relax::results_of_call(module_.context(), std::move(infos), symbols, call.binds);
  return infos;
}

/// Returns `value` cast to `info`; the cast binds those of its symbols that are among `binds`.
Value* FunctionResolver::cast(Value* value, Info info, const std::vector<arith::Var>& binds, Block* to,
                              Location location) {
  if (subsumes(info, value->info, function_.facts)) return value;
  Op* made = append(OpKind::kMatchCast, location, to);
  made->add_operand(value);
  for (arith::Var var : symbols_of(info))
    if (std::find(binds.begin(), binds.end(), var) != binds.end()) made->binds.push_back(var);
  return function_.make_result(made, {}, info);
}

bool FunctionResolver::inside(const Value* value, const Region& region) const {
  const Region* at = value->op != nullptr ? value->op->block->parent : value->region;
  while (at != nullptr && at != &region) at = at->parent_op == nullptr ? nullptr : at->parent_op->block->parent;
  return at == &region;
}

Status FunctionResolver::branch(Op& op) {
  for (Region* side : op.regions) RELAXC_DO(region(*side));
  bool gives = false;
  for (const Value* result : op.results) gives |= holds_callable(result->info);
  if (!gives) return Done{};
  all_.changed_ = Changed::kYes;
  std::vector<Value*> results = op.results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!holds_callable(results[i]->info)) continue;
    KnownRef yes = known(op.regions[0]->results()[i]), no = known(op.regions[1]->results()[i]);
    RELAXC_TRY(known_[results[i]], join(op, yes, no));
  }
  strip(op);
  return Done{};
}

/// Returns one tree for the results of two branches; values that exist in one branch only become results of the If.
Result<KnownRef> FunctionResolver::join(Op& branch, const KnownRef& yes, const KnownRef& no) {
  if (yes->kind == Known::kPlain && no->kind == Known::kPlain) return plain(joined(branch, yes->value, no->value));
  if (form_of(*yes) == form_of(*no)) {
    std::vector<Value*> others;
    add_values(*no, others);
    size_t next = 0;
    return with_values(*yes, [&](Value* value) { return joined(branch, value, others[next++]); });
  }
  if (yes->kind == Known::kTuple && no->kind == Known::kTuple) {
    std::vector<KnownRef> fields;
    for (size_t i = 0; i < yes->parts.size(); ++i) {
      RELAXC_TRY(KnownRef field, join(branch, yes->parts[i], no->parts[i]));
      fields.push_back(std::move(field));
    }
    return known_tuple(std::move(fields));
  }
  auto outside = [&](size_t side, const Known& known) {
    return with_values(known, [&](Value* value) {
      if (!inside(value, *branch.regions[side])) return value;
      return side == 0 ? joined(branch, value, nullptr) : joined(branch, nullptr, value);
    });
  };
  KnownRef first = outside(0, *yes), second = outside(1, *no);
  return known_choice(branch.operand(0), std::move(first), std::move(second));
}

/// Returns the result of the If that is `yes` or `no`; zeros, which are not used, take the place of a null one.
Value* FunctionResolver::joined(Op& branch, Value* yes, Value* no) {
  if (yes != nullptr && no != nullptr) return join_results(branch, yes, no);
  Info info = (yes != nullptr ? yes : no)->info;
  info = joined_info(branch, info, info);
  Region& other = *branch.regions[yes == nullptr ? 0 : 1];
  Value* nothing = zeros_of(info, branch.binds, function_.make_block(&other, false));
  branch.regions[0]->yield->add_operand(yes != nullptr ? yes : nothing);
  branch.regions[1]->yield->add_operand(no != nullptr ? no : nothing);
  return function_.make_result(&branch, (yes != nullptr ? yes : no)->name, info);
}

/// Returns a value of this info that is not used; its numbers in `unknown`, which only the If will know, are 0.
Value* FunctionResolver::zeros_of(Info info, const std::vector<arith::Var>& unknown, Block* to) {
  GraphBuilder builder(module_, all_.context_.ops, to, diag_);
  arith::Substitution zero;
  for (arith::Var var : unknown) zero[var] = builder.context().zero(var.dtype());
  info = substitute(builder.context(), info, zero);
  if (const auto* shape = info->as<ShapeInfo>()) return builder.shape(*shape->dims);
  if (const auto* prim = info->as<PrimInfo>())
    return builder.prim(prim->value ? prim->value : builder.context().zero(prim->dtype));
  if (const auto* tuple = info->as<TupleInfo>()) {
    std::vector<Value*> fields;
    for (Info field : tuple->fields) fields.push_back(zeros_of(field, {}, to));
    return builder.tuple(std::move(fields));
  }
  const auto& tensor = *info->as<TensorInfo>();
  Result<Value*> zeros = builder.call("zeros", {builder.shape(*tensor.shape)}, {{"dtype", *tensor.dtype}});
  RELAXC_CHECK(bool(zeros), "zeros of a known shape");
  return *zeros;
}

/// Removes the results of an If that are functions.
void FunctionResolver::strip(Op& branch) {
  std::vector<bool> goes;
  for (const Value* result : branch.results) goes.push_back(holds_callable(result->info));
  for (Region* side : branch.regions) {
    std::vector<Value*> before = side->results();
    side->yield->drop_operands();
    for (size_t i = 0; i < before.size(); ++i)
      if (!goes[i]) side->yield->add_operand(before[i]);
  }
  std::vector<Value*> kept;
  for (size_t i = 0; i < goes.size(); ++i)
    if (!goes[i]) kept.push_back(branch.results[i]);
  branch.results = std::move(kept);
  for (size_t i = 0; i < branch.results.size(); ++i) branch.results[i]->index = static_cast<uint32_t>(i);
}

/// Removes the dead ops. They may use each other, so all operands are dropped first.
void FunctionResolver::discard_dead() {
  std::set<const Op*> dead(dead_.begin(), dead_.end());
  if (dead.empty()) return;
  all_.changed_ = Changed::kYes;
  for (Op* op : dead_) op->drop_operands();
  erase_ops(function_.body(), [&](Op* op) { return dead.count(op) != 0; });
}

}  // namespace relaxc::closures
