// write_object.cpp: one object, its forms, and the files beside it.
#include "compiler/driver/output/write_object.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/codegen/c/emit.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/codegen/llvm/target.h"
#include "compiler/driver/input/weights.h"
#include "compiler/driver/install.h"
#include "compiler/driver/output/depfile.h"
#include "compiler/interface/header.h"
#include "compiler/interface/rust.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

Status write_binary(const Options& options, const OutputPlan& plan, const interface::Object& object,
                    const std::vector<codegen_llvm::LevelForm>& levels, const Target& target, WrittenObject& written,
                    Diagnostics& diag) {
  codegen_llvm::EmitOptions emit;
  emit.stack_max = &written.stack_max;
  emit.kind = static_cast<codegen_llvm::OutputKind>(plan.emit);
  emit.opt = options.opt;
  emit.line_tables = options.line_tables;
  emit.runtime = options.runtime;
  if (options.runtime.empty())
    emit.runtime =
        installed(codegen_llvm::links_here(target.triple) ? "lib/librelax_rt.a" : "share/relaxc/runtime-lite");
  emit.linker = options.linker;
  emit.shown_path = plan.output;
  if (levels.empty()) return codegen_llvm::emit(object, target, emit, written.file, diag);
  emit.levels = levels;
  RELAXC_TRY(Target baseline, codegen_llvm::baseline_of(*levels.back().level, diag));
  return codegen_llvm::emit(object, baseline, emit, written.file, diag);
}

Status write_c(const Options& options, const OutputPlan& plan, const interface::Object& object, const std::string& path,
               Diagnostics& diag) {
  if (std::string why = options.misra ? codegen_c::misra_obstacle(object) : ""; !why.empty())
    return diag.error(nullptr, Kind::unsupported, "--c-profile=misra: {}", why);
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  auto write = [&](std::string_view text) {
    out << text;
    return static_cast<bool>(out);
  };
  bool fine = codegen_c::emit_c(object, fs::path(plan.header).filename().string(), write,
                                options.misra ? codegen_c::Profile::kMisra : codegen_c::Profile::kPlain);
  out.close();
  if (!fine || !out)
    return diag.error(nullptr, Kind::io, "cannot write {}: {}", plan.output,
                      errno == 0 ? "writing failed" : std::strerror(errno));
  return Done{};
}

}  // namespace

Result<WrittenObject> write_object(const Options& options, const OutputPlan& plan, const interface::Object& object,
                                   const std::vector<codegen_llvm::LevelForm>& levels, const Target& target,
                                   const std::vector<std::string>& files, Outputs& outputs, Diagnostics& diag) {
  WrittenObject written;
  RELAXC_TRY(written.file, outputs.add(plan.output));
  if (!options.rust.empty()) RELAXC_DO(outputs.write(options.rust, interface::rust_module(object), true));
  RELAXC_DO(write_depfile(options, plan, files, outputs));
  if (object.weights.separate) {
    RELAXC_TRY(std::string weights, outputs.add(plan.weights));
    RELAXC_DO(write_weights_file(object, weights, plan.weights, diag));
  }
  RELAXC_DO(plan.emit == Emit::kC ? write_c(options, plan, object, written.file, diag)
                                  : write_binary(options, plan, object, levels, target, written, diag));
  if (!plan.header.empty()) RELAXC_DO(outputs.write(plan.header, interface::c_header(object, written.stack_max), true));
  return written;
}

Status write_depfile(const Options& options, const OutputPlan& plan, const std::vector<std::string>& files,
                     Outputs& outputs) {
  if (plan.depfile.empty()) return Done{};
  std::string about = options.depfile_target.empty() ? make_escaped(plan.output) : options.depfile_target;
  return outputs.write(plan.depfile, depfile_text(about, files, options.phony_targets));
}

}  // namespace relaxc::driver
