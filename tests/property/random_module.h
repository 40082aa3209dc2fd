// random_module.h: well-typed programs that nobody would write.
#pragma once

#include "compiler/relax/op_def.h"

namespace relaxc::property {

/// A module that verifies: functions with symbolic dims that call each other, dataflow blocks and code outside,
/// operators drawn from the table by their own definitions, branches, loops, tuples, casts with new symbols, prim
/// funcs. One seed gives one module.
relax::Module random_module(uint64_t seed, const relax::OpTable& ops);

}  // namespace relaxc::property
