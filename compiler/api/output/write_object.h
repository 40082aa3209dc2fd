// write_object.h: a compiled program as files.
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
  std::string file;  ///< the output, until it is committed to its place
  codegen_llvm::StackBounds stack;
};

/// Writes the object in the form of `plan`, and beside it the header, the weights, the declarations for Rust and the
/// dependency file, as far as they are wanted. `files`: what the object was made from. `levels`: its versions, if there
/// are several, least first. `tell`: codegen_llvm::EmitOptions::tell.
Result<WrittenObject> write_object(const CompileOptions& options, const OutputPlan& plan,
                                   const interface::Object& object,
                                   const std::vector<codegen_llvm::LevelVersion>& levels, const Target& target,
                                   const std::vector<relax::FileRef>& files, const codegen_llvm::TellParts& tell,
                                   Outputs& outputs, Diagnostics& diag);

/// The dependency file, if one is wanted: `targets`, which are written together, depend on `files`.
Status write_depfile(const CompileOptions& options, const OutputPlan& plan, const std::vector<std::string>& targets,
                     const std::vector<relax::FileRef>& files, Outputs& outputs, Diagnostics& diag);

}  // namespace relaxc::api
