// pipelines.h: the lists of passes that relaxc runs.
#pragma once

#include <span>

#include "compiler/transform/pass.h"

namespace relaxc {

/// From what a frontend made to host prim funcs and kernels, planned.
std::span<const Pass> compile_pipeline();
/// A pass by name, wherever it stands; null if there is none.
const Pass* find_pass(std::string_view name);

}  // namespace relaxc
