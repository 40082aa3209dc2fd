// debug_lines.cpp: one subprogram and one line for each kernel.
//
// A kernel of several fused operators computes them in one loop, so no instruction belongs to one operator alone: the
// function has the names of all operators, and the location of the last. An ONNX node has no line; its name follows the
// file's, so that a profiler or addr2line prints it without being asked for functions.
#include "compiler/codegen/llvm/debug_lines.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace relaxc::codegen_llvm {
namespace {

constexpr unsigned kDwarfVersion = 4;  // a version that binutils and the debuggers of all targets read
constexpr size_t kMostNames = 16;

struct SourcePlace {
  std::string path;
  unsigned line = 0;
};

SourcePlace place_of(Location location) {
  if (location == nullptr) return {"generated", 0};
  if (const auto* span = std::get_if<TextSpan>(location))
    return {span->file == nullptr ? "generated" : span->file->path,
            span->file == nullptr ? 0 : line_column(*span).line};
  if (const auto* node = std::get_if<NodeOrigin>(location)) return {node->file + ":" + node->node, 1};
  return {std::get<FileOrigin>(*location).file, 1};
}

/// The graph nodes that the kernel comes from, at most kMostNames; its own name if none is known.
std::string name_of(const tir::PrimFunc& source) {
  std::string names;
  size_t count = 0;
  for (Location origin : source.origins) {
    const auto* node = origin == nullptr ? nullptr : std::get_if<NodeOrigin>(origin);
    if (node == nullptr || count++ >= kMostNames) continue;
    names += (names.empty() ? "" : " + ") + node->node + " (" + node->op + ")";
  }
  return names.empty() ? source.name : names;
}

}  // namespace

namespace {

/// The compile unit that an earlier DebugLines made in this module, or null: code for several CPUs has one line table.
llvm::DICompileUnit* unit_of(const llvm::Module& module) {
  const llvm::NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu");
  return units == nullptr ? nullptr : llvm::cast<llvm::DICompileUnit>(units->getOperand(0));
}

}  // namespace

DebugLines::DebugLines(llvm::Module& module) : builder_(module, true, unit_of(module)), unit_(unit_of(module)) {
  if (unit_ != nullptr) return;
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", kDwarfVersion);
  unit_ = builder_.createCompileUnit(llvm::dwarf::DW_LANG_C99, file(module.getName().str()), "relaxc", true, "", 0, "",
                                     llvm::DICompileUnit::FullDebug);
}

llvm::DIFile* DebugLines::file(const std::string& path) {
  llvm::DIFile*& known = files_[path];
  if (known == nullptr) known = builder_.createFile(path, "");
  return known;
}

void DebugLines::describe(llvm::Function& function, const tir::PrimFunc& source) {
  Location location = source.location;
  if (location == nullptr && !source.origins.empty()) location = source.origins.back();
  SourcePlace place = place_of(location);
  auto* type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  auto flags = llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagLocalToUnit |
               llvm::DISubprogram::SPFlagOptimized;
  llvm::DISubprogram* subprogram = builder_.createFunction(file(place.path), name_of(source), "", file(place.path),
                                                           place.line, type, place.line, llvm::DINode::FlagZero, flags);
  function.setSubprogram(subprogram);
  auto* here = llvm::DILocation::get(function.getContext(), place.line, 0, subprogram);
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (!instruction.getDebugLoc()) instruction.setDebugLoc(here);
}

}  // namespace relaxc::codegen_llvm
