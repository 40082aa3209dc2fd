// scratch_copy.h: a part of a buffer in scratch memory, contiguous and near, while a loop runs.
#pragma once

#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// The part of the buffer that all iterations of the loop together access, if it can be somewhere else meanwhile.
Legal<Region> is_cacheable(const Tree& tree, BufferRef buffer, uint32_t loop);
/// Whether `s` stores to the memory of the buffer.
bool is_stored(const Tree& tree, Stmt s, BufferRef buffer);
/// Scratch memory for the part.
BufferRef cache_of(Tree& tree, BufferRef buffer, const Region& region);
/// `s` with the copy in the buffer's place.
Stmt through(Tree& tree, BufferRef cache, Stmt s, BufferRef buffer, const Region& region);
/// The elements of the box that exist go from the buffer to the copy, or back.
Stmt copy_between(Tree& tree, BufferRef buffer, BufferRef cache, const Region& region, bool to_cache);

}  // namespace relaxc::schedule
