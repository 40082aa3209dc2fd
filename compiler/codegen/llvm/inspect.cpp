// inspect.cpp: reads sections and symbols by LLVM's object file library.
#include "compiler/codegen/llvm/inspect.h"

#include <llvm/Object/COFF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/MachO.h>
#include <llvm/Object/SymbolSize.h>
#include <llvm/Object/Wasm.h>

#include <set>

#include "compiler/codegen/llvm/mapped_object.h"

namespace relaxc::codegen_llvm {
namespace {

using llvm::dyn_cast;
using llvm::object::COFFObjectFile;
using llvm::object::ELFObjectFileBase;
using llvm::object::ELFSectionRef;
using llvm::object::MachOObjectFile;
using llvm::object::ObjectFile;
using llvm::object::SectionRef;
using llvm::object::SymbolRef;
using llvm::object::WasmObjectFile;

template <typename T>
std::string text_of(llvm::Expected<T> name) {
  if (name) return llvm::StringRef(*name).str();
  llvm::consumeError(name.takeError());
  return {};
}

/// What a section is, beyond its name and size; `loaded` is false for what only linkers and debuggers read.
struct Use {
  bool loaded = true, writable = false;
};

Use use_of(const ObjectFile& file, const SectionRef& section) {
  if (llvm::isa<ELFObjectFileBase>(file)) {
    uint64_t flags = ELFSectionRef(section).getFlags();
    return {(flags & llvm::ELF::SHF_ALLOC) != 0, (flags & llvm::ELF::SHF_WRITE) != 0};
  }
  if (const auto* coff = dyn_cast<COFFObjectFile>(&file)) {
    uint32_t flags = coff->getCOFFSection(section)->Characteristics;
    constexpr uint32_t kNotLoaded =
        llvm::COFF::IMAGE_SCN_LNK_REMOVE | llvm::COFF::IMAGE_SCN_LNK_INFO | llvm::COFF::IMAGE_SCN_MEM_DISCARDABLE;
    return {(flags & kNotLoaded) == 0, (flags & llvm::COFF::IMAGE_SCN_MEM_WRITE) != 0};
  }
  if (const auto* macho = dyn_cast<MachOObjectFile>(&file)) {
    llvm::StringRef segment = macho->getSectionFinalSegmentName(section.getRawDataRefImpl());
    return {segment != "__DWARF" && segment != "__LD", segment.starts_with("__DATA")};
  }
  return {llvm::cast<WasmObjectFile>(file).getWasmSection(section).Type != llvm::wasm::WASM_SEC_CUSTOM, false};
}

/// The name of a section; in Mach-O with its segment, as in "__TEXT,__const".
std::string name_of(const ObjectFile& file, const SectionRef& section) {
  std::string name = text_of(section.getName());
  const auto* macho = dyn_cast<MachOObjectFile>(&file);
  if (macho == nullptr) return name;
  return macho->getSectionFinalSegmentName(section.getRawDataRefImpl()).str() + "," + name;
}

class Inspection {
 public:
  explicit Inspection(const ObjectFile& file) : file_(file) {}

  ObjectContents run() {
    for (const SectionRef section : file_.sections()) {
      Use use = use_of(file_, section);
      if (use.loaded && section.getSize() != 0)
        out_.sections.push_back({name_of(file_, section), section.getSize(), section.isText(), use.writable});
    }
    const auto* wasm = dyn_cast<WasmObjectFile>(&file_);
    if (wasm != nullptr && !wasm->isRelocatableObject())
      take_exports(*wasm);
    else
      for (const auto& [symbol, size] : llvm::object::computeSymbolSizes(file_)) take(symbol, size);
    if (const auto* coff = dyn_cast<COFFObjectFile>(&file_)) take_exports(*coff);
    out_.undefined.assign(undefined_.begin(), undefined_.end());
    return std::move(out_);
  }

 private:
  void take(const SymbolRef& symbol, uint64_t size) {
    std::string name = text_of(symbol.getName());
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<SymbolRef::Type> type = symbol.getType();
    if (!flags) return llvm::consumeError(flags.takeError());
    if (!type) return llvm::consumeError(type.takeError());
    bool is_code = *type == SymbolRef::ST_Function;
    bool temporary = file_.isMachO() && name.starts_with("ltmp");  // a label at the start of a section
    if (name.empty() || temporary) return;
    if ((*flags & SymbolRef::SF_Undefined) != 0)
      undefined_.insert(name);
    else if ((*flags & SymbolRef::SF_Global) != 0)
      out_.globals.push_back(placed({name, size, is_code, {}, 0}, symbol));
    else if (is_code)
      out_.locals.push_back(placed({name, size, true, {}, 0}, symbol));
  }

  /// Adds where the symbol is.
  ObjectSymbol placed(ObjectSymbol found, const SymbolRef& symbol) const {
    llvm::Expected<llvm::object::section_iterator> section = symbol.getSection();
    llvm::Expected<uint64_t> address = symbol.getAddress();
    if (!section || !address) {
      if (!section) llvm::consumeError(section.takeError());
      if (!address) llvm::consumeError(address.takeError());
      return found;
    }
    if (*section == file_.section_end()) return found;
    found.section = name_of(file_, **section);
    found.offset = file_.isRelocatableObject() ? *address - (*section)->getAddress() : *address;
    return found;
  }

  /// Takes the exports and imports of a linked WebAssembly module, which has no symbol table.
  void take_exports(const WasmObjectFile& file) {
    for (const llvm::wasm::WasmExport& entry : file.exports())
      out_.globals.push_back({entry.Name.str(), 0, entry.Kind == llvm::wasm::WASM_EXTERNAL_FUNCTION, {}, 0});
    for (const llvm::wasm::WasmImport& entry : file.imports()) undefined_.insert(entry.Field.str());
  }

  /// Takes the exports of a .dll, which has no other symbols.
  void take_exports(const COFFObjectFile& file) {
    for (const llvm::object::ExportDirectoryEntryRef& entry : file.export_directories()) {
      llvm::StringRef name;
      if (llvm::Error error = entry.getSymbolName(name)) return llvm::consumeError(std::move(error));
      if (!name.empty()) out_.globals.push_back({name.str(), 0, false, {}, 0});
    }
  }

  const ObjectFile& file_;
  ObjectContents out_;
  std::set<std::string> undefined_;
};

}  // namespace

Result<ObjectContents> inspect_object(const std::string& path, const std::string& shown, Diagnostics& diag) {
  auto file = map_object(path);
  if (!file) return diag.error(nullptr, Kind::io, "cannot read {} again: {}", shown, llvm::toString(file.takeError()));
  const ObjectFile& object = *file->getBinary();
  if (!object.isELF() && !object.isCOFF() && !object.isMachO() && !object.isWasm())
    return diag.error(nullptr, Kind::io, "cannot read {} again: its format is not one that relaxc writes", shown);
  return Inspection(object).run();
}

}  // namespace relaxc::codegen_llvm
