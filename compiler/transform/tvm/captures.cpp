// captures.cpp: what the body of a loop reads of the function around it.
#include "compiler/transform/tvm/captures.h"

#include <algorithm>

namespace relaxc {

using namespace relax;

Captures::Captures(const Op& loop) {
  for (Var var : loop.binds) own_symbols_.insert(var.node());
  read(*loop.regions[0]);
  if (const Value* trips = loop.operand(0); trips != nullptr && trips->info->as<PrimInfo>() != nullptr)
    read(trips->info);
  sort_symbols(*loop.block->parent->function);
}

void Captures::read(const Region& region) {
  for (const Value* argument : region.arguments) {
    own_.insert(argument);
    read(argument->info);
  }
  for (const Block* block : region.blocks)
    for (const Op* op : block->ops) read(*op);
  for (Value* value : region.results()) read(value);
}

void Captures::read(const Op& op) {
  for (Var var : op.binds) own_symbols_.insert(var.node());
  for (Value* operand : op.operands()) read(operand);
  for (const Value* result : op.results) {
    own_.insert(result);
    read(result->info);
  }
  for (const Region* inner : op.regions) read(*inner);
}

void Captures::read(Value* value) {
  if (value == nullptr || own_.count(value) != 0 || !seen_.insert(value).second) return;
  values_.push_back(value);
  read(value->info);
}

void Captures::read(Info info) {
  for (Var var : symbols_of(info))
    if (seen_symbols_.insert(var.node()).second) symbols_.push_back(var);
}

/// Drops the loop's own symbols, and those that are not whole numbers: a parameter of the function that has one as its
/// value passes it.
void Captures::sort_symbols(const Function& function) {
  std::erase_if(symbols_, [&](Var var) { return own_symbols_.count(var.node()) != 0; });
  std::erase_if(symbols_, [&](Var var) {
    if (var.dtype().is_index() || var.dtype() == DType::i(64)) return false;
    const std::vector<Value*>& params = function.body().arguments;
    auto at = std::find_if(params.begin(), params.end(), [&](const Value* param) {
      const auto* prim = param->info->as<PrimInfo>();
      return prim != nullptr && prim->value && prim->value == Expr(var);
    });
    if (at == params.end()) lost_ = var;
    if (at != params.end()) read(*at);
    return true;
  });
}

}  // namespace relaxc
