// externals.h: the functions that the programs of this folder expect from the program that links them.
#pragma once

#include <span>
#include <string>

#include "compiler/tir/evaluator.h"

namespace relaxc::e2e {

/// The same functions as the interpreter calls them.
int32_t call_external(const std::string& name, std::span<const tir::ExternalArg> args);

}  // namespace relaxc::e2e
