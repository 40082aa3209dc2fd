// budget.cpp: checks whether an object fits a device, and reports the largest contributions if it does not.
//
// Flash is what is loaded: every section of the object. That is an upper bound, since a linker that collects garbage
// drops the generic call and its tables if only the typed call is used. RAM is the arena and the pools, without the
// stack and the program's own tensors. The compilation has already tried to keep a RAM budget (row_budget.h), so memory
// that exceeds it is as small as was found.
#include "compiler/api/report/budget.h"

#include <algorithm>
#include <set>

namespace relaxc::api {
namespace {

constexpr size_t kPiecesShown = 12;

struct Piece {
  std::string name;
  uint64_t bytes = 0;
};

/// Names what a section or symbol holds: "kernel conv2d_1" for ".text.model.f.conv2d_1", "weights", or its own name.
std::string owner(const std::string& name, const std::string& model) {
  std::string kernel = model + ".f.";
  if (size_t at = name.find(kernel); at != std::string::npos) return "kernel " + name.substr(at + kernel.size());
  bool holds_weights = name == "__TEXT,__rlx_weights" || name.ends_with(model + ".weights");
  return holds_weights ? "weights" : name;
}

/// Returns what takes flash, the largest first: sections, but functions instead of a code section that they share.
std::vector<Piece> pieces_of(const codegen_llvm::ObjectContents& contents, const std::string& model) {
  std::vector<Piece> pieces;
  size_t functions = contents.locals.size();
  std::set<std::string> code_sections;
  for (const codegen_llvm::ObjectSymbol& symbol : contents.globals) functions += symbol.code ? 1 : 0;
  for (const codegen_llvm::ObjectSection& section : contents.sections)
    if (section.code) code_sections.insert(section.name);
  bool shared = functions > code_sections.size();
  int64_t other_code = 0;
  for (const codegen_llvm::ObjectSection& section : contents.sections)
    if (shared && section.code)
      other_code += static_cast<int64_t>(section.bytes);
    else
      pieces.push_back({owner(section.name, model), section.bytes});
  for (const auto* symbols : {&contents.globals, &contents.locals})
    for (const codegen_llvm::ObjectSymbol& symbol : *symbols) {
      if (!shared || !symbol.code) continue;
      pieces.push_back({owner(symbol.name, model), symbol.bytes});
      other_code -= static_cast<int64_t>(symbol.bytes);
    }
  if (shared && other_code > 0) pieces.push_back({"other code", static_cast<uint64_t>(other_code)});
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.bytes > b.bytes; });
  return pieces;
}

Status check_flash(const CompileOptions& options, const interface::Object& object,
                   const codegen_llvm::ObjectContents& contents, Diagnostics& diag) {
  uint64_t sum = 0;
  for (const codegen_llvm::ObjectSection& section : contents.sections) sum += section.bytes;
  if (sum <= options.flash_budget) return Done{};
  Failure failure =
      diag.error(nullptr, Kind::unsupported, "the object takes {} bytes of flash, {} more than its budget of {}", sum,
                 sum - options.flash_budget, options.flash_budget);
  std::vector<Piece> pieces = pieces_of(contents, object.name);
  uint64_t rest = sum;
  for (size_t i = 0; i < std::min(pieces.size(), kPiecesShown); rest -= pieces[i++].bytes)
    diag.note(nullptr, "{:>9} bytes {}", pieces[i].bytes, pieces[i].name);
  if (pieces.size() > kPiecesShown)
    diag.note(nullptr, "{:>9} bytes in {} smaller pieces", rest, pieces.size() - kPiecesShown);
  return failure;
}

Status check_ram(const CompileOptions& options, const interface::Object& object, Diagnostics& diag) {
  for (const interface::Entry& entry : object.entries) {
    if (entry.arena_max == UINT64_MAX)
      return diag.error(nullptr, Kind::unbounded,
                        "the arena of '{}' has no bound, so it fits no budget; bound it with --dim", entry.name);
    uint64_t bytes = entry.arena_max;
    for (const interface::Pool& pool : entry.pools) bytes += pool.bytes;
    if (bytes <= options.ram_budget) continue;
    Failure failure = diag.error(
        nullptr, Kind::unsupported, "the {} of '{}' takes {} bytes of RAM, {} more than its budget of {}",
        entry.pools.empty() ? "arena" : "memory", entry.name, bytes, bytes - options.ram_budget, options.ram_budget);
    diag.note(nullptr, "this is the least that was found; --ram-budget=min compiles it");
    return failure;
  }
  return Done{};
}

}  // namespace

Status check_budgets(const CompileOptions& options, const interface::Object& object,
                     const codegen_llvm::ObjectContents& contents, Diagnostics& diag) {
  bool fits = options.flash_budget == 0 || check_flash(options, object, contents, diag);
  fits &= options.ram_budget == 0 || check_ram(options, object, diag);
  return fits ? Status(Done{}) : Status(diag.failed());
}

}  // namespace relaxc::api
