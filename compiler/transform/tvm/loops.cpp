// loops.cpp: writes the loops of a module as functions that call themselves, which is the form that TVM has.
//
//     with R.loop(trips, condition=c, carried=(x,)) as (i, a):      def main_loop(sizes: R.Shape(["i", "trips"]), go,
//     a,
//         …                                                                    stacked: R.Tensor(("i", "n"), …), w):
//         y = R.carry(a1, condition=c1, scan=(b,))                       if i < trips:
//                                                                            if go: …; r = main_loop([i + 1, …], c1, …)
//                                                                            else: r = (a, stacked)
//
// The parameters are the state: the number of the iteration and every symbol that the body reads, as the elements of
// one shape, which is where TVM's types can bind a symbol; the condition; what is carried; what is stacked so far, a
// tensor that each iteration makes one row longer; and the values around the loop that the body reads. Constants,
// shapes and scalars among these are made again inside. A result whose dims the loop decides is declared by its rank,
// and the caller reads the dims with a match_cast.
//
// Rejected: rows written into memory of all iterations, since a condition makes their number unknown; the condition as
// an operand of a conjunction, since one half is a scalar and the other a tensor, which TVM does not mix.
#include "compiler/transform/tvm/loops.h"

#include <algorithm>

#include "compiler/relax/copy.h"
#include "compiler/transform/tvm/captures.h"
#include "compiler/transform/tvm/packed.h"
#include "compiler/transform/tvm/stack.h"

namespace relaxc {
namespace {

using namespace relax;

class LoopWriting {
 public:
  LoopWriting(Module& module, const OpTable& ops, Op& loop, Diagnostics& diag)
      : module_(module),
        ops_(ops),
        context_(module.context()),
        diag_(diag),
        loop_(loop),
        body_(*loop.regions[0]),
        around_(*loop.block->parent->function),
        captures_(loop),
        made_(*module.add_function(module.unique_name(around_.name + "_loop"))) {}

  Status run() {
    RELAXC_DO(check());
    made_.is_private = true;
    made_.facts = around_.facts;
    made_.location = around_.location;
    RELAXC_DO(make_parameters());
    RELAXC_DO(make_body());
    return replace_loop();
  }

 private:
  size_t carried() const { return body_.arguments.size() - 1; }
  size_t stacked() const { return loop_.results.size() - carried(); }
  bool has_condition() const { return loop_.operand(1) != nullptr || body_.results()[0] != nullptr; }
  Expr step() const { return body_.arguments[0]->info->as<PrimInfo>()->value; }
  GraphBuilder builder(Block* block) {
    GraphBuilder made(module_, ops_, block, diag_);
    made.location = loop_.location;
    return made;
  }

  Status check() const;
  Status make_parameters();
  Status take_captures(GraphBuilder& entry, Copy& copy);
  Value* parameter(std::string name, Info info);
  Info result_info() const;
  Status make_body();
  Result<Value*> guarded(Block* block, size_t depth);
  Result<Value*> left_alone(Block* block);
  Result<Value*> iterate(Block* block);
  Value* bool_tensor(GraphBuilder& here, Value* value);
  Result<Value*> call_again(Copy& copy, Block* last);
  Status replace_loop();
  Result<std::vector<Value*>> first_arguments(GraphBuilder& before);
  Result<Expr> trip_count(GraphBuilder& before);
  Op* call(GraphBuilder& builder, std::vector<Value*> arguments);

  Module& module_;
  const OpTable& ops_;
  Context& context_;
  Diagnostics& diag_;
  Op& loop_;
  Region& body_;
  Function& around_;
  Captures captures_;
  Function& made_;
  Expr trips_;                     ///< in `made_`; null if only a condition ends the loop
  bool counts_ = false;            ///< whether the trip count is a symbol of `made_`, read from a tensor
  std::vector<Value*> arguments_;  ///< the carried values inside of `made_`
  std::vector<Stack> stacks_;
  std::vector<Value*> passed_;                           ///< values around the loop that are parameters
  std::vector<Value*> kept_;                             ///< the parameters that have them
  std::vector<std::pair<const Value*, Value*>> inside_;  ///< values around the loop, and what they are in `made_`
  std::vector<Value*> conditions_;
};

Status LoopWriting::check() const {
  const auto* prim = body_.arguments[0]->info->as<PrimInfo>();
  const auto* trips = loop_.operand(0) == nullptr ? nullptr : loop_.operand(0)->info->as<PrimInfo>();
  bool numbered = prim != nullptr && prim->value && prim->value.as<arith::VarNode>() != nullptr;
  if (!numbered || (trips != nullptr && !trips->value))
    return diag_.error(loop_.location, Kind::unsupported,
                       "the iterations of this loop in '{}' are not counted by a symbol, which --dialect=tvm requires; "
                       "name the trip count with R.match_cast",
                       around_.name);
  if (captures_.lost())
    return diag_.error(loop_.location, Kind::unsupported,
                       "this loop in '{}' reads '{}', a symbol of dtype {}, which --dialect=tvm passes only if a "
                       "parameter of the function has it as its value",
                       around_.name, captures_.lost()->name(), to_string(captures_.lost()->dtype()));
  return Done{};
}

Value* LoopWriting::parameter(std::string name, Info info) {
  return made_.make_argument(&made_.body(), std::move(name), info);
}

Status LoopWriting::make_parameters() {
  std::vector<Expr> sizes{step()};
  if (const Value* trips = loop_.operand(0)) {
    const auto* prim = trips->info->as<PrimInfo>();
    counts_ = prim == nullptr;
    trips_ = counts_ ? Expr(context_.var("trips")) : arith::cast(DType::index(), prim->value);
    if (counts_) sizes.push_back(trips_);
  }
  for (Var var : captures_.symbols()) sizes.push_back(arith::cast(DType::index(), var));
  parameter("sizes", shape_info(context_, std::move(sizes)));
  GraphBuilder entry = builder(made_.make_block(&made_.body(), false));
  if (trips_) conditions_.push_back(entry.prim(arith::lt(step(), trips_)));
  if (has_condition())
    conditions_.push_back(parameter("go", tensor_info(context_, std::vector<Expr>(), DType::boolean())));
  if (conditions_.empty()) conditions_.push_back(entry.prim(context_.boolean(true)));
  for (size_t i = 1; i <= carried(); ++i) {
    const Value* argument = body_.arguments[i];
    Value* param = parameter(argument->name, travelling_info(context_, argument->info));
    RELAXC_TRY(param, arrived(entry, param, argument->info));
    arguments_.push_back(param);
  }
  for (size_t k = carried(); k < loop_.results.size(); ++k) {
    stacks_.emplace_back(loop_.results[k]->tensor(), step(), loop_.binds);
    stacks_.back().so_far = parameter(loop_.results[k]->name, stacks_.back().info);
  }
  Copy copy(made_, entry.block());
  RELAXC_DO(take_captures(entry, copy));
  for (const Value* param : made_.body().arguments)
    for (Var var : symbols_of(param->info))
      if (std::find(made_.symbols.begin(), made_.symbols.end(), var) == made_.symbols.end())
        made_.symbols.push_back(var);
  return Done{};
}

Status LoopWriting::take_captures(GraphBuilder& entry, Copy& copy) {
  for (Value* value : captures_.values()) {
    OpKind kind = value->op == nullptr ? OpKind::kOperator : value->op->kind;
    if (kind == OpKind::kConstant || kind == OpKind::kShape || kind == OpKind::kPrim) {
      copy.op(*value->op);
      inside_.emplace_back(value, copy.of(value));
      continue;
    }
    Value* param = nullptr;
    if (const auto* prim = value->info->as<PrimInfo>(); prim == nullptr || !prim->value || !prim->dtype.is_index()) {
      param = parameter(value->name, travelling_info(context_, value->info));
      passed_.push_back(value);
      kept_.push_back(param);
    }
    RELAXC_TRY(param, arrived(entry, param, value->info));
    inside_.emplace_back(value, param);
  }
  return Done{};
}

/// Returns the type of what the function gives: carried values, then stacks.
Info LoopWriting::result_info() const {
  std::vector<Info> infos;
  for (size_t i = 1; i <= carried(); ++i)
    infos.push_back(without(context_, travelling_info(context_, body_.arguments[i]->info), loop_.binds));
  for (const Stack& stack : stacks_) infos.push_back(stack.result_info());
  return packed_info(context_, infos);
}

Status LoopWriting::make_body() {
  RELAXC_TRY(Value * result, guarded(made_.body().blocks.front(), 0));
  made_.body().yield->add_operand(result);
  return Done{};
}

/// Appends an iteration to `block` that runs if the conditions from number `depth` on hold.
Result<Value*> LoopWriting::guarded(Block* block, size_t depth) {
  if (depth == conditions_.size()) return iterate(block);
  GraphBuilder here = builder(block);
  Op* branch = here.append(OpKind::kIf, {conditions_[depth]});
  Region *runs = made_.make_region(branch), *ends = made_.make_region(branch);
  RELAXC_TRY(Value * last, guarded(made_.make_block(runs, false), depth + 1));
  runs->yield->add_operand(last);
  RELAXC_TRY(Value * state, left_alone(made_.make_block(ends, false)));
  ends->yield->add_operand(state);
  return made_.make_result(branch, "state", result_info());
}

Result<Value*> LoopWriting::left_alone(Block* block) {
  GraphBuilder here = builder(block);
  std::vector<Value*> state = arguments_;
  for (const Stack& stack : stacks_) state.push_back(stack.so_far);
  return pack(here, state);
}

Result<Value*> LoopWriting::iterate(Block* block) {
  Copy copy(made_, block);
  GraphBuilder here = builder(block);
  copy.values[body_.arguments[0]] = here.prim(step());
  for (size_t i = 0; i < carried(); ++i) copy.values[body_.arguments[i + 1]] = arguments_[i];
  for (const auto& [value, inside] : inside_) copy.values[value] = inside;
  for (const Block* part : body_.blocks) {
    copy.move_to(made_.make_block(block->parent, part->dataflow));
    for (const Op* op : part->ops) copy.op(*op);
  }
  return call_again(copy, made_.make_block(block->parent, false));
}

Result<Value*> LoopWriting::call_again(Copy& copy, Block* last) {
  GraphBuilder here = builder(last);
  const std::vector<Value*>& next = body_.results();
  std::vector<Expr> sizes = *made_.body().arguments[0]->info->as<ShapeInfo>()->dims;
  sizes[0] = sizes[0] + 1;
  std::vector<Value*> arguments{here.shape(std::move(sizes))};
  if (has_condition()) {
    Value* go = conditions_.back();
    if (next[0] != nullptr) go = bool_tensor(here, copy.of(next[0]));
    arguments.push_back(go);
  }
  for (size_t i = 1; i <= carried(); ++i) {
    RELAXC_TRY(Value * value, to_travel(here, copy.of(next[i])));
    arguments.push_back(value);
  }
  for (size_t k = 0; k < stacks_.size(); ++k) {
    RELAXC_TRY(Value * longer, stacks_[k].push(here, copy.of(next[1 + carried() + k])));
    arguments.push_back(longer);
  }
  arguments.insert(arguments.end(), kept_.begin(), kept_.end());
  return call(here, std::move(arguments))->result();
}

/// Returns a bool scalar as a tensor; TVM makes none of a scalar, so it is chosen of two constants.
Value* LoopWriting::bool_tensor(GraphBuilder& here, Value* value) {
  if (value->info->as<PrimInfo>() == nullptr) return value;
  Function& function = here.function();
  Op* branch = here.append(OpKind::kIf, {value});
  for (bool flag : {true, false}) {
    Region* region = function.make_region(branch);
    region->yield->add_operand(builder(function.make_block(region, false)).scalar(DType::boolean(), flag ? 1 : 0));
  }
  return function.make_result(branch, "go", tensor_info(context_, std::vector<Expr>(), DType::boolean()));
}

Op* LoopWriting::call(GraphBuilder& builder, std::vector<Value*> arguments) {
  Op* made = builder.append(OpKind::kCallFunction, std::move(arguments));
  made->callee = made_.name;
  builder.function().make_result(made, "state", result_info());
  return made;
}

/// Returns the trip count in the function around the loop.
Result<Expr> LoopWriting::trip_count(GraphBuilder& before) {
  RELAXC_TRY(Value * vector, before.call("reshape", {loop_.operand(0), before.shape({context_.index(1)})}));
  RELAXC_TRY(Value * shape, before.call("tensor_to_shape", {vector}));
  return shape->info->as<ShapeInfo>()->dims->at(0);
}

Result<std::vector<Value*>> LoopWriting::first_arguments(GraphBuilder& before) {
  std::vector<Expr> sizes{context_.index(0)};
  if (counts_) {
    RELAXC_TRY(Expr trips, trip_count(before));
    sizes.push_back(trips);
  }
  for (Var var : captures_.symbols()) sizes.push_back(arith::cast(DType::index(), var));
  std::vector<Value*> arguments{before.shape(std::move(sizes))};
  if (has_condition()) {
    Value* go = loop_.operand(1);
    if (go == nullptr) {
      go = before.scalar(DType::boolean(), 1);
    } else {
      go = bool_tensor(before, go);
    }
    arguments.push_back(go);
  }
  for (size_t i = 0; i < carried(); ++i) {
    RELAXC_TRY(Value * value, to_travel(before, loop_.operand(i + 2)));
    arguments.push_back(value);
  }
  for (const Stack& stack : stacks_) {
    RELAXC_TRY(Value * empty, stack.empty(before));
    arguments.push_back(empty);
  }
  for (Value* value : passed_) {
    RELAXC_TRY(Value * passed, to_travel(before, value));
    arguments.push_back(passed);
  }
  return arguments;
}

Status LoopWriting::replace_loop() {
  GraphBuilder before(module_, ops_, &loop_, diag_);
  RELAXC_TRY(std::vector<Value*> arguments, first_arguments(before));
  std::vector<Info> infos;
  for (const Value* result : loop_.results) infos.push_back(result->info);
  RELAXC_TRY(std::vector<Value*> results,
             unpack(before, call(before, std::move(arguments))->result(), infos, loop_.binds));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]->name.empty()) results[i]->name = loop_.results[i]->name;
    loop_.results[i]->replace_all_uses_with(results[i]);
  }
  erase_ops(around_.body(), [&](Op* op) { return op == &loop_; });
  return Done{};
}

/// Returns the first loop of a function that is in no other, or null.
Op* outermost_loop(Function& function) {
  for (Op* op : ops_of(function.body(), true))
    if (op->kind == OpKind::kLoop) return op;
  return nullptr;
}

}  // namespace

Status loops_to_functions(Module& module, const OpTable& ops, Diagnostics& diag) {
  // The function of a loop comes behind all others, so loops inside of it are found there.
  for (size_t i = 0; i < module.functions().size(); ++i)
    while (Op* loop = outermost_loop(*module.functions()[i])) RELAXC_DO(LoopWriting(module, ops, *loop, diag).run());
  return Done{};
}

}  // namespace relaxc
