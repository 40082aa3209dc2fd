// counting.h: how often memory was asked for, as a measure of what work costs that no clock disturbs.
#pragma once

#include <cstddef>

namespace relaxc::test {

/// Since the program began. A walk over a graph collects what it finds, so one that sees shared nodes again and
/// again shows.
size_t allocations();
/// From now on no more than this many: what asks for more gets std::bad_alloc. A cost that explodes ends so, and not in
/// minutes.
void allow_allocations(size_t most);

}  // namespace relaxc::test
