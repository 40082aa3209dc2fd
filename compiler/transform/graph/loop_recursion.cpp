// loop_recursion.cpp: a function that calls itself last becomes a loop.
//
// Each call needs a frame, and how many there will be nobody knows; but a call in tail position needs nothing of its
// caller any more. `f(p): s(p); if c: return f(g(p)) else: return h(p)`, where s is what comes before the If, becomes
//
//     s(p); loop while c carries p: s(p); p = g(p); s(p), c
//     s(p); h(p)
//
// s is copied three times, which costs kernels nothing (they are shared) and what is unused goes away; it must be pure.
// Symbols of parameters whose shape the call changes become symbols that the loop carries.
//
// Rejected: carrying the values of s as well (their shapes would have to be carried too), and lowering a jump to the
// function's begin (the planner would have to see through it).
#include <algorithm>
#include <map>

#include "compiler/relax/builder.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Copies ops to the end of a block, with other values and symbols in place of some.
class Copy {
 public:
  Copy(Function& function, Block* to) : function_(function), to_(to) {}

  std::map<const Value*, Value*> values;
  arith::Substitution symbols;

  Value* of(Value* value) const {
    auto it = values.find(value);
    return it == values.end() ? value : it->second;
  }
  Info of(Info info) const { return substitute(function_.context(), info, symbols); }

  void op(const Op& from) { copy(from, to_); }

 private:
  void copy(const Op& from, Block* to) {
    Op* made = function_.make_op(from.kind, from.location);
    made->def = from.def, made->callee = from.callee, made->attrs = from.attrs, made->constant = from.constant;
    made->origins = from.origins, made->requirements = from.requirements;
    for (arith::Var var : from.binds) {
      arith::Var fresh = function_.context().var(var.name(), var.dtype());
      function_.facts.bound(fresh, function_.facts.range_of(var));
      symbols[var] = fresh;
      made->binds.push_back(fresh);
    }
    for (Requirement& requirement : made->requirements)
      for (arith::Expr* e : {&requirement.condition, &requirement.expected, &requirement.actual})
        if (*e) *e = arith::substitute(*e, symbols);
    for (Value* operand : from.operands()) made->add_operand(of(operand));
    made->block = to;
    to->ops.push_back(made);
    for (const Region* inner : from.regions) region(*inner, function_.make_region(made));
    for (Value* result : from.results) values[result] = function_.make_result(made, result->name, of(result->info));
  }

  void region(const Region& from, Region* to) {
    for (Value* argument : from.arguments)
      values[argument] = function_.make_argument(to, argument->name, of(argument->info));
    for (const Block* block : from.blocks) {
      Block* made = function_.make_block(to, block->dataflow);
      for (const Op* inner : block->ops) copy(*inner, made);
    }
    for (Value* result : from.results()) to->yield->add_operand(of(result));
  }

  Function& function_;
  Block* to_;
};

class TailCall {
 public:
  TailCall(Module& module, Function& function) : module_(module), function_(function) {}

  /// Whether the function has the form that the file's head describes.
  bool find() {
    std::vector<Op*> ops = ops_of(function_.body());
    const std::vector<Value*>& results = function_.body().results();
    if (ops.empty() || ops.back()->kind != OpKind::kIf || results != ops.back()->results) return false;
    branch_ = ops.back();
    before_.assign(ops.begin(), ops.end() - 1);
    for (const Op* op : before_)
      if (!is_pure(*op)) return false;
    for (size_t side = 0; side < 2; ++side) {
      std::vector<Op*> inner = ops_of(*branch_->regions[side]);
      if (inner.empty() || !calls_self(*inner.back()) || branch_->regions[side]->results() != inner.back()->results)
        continue;
      call_ = inner.back(), side_ = side;
    }
    if (call_ == nullptr) return false;
    size_t calls = 0;
    for (const Op* op : ops_of(function_.body(), true)) calls += calls_self(*op);
    bool tensors = std::all_of(call_->operands().begin(), call_->operands().end(),
                               [](const Value* v) { return v->info->as<TensorInfo>() != nullptr; });
    return calls == 1 && tensors;
  }

  void rewrite() {
    std::vector<Value*> parameters = function_.body().arguments;
    Region& body = function_.body();
    std::vector<Block*> old = body.blocks;
    body.blocks.clear();
    Block* block = function_.make_block(&body, false);

    Copy start(function_, block);
    for (Op* op : before_) start.op(*op);
    Op* loop = function_.make_op(OpKind::kLoop, call_->location);
    loop->add_operand(nullptr);
    loop->add_operand(condition(start, block));
    for (Value* parameter : parameters) loop->add_operand(parameter);
    loop->block = block;
    block->ops.push_back(loop);
    arith::Substitution inside = fresh_symbols(*loop), after = fresh_symbols(*loop);
    make_body(*loop, inside);
    Copy end(function_, block);
    end.symbols = after;
    for (Value* parameter : parameters)
      end.values[parameter] = function_.make_result(loop, parameter->name, end.of(parameter->info));
    for (Op* op : before_) end.op(*op);
    const Region& rest = *branch_->regions[1 - side_];
    for (Op* op : ops_of(rest)) end.op(*op);
    std::vector<Value*> results;
    for (Value* value : rest.results()) results.push_back(end.of(value));
    body.yield->drop_operands();
    for (Value* value : results) body.yield->add_operand(value);
    discard(old);
  }

 private:
  bool calls_self(const Op& op) const { return op.kind == OpKind::kCallFunction && op.callee == function_.name; }

  static bool is_pure(const Op& op) {
    if (op.kind == OpKind::kOperator) return op.def->pure;
    return op.kind != OpKind::kCallExternal && op.kind != OpKind::kCallFunction && op.regions.empty();
  }

  /// The If's condition in terms of a copy, turned round where the else branch is the one that calls.
  Value* condition(const Copy& copy, Block* block) {
    Value* value = copy.of(branch_->operand(0));
    if (side_ == 0) return value;
    Op* wrap = function_.make_op(OpKind::kIf, branch_->location);
    wrap->add_operand(value);
    wrap->block = block;
    block->ops.push_back(wrap);
    for (bool constant : {false, true}) {
      Region* region = function_.make_region(wrap);
      Block* inner = function_.make_block(region, false);
      Op* op = function_.make_op(OpKind::kConstant, branch_->location);
      op->constant = ConstantData::inline_bytes(DType::boolean(), {}, encode_scalar(DType::boolean(), constant));
      op->block = inner;
      inner->ops.push_back(op);
      region->yield->add_operand(
          function_.make_result(op, "", tensor_info(module_.context(), std::vector<Expr>{}, DType::boolean())));
    }
    return function_.make_result(wrap, "go_on", tensor_info(module_.context(), std::vector<Expr>{}, DType::boolean()));
  }

  /// New symbols, bound by the loop, for those in shapes that the call changes.
  arith::Substitution fresh_symbols(Op& loop) {
    arith::Substitution made;
    for (size_t i = 0; i < call_->operands().size(); ++i) {
      Info parameter = function_.body().arguments[i]->info;
      if (same(parameter, call_->operand(i)->info)) continue;
      for (arith::Var var : symbols_of(parameter)) {
        if (made.count(var) != 0) continue;
        arith::Var fresh = module_.context().var(var.name(), var.dtype());
        function_.facts.bound(fresh, function_.facts.range_of(var));
        made[var] = fresh;
        loop.binds.push_back(fresh);
      }
    }
    return made;
  }

  void make_body(Op& loop, const arith::Substitution& symbols) {
    Region* region = function_.make_region(&loop);
    arith::Var iteration = module_.context().var("iteration");
    loop.binds.push_back(iteration);
    function_.make_argument(region, "iteration", prim_info(module_.context(), DType::index(), iteration));
    Block* block = function_.make_block(region, false);
    Copy step(function_, block);
    step.symbols = symbols;
    const std::vector<Value*>& parameters = function_.body().arguments;
    for (Value* parameter : parameters)
      step.values[parameter] = function_.make_argument(region, parameter->name, step.of(parameter->info));
    for (Op* op : before_) step.op(*op);
    for (Op* op : ops_of(*branch_->regions[side_]))
      if (op != call_) step.op(*op);
    Copy next(function_, block);
    for (size_t i = 0; i < parameters.size(); ++i) {
      Value* value = step.of(call_->operand(i));
      next.values[parameters[i]] = value;
      match_symbols(parameters[i]->info, value->info, next.symbols);
    }
    for (Op* op : before_) next.op(*op);
    region->yield->add_operand(condition(next, block));
    for (Value* parameter : parameters) region->yield->add_operand(next.of(parameter));
  }

  static void match_symbols(Info formal, Info actual, arith::Substitution& found) {
    const std::vector<Expr>&from = *formal->as<TensorInfo>()->shape, &to = *actual->as<TensorInfo>()->shape;
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].as<arith::VarNode>() != nullptr) found.emplace(from[i], to[i]);
  }

  static void discard(const std::vector<Block*>& blocks) {
    for (Block* block : blocks)
      for (Op* op : block->ops) {
        for (Region* region : op->regions) {
          region->yield->drop_operands();
          discard(region->blocks);
        }
        op->drop_operands();
      }
  }

  Module& module_;
  Function& function_;
  Op *branch_ = nullptr, *call_ = nullptr;
  size_t side_ = 0;  ///< which branch calls
  std::vector<Op*> before_;
};

}  // namespace

Result<Changed> loop_recursion(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    TailCall tail(module, *function);
    if (!tail.find()) continue;
    tail.rewrite();
    changed = Changed::kYes;
  }
  return changed == Changed::kYes ? dead_code(module, context) : changed;
}

}  // namespace relaxc
