// same_meaning.h: do two modules compute the same?
#pragma once

#include <string>

#include "compiler/relax/op_def.h"

namespace relaxc::test {

/// Runs every public Relax function that both modules have on the same random inputs of several sizes. Empty if all
/// results have the same bits (or both runs end by a guard of the same code), else what differs. External functions are
/// replaced by a fixed one.
std::string meaning_differs(relax::Module& a, relax::Module& b, const relax::OpTable& ops);

}  // namespace relaxc::test
