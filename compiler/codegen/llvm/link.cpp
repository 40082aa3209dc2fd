// link.cpp: links by a C compiler, since it knows the machine's libraries and start-up files.
//
// The runtime is a library if there is one for the object's machine. For other machines the same command compiles its
// sources, which every C99 compiler accepts: so the runtime always matches the object. Those of its core are included
// in one file: a compiler that starts for each of them takes 2.1 s of the processor, and for one 1.0 (clang 14,
// wasm32). Rejected: calling lld-link, ld64 and wasm-ld ourselves; the sources need a compiler anyway.
#include "compiler/codegen/llvm/link.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/StringSaver.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "compiler/codegen/llvm/inspect.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/support/temporary_folder.h"

namespace relaxc::codegen_llvm {
namespace {

using Words = std::vector<std::string>;

std::string within(const std::string& folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

/// The .c files of a folder, in the order of their names.
Words sources_in(const std::string& folder) {
  Words files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (llvm::sys::path::extension(at->path()) == ".c") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

class Link {
 public:
  Link(const Linking& what, Diagnostics& diag) : what_(what), diag_(diag), triple_(what.triple) {}

  Status check() {
    RELAXC_DO(check_form());
    RELAXC_TRY(Words command, compiler());
    return Done{};
  }

  Status run() {
    RELAXC_DO(check_form());
    RELAXC_TRY(Words command, compiler());
    if (folder_.path().empty()) return refuse("cannot make a folder for temporary files");
    if (std::error_code error = llvm::sys::fs::create_link(absolute(what_.object), object()))
      return refuse(error.message());
    if (!what_.program) RELAXC_DO(add_library_flags(command));
    append(command, {"-o", linked(), object()});
    RELAXC_DO(llvm::sys::fs::is_directory(what_.runtime) ? add_sources(command) : add_libraries(command));
    if (command.front() == own_linker()) command = for_linker(command);
    if (!run_program(command)) return refuse("the linker failed" + missing_lld());
    RELAXC_DO(take(linked(), what_.path));
    return what_.import_library.empty() ? Status(Done{}) : take(part("import.lib"), what_.import_library);
  }

 private:
  /// Reports an output that the target does not have: a .dll for Linux, say, would only fail when it is loaded.
  Status check_form() {
    struct Format {
      const char* extension;
      bool fits;
      const char *what, *where, *flag;
    };
    const Format formats[] = {
        {".dll", triple_.isOSBinFormatCOFF(), "library", "Windows", "--target x86-64-windows or aarch64-windows"},
        {".dylib", triple_.isOSBinFormatMachO(), "library", "macOS", "--target aarch64-macos or x86-64-macos"},
        {".wasm", triple_.isOSBinFormatWasm(), "library", "WebAssembly",
         "--target wasm32, wasm32-simd or wasm32-threads, or none"},
        {".so", triple_.isOSBinFormatELF(), "library", "systems with ELF", "an output of the target's kind"}};
    std::string extension = llvm::sys::path::extension(what_.shown).str();
    bool windows_program = extension == ".exe" || (what_.program && triple_.isOSBinFormatCOFF());
    if (windows_program)
      return diag_.error(
          nullptr, Kind::usage,
          "a program for Windows needs a main() and the C library of Windows, and the runner of models is one for "
          "POSIX; write .obj with --target x86-64-windows and link it with a main() of your own, as in 'lld-link "
          "main.obj model.obj relax_rt.lib libcmt.lib', or write .dll");
    for (const Format& format : formats)
      if (extension == format.extension && !format.fits)
        return diag_.error(nullptr, Kind::usage, "'{}' is a {} of {}, but the target is {}; give {}", extension,
                           format.what, format.where, what_.triple, format.flag);
    bool bare = triple_.isOSBinFormatELF() && triple_.getOS() == llvm::Triple::UnknownOS;
    if (bare || (what_.program && !triple_.isOSBinFormatELF()))
      return diag_.error(nullptr, Kind::usage,
                         "{} for {} cannot be linked without the program it is for; write .o or .a",
                         what_.program ? "a program" : "a shared library", what_.triple);
    if (!what_.runtime.empty() && llvm::sys::fs::exists(what_.runtime) && !llvm::sys::fs::is_directory(what_.runtime) &&
        !llvm::sys::fs::is_regular_file(what_.runtime))
      return diag_.error(nullptr, Kind::usage, "--runtime {}: it is neither a regular file nor a folder",
                         what_.runtime);
    if (!what_.runtime.empty() && !llvm::sys::fs::exists(what_.runtime))
      return diag_.error(nullptr, Kind::usage, "--runtime {}: there is no such file or folder", what_.runtime);
    if (what_.runtime.empty())
      return diag_.error(nullptr, Kind::usage,
                         "{} needs the runtime for {}; --runtime names its library or its sources",
                         what_.program ? "a program" : "a shared library", what_.triple);
    return Done{};
  }

  /// Returns the command of the C compiler that links, without inputs. The default is cc, or clang for other machines.
  Result<Words> compiler() {
    bool here = links_here(what_.triple);
    // Splits the command as a shell does: a path may have blanks between quotes.
    llvm::BumpPtrAllocator memory;
    llvm::StringSaver saver(memory);
    llvm::SmallVector<const char*> tokens;
    llvm::cl::TokenizeGNUCommandLine(!what_.compiler.empty() ? what_.compiler : here ? "cc" : "clang", saver, tokens);
    Words words(tokens.begin(), tokens.end());
    if (words.empty()) return diag_.error(nullptr, Kind::usage, "--cc names no compiler");
    auto found = llvm::sys::findProgramByName(words.front());
    if (!found && what_.compiler.empty() && !here)
      return diag_.error(
          nullptr, Kind::usage,
          "no C compiler to link for {}: clang was not found; install clang and lld, or name another compiler "
          "and its flags with --cc",
          what_.triple);
    if (!found && what_.compiler.empty() && !what_.program && llvm::sys::fs::exists(own_linker()))
      return Words{own_linker()};
    if (!found)
      return diag_.error(nullptr, Kind::usage, "no C compiler to link with: there is no program '{}'", words.front());
    words.front() = *found;
    if (what_.compiler.empty() && !here) append(words, {"--target=" + what_.triple, "-fuse-ld=lld"});
    return words;
  }

  /// Returns advice to install lld if the clang chosen by default may lack it, else nothing.
  std::string missing_lld() const {
    const char* name = triple_.isOSBinFormatWasm()    ? "wasm-ld"
                       : triple_.isOSBinFormatCOFF()  ? "lld-link"
                       : triple_.isOSBinFormatMachO() ? "ld64.lld"
                                                      : "ld.lld";
    bool ours = what_.compiler.empty() && !links_here(what_.triple);
    return ours && !llvm::sys::findProgramByName(name)
               ? fmt::format("; clang links with {}, which is not installed: install lld", name)
               : "";
  }

  /// The path of LLVM's linker beside the runtime, where wheels put it. With it, linking a library takes no C compiler.
  std::string own_linker() const { return within(llvm::sys::path::parent_path(what_.runtime).str(), "relaxc/ld.lld"); }

  /// The words that a C compiler would pass to the linker. The C library is left to the process that loads the result.
  static Words for_linker(const Words& command) {
    Words words;
    for (llvm::StringRef word : command) {
      if (word == "-nostdlib" || word == "-lc") continue;
      llvm::SmallVector<llvm::StringRef> parts{word};
      if (word.consume_front("-Wl,")) parts.clear(), word.split(parts, ',');
      for (llvm::StringRef part : parts) words.push_back(part.str());
    }
    return words;
  }

  Status add_library_flags(Words& command) {
    if (!triple_.isOSBinFormatWasm()) command.emplace_back("-shared");
    command.emplace_back("-nostdlib");
    if (triple_.isOSBinFormatELF()) {
      RELAXC_DO(write_version_script());
      append(command, {"-Wl,-z,noexecstack", "-Wl,-z,relro,-z,now", "-Wl,-Bsymbolic",
                       "-Wl,--version-script=" + within(folder_.path().string(), "exports.map")});
    }
    if (what_.shared_memory)  // each thread has an instance of the module, whose stack the loader places
      append(command, {"-matomics", "-mbulk-memory", "-Wl,--import-memory", "-Wl,--shared-memory",
                       "-Wl,--max-memory=4294967296", "-Wl,--export=__stack_pointer"});
    if (triple_.isOSBinFormatWasm())  // the caller gives the model memory that begins where its own ends
      append(command, {"-Wl,--no-entry", "-Wl,--export-dynamic", "-Wl,--export=__heap_base", "-Wl,--gc-sections",
                       "-Wl,--export-table", "-Wl,--growable-table"});  // function pointers are indices of it
    if (triple_.isOSBinFormatMachO())
      append(command, {"-Xlinker", "-install_name", "-Xlinker", "@rpath/" + file_name()});
    if (triple_.isOSBinFormatCOFF()) {
      RELAXC_DO(write_definitions());
      append(command, {"-Wl,/noentry", "-Wl,/Brepro", "-Wl,/def:" + part("exports.def"),
                       "-Wl,/implib:" + part("import.lib")});  // /Brepro: no time in the file
    }
    return Done{};
  }

  Failure refuse(const std::string& why) {
    return diag_.error(nullptr, Kind::io, "cannot write {}: {}", what_.shown, why);
  }

  /// The final file name of the library; its file has another name while it is written.
  std::string file_name() const { return llvm::sys::path::filename(what_.shown).str(); }
  /// The path of a file in the temporary folder. Linkers replace their output file, so they write there; a .dll and a
  /// .dylib contain the file name under which they are linked.
  std::string part(const std::string& name) const { return folder_.file(name); }
  std::string linked() const { return part(file_name() == object_name() ? "linked" : file_name()); }
  std::string object_name() const { return what_.name + ".o"; }
  std::string object() const { return part(object_name()); }

  /// The path for started programs: absolute, and /proc/self becomes this process's, as for a file without a name.
  static std::string absolute(const std::string& path) {
    constexpr llvm::StringRef kSelf = "/proc/self/";
    if (llvm::StringRef(path).starts_with(kSelf))
      return "/proc/" + std::to_string(::getpid()) + "/" + path.substr(kSelf.size());
    llvm::SmallString<128> made(path);
    static_cast<void>(llvm::sys::fs::make_absolute(made));
    return made.str().str();
  }

  /// Copies the linked file and its permissions.
  Status take(const std::string& from, const std::string& to) {
    std::error_code error = llvm::sys::fs::copy_file(from, to);
    llvm::ErrorOr<llvm::sys::fs::perms> mode = llvm::sys::fs::getPermissions(from);
    if (!error && mode) error = llvm::sys::fs::setPermissions(to, *mode);
    if (!error && !mode) error = mode.getError();
    return error ? Status(refuse(error.message())) : Status(Done{});
  }

  /// Writes the version script of an ELF library, which exports the symbols of its model only. The runtime in it stays
  /// private, so that two libraries in one process, even of two versions of relaxc, do not use each other's.
  Status write_version_script() {
    std::error_code error;
    llvm::raw_fd_ostream out(part("exports.map"), error);
    if (error) return refuse(error.message());
    out << "{\n  global:\n    " << what_.name << "_*;\n  local:\n    *;\n};\n";
    out.close();
    return written(out);
  }

  /// Writes the list of a .dll's exports: all global symbols of the object.
  Status write_definitions() {
    Diagnostics& diag = diag_;
    RELAXC_TRY(ObjectContents found, inspect_object(what_.object, what_.shown, diag));
    std::error_code error;
    llvm::raw_fd_ostream out(part("exports.def"), error);
    if (error) return refuse(error.message());
    out << "EXPORTS\n";
    for (const ObjectSymbol& symbol : found.globals) out << "  " << symbol.name << (symbol.code ? "\n" : " DATA\n");
    out.close();
    return written(out);
  }

  Status add_sources(Words& command) {
    Words core = sources_in(within(what_.runtime, "core"));
    if (core.empty())
      return diag_.error(nullptr, Kind::usage, "--runtime {}: there are no sources of the runtime in its folder core",
                         what_.runtime);
    // A page downloads a module for the web.
    append(command, {triple_.isOSBinFormatWasm() ? "-Os" : "-O2", "-ffunction-sections", "-fdata-sections",
                     "-I" + what_.runtime, "-I" + within(what_.runtime, "include")});
    bool libc = triple_.isOSBinFormatELF();
    if (libc) {
      command.emplace_back("-fPIC");
      std::erase(core, within(within(what_.runtime, "core"), "memory.c"));
    } else {
      append(command, {"-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fvisibility=hidden"});
    }
    if (what_.program || (what_.prints && libc))  // hosted/print.c replaces core/print.c
      std::erase(core, within(within(what_.runtime, "core"), "print.c"));
    if (what_.program) {
      command.push_back(program_symbol());
      append(command, sources_in(within(what_.runtime, "runner")));
      append(command, sources_in(within(what_.runtime, "hosted")));
    } else if (what_.prints && libc) {
      command.push_back(within(within(what_.runtime, "hosted"), "print.c"));
    }
    RELAXC_DO(write_core(core));
    command.push_back(part("runtime.c"));
    if (libc) command.emplace_back(what_.program ? "-lpthread" : "-lc");
    return Done{};
  }

  /// Writes the file that includes the sources of the runtime's core.
  Status write_core(const Words& sources) {
    std::error_code error;
    llvm::raw_fd_ostream out(part("runtime.c"), error);
    if (error) return refuse(error.message());
    for (const std::string& source : sources) out << "#include \"core/" << llvm::sys::path::filename(source) << "\"\n";
    out.close();
    return written(out);
  }

  Status written(llvm::raw_fd_ostream& out) {
    std::error_code error = out.error();
    out.clear_error();  // or its destructor ends the program
    return error ? Status(refuse(error.message())) : Status(Done{});
  }

  Status add_libraries(Words& command) {
    std::string folder = llvm::sys::path::parent_path(what_.runtime).str();
    std::string hosted = within(folder, "librelax_rt_hosted.a"), runner = within(folder, "librelax_rt_runner.a");
    bool has_hosted = llvm::sys::fs::exists(hosted);
    if (what_.program) {
      if (!has_hosted || !llvm::sys::fs::exists(runner))
        return diag_.error(nullptr, Kind::usage, "librelax_rt_runner.a and librelax_rt_hosted.a are not beside '{}'",
                           what_.runtime);
      append(command, {program_symbol(), runner, hosted, what_.runtime, "-lpthread"});
      return Done{};
    }
    // A library that prints has an operating system. The hosted runtime goes first, as core's print does nothing.
    if (what_.prints && has_hosted) command.push_back(hosted);
    command.push_back(what_.runtime);
    if (triple_.isOSBinFormatELF()) command.emplace_back("-lc");
    return Done{};
  }

  std::string program_symbol() const { return "-Wl,--defsym=rlx_runner_model=" + what_.name + "_model"; }

  const Linking& what_;
  Diagnostics& diag_;
  llvm::Triple triple_;
  TemporaryFolder folder_;
};

}  // namespace

Status check_linking(const Linking& what, Diagnostics& diag) {
  return Link(what, diag).check();
}

Status link(const Linking& what, Diagnostics& diag) {
  return Link(what, diag).run();
}

}  // namespace relaxc::codegen_llvm
