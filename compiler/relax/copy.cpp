// copy.cpp: copies ops and functions.
#include "compiler/relax/copy.h"

namespace relaxc::relax {

void Copy::copy(const Op& from, Block* to) {
  Op* made = function_.make_op(from.kind, from.location);
  made->def = from.def, made->callee = from.callee, made->attrs = from.attrs, made->constant = from.constant;
  made->origins = from.origins, made->guarded = from.guarded, made->requirements = from.requirements;
  const arith::Facts& facts = from.block->parent->function->facts;
  for (arith::Var var : from.binds) {
    auto chosen = bind_as.find(var);
    arith::Var fresh = chosen != bind_as.end() ? arith::Var(chosen->second.as<arith::VarNode>())
                                               : function_.context().var(var.name(), var.dtype());
    function_.facts.bound(fresh, facts.range_of(var));
    function_.facts.multiple(fresh, facts.multiple_of(var));
    symbols[var] = fresh;
    made->binds.push_back(fresh);
  }
  for (Requirement& requirement : made->requirements)
    for (arith::Expr* e : {&requirement.condition, &requirement.expected, &requirement.actual})
      if (*e) *e = arith::substitute(*e, symbols);
  for (Value* operand : from.operands()) made->add_operand(operand == nullptr ? nullptr : of(operand));
  made->block = to;
  to->ops.push_back(made);
  for (const Region* inner : from.regions) region(*inner, function_.make_region(made));
  for (Value* result : from.results) values[result] = function_.make_result(made, result->name, of(result->info));
}

void Copy::region(const Region& from, Region* to) {
  for (Value* argument : from.arguments)
    values[argument] = function_.make_argument(to, argument->name, of(argument->info));
  for (const Block* block : from.blocks) {
    Block* made = function_.make_block(to, block->dataflow);
    for (const Op* inner : block->ops) copy(*inner, made);
  }
  for (Value* result : from.results()) to->yield->add_operand(result == nullptr ? nullptr : of(result));
}

Function* copy_function(Module& module, const Function& function, std::string name) {
  Function* made = module.add_function(std::move(name));
  made->is_private = true;
  made->symbols = function.symbols;
  made->facts = function.facts;
  made->location = function.location;
  Copy(*made, nullptr).region(function.body(), &made->body());
  return made;
}

void discard(const std::vector<Block*>& blocks) {
  for (Block* block : blocks)
    for (Op* op : block->ops) {
      for (Region* region : op->regions) {
        region->yield->drop_operands();
        discard(region->blocks);
      }
      op->drop_operands();
    }
}

}  // namespace relaxc::relax
