// emit.cpp: writes output files.
//
// Weights can be gigabytes, and LLVM would hold them several times. So the object is written with a section of zeros of
// the right size, which costs no memory, and the bytes are streamed into the file afterwards. Text and bitcode outputs,
// which are for reading, contain the weights as directives, up to a limit above which they are refused.
#include "compiler/codegen/llvm/emit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "compiler/codegen/llvm/join_objects.h"
#include "compiler/codegen/llvm/link.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/mapped_object.h"
#include "compiler/codegen/llvm/object_emitter.h"
#include "compiler/codegen/llvm/parts.h"
#include "compiler/codegen/llvm/stack_bound.h"
#include "compiler/support/temporary_folder.h"
#include "targets/isa_features.h"

namespace relaxc::codegen_llvm {
namespace {

constexpr uint64_t kWeightsInText = uint64_t{64} << 20;
constexpr uint64_t kWeightsInObject = uint64_t{2000} << 20;  // beyond, code cannot address them by 32-bit offsets

OptLevel level_of(const std::string& opt, bool fast) {
  if (opt == "0") return OptLevel::kO0;
  if (fast) return OptLevel::kFast;
  if (opt == "1") return OptLevel::kO1;
  if (opt == "3") return OptLevel::kO3;
  if (opt == "s") return OptLevel::kOs;
  return opt == "z" ? OptLevel::kOz : OptLevel::kO2;
}

/// The weights as directives of the assembler.
std::string as_directives(const interface::Weights& weights) {
  std::string text;
  weights.stream([&](const std::byte* data, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      text += i % 32 == 0 ? (i == 0 ? ".byte " : "\n.byte ") : ",";
      text += std::to_string(static_cast<unsigned>(data[i]));
    }
    text += "\n";
  });
  return text;
}

class Emission {
 public:
  Emission(const interface::Object& object, const Target& target, const EmitOptions& options, const std::string& path,
           Diagnostics& diag)
      : object_(object), target_(target), options_(options), path_(path), diag_(diag) {}

  Status run() {
    Diagnostics& diag = diag_;
    bool holds_object = options_.kind == OutputKind::kSharedLibrary || options_.kind == OutputKind::kArchive ||
                        options_.kind == OutputKind::kExecutable;
    bool binary = options_.kind == OutputKind::kObject || holds_object;
    if (holds_object && options_.kind != OutputKind::kArchive) RELAXC_DO(check_linking(linking(""), diag));
    uint64_t limit = binary ? kWeightsInObject : kWeightsInText;
    uint64_t inside = object_.weights.separate ? 0 : object_.weights.bytes;
    if (inside > limit)
      return diag.error(
          nullptr, Kind::unsupported,
          "{} bytes of weights do not fit {}, where the limit is {}; --weights=FILE writes them to a separate file",
          inside, binary ? "an object" : "a text output", limit);
    RELAXC_DO(check_not_cancelled());
    level_ = level_of(options_.opt, options_.fast);
    machine_ = make_machine(target_, level_);
    module_ = make_module(object_.name, context_, *machine_);
    ModuleLowering lowering(*module_, lowering_options(target_, *machine_));
    const llvm::Triple& triple = machine_->getTargetTriple();
    reserve_ = binary && inside != 0 && !triple.isOSBinFormatWasm();  // wasm keeps data in segments, not sections
    std::vector<std::unique_ptr<ModuleLowering>> versions;
    std::vector<PartFunction> elsewhere;
    ObjectEmitter(lowering, object_, lowered_levels(versions), binary && can_be_joined() ? &elsewhere : nullptr)
        .run(reserve_      ? fmt::format(".zero {}", inside)
             : inside != 0 ? as_directives(object_.weights)
                           : "");
    if (triple.isOSBinFormatCOFF())  // large frames would call a function of Microsoft's library
      for (llvm::Function& function : *module_)
        if (!function.isDeclaration()) function.addFnAttr("no-stack-arg-probe");
    lowering.finish();
    for (const std::unique_ptr<ModuleLowering>& version : versions) version->finish();
    Parts parts(object_.name, std::move(elsewhere), target_, level_, options_.stop, options_.tell);
    parts_ = &parts;
    parts.start(options_.jobs - 1);
    optimize(*module_, *machine_, target_, level_);
    RELAXC_DO(check_not_cancelled());
    if (holds_object) return around_object();
    RELAXC_DO(write(path_));
    if (reserve_) RELAXC_DO(fill_weights(path_));
    return tell();
  }

 private:
  LoweringOptions lowering_options(const Target& target, const llvm::TargetMachine& machine) const {
    LoweringOptions out{capabilities_of(target, machine), target.cpu, target.features, target.vector_bits};
    out.task_slots = target.task_slots;
    out.small = level_ == OptLevel::kOs || level_ == OptLevel::kOz;
    out.line_tables = options_.line_tables;
    out.hooks = object_.hooks;
    return out;
  }

  /// Makes the lowerings of each level's functions; `versions` owns them.
  std::vector<LoweredLevel> lowered_levels(std::vector<std::unique_ptr<ModuleLowering>>& versions) {
    std::vector<LoweredLevel> out;
    for (const LevelVersion& version : options_.levels) {
      const Target& target = version.level->target;
      LoweredLevel level{version.level->name, version.level->needs, version.object};
      auto place = [&](const Target& cpu) {
        versions.push_back(
            std::make_unique<ModuleLowering>(*module_, lowering_options(cpu, *make_machine(cpu, level_))));
        return versions.back().get();
      };
      level.kernels = place(target);
      level.sizes = place(target_);
      out.push_back(level);
    }
    return out;
  }

  Failure io_error(const std::string& why) {
    return diag_.error(nullptr, Kind::io, "cannot write {}: {}", shown(), why);
  }
  const std::string& shown() const { return options_.shown_path.empty() ? path_ : options_.shown_path; }

  Status check_not_cancelled() {
    if (!options_.stop || !options_.stop()) return Done{};
    return diag_.error(nullptr, Kind::cancelled, "the compilation was cancelled");
  }

  Status write(const std::string& path) {
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    if (error) return io_error(error.message());
    if (options_.kind == OutputKind::kIr) {
      module_->print(out, nullptr);
    } else if (options_.kind == OutputKind::kBitcode) {
      llvm::WriteBitcodeToFile(*module_, out);
    } else if (options_.kind == OutputKind::kAssembly) {
      generate(*module_, *machine_, out, llvm::CodeGenFileType::AssemblyFile);
    } else {
      return write_object(path, out);
    }
    return close(out);
  }

  Status close(llvm::raw_fd_ostream& out) {
    out.close();
    if (!out.has_error()) return Done{};
    std::string why = out.error().message();
    out.clear_error();
    return io_error(why);
  }

  Status write_object(const std::string& path, llvm::raw_fd_ostream& out) {
    MachineFrames machine;
    generate(*module_, *machine_, out, llvm::CodeGenFileType::ObjectFile, &machine);
    StackFrames frames(*module_, std::move(machine));
    RELAXC_DO(close(out));
    std::vector<llvm::StringRef> objects;
    const std::deque<CompiledPart>& parts = parts_->finish();
    RELAXC_DO(check_not_cancelled());
    for (const CompiledPart& part : parts) {
      objects.emplace_back(part.object.data(), part.object.size());
      for (const auto& [name, chain] : part.stack) frames.know(name, chain);
    }
    if (!join_objects(path, objects)) return io_error("writing failed");
    if (!machine_->getTargetTriple().isOSBinFormatELF()) return Done{};
    bound_stack(frames);
    return fill_stack_bounds(path);
  }

  /// Whether the object may be joined from several. With line tables it would have several of them, of which some tools
  /// read only one; and -Os and -Oz optimize the whole program.
  bool can_be_joined() const {
    bool small = level_ == OptLevel::kOs || level_ == OptLevel::kOz;
    return machine_->getTargetTriple().isOSBinFormatELF() && !options_.line_tables && !small;
  }

  /// Bounds the stack of each entry's typed call, and that of `run`: its own frame, runtime-lite's, and the deepest of
  /// the functions that runtime-lite calls.
  void bound_stack(StackFrames& frames) {
    constexpr uint64_t kMargin = 512;  // since compilers of runtime-lite differ
    stack_ = {};
    for (const interface::Entry& entry : object_.entries) {
      auto bound = [&](const std::string& what) -> std::optional<uint64_t> {
        const llvm::Function* function = module_->getFunction(object_.name + "." + entry.name + "." + what);
        return function == nullptr ? 0 : deepest(frames.chain(*function));
      };
      const llvm::Function* typed = module_->getFunction(interface::run_symbol(object_, entry));
      RELAXC_CHECK(typed != nullptr, "an entry without its typed call");
      stack_.typed.push_back(deepest(frames.chain(*typed)).value_or(UINT64_MAX));
      std::optional<uint64_t> run = bound("generic_run"), most = 0;
      for (const char* called : {"call", "shapes", "arena", "values"}) {
        std::optional<uint64_t> below = bound(called);
        most = below && most ? std::optional(std::max(*below, *most)) : std::nullopt;
      }
      stack_.generic.push_back(run && most ? *run + *most + kMargin : UINT64_MAX);
    }
  }

  /// Writes the stack bounds into the object's table of functions: frames are known only after code generation.
  Status fill_stack_bounds(const std::string& path) {
    const llvm::DataLayout& layout = module_->getDataLayout();
    auto* record = llvm::StructType::getTypeByName(context_, std::string(record_name(interface::Record::kFunction)));
    RELAXC_CHECK(record != nullptr, "an object without a table of functions");
    uint64_t step = layout.getTypeAllocSize(record), field = layout.getStructLayout(record)->getElementOffset(
                                                         field_index(interface::Record::kFunction, "stack_max"));
    auto file = map_object(path);
    RELAXC_CHECK(static_cast<bool>(file), "the object just written cannot be read");
    const llvm::object::ObjectFile& written = *file->getBinary();
    uint64_t table = 0;
    for (const llvm::object::SymbolRef& symbol : written.symbols()) {
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      if (!name || *name != object_.name + ".functions") continue;
      llvm::Expected<llvm::object::section_iterator> section = symbol.getSection();
      llvm::Expected<uint64_t> at = symbol.getValue();
      RELAXC_CHECK(section && at, "the table of functions is in no section");
      llvm::Expected<llvm::StringRef> contents = (*section)->getContents();
      RELAXC_CHECK(static_cast<bool>(contents), "the table of functions has no contents");
      table = static_cast<uint64_t>(contents->data() - written.getData().data()) + *at;
    }
    if (table == 0) return Done{};  // without the table there is no field to fill
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    for (size_t i = 0; i < stack_.generic.size(); ++i) {
      char bytes[8];
      for (size_t k = 0; k < 8; ++k)
        bytes[layout.isLittleEndian() ? k : 7 - k] = static_cast<char>(stack_.generic[i] >> 8 * k);
      out.seekp(static_cast<std::streamoff>(table + i * step + field));
      out.write(bytes, sizeof(bytes));
    }
    out.close();
    if (out) return Done{};
    return io_error("writing failed");
  }

  /// Writes the weights into the file, at the place of their section.
  Status fill_weights(const std::string& path) {
    uint64_t offset = 0;
    {
      auto file = map_object(path);
      RELAXC_CHECK(static_cast<bool>(file), "the object just written cannot be read");
      for (const llvm::object::SectionRef& section : file->getBinary()->sections()) {
        llvm::Expected<llvm::StringRef> name = section.getName();
        RELAXC_CHECK(static_cast<bool>(name), "a section without a name");
        if (*name != weights_section(object_, module_->getTargetTriple())) continue;
        llvm::Expected<llvm::StringRef> contents = section.getContents();
        RELAXC_CHECK(contents && contents->size() == object_.weights.bytes, "the weights' section has another size");
        offset = static_cast<uint64_t>(contents->data() - file->getBinary()->getData().data());
      }
      RELAXC_CHECK(offset != 0, "the object has no section for its weights");
    }
    int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return io_error(std::strerror(errno));
    int failure = 0;
    uint64_t at = offset, end = offset + object_.weights.bytes;
    object_.weights.stream([&](const std::byte* data, size_t size) {
      while (size != 0 && failure == 0) {
        RELAXC_CHECK(at + size <= end, "more weights than announced");
        ssize_t written = ::pwrite(file, data, size, static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) failure = errno;
        if (written > 0) data += written, size -= static_cast<size_t>(written), at += static_cast<uint64_t>(written);
      }
    });
    if (::close(file) != 0 && failure == 0) failure = errno;
    if (failure != 0) return io_error(std::strerror(failure));
    RELAXC_CHECK(at == end, "fewer weights than announced");
    return Done{};
  }

  /// Writes the output around the object: an archive of it alone, or what a C compiler links from it and the runtime.
  Status around_object() {
    TemporaryFolder folder;
    std::string object = options_.scratch;
    if (object.empty()) {
      if (folder.path().empty()) return io_error("cannot make a folder for temporary files");
      object = folder.file(object_.name + ".o");
    }
    RELAXC_DO(write(object));
    if (reserve_) RELAXC_DO(fill_weights(object));
    RELAXC_DO(tell());
    return options_.kind == OutputKind::kArchive ? archive(object) : link(linking(object), diag_);
  }

  Status tell() {
    if (options_.stack != nullptr) *options_.stack = stack_;
    return Done{};
  }

  /// Writes an archive of the object. It is deterministic: its member has no time and no owner.
  Status archive(const std::string& object) {
    auto member = llvm::NewArchiveMember::getFile(object, true);
    if (!member) return io_error(llvm::toString(member.takeError()));
    std::string name = object_.name + ".o";
    member->MemberName = name;
    std::vector<llvm::NewArchiveMember> members;
    members.push_back(std::move(*member));
    std::error_code open_error;
    llvm::raw_fd_ostream out(path_, open_error);
    if (open_error) return io_error(open_error.message());
    llvm::Error error =
        llvm::writeArchiveToStream(out, members, llvm::SymtabWritingMode::NormalSymtab,
                                   module_->getTargetTriple().isOSBinFormatMachO() ? llvm::object::Archive::K_DARWIN
                                                                                   : llvm::object::Archive::K_GNU,
                                   true, false);
    if (!error) return close(out);
    out.clear_error();
    return io_error(llvm::toString(std::move(error)));
  }

  Linking linking(const std::string& object) const {
    Linking what;
    what.object = object;
    what.path = path_;
    what.shown = shown();
    what.triple = target_.triple;
    what.name = object_.name;
    what.program = options_.kind == OutputKind::kExecutable;
    what.shared_memory = has_shared_wasm_memory(target_);
    what.prints = object_.prints;
    what.compiler = options_.linker;
    what.import_library = options_.import_library;
    what.runtime = options_.runtime;
    return what;
  }

  const interface::Object& object_;
  const Target& target_;
  const EmitOptions& options_;
  const std::string& path_;
  Diagnostics& diag_;
  OptLevel level_ = OptLevel::kO2;
  StackBounds stack_;       ///< empty until code is written as an object
  Parts* parts_ = nullptr;  ///< receives the functions of further modules
  bool reserve_ = false;    ///< the weights' section has its size only, and is filled afterwards
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::Module> module_;
};

}  // namespace

Status emit(const interface::Object& object, const Target& target, const EmitOptions& options, const std::string& path,
            Diagnostics& diag) {
  return Emission(object, target, options, path, diag).run();
}

}  // namespace relaxc::codegen_llvm
