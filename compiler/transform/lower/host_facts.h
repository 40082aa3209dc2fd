// host_facts.h: what is known of host functions, and of the calls in them, once a module is lowered.
#pragma once

#include "compiler/arith/facts.h"
#include "compiler/interface/object.h"
#include "compiler/plan/lifetime.h"
#include "compiler/relax/module.h"

namespace relaxc::lower {

/// The entry whose call `host` is; null: a private function.
const interface::Entry* entry_of(const interface::Object& object, const tir::PrimFunc& host);

/// Whether facts hold what guards say of the address space: all that they exclude would need more memory than a machine
/// can have, so they keep sizes from overflowing, and bound nothing that anybody could provide.
enum class SizeGuards { kAssumed, kLeftOut };

/// What the entry declares of its symbols, and what its guards check before memory is asked for; those of private
/// functions are dims.
arith::Facts facts_of(const relax::Module& module, const interface::Object& object, const tir::PrimFunc& host,
                      SizeGuards sizes = SizeGuards::kAssumed);

/// What callees of the module allow and want, as mark_in_place and their parameters say. `module` must outlive it.
plan::Calls calls_of(const relax::Module& module);

}  // namespace relaxc::lower
