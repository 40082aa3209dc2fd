// loop_recursion.cpp: functions that call themselves or each other last become loops.
//
// Each call needs a frame, and how many there will be nobody knows; but a call in tail position needs nothing of its
// caller any more. The body of such a function is a tree of Ifs whose leaves call again or give the results. It becomes
//
//     loop carrying the parameters: the tree, whose calling leaves give the next arguments, and whose others stop it
//     the tree once more, without the leaves that call
//
// so that nothing has to stand for the results while they are not known. What stands before the Ifs runs once more at
// the end; it is pure, or has no result and is left out. Symbols of parameters whose shape a call changes become
// symbols that the loop carries.
//
// A group that calls in a circle is taken apart one function after the other: it becomes a loop itself, and then its
// body takes the place of the calls of it in the others, until calls of itself alone are left in the last one.
//
// Rejected: a dispatch loop with the number of the active function (the parameters of the others need memory of a size
// that nobody knows), and lowering a jump to the function's begin (the planner would have to see through it).
#include <algorithm>
#include <map>
#include <set>

#include "compiler/relax/callable.h"
#include "compiler/relax/copy.h"
#include "compiler/relax/effects.h"
#include "compiler/relax/join.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// A group that is taken apart grows; beyond this it stays a recursion.
constexpr size_t kMostOps = 5000;

bool calls(const Op& op, const std::string& name) {
  return op.kind == OpKind::kCallFunction && op.callee == name;
}

/// The calls in tail position of `region`, which is the body or a branch in tail position.
void add_tail_calls(const Region& region, std::vector<Op*>& found) {
  std::vector<Op*> ops = ops_of(region);
  if (ops.empty() || !in_tail_position(*ops.back())) return;
  if (ops.back()->kind == OpKind::kCallFunction) found.push_back(ops.back());
  if (ops.back()->kind != OpKind::kIf) return;
  for (const Region* side : ops.back()->regions) add_tail_calls(*side, found);
}

std::vector<Op*> tail_calls(const Function& function) {
  std::vector<Op*> found;
  add_tail_calls(function.body(), found);
  return found;
}

/// Ops of the function that calls of itself leave behind: a tree that is walked twice.
class TailCalls {
 public:
  TailCalls(Module& module, Function& function, std::string name)
      : module_(module), context_(module.context()), function_(function), name_(std::move(name)) {}

  /// Whether there are such calls, and nothing before them that may not run once more.
  bool find() {
    for (Op* call : tail_calls(function_))
      if (calls(*call, name_)) calls_.insert(call);
    if (calls_.empty()) return false;
    find_trees(function_.body());
    return runs_again(function_.body());
  }
  /// Whether some path gives a result.
  bool ends() const { return has_exit(function_.body()); }
  void rewrite();

 private:
  enum class Leaf : uint8_t { kCall, kTree, kExit };
  Leaf kind(const std::vector<Op*>& ops) const {
    if (ops.empty()) return Leaf::kExit;
    if (calls_.count(ops.back()) != 0) return Leaf::kCall;
    return trees_.count(ops.back()) != 0 ? Leaf::kTree : Leaf::kExit;
  }
  /// Asked before the body is taken from its region: after that nothing is in tail position.
  void find_trees(const Region& region) {
    std::vector<Op*> ops = ops_of(region);
    bool tree = !ops.empty() && ops.back()->kind == OpKind::kIf && in_tail_position(*ops.back()) &&
                (has_call(*ops.back()->regions[0]) || has_call(*ops.back()->regions[1]));
    if (!tree) return;
    trees_.insert(ops.back());
    for (const Region* side : ops.back()->regions) find_trees(*side);
  }
  bool has_call(const Region& region) const {
    for (const Op* op : ops_of(region, true))
      if (calls_.count(op) != 0) return true;
    return false;
  }
  bool has_exit(const Region& region) const {
    std::vector<Op*> ops = ops_of(region);
    Leaf leaf = kind(ops);
    if (leaf != Leaf::kTree) return leaf == Leaf::kExit;
    return has_exit(*ops.back()->regions[0]) || has_exit(*ops.back()->regions[1]);
  }
  bool runs_again(const Region& region) const;
  bool is_pure(const Op& op) const;
  bool is_pure(const std::string& function, std::set<std::string>& seen) const;

  arith::Substitution fresh_symbols(Op& loop);
  std::vector<Value*> step(const Region& from, Copy& copy, Region& to);
  void finish(const Region& from, Copy copy, Block* to, Region& into);
  void copy_pure(const std::vector<Op*>& ops, size_t count, Copy& copy) const;

  Value* flag(bool value, Block* to);
  void add_leaves(Info info, std::vector<Info>& leaves) const;
  void take_apart(Value* value, Block* to, std::vector<Value*>& leaves);
  Value* put_together(Info info, const std::vector<Value*>& leaves, size_t& next, const std::string& name, Block* to);
  Op* append(OpKind kind, Block* to) {
    Op* made = function_.make_op(kind, function_.location);
    made->block = to;
    to->ops.push_back(made);
    return made;
  }

  Module& module_;
  Context& context_;
  Function& function_;
  std::string name_;
  std::set<const Op*> calls_, trees_;
  std::vector<Value*> carried_;  ///< arguments of the loop's body
};

bool TailCalls::is_pure(const Op& op) const {
  if (op.regions.empty() && has_effect(op)) return false;
  std::set<std::string> seen;
  if (op.kind == OpKind::kCallFunction && !is_pure(op.callee, seen)) return false;
  for (const Region* region : op.regions)
    for (const Op* inner : ops_of(*region, true))
      if (inner->regions.empty() && !is_pure(*inner)) return false;
  return true;
}

/// Calls of the function itself are not: what runs once more at each depth runs twice as often at the next.
bool TailCalls::is_pure(const std::string& function, std::set<std::string>& seen) const {
  if (function == name_ || function == function_.name) return false;
  if (!seen.insert(function).second) return true;
  for (const Op* op : ops_of(module_.find_function(function)->body(), true)) {
    if (op->kind == OpKind::kCallFunction ? !is_pure(op->callee, seen) : op->regions.empty() && !is_pure(*op))
      return false;
  }
  return true;
}

/// What stands before an If of the tree runs a second time, or has no result that anything could miss.
bool TailCalls::runs_again(const Region& region) const {
  std::vector<Op*> ops = ops_of(region);
  if (kind(ops) != Leaf::kTree) return true;
  for (size_t i = 0; i + 1 < ops.size(); ++i)
    if (!is_pure(*ops[i]) && !ops[i]->results.empty()) return false;
  return runs_again(*ops.back()->regions[0]) && runs_again(*ops.back()->regions[1]);
}

void TailCalls::add_leaves(Info info, std::vector<Info>& leaves) const {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) add_leaves(field, leaves);
  else
    leaves.push_back(info);
}

void TailCalls::take_apart(Value* value, Block* to, std::vector<Value*>& leaves) {
  const auto* tuple = value->info->as<TupleInfo>();
  if (tuple == nullptr) return leaves.push_back(value);
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    if (value->op != nullptr && value->op->kind == OpKind::kTuple) {
      take_apart(value->op->operand(i), to, leaves);
      continue;
    }
    Op* get = append(OpKind::kTupleGet, to);
    get->add_operand(value);
    get->attrs.set("index", static_cast<int64_t>(i));
    take_apart(function_.make_result(get, value->name, tuple->fields[i]), to, leaves);
  }
}

Value* TailCalls::put_together(Info info, const std::vector<Value*>& leaves, size_t& next, const std::string& name,
                               Block* to) {
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) return leaves[next++];
  std::vector<Value*> fields;
  for (Info field : tuple->fields) fields.push_back(put_together(field, leaves, next, name, to));
  Op* made = append(OpKind::kTuple, to);
  for (Value* field : fields) made->add_operand(field);
  return function_.make_result(made, name, info);
}

Value* TailCalls::flag(bool value, Block* to) {
  Op* op = append(OpKind::kConstant, to);
  op->constant = ConstantData::inline_bytes(DType::boolean(), {}, encode_scalar(DType::boolean(), value));
  return function_.make_result(op, "again", tensor_info(context_, std::vector<Expr>{}, DType::boolean()));
}

/// New symbols, bound by the loop, for those of parameters that a call changes.
arith::Substitution TailCalls::fresh_symbols(Op& loop) {
  arith::Substitution made;
  const std::vector<Value*>& parameters = function_.body().arguments;
  for (size_t i = 0; i < parameters.size(); ++i) {
    bool kept = std::all_of(calls_.begin(), calls_.end(),
                            [&](const Op* call) { return same(parameters[i]->info, call->operand(i)->info); });
    if (kept) continue;
    for (arith::Var var : symbols_of(parameters[i]->info)) {
      if (made.count(var) != 0) continue;
      arith::Var fresh = context_.var(var.name(), var.dtype());
      function_.facts.bound(fresh, function_.facts.range_of(var));
      made[var] = fresh;
      loop.binds.push_back(fresh);
    }
  }
  return made;
}

void TailCalls::rewrite() {
  Region& body = function_.body();
  std::vector<Block*> old = body.blocks;
  std::vector<Value*> results = body.results();
  body.blocks.clear();
  Block* block = function_.make_block(&body, false);
  std::vector<Value*> initial;
  for (Value* parameter : body.arguments) take_apart(parameter, block, initial);
  Op* loop = function_.make_op(OpKind::kLoop, (*calls_.begin())->location);
  loop->add_operand(nullptr);
  loop->add_operand(nullptr);
  for (Value* value : initial) loop->add_operand(value);
  loop->block = block;
  block->ops.push_back(loop);

  arith::Substitution inside = fresh_symbols(*loop), after = fresh_symbols(*loop);
  Region* region = function_.make_region(loop);
  arith::Var iteration = context_.var("iteration");
  loop->binds.push_back(iteration);
  function_.make_argument(region, "iteration", prim_info(context_, DType::index(), iteration));
  // A tree walks in the shape of the old body, which is put back for that: what is in tail position is asked of it.
  Region walked = body;
  walked.blocks = old;
  Block* start = function_.make_block(region, false);
  Copy in(function_, start), end(function_, block);
  in.symbols = inside, end.symbols = after;
  std::vector<Value*> outcome;
  size_t next_in = 0, next_end = 0;
  for (Value* parameter : body.arguments) {
    std::vector<Info> leaves;
    add_leaves(in.of(parameter->info), leaves);
    for (Info leaf : leaves) carried_.push_back(function_.make_argument(region, parameter->name, leaf));
    in.values[parameter] = put_together(in.of(parameter->info), carried_, next_in, parameter->name, start);
    leaves.clear();
    add_leaves(end.of(parameter->info), leaves);
    for (Info leaf : leaves) outcome.push_back(function_.make_result(loop, parameter->name, leaf));
    end.values[parameter] = put_together(end.of(parameter->info), outcome, next_end, parameter->name, block);
  }
  for (Value* value : step(walked, in, *region)) region->yield->add_operand(value);
  body.yield->drop_operands();
  finish(walked, end, block, body);
  discard(old);
}

/// A copy of the tree that gives whether the loop goes on, and with what. `to` ends in the block of `copy`.
std::vector<Value*> TailCalls::step(const Region& from, Copy& copy, Region& to) {
  std::vector<Op*> ops = ops_of(from);
  Block* block = to.blocks.back();
  std::vector<Value*> next;
  switch (kind(ops)) {
    case Leaf::kExit:
      next = {flag(false, block)};
      next.insert(next.end(), carried_.begin(), carried_.end());
      return next;
    case Leaf::kCall: {
      for (size_t i = 0; i + 1 < ops.size(); ++i) copy.op(*ops[i]);
      next = {flag(true, block)};
      for (Value* operand : ops.back()->operands()) take_apart(copy.of(operand), block, next);
      return next;
    }
    case Leaf::kTree:
      break;
  }
  for (size_t i = 0; i + 1 < ops.size(); ++i) copy.op(*ops[i]);
  Op* branch = append(OpKind::kIf, block);
  branch->location = ops.back()->location;
  branch->add_operand(copy.of(ops.back()->operand(0)));
  std::vector<Value*> sides[2];
  for (size_t side = 0; side < 2; ++side) {
    Region* region = function_.make_region(branch);
    Copy inner(function_, function_.make_block(region, false));
    inner.values = copy.values, inner.symbols = copy.symbols;
    sides[side] = step(*ops.back()->regions[side], inner, *region);
  }
  for (size_t i = 0; i < sides[0].size(); ++i) next.push_back(join_results(*branch, sides[0][i], sides[1][i]));
  return next;
}

/// A copy of the tree without the leaves that call; its results are those of `into`.
void TailCalls::finish(const Region& from, Copy copy, Block* to, Region& into) {
  std::vector<Op*> ops = ops_of(from);
  if (kind(ops) == Leaf::kExit) {
    for (const Op* op : ops) copy.op(*op);
    for (Value* result : from.results()) into.yield->add_operand(copy.of(result));
    return;
  }
  copy_pure(ops, ops.size() - 1, copy);
  const Op& tree = *ops.back();
  for (size_t side = 0; side < 2; ++side)
    if (!has_exit(*tree.regions[1 - side])) return finish(*tree.regions[side], std::move(copy), to, into);
  Op* branch = append(OpKind::kIf, to);
  branch->location = tree.location, branch->origins = tree.origins;
  branch->add_operand(copy.of(tree.operand(0)));
  for (const Region* side : tree.regions) {
    Region* region = function_.make_region(branch);
    Block* block = function_.make_block(region, false);
    Copy inner(function_, block);
    inner.values = copy.values, inner.symbols = copy.symbols;
    finish(*side, std::move(inner), block, *region);
  }
  for (size_t i = 0; i < tree.results.size(); ++i) {
    Value *yes = branch->regions[0]->results()[i], *no = branch->regions[1]->results()[i];
    Value* made = function_.make_result(branch, tree.results[i]->name, joined_info(*branch, yes->info, no->info));
    into.yield->add_operand(made);
  }
}

/// What was done already and gives nothing is not done again.
void TailCalls::copy_pure(const std::vector<Op*>& ops, size_t count, Copy& copy) const {
  for (size_t i = 0; i < count; ++i)
    if (is_pure(*ops[i]) || !ops[i]->results.empty()) copy.op(*ops[i]);
}

/// Functions that call each other in tail position, all of them from all.
class Groups {
 public:
  explicit Groups(Module& module) : module_(module) {}

  /// The members of the circle that `function` is in; empty if it is in none but its own.
  std::vector<Function*> around(const Function& function) {
    std::set<std::string> forward = reach(function.name);
    std::vector<Function*> members;
    for (const std::string& name : forward)
      if (name != function.name && reach(name).count(function.name) != 0)
        members.push_back(module_.find_function(name));
    return members;
  }

 private:
  std::set<std::string> reach(const std::string& from) {
    std::set<std::string> found;
    std::vector<std::string> waiting = {from};
    while (!waiting.empty()) {
      const std::vector<std::string>& next = callees(waiting.back());
      waiting.pop_back();
      for (const std::string& name : next)
        if (found.insert(name).second) waiting.push_back(name);
    }
    return found;
  }
  const std::vector<std::string>& callees(const std::string& name) {
    auto [at, inserted] = callees_.try_emplace(name);
    if (inserted)
      for (const Op* call : tail_calls(*module_.find_function(name))) at->second.push_back(call->callee);
    return at->second;
  }

  Module& module_;
  std::map<std::string, std::vector<std::string>> callees_;
};

/// The body of `callee` in the place of `call`, which is in tail position.
void put_inside(Op& call, const Function& callee) {
  Region& region = *call.block->parent;
  Function& function = *region.function;
  Copy copy(function, nullptr);
  const std::vector<Value*>& parameters = callee.body().arguments;
  for (size_t i = 0; i < parameters.size(); ++i)
    solve_symbols(parameters[i]->info, call.operand(i)->info, copy.symbols);
  Block* casts = function.make_block(&region, false);
  for (size_t i = 0; i < parameters.size(); ++i) {
    Value* operand = call.operand(i);
    Info wanted = copy.of(parameters[i]->info);
    if (!subsumes(wanted, operand->info, function.facts)) {
      Op* cast = function.make_op(OpKind::kMatchCast, call.location);
      cast->add_operand(operand);
      cast->block = casts;
      casts->ops.push_back(cast);
      operand = function.make_result(cast, operand->name, wanted);
    }
    copy.values[parameters[i]] = operand;
  }
  arith::Substitution names;
  for (size_t i = 0; i < call.results.size(); ++i)
    solve_symbols(callee.body().results()[i]->info, call.results[i]->info, names);
  for (auto& [theirs, ours] : names)
    if (std::find(call.binds.begin(), call.binds.end(), ours) != call.binds.end()) copy.bind_as[theirs] = ours;
  region.yield->drop_operands();
  erase_ops(
      region, [&](Op* op) { return op == &call; }, false);
  for (const Block* block : callee.body().blocks) {
    Block* made = function.make_block(&region, block->dataflow);
    copy.move_to(made);
    for (const Op* op : block->ops) copy.op(*op);
  }
  for (Value* result : callee.body().results()) region.yield->add_operand(copy.of(result));
}

class Recursion {
 public:
  Recursion(Module& module, PassContext& context) : module_(module), diag_(context.diag) {}

  Result<Changed> run() {
    Diagnostics& diag = diag_;
    std::vector<Function*> functions = module_.functions();
    for (Function* function : functions) RELAXC_DO(to_loop(*function, function->name));
    Groups groups(module_);
    std::map<Function*, std::vector<Function*>> circles;
    for (Function* function : functions)
      if (std::vector<Function*> others = groups.around(*function); !others.empty()) circles[function] = others;
    // Every member is taken apart from what all were before.
    std::map<const Function*, Function*> before;
    for (Function* function : functions)
      if (circles.count(function) != 0)
        before[function] = relax::copy_function(module_, *function, module_.unique_name(function->name + "_before"));
    for (Function* function : functions)
      if (auto circle = circles.find(function); circle != circles.end())
        RELAXC_DO(take_apart(*function, circle->second, before));
    for (const auto& [function, copy] : before) module_.remove_function(std::string(copy->name));
    return changed_;
  }

 private:
  /// Calls of `name` in tail position of `function` become a loop.
  Status to_loop(Function& function, const std::string& name) {
    TailCalls tail(module_, function, name);
    if (!tail.find()) return Done{};
    if (!tail.ends())
      return diag_.error(function.location, Kind::ill_formed, "'{}' calls itself on every path, so it never returns",
                         name);
    tail.rewrite();
    changed_ = Changed::kYes;
    return Done{};
  }

  static size_t size(const Function& function) { return ops_of(function.body(), true).size(); }

  Status take_apart(Function& function, const std::vector<Function*>& others,
                    const std::map<const Function*, Function*>& before) {
    Diagnostics& diag = diag_;
    std::vector<std::pair<std::string, Function*>> left;
    for (Function* other : others)
      left.emplace_back(other->name,
                        relax::copy_function(module_, *before.at(other), module_.unique_name(other->name + "_apart")));
    std::vector<Function*> temporary;
    for (auto& [name, copy] : left) temporary.push_back(copy);
    bool fits = true;
    while (!left.empty() && fits) {
      auto [name, callee] = left.back();
      left.pop_back();
      RELAXC_DO(to_loop(*callee, name));
      std::vector<Function*> users = {&function};
      for (auto& [other, copy] : left) users.push_back(copy);
      for (Function* user : users)
        for (Op* call : tail_calls(*user)) {
          if (!calls(*call, name)) continue;
          fits = fits && size(*user) + size(*callee) <= kMostOps;
          if (fits) put_inside(*call, *callee);
        }
    }
    if (fits) RELAXC_DO(to_loop(function, function.name));
    for (Function* copy : temporary) module_.remove_function(std::string(copy->name));
    changed_ = Changed::kYes;
    return Done{};
  }

  Module& module_;
  Diagnostics& diag_;
  Changed changed_ = Changed::kNo;
};

}  // namespace

Result<Changed> loop_recursion(relax::Module& module, PassContext& context) {
  Diagnostics& diag = context.diag;
  RELAXC_TRY(Changed changed, Recursion(module, context).run());
  return changed == Changed::kYes ? dead_code(module, context) : changed;
}

}  // namespace relaxc
