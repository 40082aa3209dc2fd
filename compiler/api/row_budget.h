// row_budget.h: what the pass stream_rows is asked for, so that --ram-budget holds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "compiler/api/compile_options.h"
#include "compiler/interface/object.h"

namespace relaxc::api {

/// The arena and the pools of the entry that takes most; nothing if one of them has no bound.
std::optional<uint64_t> memory_of(const interface::Object& object);

/// The memory of a program that is compiled with this number for `stream_rows.budget`; nothing if there is none.
using TryRows = std::function<std::optional<uint64_t>(int64_t row_budget)>;

/// The number by which the memory is at most `ram_budget` bytes with the fewest copies, or as small as was found if
/// that is not reached or `ram_budget` is kLeastRam. The pass counts tensors alone, so it is asked for less until
/// scratch memory of kernels fits as well: six programs are compiled at most.
int64_t find_row_budget(uint64_t ram_budget, const TryRows& memory_with);

}  // namespace relaxc::api
