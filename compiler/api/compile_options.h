// compile_options.h: what a compilation is asked for: input, target, passes and outputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/api/output/output_formats.h"
#include "compiler/codegen/c/style.h"
#include "compiler/interface/object.h"
#include "compiler/pipeline/runner.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/relax/state.h"
#include "compiler/support/result.h"
#include "frontends/onnx/import.h"

namespace relaxc::api {

/// How many of the model's names an object carries: all, those of inputs, outputs and dims, or none.
enum class Names { kFull, kIo, kNone };

using relax::State;  // a `--state=h0:hn`

/// A plain record with a default for everything but `input`. Texts have the syntax of the flag of that name
/// (docs/command-line.md); compile() reports what it cannot read.
struct CompileOptions {
  std::string input, output;
  std::vector<std::string> more_inputs;  ///< models that share the object with `input`
  std::optional<Emit> emit;              ///< nothing: the extension of `output` selects it
  std::string name;                      ///< prefix of every global symbol; empty: the stem of `output`
  std::string opt = "2";                 ///< "0".."3", "s", "z"
  bool fast_codegen = false;             ///< LLVM takes less time than `opt` would give it, for slower code
  std::string target, cpu, features, float_abi;
  std::string target_from_cc;    ///< a C compiler and its flags: compile for what it compiles for
  codegen_c::Style c_style;      ///< of C text
  int32_t jobs = 0;              ///< threads that compile; 0: one a core
  int32_t task_slots = 0;        ///< 0: the target's own
  int64_t max_recursion = 1000;  ///< most calls of recursive functions that have not ended
  bool depfile = false, phony_targets = false;
  std::string depfile_path, depfile_target;  ///< empty: made from `output`
  bool line_tables = false;                  ///< DWARF: what a piece of code comes from
  interface::Hooks hooks;                    ///< of the context, that the object calls
  Names names = Names::kFull;
  bool quantized_io = false;         ///< inputs and outputs that are quantized stay integers
  bool warnings_are_errors = false;  ///< where there is one, nothing is written
  std::vector<frontend::DimOverride> dims;
  std::vector<State> states;
  std::vector<interface::Pool> pools;  ///< beside the arena
  std::string arena_name;              ///< that --pool gives the arena; empty: none
  std::vector<std::string> params;     ///< files of weights
  std::string weights;                 ///< where the object's own weights go; empty: into the object, if not too many
  std::string manifest;                ///< where to describe the object; empty: nowhere
  bool selftest = false;               ///< the object carries inputs and outputs, and a function that tries them
  std::vector<std::string> selftest_data;      ///< files as read_data() takes them; none: random inputs
  std::string rust;                            ///< where to declare the typed call for Rust; empty: nowhere
  bool rust_safe = false;                      ///< calls of slices on the crate relax-rt, instead of declarations
  std::string rust_edition = "2021";           ///< whose grammar the declarations have; or "2024"
  uint64_t flash_budget = 0, ram_budget = 0;   ///< bytes; 0: any
  bool embed_weights = false;                  ///< into the object, however many
  std::vector<std::string> custom_ops;         ///< see custom_ops.h
  std::vector<std::string> external_patterns;  ///< files, see external_patterns.h
  bool keep_initializers_as_inputs = false, allow_external_outside = false;
  PassOptions passes;
  std::string dialect = "relaxc";         ///< of a module that is written as text; or "tvm": what TVM's parser reads
  bool untrusted = false;                 ///< the model is a stranger's: it is one file, and names no code
  int64_t max_nodes = 200'000;            ///< that an ONNX model may come to (ImportOptions)
  bool verify_semantics = false;          ///< run the module on random inputs after every pass
  std::string report;                     ///< with extension .html or .json; empty: none
  std::string mixed_precision;            ///< "float16" or "bfloat16": what products read; empty: as it is written
  std::vector<std::string> pass_options;  ///< "fold_constants.budget=0"
  std::string schedules;                  ///< how kernels are scheduled (schedule_file.h); empty: as rules choose
  std::string write_schedules;            ///< where to write how they are; empty: nowhere
  std::string runtime;                    ///< runtime-lite's library, for what is linked
  std::string linker;                     ///< the C compiler that links; empty: cc

  relax::MemoryFiles memory;  ///< inputs, weights and declarations of operators that are not read from their paths
  /// Asked between pieces of work, from any thread that compiles, whether to end without a result (Kind::cancelled).
  std::function<bool()> stop;
  /// Receives what is neither a warning nor an error, "the pass 'a' is now called 'b'"; null: stderr does.
  std::function<void(const std::string& text)> remark;

  std::vector<std::string> object_flags;  ///< what decides what the object is, as text: goes into its hash

  int opt_level() const { return opt == "0" ? 0 : opt == "1" ? 1 : opt == "3" ? 3 : 2; }
};

/// Tells a remark, or prints it behind "relaxc: note: ".
void print_note(const CompileOptions& options, const std::string& text);

/// Fails (cancelled) if the compilation is to stop.
Status check_not_cancelled(const CompileOptions& options, Diagnostics& diag);

}  // namespace relaxc::api
