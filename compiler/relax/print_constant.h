// print_constant.h: prints constants in the text IR.
#pragma once

#include <string>

#include "compiler/relax/constant.h"

namespace relaxc::relax {

/// Returns true if the constant is printed in place: at most 64 numbers.
bool prints_in_place(const ConstantData& data);
/// Returns `R.const([1.0, 2.0], "float32")`.
std::string constant_text(const ConstantData& data);

}  // namespace relaxc::relax
