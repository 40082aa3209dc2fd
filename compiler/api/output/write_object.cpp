// write_object.cpp: writes an object with its versions, and the files beside it.
#include "compiler/api/output/write_object.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "compiler/api/input/weights.h"
#include "compiler/api/install.h"
#include "compiler/api/output/depfile.h"
#include "compiler/api/output/names.h"
#include "compiler/api/output/write_c.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/interface/header.h"
#include "compiler/interface/javascript.h"
#include "compiler/interface/rust.h"
#include "targets/isa_features.h"

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

Status write_binary(const CompileOptions& options, const OutputPlan& plan, const interface::Object& object,
                    const std::vector<codegen_llvm::LevelVersion>& levels, const Target& target,
                    const codegen_llvm::TellParts& tell, WrittenObject& written, Outputs& outputs, Diagnostics& diag) {
  codegen_llvm::EmitOptions emit;
  if (fs::path library = plan.output; plan.emit == Emit::kSharedLibrary && library.extension() == ".dll") {
    RELAXC_TRY(emit.import_library, outputs.add(library.replace_extension(".lib").string()));
  }
  emit.stack = &written.stack;
  emit.kind = static_cast<codegen_llvm::OutputKind>(plan.emit);
  emit.opt = options.opt;
  emit.fast = options.fast_codegen;
  emit.line_tables = options.line_tables;
  emit.jobs =
      options.jobs != 0 ? options.jobs : static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
  emit.runtime = options.runtime;
  if (options.runtime.empty())
    emit.runtime =
        installed(codegen_llvm::links_here(target.triple) ? "lib/librelax_rt.a" : "share/relaxc/runtime-lite");
  emit.linker = options.linker;
  emit.shown_path = plan.output;
  emit.stop = options.stop;
  emit.tell = tell;
  if (plan.emit == Emit::kSharedLibrary || plan.emit == Emit::kArchive || plan.emit == Emit::kExecutable) {
    RELAXC_TRY(emit.scratch, outputs.scratch(plan.output));
  }
  RenamedFunctions renamed;
  interface::Object shown = with_names(object, options.names, renamed);
  if (levels.empty()) return codegen_llvm::emit(shown, target, emit, written.file, diag);
  emit.levels = levels;
  std::deque<interface::Object> versions;
  for (codegen_llvm::LevelVersion& version : emit.levels)
    version.object = &versions.emplace_back(with_names(*version.object, options.names, renamed));
  RELAXC_TRY(Target baseline, codegen_llvm::baseline_of(*levels.back().level, diag));
  return codegen_llvm::emit(shown, baseline, emit, written.file, diag);
}

/// Writes the JavaScript module, its declarations, and the loader's files, which are the same for all models.
Status write_script(const OutputPlan& plan, const interface::Object& object, const Target& target, Outputs& outputs,
                    Diagnostics& diag) {
  const std::string wasm = fs::path(plan.output).filename().string();
  RELAXC_TRY(std::string types, interface::typescript_declarations(object, wasm, diag));
  std::vector<interface::WasmVersion> versions = plan.versions;
  versions.push_back({wasm, object.hash, wasm_features_to_test(target)});
  RELAXC_DO(outputs.write(plan.script, interface::javascript_module(object, versions), true));
  RELAXC_DO(outputs.write(fs::path(plan.script).replace_extension(".d.mts").string(), types, true));
  for (const char* name :
       {"relax_rt.mjs", "relax_rt.d.mts", "relax_rt_threads.mjs", "relax_rt_threads.d.mts", "relax_rt_worker.mjs"}) {
    std::string loader = installed((std::string("share/relaxc/javascript/") + name).c_str());
    if (loader.empty()) return diag.error(nullptr, Kind::io, "cannot find {}, which is installed with relaxc", name);
    RELAXC_TRY(relax::FileRef file, relax::map_file(loader, nullptr, diag));
    std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    RELAXC_DO(outputs.write(fs::path(plan.script).replace_filename(name).string(), text, true));
  }
  return Done{};
}

}  // namespace

Result<WrittenObject> write_object(const CompileOptions& options, const OutputPlan& plan,
                                   const interface::Object& object,
                                   const std::vector<codegen_llvm::LevelVersion>& levels, const Target& target,
                                   const std::vector<relax::FileRef>& files, const codegen_llvm::TellParts& tell,
                                   Outputs& outputs, Diagnostics& diag) {
  WrittenObject written;
  RELAXC_TRY(written.file, outputs.add(plan.output));
  if (object.weights.separate) {
    RELAXC_TRY(std::string weights, outputs.add(plan.weights));
    RELAXC_DO(write_weights_file(object, weights, plan.weights, diag));
  }
  std::vector<std::string> targets{plan.output};
  RELAXC_DO(plan.emit == Emit::kC ? write_c(options, plan, object, target, written.file, targets, outputs, diag)
                                  : write_binary(options, plan, object, levels, target, tell, written, outputs, diag));
  RELAXC_DO(write_depfile(options, plan, targets, files, outputs, diag));
  if (!options.rust.empty()) {
    const bool unsafe_extern = options.rust_edition == "2024";
    RELAXC_DO(outputs.write(options.rust,
                            options.rust_safe ? interface::rust_safe_module(object, unsafe_extern)
                                              : interface::rust_module(object, unsafe_extern, written.stack.typed),
                            true));
  }
  if (!plan.script.empty()) RELAXC_DO(write_script(plan, object, target, outputs, diag));
  if (!plan.header.empty()) {
    interface::HeaderFacts facts;
    facts.explains = true;
    facts.stack_max = written.stack.generic;
    facts.run_stack_max = written.stack.typed;
    if (!levels.empty() && levels[0].level->needs != 0) facts.least_cpu = levels[0].level->name;
    facts.tables = options.c_style.profile != codegen_c::Profile::kMisra;
    RELAXC_DO(outputs.write(plan.header, interface::c_header(object, facts), true));
  }
  return written;
}

Status write_depfile(const CompileOptions& options, const OutputPlan& plan, const std::vector<std::string>& targets,
                     const std::vector<relax::FileRef>& files, Outputs& outputs, Diagnostics& diag) {
  if (plan.depfile.empty()) return Done{};
  std::vector<std::string> paths;
  for (const relax::FileRef& file : files) paths.push_back(file->path());
  RELAXC_TRY(std::string text,
             depfile_text(plan.depfile, options.depfile_target, targets, paths, options.phony_targets, diag));
  return outputs.write(plan.depfile, text);
}

}  // namespace relaxc::api
