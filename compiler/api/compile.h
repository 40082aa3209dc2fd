// compile.h: the compiler as a function from a program and options to an artifact.
//
// The command line is built on it. It keeps no state between calls; limits and signal handlers are those of the calling
// program.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "compiler/api/compile_options.h"
#include "compiler/api/output/multiversion.h"
#include "compiler/api/output/outputs.h"
#include "compiler/api/output/plan.h"
#include "compiler/api/output/write_object.h"
#include "compiler/api/run_pipeline.h"
#include "compiler/interface/object.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/relax/module.h"
#include "targets/target.h"

namespace relaxc::api {

/// The last stage of a compilation.
enum class Goal {
  kModule,  ///< runs the passes and writes nothing
  kText,    ///< writes the module as text: as it was read, or after the pass `stop_after`
  kObject,  ///< writes code in the format that the options select
};

/// Returns kText if the options select the text IR or a graph, else kObject.
Goal goal_of(const CompileOptions& options);

/// A compiled program and how it was compiled. Its parts refer to each other, so it cannot be moved.
struct Artifact {
  relax::Module module;  ///< after the last pass that ran
  interface::Object object;
  Target target;
  Observations observed;                       ///< empty unless Watch::observe, or a report, is requested
  std::vector<codegen_llvm::CpuLevel> levels;  ///< of choose_levels(), least first
  std::deque<LesserVersion> lesser;            ///< of all levels but the last
  OutputPlan plan;
  WrittenObject written;              ///< for Goal::kObject
  std::vector<relax::FileRef> files;  ///< the files that were read, the input first

  Artifact() = default;
  Artifact(const Artifact&) = delete;
};

/// Changes a module after it is read and before it is compiled.
using ModuleEdit = std::function<void(relax::Module&)>;
/// Receives the current state of the compilation.
using Look = std::function<void(const Artifact&)>;

/// Callbacks of a caller. Each may be empty.
struct Watch {
  ModuleEdit edit;
  Look read;      ///< called when all inputs are read
  Look compiled;  ///< called when all passes have run, before anything is written
  Look finished;  ///< called when the object has its name and a place for its weights, before code generation
  TellProgress progress;
  codegen_llvm::TellParts generated;       ///< called during code generation from any thread, never concurrently
  TellBounds bounds;                       ///< not called for executables, which allocate memory at run time
  bool observe = false;                    ///< whether to fill Artifact::observed, which takes time, in any case
  frontend::Findings* findings = nullptr;  ///< receives the import's findings, also if it fails
};

/// Compiles the program that the options name and writes it to staged files of `outputs`, with the requested reports;
/// commit() publishes them. Fails if the program or the options are invalid or the object exceeds its budgets, with
/// errors in `diag`. With `warnings_are_errors`, a warning prevents all output.
Result<std::unique_ptr<Artifact>> compile(const CompileOptions& options, Goal goal, Outputs& outputs, Diagnostics& diag,
                                          const Watch& watch = {});

/// Moves the outputs to their paths. Fails (usage, io) if one of them would replace an input, or if an input has
/// changed since it was read, because the object's hash is that of the old content.
Status commit(const Artifact& artifact, Outputs& outputs, Diagnostics& diag);

/// Calls compile() with the goal that the options select, and then commit(). With `warnings_are_errors`, a warning
/// prevents all output.
Result<std::unique_ptr<Artifact>> compile_to_files(const CompileOptions& options, Diagnostics& diag,
                                                   const Watch& watch = {});

}  // namespace relaxc::api
