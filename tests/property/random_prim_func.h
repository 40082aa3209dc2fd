// random_prim_func.h: prim funcs of loops, blocks, branches and locals.
#pragma once

#include "compiler/tir/builder.h"
#include "tests/property/random.h"

namespace relaxc::property {

/// A prim func that reads buffers of these dtypes and shapes and writes every element of one result. Its last parameter
/// is the result; each variable in a dim of `inputs` must be alone in some dim.
tir::PrimFunc random_prim_func(arith::Context& context, Random& random, std::string name,
                               const std::vector<tir::BufferRef>& inputs);

}  // namespace relaxc::property
