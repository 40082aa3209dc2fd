// print_constant.h: model data in the text IR.
#pragma once

#include <string>

#include "compiler/relax/constant.h"

namespace relaxc::relax {

/// True if the constant is written in place: numbers, at most 64.
bool prints_in_place(const ConstantData& data);
/// `R.const([1.0, 2.0], "float32")`.
std::string constant_text(const ConstantData& data);

}  // namespace relaxc::relax
