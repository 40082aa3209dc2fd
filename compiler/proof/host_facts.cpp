// host_facts.cpp: reads conditions from the object's entries and from the guards that run before them.
#include "compiler/proof/host_facts.h"

#include "compiler/arith/visit.h"
#include "compiler/support/status_code.h"
#include "compiler/tir/visit.h"

namespace relaxc::proof {
namespace {

using arith::Expr;

void add_declared(const interface::Symbol& symbol, arith::Var var, std::vector<Expr>& conditions) {
  arith::Context& context = var.context();
  if (symbol.lower != INT64_MIN) conditions.push_back(arith::le(context.index(symbol.lower), var));
  if (symbol.upper != INT64_MAX) conditions.push_back(arith::le(var, context.index(symbol.upper)));
  if (symbol.multiple_of > 1) conditions.push_back(arith::eq(arith::floormod(var, symbol.multiple_of), 0));
}

/// Adds the conditions of guards that always run: those outside of branches and loops.
void add_guards(tir::Stmt s, arith::Substitution values, std::vector<Expr>& conditions) {
  while (s) {
    if (const auto* seq = s.as<tir::Seq>()) {
      for (size_t i = 0; i + 1 < seq->body.size(); ++i) add_guards(seq->body[i], values, conditions);
      s = seq->body.empty() ? tir::Stmt() : seq->body.back();
    } else if (const auto* let = s.as<tir::Let>()) {
      values[let->var] = arith::substitute(let->value, values);
      s = let->body;
    } else if (const auto* guard = s.as<tir::Guard>()) {
      const Expr condition = arith::substitute(guard->condition, values);
      if (guard->code != kSizeOverflow && !has_loads(condition)) conditions.push_back(condition);
      return;
    } else {
      return;
    }
  }
}

}  // namespace

const interface::Entry* entry_of(const interface::Object& object, const tir::PrimFunc& host) {
  for (const interface::Entry& entry : object.entries)
    if (entry.call == host.name) return &entry;
  return nullptr;
}

std::vector<arith::Var> scalars_of(const tir::PrimFunc& function) {
  std::vector<arith::Var> scalars;
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) scalars.push_back(param.var);
  return scalars;
}

std::set<uint32_t> scalar_ids(const tir::PrimFunc& function) {
  std::set<uint32_t> ids;
  for (arith::Var var : scalars_of(function)) ids.insert(var->id);
  return ids;
}

std::vector<Expr> conditions_of(const tir::PrimFunc& host, const interface::Object& object,
                                const tir::FindFunction& find) {
  std::vector<Expr> conditions;
  const interface::Entry* entry = entry_of(object, host);
  const std::vector<arith::Var> ours = scalars_of(host);
  for (size_t i = 0; i < ours.size(); ++i) {
    if (entry == nullptr)
      conditions.push_back(arith::le(ours[i].context().index(0), ours[i]));
    else
      add_declared(entry->symbols.at(i), ours[i], conditions);
  }
  if (entry == nullptr) return conditions;
  const tir::PrimFunc& shapes = *find(entry->shapes);
  const std::vector<arith::Var> theirs = scalars_of(shapes);
  arith::Substitution symbols;
  for (size_t i = 0; i < theirs.size(); ++i) symbols[theirs[i]] = ours.at(i);
  add_guards(shapes.body, std::move(symbols), conditions);
  return conditions;
}

arith::Facts facts_of(const tir::PrimFunc& host, const interface::Object& object, const tir::FindFunction& find) {
  arith::Facts facts;
  for (Expr condition : conditions_of(host, object, find)) facts.assume(condition);
  return facts;
}

Parameters parameters_of(const tir::PrimFunc& host, const interface::Object& object) {
  Parameters known;
  std::vector<tir::BufferRef> buffers;
  for (const tir::Param& param : host.params)
    if (param.buffer != nullptr) buffers.push_back(param.buffer);
  known.scratch.insert(host.params.at(*host.host.arena).buffer->id);
  const interface::Entry* entry = entry_of(object, host);
  if (entry == nullptr) return known;
  for (size_t i = 0; i < entry->pools.size(); ++i)
    known.scratch.insert(host.params.at(*host.host.arena + 1 + i).buffer->id);
  for (size_t i = 0; i < entry->outputs.size(); ++i) {
    const interface::Tensor& output = entry->outputs[i];
    const bool own = output.kind == interface::Tensor::kTensor && !output.data_dependent && output.pair < 0;
    if (own) known.idle.insert(buffers.at(entry->inputs.size() + i)->id);
  }
  return known;
}

}  // namespace relaxc::proof
