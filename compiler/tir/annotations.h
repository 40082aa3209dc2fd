// annotations.h: annotations of loops that a backend may follow; they affect when memory is read, never the result.
#pragma once

namespace relaxc::tir {

/// On a vectorized loop: distance in bytes. With each contiguous vector that is loaded, the cache line that far after
/// it is prefetched; that line may be outside of the buffer.
inline constexpr const char* kPrefetch = "prefetch";

}  // namespace relaxc::tir
