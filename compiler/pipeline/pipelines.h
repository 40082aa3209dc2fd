// pipelines.h: the lists of passes that relaxc runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/transform/pass.h"

namespace relaxc {

/// From what a frontend made to host prim funcs and kernels, planned.
std::span<const Pass> compile_pipeline();
/// A pass by name, wherever it is; null if there is none.
const Pass* find_pass(std::string_view name);
/// The name that a pass or an option of a pass ("merge_products.budget") has today, if `name` is how an earlier version
/// spelled it; else `name`.
std::string current_name(std::string_view name);

}  // namespace relaxc
