// host_caches.h: the caches of the machine that relaxc runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace relaxc {

/// A data cache that a core has, shared or not.
struct HostCache {
  int64_t bytes = 0;
  int64_t ways = 0, line_bytes = 0;  ///< 0: the system does not say
};

/// The one of this level. Nothing where the system does not say. `folder`: where Linux describes the caches of the
/// first core.
std::optional<HostCache> host_cache(int level, const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");
/// Its bytes.
std::optional<int64_t> host_cache_bytes(int level, const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace relaxc
