// module_difference.h: do two modules compute the same?
#pragma once

#include <string>

#include "compiler/interface/object.h"
#include "compiler/relax/op_def.h"

namespace relaxc::test {

/// Runs every public Relax function of `a` on `trials` random inputs of several sizes, and what `b` has of that name: a
/// Relax function or, if `b` was lowered, the entry of its `object`. Empty if all results have the same bits (or both
/// runs end early with one code), else what differs, or which function is missing. Where a schedule reordered sums,
/// floats may differ by what that can make of them. External functions are replaced by a fixed one; if `b` calls one
/// that `a` does not, nothing is compared.
std::string difference_of_modules(relax::Module& a, relax::Module& b, const relax::OpTable& ops,
                                  const interface::Object& object = {}, uint32_t trials = 4);

}  // namespace relaxc::test
