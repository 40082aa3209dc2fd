// compile.h: the compiler as a function: a program and options in, an artifact out.
//
// The command line is built on it. It keeps no state between calls; limits and signals belong to the program that calls
// it.
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

/// How far a compilation goes.
enum class Goal {
  kModule,  ///< runs the passes and writes nothing
  kText,    ///< writes the module as text: as it was read, or behind the pass of `stop_after`
  kObject,  ///< writes code, in the format that the options name
};

/// Text if the options name the text IR or a graph, else an object.
Goal goal_of(const CompileOptions& options);

/// A compiled program and how it got there. Its parts refer to each other, so it stays where it was made.
struct Artifact {
  relax::Module module;  ///< behind the last pass that ran
  interface::Object object;
  Target target;
  Observations observed;                       ///< empty unless Watch::observe, or a report is written
  std::vector<codegen_llvm::CpuLevel> levels;  ///< of choose_levels(), least first
  std::deque<LesserVersion> lesser;            ///< of all levels but the last
  OutputPlan plan;
  WrittenObject written;              ///< for Goal::kObject
  std::vector<relax::FileRef> files;  ///< what was read, the input first

  Artifact() = default;
  Artifact(const Artifact&) = delete;
};

/// Changes a module between reading and compiling.
using ModuleEdit = std::function<void(relax::Module&)>;
/// Looks at what has been compiled so far.
using Look = std::function<void(const Artifact&)>;

/// What a caller wants to see and change on the way. Empty functions are not called.
struct Watch {
  ModuleEdit edit;
  Look read;      ///< the files are there
  Look compiled;  ///< all passes have run, and nothing is written yet
  Look finished;  ///< an object has its name and knows where its weights go; its code is generated next
  TellProgress progress;
  codegen_llvm::TellParts generated;       ///< while code is generated, from any thread, one at a time
  TellBounds bounds;                       ///< not for programs, which ask for their memory when they run
  bool observe = false;                    ///< fill Artifact::observed, which takes time, if no option needs it
  frontend::Findings* findings = nullptr;  ///< receives what an import found out, also where it fails
};

/// Compiles the program that the options name and writes it, with the reports that they want and through `outputs`, to
/// staged files, which commit() publishes. Fails with what was reported: a program or options that are at fault, an
/// object beyond its budgets. With `warnings_are_errors` and a warning nothing is written.
Result<std::unique_ptr<Artifact>> compile(const CompileOptions& options, Goal goal, Outputs& outputs, Diagnostics& diag,
                                          const Watch& watch = {});

/// Puts the outputs in their places. Fails (usage, io) if one of them would replace a file that was read, or if such a
/// file has changed since: the object's hash is of what was read.
Status commit(const Artifact& artifact, Outputs& outputs, Diagnostics& diag);

/// Both, for the goal that the options name: compiles to files that are in their places then. With
/// `warnings_are_errors` and a warning none is.
Result<std::unique_ptr<Artifact>> compile_to_files(const CompileOptions& options, Diagnostics& diag,
                                                   const Watch& watch = {});

}  // namespace relaxc::api
