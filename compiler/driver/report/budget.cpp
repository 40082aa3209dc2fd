// budget.cpp: whether an object fits a device, and who is to blame if it does not.
//
// Flash is what is loaded: every section of the object, which is an upper bound, since a linker that collects garbage
// drops the generic call and its tables where only the typed call is used. RAM is the arena; stack and the program's
// own tensors are the program's.
#include "compiler/driver/report/budget.h"

#include <algorithm>

namespace relaxc::driver {
namespace {

constexpr size_t kShown = 12;

/// "conv2d_1" of ".text.model.f.conv2d_1"; other sections as they are called.
std::string owner(const std::string& section, const std::string& model) {
  std::string kernel = ".text." + model + ".f.";
  if (section.rfind(kernel, 0) == 0) return "kernel " + section.substr(kernel.size());
  return section == ".rodata." + model + ".weights" ? "weights" : section;
}

Status check_flash(const Options& options, const interface::Object& object,
                   const codegen_llvm::ObjectContents& contents, Diagnostics& diag) {
  uint64_t sum = 0;
  std::vector<codegen_llvm::ObjectSection> sections = contents.sections;
  for (const codegen_llvm::ObjectSection& section : sections) sum += section.bytes;
  if (sum <= options.flash_budget) return Done{};
  Failure failure =
      diag.error(nullptr, Kind::unsupported, "the object takes {} bytes of flash, {} more than its budget of {}", sum,
                 sum - options.flash_budget, options.flash_budget);
  std::stable_sort(sections.begin(), sections.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  uint64_t rest = sum;
  for (size_t i = 0; i < std::min(sections.size(), kShown); rest -= sections[i++].bytes)
    diag.note(nullptr, "{:>9} bytes {}", sections[i].bytes, owner(sections[i].name, object.name));
  if (rest != 0) diag.note(nullptr, "{:>9} bytes in {} smaller sections", rest, sections.size() - kShown);
  return failure;
}

Status check_ram(const Options& options, const interface::Object& object, Diagnostics& diag) {
  for (const interface::Entry& entry : object.entries) {
    if (entry.arena_max == UINT64_MAX)
      return diag.error(nullptr, Kind::unbounded,
                        "the arena of '{}' has no bound, and so fits no budget; --dim gives it one", entry.name);
    if (entry.arena_max > options.ram_budget)
      return diag.error(nullptr, Kind::unsupported,
                        "the arena of '{}' takes {} bytes of RAM, {} more than its budget of {}", entry.name,
                        entry.arena_max, entry.arena_max - options.ram_budget, options.ram_budget);
  }
  return Done{};
}

}  // namespace

Status check_budgets(const Options& options, const interface::Object& object,
                     const codegen_llvm::ObjectContents& contents, Diagnostics& diag) {
  bool fits = options.flash_budget == 0 || check_flash(options, object, contents, diag);
  fits &= options.ram_budget == 0 || check_ram(options, object, diag);
  return fits ? Status(Done{}) : Status(diag.failed());
}

}  // namespace relaxc::driver
