// pipelines.h: the lists of passes that relaxc runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/transform/pass.h"

namespace relaxc {

/// Returns the passes from the module that a frontend made to host prim funcs and kernels with planned memory.
std::span<const Pass> compile_pipeline();
/// Returns the pass of that name; null if there is none.
const Pass* find_pass(std::string_view name);
/// Returns the current name of a pass or of an option of a pass ("merge_products.budget") if `name` is the spelling of
/// an earlier version; else `name`.
std::string current_name(std::string_view name);

}  // namespace relaxc
