// host_facts.h: facts about host functions and the calls in them, once a module is lowered.
#pragma once

#include "compiler/arith/facts.h"
#include "compiler/interface/object.h"
#include "compiler/plan/lifetime.h"
#include "compiler/relax/module.h"

namespace relaxc::lower {

/// Returns the entry whose host prim func is `host`; null for a private function.
const interface::Entry* entry_of(const interface::Object& object, const tir::PrimFunc& host);

/// Whether facts include the guards that sizes fit the address space. They keep sizes from overflowing, but bound
/// nothing that a machine could provide.
enum class SizeGuards { kAssumed, kLeftOut };

/// Returns facts about the symbols of `host`: what the entry declares and its guards check before memory is requested.
/// A private function's symbols are dims, so they are not negative.
arith::Facts facts_of(const relax::Module& module, const interface::Object& object, const tir::PrimFunc& host,
                      SizeGuards sizes = SizeGuards::kAssumed);

/// Returns which arguments callees may overwrite and how they must be aligned. `module` must outlive the result.
plan::Calls calls_of(const relax::Module& module);

}  // namespace relaxc::lower
