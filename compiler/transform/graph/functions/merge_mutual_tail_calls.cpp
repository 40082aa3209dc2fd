// merge_mutual_tail_calls.cpp: merges functions that tail-call each other into one function, which they call.
//
//     def circle(which, slots…):              def ping(x, k):
//         if which < 1:                           return circle(0, x, k)
//             the body of ping                def pong(y):
//         else:                                   return circle(1, y, zeros)
//             the body of pong
//
// with `circle(1, …)` where ping tail-called pong. A call passes slots on that its callee does not use, so that
// nothing is made for them; where the cycle is entered, zeros fill them, with no elements if calls change their
// dims.
//
// Rejected: inlining one body into the calls of it in the other, until only self calls are left. That needs no
// slots, but the code doubles with each member, and it was done again for each member that is called from
// outside.
#include "compiler/transform/graph/functions/merge_mutual_tail_calls.h"

#include <algorithm>
#include <numeric>

#include "compiler/relax/builder.h"
#include "compiler/relax/callable.h"
#include "compiler/relax/copy.h"
#include "compiler/relax/join.h"
#include "compiler/transform/graph/functions/merged_parameters.h"
#include "compiler/transform/graph/functions/tail_loop.h"
#include "compiler/transform/graph/functions/tail_tree.h"
#include "compiler/transform/graph/functions/tuple_leaves.h"

namespace relaxc {
namespace {

using namespace relax;

class TailCallMerging {
 public:
  TailCallMerging(Module& module, const std::vector<Function*>& members, PassContext& context)
      : module_(module), context_(module.context()), pass_(context), members_(members), slots_(module, members) {}

  bool possible() const {
    return std::all_of(slots_.slots().begin(), slots_.slots().end(),
                       [](const MergedParameters::ParameterSlot& slot) { return has_placeholder(slot.info); });
  }
  Result<Function*> make() {
    made_ = module_.add_function(module_.unique_name(members_.front()->name + "_circle"));
    made_->is_private = true;
    made_->location = members_.front()->location;
    declare();
    choose(0, members_.size(), made_->body());
    for (Op* call : tail_calls(*made_))
      if (size_t which = number_of(call->callee); which < members_.size()) redirect(*call, which);
    for (size_t which = 0; which < members_.size(); ++which) RELAXC_DO(enter(which));
    return made_;
  }

 private:
  size_t number_of(const std::string& name) const {
    return static_cast<size_t>(
        std::find_if(members_.begin(), members_.end(), [&](const Function* member) { return member->name == name; }) -
        members_.begin());
  }
  Value* number(size_t which, Block* to) {
    Op* op = append_op(OpKind::kPrim, to, made_->location);
    return to->parent->function->make_result(
        op, "which", prim_info(context_, DType::index(), context_.index(static_cast<int64_t>(which))));
  }
  void declare();
  void choose(size_t first, size_t last, Region& into);
  void put_inside(const Function& member, Region& into);
  void redirect(Op& call, size_t which);
  Status enter(size_t which);

  Module& module_;
  Context& context_;
  PassContext& pass_;
  const std::vector<Function*>& members_;
  MergedParameters slots_;
  Function* made_ = nullptr;
  arith::Var which_{nullptr};
};

/// Adds parameters and symbols. Facts about a kept symbol are those that hold whichever member is entered.
void TailCallMerging::declare() {
  which_ = context_.var("which");
  made_->facts.bound(which_, {0, static_cast<int64_t>(members_.size()) - 1});
  made_->make_argument(&made_->body(), "which", prim_info(context_, DType::index(), which_));
  for (const MergedParameters::ParameterSlot& slot : slots_.slots())
    made_->make_argument(&made_->body(), slot.name, slot.info);
  for (const Value* parameter : made_->body().arguments)
    for (arith::Var var : symbols_of(parameter->info))
      if (std::find(made_->symbols.begin(), made_->symbols.end(), var) == made_->symbols.end())
        made_->symbols.push_back(var);
  std::map<uint32_t, std::pair<arith::Range, int64_t>> known;
  for (const Function* member : members_)
    for (arith::Var theirs : member->symbols) {
      auto kept = slots_.kept().find(theirs);
      if (kept == slots_.kept().end()) continue;
      arith::Range range = member->facts.range_of(theirs);
      int64_t factor = member->facts.multiple_of(theirs);
      auto [at, first] = known.try_emplace(arith::Var(kept->second.as<arith::VarNode>())->id, range, factor);
      if (first) continue;
      auto& [all, common] = at->second;
      all = {std::min(all.lower, range.lower), std::max(all.upper, range.upper)};
      common = std::gcd(common, factor);
    }
  for (arith::Var mine : made_->symbols)
    if (auto at = known.find(mine->id); at != known.end()) {
      made_->facts.bound(mine, at->second.first);
      made_->facts.multiple(mine, at->second.second);
    }
}

/// Builds a balanced tree of comparisons, with the members' bodies at its leaves.
void TailCallMerging::choose(size_t first, size_t last, Region& into) {
  if (last - first == 1) return put_inside(*members_[first], into);
  size_t middle = first + (last - first + 1) / 2;
  Block* block = made_->make_block(&into, false);
  Op* prim = append_op(OpKind::kPrim, block, made_->location);
  Expr before = arith::lt(which_, context_.index(static_cast<int64_t>(middle)));
  Value* condition = made_->make_result(prim, "before", prim_info(context_, before.dtype(), before));
  Op* branch = append_op(OpKind::kIf, block, made_->location);
  branch->add_operand(condition);
  Region *yes = made_->make_region(branch), *no = made_->make_region(branch);
  choose(first, middle, *yes);
  choose(middle, last, *no);
  for (size_t i = 0; i < yes->results().size(); ++i) {
    Value *a = yes->results()[i], *b = no->results()[i];
    into.yield->add_operand(made_->make_result(branch, a->name, joined_info(*branch, a->info, b->info)));
  }
}

/// Copies the body of `member`; its parameters become its slots.
void TailCallMerging::put_inside(const Function& member, Region& into) {
  Copy copy(*made_, nullptr);
  Block* casts = made_->make_block(&into, false);
  const std::vector<Value*>& parameters = member.body().arguments;
  std::vector<Value*> leaves, values;
  for (size_t slot : slots_.of(member)) leaves.push_back(made_->body().arguments[slot + 1]);
  size_t next = 0;
  for (const Value* parameter : parameters) {
    values.push_back(pack_tuple(parameter->info, leaves, next, parameter->name, casts));
    solve_symbols(parameter->info, values.back()->info, copy.symbols);
  }
  std::vector<Info> wanted;
  for (const Value* parameter : parameters) wanted.push_back(copy.of(parameter->info));
  std::vector<Value*> seen = as_declared(values, wanted, casts);
  for (size_t i = 0; i < parameters.size(); ++i) copy.values[parameters[i]] = seen[i];
  for (const Block* block : member.body().blocks) {
    Block* made = made_->make_block(&into, block->dataflow);
    copy.move_to(made);
    for (const Op* op : block->ops) copy.op(*op);
  }
  for (Value* result : member.body().results()) into.yield->add_operand(copy.of(result));
}

/// Replaces a tail call of a member by a call of the merged function.
void TailCallMerging::redirect(Op& call, size_t which) {
  Block* block = call.block;
  block->ops.pop_back();
  std::vector<Value*> operands = call.operands(), leaves;
  for (Value* operand : operands) unpack_tuples(operand, block, leaves);
  std::vector<Value*> arguments = made_->body().arguments;
  arguments[0] = number(which, block);
  const std::vector<size_t>& places = slots_.of(*members_[which]);
  for (size_t i = 0; i < places.size(); ++i) arguments[places[i] + 1] = leaves[i];
  call.callee = made_->name;
  call.drop_operands();
  for (Value* argument : arguments) call.add_operand(argument);
  block->ops.push_back(&call);
}

/// Replaces the body of a member by a call of the merged function.
Status TailCallMerging::enter(size_t which) {
  Function& member = *members_[which];
  Region& body = member.body();
  std::vector<Info> declared;
  for (const Value* result : body.results()) declared.push_back(result->info);
  std::vector<Block*> old = std::move(body.blocks);
  body.yield->drop_operands();
  discard(old);
  body.blocks.clear();
  Block* block = member.make_block(&body, false);
  std::vector<Value*> leaves;
  for (Value* parameter : body.arguments) unpack_tuples(parameter, block, leaves);

  std::vector<Value*> arguments(slots_.slots().size() + 1);
  arguments[0] = number(which, block);
  const std::vector<size_t>& places = slots_.of(member);
  for (size_t i = 0; i < places.size(); ++i) arguments[places[i] + 1] = leaves[i];
  arith::Substitution mine;
  for (arith::Var var : member.symbols)
    if (auto kept = slots_.kept().find(var); kept != slots_.kept().end()) mine.emplace(kept->second, var);
  for (size_t i = 0; i < slots_.slots().size(); ++i) {
    if (arguments[i + 1] != nullptr) continue;
    arith::Substitution first = mine;
    for (arith::Var open : slots_.slots()[i].open) first.emplace(open, context_.index(0));
    RELAXC_TRY(arguments[i + 1],
               placeholder(module_, substitute(context_, slots_.slots()[i].info, first), block, pass_));
  }
  Op* call = append_op(OpKind::kCallFunction, block, member.location);
  call->callee = made_->name;
  std::vector<Info> results;
  for (const Value* result : made_->body().results()) results.push_back(result->info);
  arith::Substitution symbols;
  for (size_t i = 0; i < arguments.size(); ++i) {
    call->add_operand(arguments[i]);
    solve_symbols(made_->body().arguments[i]->info, arguments[i]->info, symbols);
  }
  std::vector<Value*> values;
  for (Info info : results_of_call(context_, results, symbols, call->binds))
    values.push_back(member.make_result(call, "result", info));
  for (Value* result : as_declared(values, declared, block)) body.yield->add_operand(result);
  return Done{};
}

}  // namespace

Result<Function*> merge_mutual_tail_calls(Module& module, const std::vector<Function*>& members, PassContext& context) {
  TailCallMerging merging(module, members, context);
  if (!merging.possible()) return static_cast<Function*>(nullptr);
  return merging.make();
}

}  // namespace relaxc
