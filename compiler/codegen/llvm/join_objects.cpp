// join_objects.cpp: what `ld -r` does, for objects that LLVM has just written.
//
// Every function and table has a section of its own, so the layout inside of sections does not change: the sections of
// the parts follow those of the first object. Relocations, symbols, names and the section table, whose indices change,
// are written again after all of them. Sections that only tools read (attributes, notes) are equal in all objects;
// those of the first one stay.
//
// Rejected: the system's linker, which does not exist for every machine, and would read and copy the weights; one
// assembly text for all parts, which takes longer to assemble than the parts take to compile.
#include "compiler/codegen/llvm/join_objects.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/MC/StringTableBuilder.h>
#include <llvm/Object/ELF.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "compiler/support/check.h"

namespace relaxc::codegen_llvm {
namespace {

namespace elf = llvm::ELF;

template <typename T>
T read(llvm::Expected<T> found) {
  if (!found)
    check_failed("the object just written can be read", __FILE__, __LINE__, llvm::toString(found.takeError()));
  return *found;
}

template <typename ELFT>
class Joining {
  using File = llvm::object::ELFFile<ELFT>;
  using Header = typename ELFT::Ehdr;
  using Section = typename ELFT::Shdr;
  using Symbol = typename ELFT::Sym;

  /// One of the objects, and the indices of its sections and symbols in the joined object; 0 if it leaves them out.
  struct Object {
    File file;
    typename ELFT::ShdrRange sections;
    const Section* symbol_table = nullptr;
    typename ELFT::SymRange symbols = {};
    llvm::StringRef names = {};
    std::vector<uint32_t> section_numbers = {}, symbol_numbers = {};
  };

 public:
  Joining(llvm::StringRef first, llvm::ArrayRef<llvm::StringRef> parts) {
    add(first);
    for (llvm::StringRef part : parts) add(part);
  }

  /// The size to which the first object's file is cut, and the bytes that follow then.
  uint64_t cut() const { return cut_; }
  const std::string& tail() const { return tail_; }
  const Header& header() const { return header_; }

  void run() {
    header_ = objects_.front().file.getHeader();
    sections_.emplace_back();  // the null section and symbol of ELF
    symbols_.emplace_back();
    for (Object& object : objects_) take_contents(object);
    for (Object& object : objects_) take_symbols(object, true);
    first_global_ = static_cast<uint32_t>(symbols_.size());
    for (Object& object : objects_) take_symbols(object, false);
    for (Object& object : objects_) name_undefined(object);
    for (Object& object : objects_) take_relocations(object);
    write_tables();
  }

 private:
  bool is_first(const Object& object) const { return &object == &objects_.front(); }

  void add(llvm::StringRef bytes) {
    File file = read(File::create(bytes));
    auto sections = read(file.sections());
    Object object{file, sections};
    for (const Section& section : sections)
      if (section.sh_type == elf::SHT_SYMTAB) object.symbol_table = &section;
    RELAXC_CHECK(object.symbol_table != nullptr, "an object without symbols");
    object.symbols = read(file.symbols(object.symbol_table));
    object.names = read(file.getStringTableForSymtab(*object.symbol_table));
    object.section_numbers.resize(sections.size());
    object.symbol_numbers.resize(object.symbols.size());
    objects_.push_back(std::move(object));
  }

  static bool has_relocations(const Section& section) {
    return section.sh_type == elf::SHT_REL || section.sh_type == elf::SHT_RELA;
  }

  bool is_taken(const Object& object, const Section& section) const {
    bool ties = section.sh_type == elf::SHT_NULL || section.sh_type == elf::SHT_SYMTAB ||
                section.sh_type == elf::SHT_STRTAB || has_relocations(section);
    RELAXC_CHECK(section.sh_type != elf::SHT_GROUP && section.sh_type != elf::SHT_SYMTAB_SHNDX,
                 "an object with groups of sections, or too many of them");
    return !ties && (is_first(object) || ((section.sh_flags & elf::SHF_ALLOC) != 0 && section.sh_size != 0));
  }

  uint32_t append(const Object& object, const Section& section) {
    sections_.push_back(section);
    section_names_.push_back(read(object.file.getSectionName(section)));
    return static_cast<uint32_t>(sections_.size() - 1);
  }

  /// Appends bytes to the tail and returns their offset in the file.
  uint64_t place(llvm::StringRef bytes, uint64_t alignment) {
    uint64_t at = llvm::alignTo(cut_ + tail_.size(), std::max<uint64_t>(alignment, 1));
    tail_.resize(at - cut_, '\0');
    tail_ += bytes;
    return at;
  }

  void take_contents(Object& object) {
    for (size_t i = 0; i < object.sections.size(); ++i) {
      const Section& section = object.sections[i];
      if (!is_taken(object, section)) continue;
      object.section_numbers[i] = append(object, section);
      bool has_bytes = section.sh_type != elf::SHT_NOBITS;
      if (is_first(object) && has_bytes) cut_ = std::max<uint64_t>(cut_, section.sh_offset + section.sh_size);
      if (is_first(object) || !has_bytes) continue;
      sections_.back().sh_offset =
          place(llvm::toStringRef(read(object.file.getSectionContents(section))), section.sh_addralign);
    }
    for (size_t i = 0; i < object.sections.size(); ++i)  // ARM's unwinding tables refer to their code
      if (uint32_t number = object.section_numbers[i];
          number != 0 && (object.sections[i].sh_flags & elf::SHF_LINK_ORDER) != 0)
        sections_[number].sh_link = object.section_numbers[object.sections[i].sh_link];
  }

  llvm::StringRef name_of(const Object& object, const Symbol& symbol) const {
    return read(symbol.getName(object.names));
  }

  static bool is_reserved(uint32_t section) { return section >= elf::SHN_LORESERVE; }

  void append(Object& object, size_t i, Symbol symbol) {
    if (symbol.st_shndx != elf::SHN_UNDEF && !is_reserved(symbol.st_shndx)) {
      uint32_t section = object.section_numbers[symbol.st_shndx];
      if (section == 0) return;  // its section was left out
      symbol.st_shndx = static_cast<uint16_t>(section);
    }
    object.symbol_numbers[i] = static_cast<uint32_t>(symbols_.size());
    symbols_.push_back(symbol);
    symbol_names_.push_back(name_of(object, symbol));
  }

  /// Takes defined local symbols, which ELF puts first, and hidden ones, which become local; or else the global ones.
  void take_symbols(Object& object, bool local) {
    for (size_t i = 1; i < object.symbols.size(); ++i) {
      Symbol symbol = object.symbols[i];
      bool is_file = symbol.getType() == elf::STT_FILE && !is_first(object);
      if (symbol.st_shndx == elf::SHN_UNDEF || is_file) continue;
      bool is_global = symbol.getBinding() != elf::STB_LOCAL;
      bool is_shared = is_global && symbol.getVisibility() == elf::STV_HIDDEN;
      if (local != (!is_global || is_shared)) continue;
      if (is_shared) {
        symbol.setBinding(elf::STB_LOCAL);
        symbol.setVisibility(elf::STV_DEFAULT);
      }
      append(object, i, symbol);
      if (is_global) defined_[name_of(object, symbol)] = object.symbol_numbers[i];
    }
  }

  /// Resolves each undefined symbol to another object's definition, or to one undefined symbol for all objects.
  void name_undefined(Object& object) {
    for (size_t i = 1; i < object.symbols.size(); ++i) {
      const Symbol& symbol = object.symbols[i];
      if (symbol.st_shndx != elf::SHN_UNDEF) continue;
      auto [known, fresh] = defined_.try_emplace(name_of(object, symbol), 0);
      if (fresh) append(object, i, symbol), known->second = object.symbol_numbers[i];
      object.symbol_numbers[i] = known->second;
    }
  }

  void take_relocations(const Object& object) {
    for (const Section& section : object.sections) {
      if (!has_relocations(section) || object.section_numbers[section.sh_info] == 0) continue;
      std::string bytes = section.sh_type == elf::SHT_RELA ? renumbered(object, read(object.file.relas(section)))
                                                           : renumbered(object, read(object.file.rels(section)));
      uint32_t at = append(object, section);
      sections_[at].sh_info = object.section_numbers[section.sh_info];
      sections_[at].sh_offset = place(bytes, section.sh_addralign);
      relocations_.push_back(at);
    }
  }

  template <typename Range>
  std::string renumbered(const Object& object, Range entries) const {
    std::string bytes;
    for (auto entry : entries) {
      uint32_t symbol = entry.getSymbol(false), number = object.symbol_numbers.at(symbol);
      RELAXC_CHECK(symbol == 0 || number != 0, "a relocation by a symbol that was left out");
      entry.setSymbolAndType(number, entry.getType(false), false);
      bytes.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
    }
    return bytes;
  }

  uint32_t add_table(elf::Elf64_Word type, llvm::StringRef name, llvm::StringRef bytes, uint64_t alignment) {
    Section section{};
    section.sh_type = type;
    section.sh_addralign = alignment;
    section.sh_size = bytes.size();
    section.sh_offset = place(bytes, alignment);
    sections_.push_back(section);
    section_names_.push_back(name);
    return static_cast<uint32_t>(sections_.size() - 1);
  }

  template <typename T>
  static llvm::StringRef bytes_of(const std::vector<T>& list) {
    return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T)};
  }

  void write_tables() {
    constexpr llvm::StringRef kSymbols = ".symtab", kNames = ".strtab";
    llvm::StringTableBuilder names(llvm::StringTableBuilder::ELF);
    for (llvm::StringRef name : section_names_) names.add(name);
    for (llvm::StringRef name : symbol_names_) names.add(name);
    for (llvm::StringRef name : {kSymbols, kNames}) names.add(name);
    names.finalize();
    for (size_t i = 0; i < symbol_names_.size(); ++i)
      symbols_[i + 1].st_name = static_cast<uint32_t>(names.getOffset(symbol_names_[i]));
    std::string text;
    llvm::raw_string_ostream stream(text);
    names.write(stream);

    uint32_t symbols = add_table(elf::SHT_SYMTAB, kSymbols, bytes_of(symbols_), sizeof(typename ELFT::uint));
    uint32_t strings = add_table(elf::SHT_STRTAB, kNames, text, 1);
    sections_[symbols].sh_entsize = sizeof(Symbol);
    sections_[symbols].sh_link = strings;
    sections_[symbols].sh_info = first_global_;
    for (uint32_t at : relocations_) sections_[at].sh_link = symbols;
    RELAXC_CHECK(!is_reserved(static_cast<uint32_t>(sections_.size())), "too many sections for one object");
    for (size_t i = 0; i < section_names_.size(); ++i)
      sections_[i + 1].sh_name = static_cast<uint32_t>(names.getOffset(section_names_[i]));
    header_.e_shoff = place(bytes_of(sections_), sizeof(typename ELFT::uint));
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    header_.e_shstrndx = static_cast<uint16_t>(strings);
  }

  std::vector<Object> objects_;  ///< the contents of the first one keep their offsets
  uint64_t cut_ = 0;
  std::string tail_;
  Header header_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<llvm::StringRef> section_names_, symbol_names_;  ///< without the null section and symbol
  std::vector<uint32_t> relocations_;                          ///< indices of relocation sections
  std::map<llvm::StringRef, uint32_t> defined_;                ///< indices of symbols that objects share, by name
  uint32_t first_global_ = 0;
};

template <typename ELFT>
bool join(const std::string& path, llvm::ArrayRef<llvm::StringRef> parts) {
  auto first = llvm::MemoryBuffer::getFile(path, false, false);
  if (!first) return false;
  Joining<ELFT> joining((*first)->getBuffer(), parts);
  joining.run();
  first->reset();  // unmaps the file before it gets shorter
  std::error_code error;
  std::filesystem::resize_file(path, joining.cut(), error);
  if (error) return false;
  std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
  out.write(reinterpret_cast<const char*>(&joining.header()), sizeof(joining.header()));
  out.seekp(static_cast<std::streamoff>(joining.cut()));
  out.write(joining.tail().data(), static_cast<std::streamsize>(joining.tail().size()));
  out.close();
  return static_cast<bool>(out);
}

}  // namespace

bool join_objects(const std::string& path, llvm::ArrayRef<llvm::StringRef> parts) {
  if (parts.empty()) return true;
  bool wide = static_cast<uint8_t>(parts.front()[elf::EI_CLASS]) == elf::ELFCLASS64;
  return wide ? join<llvm::object::ELF64LE>(path, parts) : join<llvm::object::ELF32LE>(path, parts);
}

}  // namespace relaxc::codegen_llvm
