// annotations.h: annotations of loops that a backend may follow; they affect when memory is read, never the result.
#pragma once

namespace relaxc::tir {

/// On a vectorized loop: distance in bytes. With each contiguous vector that is loaded, the cache line that far after
/// it is prefetched; that line may be outside of the buffer.
inline constexpr const char* kPrefetch = "prefetch";

/// On a serial loop: a number of iterations. With each iteration, lines of operands that the iteration that many after
/// it reads are prefetched, where they are not those of the iterations between; they may be outside of the buffers.
inline constexpr const char* kPrefetchIterations = "prefetch_iterations";

}  // namespace relaxc::tir
