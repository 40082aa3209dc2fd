// host_caches.cpp: reads Linux's description, one folder for each cache: index0/level "1", type "Data", size "48K".
//
// Rejected: CPUID, which only x86 has and which each vendor encodes differently.
#include "targets/host_caches.h"

#include <fstream>

namespace relaxc {
namespace {

template <typename T>
T read(const std::string& path) {
  T value{};
  std::ifstream(path) >> value;
  return value;
}

/// Returns the bytes in "48K", "1024K" or "32M"; 0 if the file has no number.
int64_t bytes_of(const std::string& path) {
  std::ifstream in(path);
  int64_t count = 0;
  char unit = ' ';
  in >> count >> unit;
  return count * (unit == 'M' ? 1024 * 1024 : unit == 'K' ? 1024 : 1);
}

}  // namespace

std::optional<HostCache> host_cache(int level, const std::string& folder) {
  for (int index = 0;; ++index) {
    std::string cache = folder + "/index" + std::to_string(index);
    int found = read<int>(cache + "/level");
    if (found == 0) return std::nullopt;  // there are no further caches
    if (found != level || read<std::string>(cache + "/type") == "Instruction") continue;
    const HostCache described{bytes_of(cache + "/size"), read<int64_t>(cache + "/ways_of_associativity"),
                              read<int64_t>(cache + "/coherency_line_size")};
    return described.bytes > 0 ? std::optional(described) : std::nullopt;
  }
}

std::optional<int64_t> host_cache_bytes(int level, const std::string& folder) {
  const std::optional<HostCache> cache = host_cache(level, folder);
  return cache ? std::optional(cache->bytes) : std::nullopt;
}

}  // namespace relaxc
