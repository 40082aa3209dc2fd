// host_caches.h: the data caches of the machine on which relaxc runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace relaxc {

/// A data or unified cache of a core, private or shared with others.
struct HostCache {
  int64_t bytes = 0;
  int64_t ways = 0, line_bytes = 0;  ///< 0 if the system does not say
};

/// Returns the cache of this level; nothing if the system does not describe it. `folder` is where Linux describes the
/// caches of the first core.
std::optional<HostCache> host_cache(int level, const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");
/// Returns the size of the cache of this level in bytes; nothing if the system does not describe it.
std::optional<int64_t> host_cache_bytes(int level, const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace relaxc
