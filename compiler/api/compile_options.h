// compile_options.h: the options of a compilation: input, target, passes and outputs.
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

/// Which of the model's names an object contains: all, those of inputs, outputs and dims, or none.
enum class Names { kFull, kIo, kNone };

using relax::State;  // one `--state=h0:hn`

/// One `--gradient=main:w,b`: parameters by which to differentiate a function; none: all of a float dtype.
struct GradientFlag {
  std::string function;
  std::vector<std::string> parameters;
};

/// Every field but `input` has a default. Texts have the syntax of the flag of that name (docs/command-line.md);
/// compile() reports invalid ones.
struct CompileOptions {
  std::string input, output;
  std::vector<std::string> more_inputs;  ///< models that share the object with `input`
  std::optional<Emit> emit;              ///< nullopt: by the extension of `output`
  std::string name;                      ///< prefix of every global symbol; empty: the stem of `output`
  std::string opt = "2";                 ///< "0".."3", "s", "z"
  bool fast_codegen = false;             ///< whether LLVM spends less time than `opt` says, for slower code
  std::string target, cpu, features, float_abi;
  std::string target_from_cc;        ///< a C compiler and its flags, which determine the target
  codegen_c::Style c_style;          ///< of C text
  int32_t jobs = 0;                  ///< threads that compile; 0: as many as there are cores
  int32_t task_slots = 0;            ///< 0: as the target says
  int64_t max_recursion = 1000;      ///< largest depth of recursive calls
  int64_t max_data_nodes = 100'000;  ///< most nodes of algebraic data in one run
  bool depfile = false, phony_targets = false;
  std::string depfile_path, depfile_target;  ///< empty: made from `output`
  bool line_tables = false;                  ///< whether to write DWARF line tables
  interface::Hooks hooks;                    ///< hooks of the context that the object calls
  Names names = Names::kFull;
  bool quantized_io = false;         ///< whether quantized inputs and outputs are integers
  bool lift_params = false;          ///< whether weights of the caller are prepared by a function of their own
  bool warnings_are_errors = false;  ///< whether a warning prevents all output
  std::vector<frontend::DimOverride> dims;
  std::vector<State> states;
  std::vector<GradientFlag> gradients;
  std::vector<interface::Pool> pools;  ///< memory in addition to the arena
  std::string arena_name;              ///< the pool of --pool that is the arena; empty: none
  std::vector<std::string> params;     ///< files of weights
  std::string weights;                 ///< a file for the object's own weights; empty: in the object, unless too large
  std::string manifest;                ///< a file for the manifest; empty: none
  bool selftest = false;               ///< whether the object has a self-test
  std::vector<std::string> selftest_data;      ///< files as read_data() takes them; none: random inputs
  std::string rust;                            ///< a file for Rust declarations of the typed call; empty: none
  bool rust_safe = false;                      ///< whether these are calls on slices by the crate relax-rt
  std::string rust_edition = "2021";           ///< the edition of their syntax: "2021" or "2024"
  uint64_t flash_budget = 0, ram_budget = 0;   ///< limits in bytes; 0: none
  bool embed_weights = false;                  ///< whether weights are in the object, however large
  std::vector<std::string> custom_ops;         ///< see custom_ops.h
  std::vector<std::string> external_patterns;  ///< files, see external_patterns.h
  bool keep_initializers_as_inputs = false, allow_external_outside = false;
  PassOptions passes;
  std::string dialect = "relaxc";         ///< of a module written as text; "tvm" is what TVM's parser accepts
  bool untrusted = false;                 ///< whether the model is from a stranger: it must be one file, without code
  int64_t max_nodes = 200'000;            ///< limit for an ONNX model (ImportOptions)
  bool verify_semantics = false;          ///< whether to run the module on random inputs after each pass
  std::string report;                     ///< with extension .html or .json; empty: none
  std::string mixed_precision;            ///< dtype of products' operands, "float16" or "bfloat16"; empty: as written
  std::vector<std::string> pass_options;  ///< "fold_constants.budget=0"
  std::string schedules;                  ///< a schedule file (schedule_file.h); empty: strategies decide
  std::string write_schedules;            ///< a file for the schedules that were used; empty: none
  std::string runtime;                    ///< runtime-lite's library, to link with
  std::string linker;                     ///< the C compiler that links; empty: cc

  relax::MemoryFiles memory;  ///< inputs, weights and declarations of operators in memory instead of at their paths
  /// Returns whether to cancel (Kind::cancelled). Called from any thread that compiles, between pieces of work.
  std::function<bool()> stop;
  /// Receives remarks, such as "the pass 'a' is now called 'b'"; null: they are printed to stderr.
  std::function<void(const std::string& text)> remark;

  bool header = true;                     ///< whether a header is written beside an object
  std::vector<std::string> object_flags;  ///< the flags that determine the object, as text; part of its hash

  int opt_level() const { return opt == "0" ? 0 : opt == "1" ? 1 : opt == "3" ? 3 : 2; }
};

/// Passes `text` to options.remark, or prints it after "relaxc: note: ".
void print_note(const CompileOptions& options, const std::string& text);

/// Fails (cancelled) if options.stop says so.
Status check_not_cancelled(const CompileOptions& options, Diagnostics& diag);

}  // namespace relaxc::api
