// host_facts.cpp: collects facts from entries, guards and callees.
#include "compiler/transform/lower/host_facts.h"

#include "compiler/plan/storage.h"
#include "compiler/support/status_code.h"
#include "compiler/tir/visit.h"

namespace relaxc::lower {
namespace {

using arith::Expr;
using tir::BufferRef;

std::vector<arith::Var> scalars_of(const tir::PrimFunc& function) {
  std::vector<arith::Var> scalars;
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) scalars.push_back(param.var);
  return scalars;
}

void assume_guards(const relax::Module& module, const tir::PrimFunc& host, const interface::Entry& entry,
                   SizeGuards sizes, arith::Facts& facts) {
  const tir::PrimFunc& checks = *module.find_prim_func(entry.shapes);
  std::vector<arith::Var> ours = scalars_of(host), theirs = scalars_of(checks);
  arith::Substitution symbols;
  for (size_t k = 0; k < theirs.size(); ++k) symbols[theirs[k]] = ours.at(k);
  tir::for_each_stmt(checks.body, [&](tir::Stmt s) {
    const auto* guard = s.as<tir::Guard>();
    if (guard == nullptr || (guard->code == kSizeOverflow && sizes == SizeGuards::kLeftOut)) return;
    facts.assume(arith::substitute(guard->condition, symbols));
  });
}

/// Returns the arguments that may share the output's memory, each with the output, by the callee's in_place mark.
std::vector<std::pair<size_t, size_t>> in_place_arguments(const relax::Module& module, const tir::Invoke& invoke) {
  std::vector<std::pair<size_t, size_t>> pairs;
  const tir::PrimFunc* callee = module.find_prim_func(invoke.callee);
  const std::optional<size_t> result = callee == nullptr ? std::nullopt : callee->result();
  if (!result) return pairs;
  for (size_t input : callee->memory.in_place) pairs.emplace_back(input, *result);
  return pairs;
}

/// Returns the operands that the result may overlap, by the callee's `overlaps`.
plan::Calls::Overlaps overlaps_of(const relax::Module& module, const tir::Invoke& invoke) {
  const tir::PrimFunc* callee = module.find_prim_func(invoke.callee);
  const std::optional<size_t> result = callee == nullptr ? std::nullopt : callee->result();
  return result ? plan::Calls::Overlaps{*result, callee->memory.overlaps} : plan::Calls::Overlaps{};
}

/// Returns the alignment in bytes that a callee in the module relies on; that of the arena for any other callee.
int64_t alignment_of(const relax::Module& module, const tir::Invoke& invoke, size_t argument) {
  const tir::PrimFunc* callee = module.find_prim_func(invoke.callee);
  if (callee == nullptr || argument >= callee->params.size()) return plan::kAlignment;
  BufferRef buffer = callee->params[argument].buffer;
  return buffer == nullptr || buffer->alignment == 0 ? 1 : buffer->alignment;
}

}  // namespace

const interface::Entry* entry_of(const interface::Object& object, const tir::PrimFunc& host) {
  for (const interface::Entry& candidate : object.entries)
    if (candidate.call == host.name) return &candidate;
  return nullptr;
}

arith::Facts facts_of(const relax::Module& module, const interface::Object& object, const tir::PrimFunc& host,
                      SizeGuards sizes) {
  arith::Facts facts;
  const interface::Entry* entry = entry_of(object, host);
  std::vector<arith::Var> scalars = scalars_of(host);
  for (size_t k = 0; k < scalars.size(); ++k) {
    if (entry == nullptr) {
      facts.bound(scalars[k], arith::Range::at_least(0));
      continue;
    }
    const interface::Symbol& symbol = entry->symbols.at(k);
    facts.bound(scalars[k], {symbol.lower, symbol.upper});
    if (symbol.multiple_of > 1) facts.multiple(scalars[k], symbol.multiple_of);
  }
  if (entry != nullptr) assume_guards(module, host, *entry, sizes, facts);
  return facts;
}

plan::Calls calls_of(const relax::Module& module) {
  plan::Calls calls;
  calls.in_place = [&module](const tir::Invoke& invoke) { return in_place_arguments(module, invoke); };
  calls.overlaps = [&module](const tir::Invoke& invoke) { return overlaps_of(module, invoke); };
  calls.alignment = [&module](const tir::Invoke& invoke, size_t argument) {
    return alignment_of(module, invoke, argument);
  };
  return calls;
}

}  // namespace relaxc::lower
