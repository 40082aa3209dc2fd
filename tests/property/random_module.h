// random_module.h: random well-typed programs, stranger than written ones.
#pragma once

#include "compiler/relax/op_def.h"

namespace relaxc::property {

/// A module that verifies: functions with symbolic dims that call each other, dataflow blocks and code outside,
/// operators drawn from the table by their own definitions, branches, loops, tuples, casts with new symbols, prim
/// funcs, most with closures and calls in place, some with external functions, text and assertions. One seed gives one
/// module.
relax::Module random_module(uint64_t seed, const relax::OpTable& ops);

/// A function of float32 alone whose every number is whole and at most 2^24 in magnitude if its inputs are whole and in
/// -2..2: two products or sums over at most 64 terms (2 -> 4 * 64 -> 256 * 256 * 64 = 2^22) and two additions. Float
/// arithmetic is exact there, so a sum has the same bits in whatever order a schedule takes it.
relax::Module random_exact_module(uint64_t seed, const relax::OpTable& ops);

}  // namespace relaxc::property
