// host_facts.h: what may be assumed about a host function's parameters.
#pragma once

#include <set>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/interface/object.h"
#include "compiler/proof/host_pair.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::proof {

/// Returns the entry whose call `host` is; null for a private function.
const interface::Entry* entry_of(const interface::Object& object, const tir::PrimFunc& host);

std::vector<arith::Var> scalars_of(const tir::PrimFunc& function);
std::set<uint32_t> scalar_ids(const tir::PrimFunc& function);

/// Returns conditions on the scalar parameters. Of an entry: the declared ranges of its symbols, and guards that always
/// run before it, except those against overflow. Of another function: each is a dim, so it is not negative.
std::vector<arith::Expr> conditions_of(const tir::PrimFunc& host, const interface::Object& object,
                                       const tir::FindFunction& find);
/// Returns the same conditions as facts.
arith::Facts facts_of(const tir::PrimFunc& host, const interface::Object& object, const tir::FindFunction& find);

/// Returns which buffer parameters are scratch or idle. A result of an entry is idle until it is written if it has
/// memory of its own and a known size (docs/abi.md); a result that carries a state may share its input's memory.
Parameters parameters_of(const tir::PrimFunc& host, const interface::Object& object);

}  // namespace relaxc::proof
