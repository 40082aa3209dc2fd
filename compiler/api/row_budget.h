// row_budget.h: finds an option of the pass stream_rows that keeps --ram-budget.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "compiler/api/compile_options.h"
#include "compiler/interface/object.h"

namespace relaxc::api {

/// Returns the size of arena and pools of the entry that needs most; nullopt if one has no bound.
std::optional<uint64_t> memory_of(const interface::Object& object);

/// Returns the memory of the program compiled with this value of `stream_rows.budget`; nullopt if it has no bound.
using TryRows = std::function<std::optional<uint64_t>(int64_t row_budget)>;

/// Returns the value with the fewest copies for which the memory is at most `ram_budget` bytes, or that with the least
/// memory if none is, or if `ram_budget` is kLeastRam. The pass counts only tensors, so lower values are tried until
/// the scratch memory of kernels fits as well; at most 14 programs are compiled.
int64_t find_row_budget(uint64_t ram_budget, const TryRows& memory_with);

}  // namespace relaxc::api
