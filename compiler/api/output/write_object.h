// write_object.h: writes a compiled program to files.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/api/output/outputs.h"
#include "compiler/api/output/plan.h"
#include "compiler/codegen/llvm/cpu_levels.h"
#include "compiler/codegen/llvm/emit.h"
#include "compiler/interface/object.h"
#include "compiler/relax/mapped_file.h"
#include "targets/target.h"

namespace relaxc::api {

struct WrittenObject {
  std::string file;  ///< the output, staged until it is committed
  codegen_llvm::StackBounds stack;
};

/// Writes the object in the format of `plan`, and the requested files beside it: the header, the weights, the
/// declarations for Rust and the dependency file. `files` are the inputs. `levels` are the versions, least first, if
/// there are several. `tell`: see codegen_llvm::EmitOptions::tell.
Result<WrittenObject> write_object(const CompileOptions& options, const OutputPlan& plan,
                                   const interface::Object& object,
                                   const std::vector<codegen_llvm::LevelVersion>& levels, const Target& target,
                                   const std::vector<relax::FileRef>& files, const codegen_llvm::TellParts& tell,
                                   Outputs& outputs, Diagnostics& diag);

/// Writes the dependency file, if requested: `targets`, which are written together, depend on `files`.
Status write_depfile(const CompileOptions& options, const OutputPlan& plan, const std::vector<std::string>& targets,
                     const std::vector<relax::FileRef>& files, Outputs& outputs, Diagnostics& diag);

}  // namespace relaxc::api
