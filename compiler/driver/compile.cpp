// compile.cpp: read, transform, emit.
#include "compiler/driver/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/codegen/c/emit.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/hash.h"
#include "compiler/codegen/llvm/jit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/driver/depfile.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/report.h"
#include "compiler/driver/version.h"
#include "compiler/interface/header.h"
#include "compiler/ops/op_table.h"
#include "compiler/pipeline/pipelines.h"
#include "compiler/relax/print.h"
#include "frontends/relax/parser.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

/// The runtime's library of the tree that this program runs from, PREFIX/lib beside PREFIX/bin; empty if there is none.
std::string own_runtime() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path library = program.parent_path().parent_path() / "lib" / "librelax_rt.a";
  return fs::exists(library, error) ? library.string() : std::string();
}

std::optional<Emit> emit_of_ending(const std::string& path) {
  static constexpr std::pair<std::string_view, Emit> kEndings[] = {
      {".o", Emit::kObject},   {".s", Emit::kAssembly}, {".ll", Emit::kLLVM},
      {".bc", Emit::kBitcode}, {".c", Emit::kC},        {".so", Emit::kSharedLibrary}};
  std::string ending = fs::path(path).extension().string();
  for (const auto& [text, emit] : kEndings)
    if (ending == text) return emit;
  return std::nullopt;
}

bool is_name(const std::string& name) {
  bool identifier =
      !name.empty() &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
  return identifier && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && name.rfind("rlx", 0) != 0 &&
         interface::identifier(name) == name;
}

class Compilation {
 public:
  explicit Compilation(const Options& options) : options_(options), ops_(ops::op_table()), outputs_(diag_) {}

  int run() {
    bool done = static_cast<bool>(all_steps());
    if (done || diag_.has_errors() || !diag_.all().empty()) print_diagnostics(diag_, options_);
    return exit_code(diag_, options_);
  }

 private:
  Status all_steps() {
    Diagnostics& diag = diag_;
    RELAXC_DO(check_options());
    RELAXC_TRY(Target target, codegen_llvm::resolve_target(options_.target, options_.cpu, options_.features, diag));
    if (options_.task_slots > 0) target.task_slots = options_.task_slots;
    RELAXC_TRY(relax::Module module, read_input());
    say("read {}", options_.input);
    RELAXC_DO(apply_states(module));
    interface::Object object;
    RELAXC_DO(transform(module, target, object));
    if (options_.check != CheckFormat::kNone) return Done{};
    if (!options_.passes.stop_after.empty()) {
      fmt::print("{}", relax::to_string(module));
      return Done{};
    }
    if (options_.warnings_are_errors && !diag.all().empty()) return Done{};
    name_object(object, target);
    RELAXC_DO(write(object, target));
    return outputs_.commit();
  }

  Status check_options() {
    bool writes = options_.check == CheckFormat::kNone && options_.passes.stop_after.empty();
    auto pass_exists = [&](const std::string& name) { return name == "all" || find_pass(name) != nullptr; };
    std::vector<std::string> named = options_.passes.print_before;
    named.insert(named.end(), options_.passes.print_after.begin(), options_.passes.print_after.end());
    named.insert(named.end(), options_.passes.disabled.begin(), options_.passes.disabled.end());
    if (!options_.passes.stop_after.empty()) named.push_back(options_.passes.stop_after);
    for (const std::string& name : named)
      if (!pass_exists(name)) return diag_.error(nullptr, Kind::usage, "there is no pass named '{}'", name);
    if (!writes) return Done{};
    if (options_.output.empty()) return diag_.error(nullptr, Kind::usage, "nothing to write: give an output with -o");
    std::optional<Emit> emit = options_.emit ? options_.emit : emit_of_ending(options_.output);
    if (!emit)
      return diag_.error(nullptr, Kind::usage,
                         "the ending of '{}' says no form; use .o .s .ll .bc .c or .so, or --emit", options_.output);
    emit_ = *emit;
    name_ = options_.name.empty() ? fs::path(options_.output).stem().string() : options_.name;
    if (!is_name(name_))
      return diag_.error(
          nullptr, Kind::usage,
          "'{}' cannot be the prefix of C names (an identifier that does not begin with 'rlx'); choose one with --name",
          name_);
    return Done{};
  }

  Result<relax::Module> read_input() {
    if (fs::path(options_.input).extension() == ".onnx") {
      frontend::ImportOptions import;
      import.dims = options_.dims;
      return frontend::import_onnx(options_.input, import, ops_, diag_, &files_);
    }
    std::error_code error;
    bool regular = fs::is_regular_file(options_.input, error);
    std::ifstream in(options_.input, std::ios::binary);
    if (!regular || !in)
      return diag_.error(nullptr, Kind::io, "cannot read {}: {}", options_.input,
                         regular                      ? "permission denied"
                         : fs::exists(options_.input) ? "not a file"
                                                      : "no such file");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    files_.push_back(options_.input);
    RELAXC_CHECK(!diag_.has_errors());
    Diagnostics& diag = diag_;
    RELAXC_TRY(relax::Module module, frontend::parse_module(options_.input, std::move(text), ops_, diag));
    RELAXC_DO(apply_dims(module));
    return module;
  }

  /// `--dim` on a text program: facts about the symbols of that name.
  Status apply_dims(relax::Module& module) {
    for (const frontend::DimOverride& dim : options_.dims) {
      bool found = false;
      for (relax::Function* function : module.functions())
        for (arith::Var symbol : function->symbols) {
          if (symbol.name() != dim.name) continue;
          function->facts.bound(symbol, {dim.lower, dim.upper});
          function->facts.multiple(symbol, dim.multiple_of);
          found = true;
        }
      if (!found)
        return diag_.error(nullptr, Kind::usage, "--dim {}: the program has no symbol of that name", dim.name);
    }
    return Done{};
  }

  Status apply_states(relax::Module& module) {
    std::vector<std::string> pairs;
    for (const State& state : options_.states) pairs.push_back(state.input + ":" + state.output);
    if (pairs.empty()) return Done{};
    for (relax::Function* function : module.functions())
      if (!function->is_private) function->attrs["state"] = pairs;
    return Done{};
  }

  Status transform(relax::Module& module, const Target& target, interface::Object& object) {
    std::unique_ptr<tir::Evaluator> evaluator = tir::make_interpreter();
    PassContext context{ops_, target, diag_, *evaluator, options_.opt_level(), &object};
    PassOptions passes = options_.passes;
    passes.show = [](const std::string& text) { fmt::print(stderr, "{}", text); };
    return run_passes(compile_pipeline(), module, context, passes);
  }

  void name_object(interface::Object& object, const Target& target) {
    object.name = name_;
    object.producer = std::string("relaxc ") + kVersion;
    std::vector<std::string> parts{object.producer, target.triple, target.cpu, target.features, options_.opt};
    for (const frontend::DimOverride& dim : options_.dims)
      parts.push_back(fmt::format("{}={}..{}:{}", dim.name, dim.lower, dim.upper, dim.multiple_of));
    for (const State& state : options_.states) parts.push_back(state.input + ":" + state.output);
    object.hash = codegen_llvm::hash_of_files(files_, parts);
    object.interface_hash = interface_hash(object);
  }

  /// Of all that the header promises; two objects with one header have one.
  static std::array<uint8_t, 8> interface_hash(const interface::Object& object) {
    std::array<uint8_t, 32> full = codegen_llvm::hash_of({interface::c_header(object)});
    std::array<uint8_t, 8> part{};
    std::copy_n(full.begin(), part.size(), part.begin());
    return part;
  }

  Status write(const interface::Object& object, const Target& target) {
    Diagnostics& diag = diag_;
    fs::path header = fs::path(options_.output).replace_extension(".h");
    std::string temporary = outputs_.add(options_.output);
    if (emit_ == Emit::kC) {
      RELAXC_DO(write_c(object, header.filename().string(), temporary));
    } else {
      codegen_llvm::EmitOptions emit;
      emit.kind = static_cast<codegen_llvm::OutputKind>(emit_);
      emit.opt = options_.opt;
      emit.runtime = options_.runtime.empty() ? own_runtime() : options_.runtime;
      RELAXC_DO(codegen_llvm::emit(object, target, emit, temporary, diag));
    }
    say("wrote {}", options_.output);
    RELAXC_DO(outputs_.write(header.string(), interface::c_header(object), true));
    if (!options_.depfile) return Done{};
    std::string path = options_.depfile_path.empty() ? fs::path(options_.output).replace_extension(".d").string()
                                                     : options_.depfile_path;
    std::string about = options_.depfile_target.empty() ? options_.output : options_.depfile_target;
    return outputs_.write(path, depfile_text(about, files_, options_.phony_targets));
  }

  Status write_c(const interface::Object& object, const std::string& header, const std::string& path) {
    std::ofstream out(path, std::ios::binary);
    bool fine = codegen_c::emit_c(object, header, [&](std::string_view text) {
      out << text;
      return static_cast<bool>(out);
    });
    out.close();
    if (!fine || !out) return diag_.error(nullptr, Kind::io, "cannot write {}", options_.output);
    return Done{};
  }

  template <typename... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    if (options_.verbose) fmt::print(stderr, "relaxc: {}\n", fmt::format(text, std::forward<Args>(args)...));
  }

  const Options& options_;
  relax::OpTable ops_;
  Diagnostics diag_;
  Outputs outputs_;
  Emit emit_ = Emit::kObject;
  std::string name_;
  std::vector<std::string> files_;
};

}  // namespace

int compile(const Options& options) {
  return Compilation(options).run();
}

}  // namespace relaxc::driver
