// budget.h: checks --flash-budget and --ram-budget.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/codegen/llvm/inspect.h"
#include "compiler/interface/object.h"
#include "compiler/support/result.h"

namespace relaxc::api {

/// The value of --ram-budget=min: as little as possible.
inline constexpr uint64_t kLeastRam = UINT64_MAX;

/// Reports an object whose sections exceed --flash-budget or whose arena exceeds --ram-budget, with the largest
/// contributions.
Status check_budgets(const CompileOptions& options, const interface::Object& object,
                     const codegen_llvm::ObjectContents& contents, Diagnostics& diag);

}  // namespace relaxc::api
