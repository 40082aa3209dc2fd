// host_facts.h: what is taken for granted of a host function's parameters.
#pragma once

#include <set>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/interface/object.h"
#include "compiler/proof/host_pair.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::proof {

/// The entry whose call `host` is; null: a private function.
const interface::Entry* entry_of(const interface::Object& object, const tir::PrimFunc& host);

std::vector<arith::Var> scalars_of(const tir::PrimFunc& function);
std::set<uint32_t> scalar_ids(const tir::PrimFunc& function);

/// Conditions on the scalar parameters. Of an entry: what it declares of its symbols, and what the guards check that
/// run before it, but for those that keep sizes from overflowing. Of another function: they are dims, and not negative.
std::vector<arith::Expr> conditions_of(const tir::PrimFunc& host, const interface::Object& object,
                                       const tir::FindFunction& find);
/// The same as facts.
arith::Facts facts_of(const tir::PrimFunc& host, const interface::Object& object, const tir::FindFunction& find);

/// Results of an entry whose memory is theirs alone and of a known size are idle until they are written (docs/abi.md);
/// a result that carries a state may be its input's memory.
Parameters parameters_of(const tir::PrimFunc& host, const interface::Object& object);

}  // namespace relaxc::proof
