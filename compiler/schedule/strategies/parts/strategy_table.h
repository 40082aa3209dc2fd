// strategy_table.h: the rows of all files of strategies, gathered by their names as operators are.
#pragma once

#include <span>
#include <vector>

#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// Those of each file.
std::vector<std::span<const Strategy>> strategy_families();

}  // namespace relaxc::schedule
