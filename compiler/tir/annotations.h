// annotations.h: notes on loops that a backend may follow; they change when memory is read, never what is computed.
#pragma once

namespace relaxc::tir {

/// On a vectorized loop, bytes: with each vector whose lanes are side by side in memory, the line that is so far
/// behind it is asked for, which need not be part of the buffer.
inline constexpr const char* kPrefetch = "prefetch";

}  // namespace relaxc::tir
