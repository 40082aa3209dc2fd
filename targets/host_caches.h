// host_caches.h: the caches of the machine that relaxc runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace relaxc {

/// Bytes of the data cache of this level that a core has, shared or not. Nothing where the system does not say.
/// `folder`: where Linux describes the caches of the first core.
std::optional<int64_t> host_cache_bytes(int level, const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace relaxc
