// tail_loop.cpp: turns a function that calls itself in tail position into a loop.
//
// If all ops before its Ifs may run twice, the function becomes
//
//     loop carrying the parameters: the tree of Ifs, whose calling leaves give the next arguments, and whose others
//                                   stop it
//     the tree once more, without the leaves that call
//
// so that no values are needed for results that are not known yet. Otherwise (an external function was called, or the
// function itself in another place) the loop carries the results too: they are zeros, with no elements if a call
// changes their size, until a leaf that does not call computes them. Symbols of parameters that a call changes become
// symbols that the loop carries.
#include "compiler/transform/graph/functions/tail_loop.h"

#include <algorithm>

#include "compiler/relax/builder.h"
#include "compiler/relax/callable.h"
#include "compiler/relax/copy.h"
#include "compiler/relax/join.h"
#include "compiler/transform/graph/functions/tuple_leaves.h"

namespace relaxc {
namespace {

using namespace relax;

class TailLoop {
 public:
  TailLoop(Module& module, Function& function, PassContext& context)
      : module_(module),
        context_(module.context()),
        pass_(context),
        function_(function),
        tree_(module, function),
        twice_(tree_.runs_again(function.body())) {}

  bool possible() const;
  Status rewrite();

 private:
  using Leaf = TailTree::Leaf;

  arith::Substitution fresh_symbols(Op& loop);
  Info open_numbers(Info leaf, const arith::Substitution& fresh, Op& loop);
  std::vector<Value*> carry_parameters(Region& region, Block& start, Op& loop, Copy& in, const Copy& end);
  Status carry_results(const std::vector<Value*>& results, const arith::Substitution& inside, Op& loop);
  std::vector<Value*> step(const Region& from, Copy& copy, Region& to);
  void finish(const Region& from, Copy copy, Block* to, Region& into);
  void give_carried(const std::vector<Info>& declared, Block* to, Region& into);
  void copy_pure(const std::vector<Op*>& ops, size_t count, Copy& copy) const;
  Value* flag(bool value, Block* to);

  Module& module_;
  Context& context_;
  PassContext& pass_;
  Function& function_;
  TailTree tree_;
  bool twice_;
  std::vector<Value*> carried_, results_;  ///< arguments of the loop's body: parameters, and results if not `twice_`
  std::vector<Value*> outcome_;            ///< results of the loop that are results of the function
};

bool TailLoop::possible() const {
  if (tree_.calls().empty()) return false;
  if (twice_) return true;
  std::vector<Info> infos;
  for (const Value* result : function_.body().results()) infos.push_back(result->info);
  std::vector<Info> leaves = leaves_of(infos);
  return std::all_of(leaves.begin(), leaves.end(), has_placeholder);
}

/// Returns new symbols, bound by the loop, for the parameters' symbols that a call changes.
arith::Substitution TailLoop::fresh_symbols(Op& loop) {
  arith::Substitution made;
  const std::vector<Value*>& parameters = function_.body().arguments;
  auto change = [&](arith::Var var) {
    if (made.count(var) != 0) return;
    arith::Var fresh = context_.var(var.name(), var.dtype());
    function_.facts.bound(fresh, function_.facts.range_of(var));
    made[var] = fresh;
    loop.binds.push_back(fresh);
  };
  for (const Op* call : tree_.calls()) {
    arith::Substitution found;
    for (size_t i = 0; i < parameters.size(); ++i) solve_symbols(parameters[i]->info, call->operand(i)->info, found);
    for (size_t i = 0; i < parameters.size(); ++i) {
      bool kept = same(substitute(context_, parameters[i]->info, found), call->operand(i)->info);
      for (arith::Var var : symbols_of(parameters[i]->info))
        if (auto value = found.find(var); !kept || value == found.end() || value->second != arith::Expr(var))
          change(var);
    }
  }
  return made;
}

/// Returns the info of a result while the loop runs: numbers that may change in it become symbols of the loop.
Info TailLoop::open_numbers(Info leaf, const arith::Substitution& fresh, Op& loop) {
  auto open = [&](const Expr& number) {
    std::vector<arith::Var> vars = arith::free_vars(number);
    bool fixed = std::all_of(vars.begin(), vars.end(), [&](arith::Var var) {
      const std::vector<arith::Var>& own = function_.symbols;
      return std::find(own.begin(), own.end(), var) != own.end() && fresh.count(var) == 0;
    });
    if (fixed) return number;
    arith::Var made = context_.var("r", number.dtype());
    loop.binds.push_back(made);
    return Expr(made);
  };
  auto all = [&](std::vector<Expr> dims) {
    for (Expr& dim : dims) dim = open(dim);
    return dims;
  };
  if (const auto* tensor = leaf->as<TensorInfo>()) return tensor_info(context_, all(*tensor->shape), tensor->dtype);
  if (const auto* shape = leaf->as<ShapeInfo>()) return shape_info(context_, all(*shape->dims));
  const auto* prim = leaf->as<PrimInfo>();
  return prim->value ? prim_info(context_, prim->dtype, open(prim->value)) : leaf;
}

Value* TailLoop::flag(bool value, Block* to) {
  Op* op = append_op(OpKind::kConstant, to, function_.location);
  op->constant = ConstantData::inline_bytes(DType::boolean(), {}, encode_scalar(DType::boolean(), value));
  return function_.make_result(op, "again", tensor_info(context_, std::vector<Expr>{}, DType::boolean()));
}

Status TailLoop::rewrite() {
  Region& body = function_.body();
  std::vector<Block*> old = body.blocks;
  std::vector<Value*> results = body.results();
  body.blocks.clear();
  Block* block = function_.make_block(&body, false);
  std::vector<Value*> initial;
  for (Value* parameter : body.arguments) unpack_tuples(parameter, block, initial);
  Op* loop = function_.make_op(OpKind::kLoop, tree_.calls().front()->location);
  loop->add_operand(nullptr);
  loop->add_operand(nullptr);
  for (Value* value : initial) loop->add_operand(value);

  arith::Substitution inside = fresh_symbols(*loop), after = fresh_symbols(*loop);
  Region* region = function_.make_region(loop);
  arith::Var iteration = context_.var("iteration");
  loop->binds.push_back(iteration);
  function_.make_argument(region, "iteration", prim_info(context_, DType::index(), iteration));
  // The tree is asked about the old body, whose blocks are put into a region of their own for the walk.
  Region walked = body;
  walked.blocks = old;
  Block* start = function_.make_block(region, false);
  Copy in(function_, start), end(function_, block);
  in.symbols = inside, end.symbols = after;
  const std::vector<Value*> outcome = carry_parameters(*region, *start, *loop, in, end);
  RELAXC_DO(carry_results(results, inside, *loop));
  loop->block = block;
  block->ops.push_back(loop);
  size_t next = 0;
  for (Value* parameter : body.arguments)
    end.values[parameter] = pack_tuple(end.of(parameter->info), outcome, next, parameter->name, block);
  for (Value* value : step(walked, in, *region)) region->yield->add_operand(value);
  std::vector<Info> declared;
  for (const Value* result : results) declared.push_back(result->info);
  body.yield->drop_operands();
  if (twice_)
    finish(walked, end, block, body);
  else
    give_carried(declared, block, body);
  discard(old);
  return Done{};
}

/// Adds what the loop carries for each parameter: arguments of its body, from which `in` takes the parameter at
/// `start`, and results, which are returned.
std::vector<Value*> TailLoop::carry_parameters(Region& region, Block& start, Op& loop, Copy& in, const Copy& end) {
  std::vector<Value*> outcome;
  size_t next = 0;
  for (Value* parameter : function_.body().arguments) {
    for (Info leaf : leaves_of({in.of(parameter->info)}))
      carried_.push_back(function_.make_argument(&region, parameter->name, leaf));
    in.values[parameter] = pack_tuple(in.of(parameter->info), carried_, next, parameter->name, &start);
    for (Info leaf : leaves_of({end.of(parameter->info)}))
      outcome.push_back(function_.make_result(&loop, parameter->name, leaf));
  }
  return outcome;
}

/// Carries results that only the last call gives: first placeholders, then what a leaf gives.
Status TailLoop::carry_results(const std::vector<Value*>& results, const arith::Substitution& inside, Op& loop) {
  if (twice_) return Done{};
  for (const Value* result : results)
    for (Info leaf : leaves_of({result->info})) {
      size_t bound = loop.binds.size();
      Info running = open_numbers(leaf, inside, loop);
      arith::Substitution nothing;
      for (size_t i = bound; i < loop.binds.size(); ++i) nothing[loop.binds[i]] = context_.index(0);
      Block* before = function_.body().blocks.back();
      RELAXC_TRY(Value * first, placeholder(module_, substitute(context_, running, nothing), before, pass_));
      loop.add_operand(first);
      results_.push_back(function_.make_argument(loop.regions[0], result->name, running));
      outcome_.push_back(function_.make_result(&loop, result->name, open_numbers(leaf, inside, loop)));
    }
  return Done{};
}

/// Copies the tree and returns whether the loop goes on, and with what. `to` ends in the block of `copy`.
std::vector<Value*> TailLoop::step(const Region& from, Copy& copy, Region& to) {
  std::vector<Op*> ops = ops_of(from);
  Block* block = to.blocks.back();
  Leaf leaf = tree_.kind(ops);
  std::vector<Value*> next;
  if (leaf == Leaf::kExit) {
    if (!twice_)
      for (const Op* op : ops) copy.op(*op);
    next = {flag(false, block)};
    next.insert(next.end(), carried_.begin(), carried_.end());
    if (!twice_)
      for (Value* result : from.results()) unpack_tuples(copy.of(result), block, next);
    return next;
  }
  for (size_t i = 0; i + 1 < ops.size(); ++i) copy.op(*ops[i]);
  if (leaf == Leaf::kCall) {
    next = {flag(true, block)};
    for (Value* operand : ops.back()->operands()) unpack_tuples(copy.of(operand), block, next);
    next.insert(next.end(), results_.begin(), results_.end());
    return next;
  }
  Op* branch = append_op(OpKind::kIf, block, ops.back()->location);
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

/// Makes what the loop carried the results of the function, which `into` yields.
void TailLoop::give_carried(const std::vector<Info>& declared, Block* to, Region& into) {
  std::vector<Value*> results;
  size_t next = 0;
  for (Info info : declared) results.push_back(pack_tuple(info, outcome_, next, "result", to));
  for (Value* result : as_declared(results, declared, to)) into.yield->add_operand(result);
}

/// Copies the tree without the leaves that call; its results become those of `into`.
void TailLoop::finish(const Region& from, Copy copy, Block* to, Region& into) {
  std::vector<Op*> ops = ops_of(from);
  if (tree_.kind(ops) == Leaf::kExit) {
    for (const Op* op : ops) copy.op(*op);
    for (Value* result : from.results()) into.yield->add_operand(copy.of(result));
    return;
  }
  copy_pure(ops, ops.size() - 1, copy);
  const Op& tree = *ops.back();
  for (size_t side = 0; side < 2; ++side)
    if (!tree_.has_exit(*tree.regions[1 - side])) return finish(*tree.regions[side], std::move(copy), to, into);
  Op* branch = append_op(OpKind::kIf, to, tree.location);
  branch->origins = tree.origins;
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

/// Copies the ops that are pure or have results; others have run already and are not run again.
void TailLoop::copy_pure(const std::vector<Op*>& ops, size_t count, Copy& copy) const {
  for (size_t i = 0; i < count; ++i)
    if (tree_.is_pure(*ops[i]) || !ops[i]->results.empty()) copy.op(*ops[i]);
}

}  // namespace

Result<Changed> make_tail_loop(Module& module, Function& function, PassContext& context) {
  TailLoop loop(module, function, context);
  if (!loop.possible()) return Changed::kNo;
  RELAXC_DO(loop.rewrite());
  return Changed::kYes;
}

bool has_placeholder(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) return tensor->shape && tensor->dtype;
  if (const auto* shape = info->as<ShapeInfo>()) return shape->dims.has_value();
  return info->as<PrimInfo>() != nullptr;
}

Result<Value*> placeholder(Module& module, Info info, Block* to, PassContext& context) {
  GraphBuilder builder(module, context.ops, to, context.diag);
  builder.location = to->parent->function->location;
  if (const auto* shape = info->as<ShapeInfo>()) return builder.shape(*shape->dims);
  if (const auto* prim = info->as<PrimInfo>())
    return builder.prim(prim->value ? prim->value : module.context().zero(prim->dtype));
  const auto* tensor = info->as<TensorInfo>();
  Attrs attrs;
  attrs.set("dtype", *tensor->dtype);
  return builder.call("zeros", {builder.shape(*tensor->shape)}, std::move(attrs));
}

}  // namespace relaxc
