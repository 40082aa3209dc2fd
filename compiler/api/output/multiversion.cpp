// multiversion.cpp: combines the versions of a program.
//
// Guards, shapes and tables do not depend on the CPU and exist once. Each version has its own kernels. Weights that two
// versions read in the same packing exist once too, since they are laid out together.
#include "compiler/api/output/multiversion.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc::api {

Status cover(interface::Object& object, const std::deque<LesserVersion>& lesser, Diagnostics& diag) {
  for (const LesserVersion& version : lesser) {
    RELAXC_CHECK(version.object.entries.size() == object.entries.size(), "levels differ in their entry points");
    for (size_t i = 0; i < object.entries.size(); ++i) {
      interface::Entry& entry = object.entries[i];
      const interface::Entry& other = version.object.entries[i];
      bool same = entry.name == other.name && entry.symbols.size() == other.symbols.size() &&
                  entry.arena.empty() == other.arena.empty() && entry.pools.size() == other.pools.size();
      for (size_t k = 0; same && k < entry.symbols.size(); ++k)
        same = entry.symbols[k].name == other.symbols[k].name && entry.symbols[k].lower == other.symbols[k].lower &&
               entry.symbols[k].upper == other.symbols[k].upper;
      RELAXC_CHECK(same, "levels differ in the interface of " + entry.name);
      entry.arena_max = std::max(entry.arena_max, other.arena_max);
      entry.arena_align = std::max(entry.arena_align, other.arena_align);
      for (size_t k = 0; k < entry.pools.size(); ++k)
        entry.pools[k].bytes = std::max(entry.pools[k].bytes, other.pools[k].bytes);
      entry.needs_allocator |= other.needs_allocator;
    }
    for (size_t i = 0; i < object.public_prim_funcs.size(); ++i) {
      interface::PublicPrimFunc& function = object.public_prim_funcs[i];
      const interface::PublicPrimFunc& other = version.object.public_prim_funcs.at(i);
      if (function.arena.empty() != other.arena.empty())
        return diag.error(
            nullptr, Kind::unsupported,
            "prim func '{}' needs memory from the caller on only some of these CPUs, so one object cannot "
            "have it for all; compile for one CPU, or make it private and call it from a function",
            function.name);
      function.arena_bytes = std::max(function.arena_bytes, other.arena_bytes);
    }
    object.prints |= version.object.prints;
  }
  return Done{};
}

std::vector<std::string> duplicated(const interface::Object& object, const std::deque<LesserVersion>& lesser,
                                    const std::vector<codegen_llvm::CpuLevel>& levels) {
  std::vector<std::string> lines;
  if (levels.size() == 1)
    return {fmt::format("code is for {}; on a CPU without it, calls return CPU_FEATURES (--mcpu selects another)",
                        levels[0].name)};
  for (size_t i = 0; i < levels.size(); ++i) {
    bool best = i == lesser.size();
    const interface::Object& version = best ? object : lesser[i].object;
    std::string weights = best ? "the packing of weights that others share where it fits"
                               : fmt::format("{} bytes of weights in a packing of its own", lesser[i].own_weights);
    lines.push_back(
        fmt::format("level {}: {} functions of its own, {}", levels[i].name, version.functions.size(), weights));
  }
  return lines;
}

std::vector<codegen_llvm::LevelVersion> versions(const interface::Object& object,
                                                 const std::deque<LesserVersion>& lesser,
                                                 const std::vector<codegen_llvm::CpuLevel>& levels) {
  std::vector<codegen_llvm::LevelVersion> out;
  for (size_t i = 0; i < levels.size(); ++i)
    out.push_back({&levels[i], i == lesser.size() ? &object : &lesser[i].object});
  return out;
}

}  // namespace relaxc::api
