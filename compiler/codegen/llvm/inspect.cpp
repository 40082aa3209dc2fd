// inspect.cpp: sections and symbols by LLVM's reader of ELF.
#include "compiler/codegen/llvm/inspect.h"

#include <llvm/Object/ELFObjectFile.h>

#include <set>

namespace relaxc::codegen_llvm {
namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::ELFSymbolRef;
using llvm::object::SymbolRef;

std::string text_of(llvm::Expected<llvm::StringRef> name) {
  if (name) return name->str();
  llvm::consumeError(name.takeError());
  return {};
}

void take_symbol(const ELFSymbolRef& symbol, ObjectContents& out, std::set<std::string>& undefined) {
  std::string name = text_of(symbol.getName());
  llvm::Expected<uint32_t> flags = symbol.getFlags();
  if (!flags) return llvm::consumeError(flags.takeError());
  if (name.empty()) return;
  if ((*flags & SymbolRef::SF_Undefined) != 0)
    undefined.insert(name);
  else if ((*flags & SymbolRef::SF_Global) != 0)
    out.globals.push_back({name, symbol.getSize()});
}

}  // namespace

Result<ObjectContents> inspect_object(const std::string& path, const std::string& shown, Diagnostics& diag) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) return diag.error(nullptr, Kind::io, "cannot read {} again: {}", shown, llvm::toString(file.takeError()));
  const auto* elf = llvm::dyn_cast<ELFObjectFileBase>(file->getBinary());
  if (elf == nullptr) return diag.error(nullptr, Kind::io, "cannot read {} again: it is no ELF file", shown);
  ObjectContents out;
  for (const llvm::object::ELFSectionRef section : elf->sections()) {
    if ((section.getFlags() & llvm::ELF::SHF_ALLOC) == 0 || section.getSize() == 0) continue;
    out.sections.push_back({text_of(section.getName()), section.getSize(),
                            (section.getFlags() & llvm::ELF::SHF_EXECINSTR) != 0,
                            (section.getFlags() & llvm::ELF::SHF_WRITE) != 0});
  }
  std::set<std::string> undefined;
  for (const ELFSymbolRef symbol : elf->symbols()) take_symbol(symbol, out, undefined);
  out.undefined.assign(undefined.begin(), undefined.end());
  return out;
}

}  // namespace relaxc::codegen_llvm
