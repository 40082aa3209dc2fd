// cpu_levels.cpp: the CPUs that a list may name, and the bits of rlx_context.cpu_features that each requires.
//
// A level is sound only if a bit that the program can test covers every instruction that LLVM may select for it. So a
// list may name only CPUs whose features are all in the table below; one with further features, such as znver4, is
// refused rather than trusted.
#include "compiler/codegen/llvm/cpu_levels.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <set>

#include "compiler/codegen/llvm/target.h"

namespace relaxc::codegen_llvm {
namespace {

struct FeatureBit {
  uint64_t bit;  ///< RLX_CPU_*
  std::string_view features;
};

// clang-format off
constexpr FeatureBit kX86[] = {
    {1u << 0, "sse3 ssse3 sse4.1 sse4.2 popcnt cx16"},
    {1u << 1, "avx avx2"},
    {1u << 2, "fma"},
    {1u << 3, "f16c"},
    {1u << 4, "avx512f avx512bw avx512cd avx512dq avx512vl"},
    {1u << 5, "avx512vnni"},
    {1u << 6, "avxvnni"},
    {1u << 7, "bmi bmi2 lzcnt movbe"},
};
/// Each of these features implies version 8.2, so bits stand for v8.2a too. Version 8.6 has both i8mm and bf16, and
/// no earlier core has only one of the two (Neoverse V1 and N2, Cortex-A510 and A710 have both).
constexpr FeatureBit kAArch64[] = {
    {1u << 17, "dotprod"},
    {1u << 18, "i8mm bf16"},
    {1u << 19, "fullfp16"},
    {1u << 20, "sve"},
};
// clang-format on

struct Architecture {
  std::string_view baseline;
  std::string_view cpus;  ///< CPUs whose features are all in the table or in every CPU of the architecture
  std::span<const FeatureBit> bits;
};

const Architecture* architecture_of(const llvm::Triple& triple) {
  static constexpr Architecture kX86Levels{"x86-64", "x86-64 x86-64-v2 x86-64-v3 x86-64-v4", kX86};
  static constexpr Architecture kAArch64Levels{"generic", "generic", kAArch64};
  if (triple.getArch() == llvm::Triple::x86_64) return &kX86Levels;
  return triple.getArch() == llvm::Triple::aarch64 ? &kAArch64Levels : nullptr;
}

std::vector<std::string> words(std::string_view text, char separator) {
  std::vector<std::string> out(1);
  for (char c : text)
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

bool one_of(std::string_view word, std::string_view list) {
  for (const std::string& candidate : words(list, ' '))
    if (candidate == word) return true;
  return false;
}

std::string all_features(const Architecture& architecture) {
  std::string list;
  for (const FeatureBit& bit : architecture.bits)
    for (const std::string& feature : words(bit.features, ' ')) list += (list.empty() ? "" : ", ") + feature;
  return list;
}

/// Returns the RLX_CPU_* bits of the features that code for `target` uses.
uint64_t needs(const Target& target, const Architecture& architecture) {
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, error);
  RELAXC_CHECK(known != nullptr, error);
  std::unique_ptr<llvm::MCSubtargetInfo> info(known->createMCSubtargetInfo(triple, target.cpu, target.features));
  uint64_t bits = 0;
  for (const FeatureBit& bit : architecture.bits)
    for (const std::string& feature : words(bit.features, ' '))
      if (info->checkFeatures("+" + feature)) bits |= bit.bit;
  return bits;
}

class Levels {
 public:
  Levels(const Machine& machine, const Architecture& architecture, Diagnostics& diag)
      : machine_(machine), architecture_(architecture), diag(diag) {}

  Result<CpuLevel> level(const std::string& text) {
    std::vector<std::string> parts = words(text, '+');
    Machine machine = machine_;
    RELAXC_DO(take_cpu(parts[0], machine));
    for (size_t i = 1; i < parts.size(); ++i) {
      if (!known_feature(parts[i]))
        return diag.error(nullptr, Kind::usage,
                          "--mcpu={}: '{}' cannot be detected at run time; a list of CPUs takes {}", text, parts[i],
                          all_features(architecture_));
      machine.features += (machine.features.empty() ? "+" : ",+") + parts[i];
    }
    CpuLevel level;
    level.name = text;
    RELAXC_TRY(level.target, resolve_target(machine, diag));
    level.needs = needs(level.target, architecture_);
    if (machine.features.find("v8.2a") != std::string::npos && level.needs == 0)
      return diag.error(nullptr, Kind::usage, "--mcpu={}: cpu_features has no bit for v8.2a alone", text);
    return level;
  }

 private:
  Status take_cpu(const std::string& name, Machine& machine) {
    const KnownMachine* known = find_machine(name);
    llvm::Triple triple(llvm::Triple::normalize(machine_.triple));
    bool same = known != nullptr && llvm::Triple(std::string(known->triple)).getArch() == triple.getArch();
    machine.cpu = same ? std::string(known->cpu) : name;
    if (!one_of(machine.cpu, architecture_.cpus)) {
      std::string cpus(architecture_.cpus);
      std::replace(cpus.begin(), cpus.end(), ' ', '/');
      return diag.error(nullptr, Kind::usage,
                        "--mcpu: '{}' cannot be in a list of CPUs, because not all of its features can be detected at "
                        "run time; {} can, with features appended: {}+{}",
                        name, cpus, architecture_.baseline, words(architecture_.bits[0].features, ' ')[0]);
    }
    machine.features = same ? std::string(known->features) : "";
    return Done{};
  }

  bool known_feature(const std::string& name) const {
    for (const FeatureBit& bit : architecture_.bits)
      if (one_of(name, bit.features)) return true;
    return false;
  }

  const Machine& machine_;
  const Architecture& architecture_;
  Diagnostics& diag;
};

}  // namespace

Result<std::vector<CpuLevel>> resolve_levels(const Machine& machine, const std::string& list, Diagnostics& diag) {
  Machine plain = machine;
  plain.cpu.clear(), plain.features.clear();
  RELAXC_TRY(Target usual, resolve_target(plain, diag));
  plain.triple = usual.triple;
  const Architecture* architecture = architecture_of(llvm::Triple(usual.triple));
  if (architecture == nullptr)
    return diag.error(nullptr, Kind::usage,
                      "--mcpu={}: an object can hold code for several CPUs on x86-64 and aarch64 only", list);
  Levels levels(plain, *architecture, diag);
  std::vector<CpuLevel> out;
  std::set<std::string> names;
  for (const std::string& text : words(list, ',')) {
    if (!names.insert(text).second)
      return diag.error(nullptr, Kind::usage, "--mcpu={}: '{}' is listed twice", list, text);
    RELAXC_TRY(CpuLevel level, levels.level(text));
    if (!out.empty() && (out.back().needs & ~level.needs) != 0)
      return diag.error(nullptr, Kind::usage,
                        "--mcpu={}: '{}' lacks features of '{}' before it; write the more basic CPU first", list, text,
                        out.back().name);
    if (!out.empty() && out.back().needs == level.needs)
      return diag.error(nullptr, Kind::usage, "--mcpu={}: '{}' and '{}' cannot be distinguished at run time", list,
                        text, out.back().name);
    out.push_back(std::move(level));
  }
  return out;
}

std::optional<CpuLevel> only_level(const Target& target) {
  const Architecture* architecture = architecture_of(llvm::Triple(target.triple));
  if (architecture == nullptr || !one_of(target.cpu, architecture->cpus)) return std::nullopt;
  return CpuLevel{target.cpu, target, needs(target, *architecture)};
}

Result<Target> baseline_of(const CpuLevel& level, Diagnostics& diag) {
  const Architecture* architecture = architecture_of(llvm::Triple(level.target.triple));
  RELAXC_CHECK(architecture != nullptr, "levels of an architecture that has none");
  Machine machine;
  machine.triple = level.target.triple;
  machine.cpu = architecture->baseline;
  machine.task_slots = level.target.task_slots;
  return resolve_target(machine, diag);
}

}  // namespace relaxc::codegen_llvm
