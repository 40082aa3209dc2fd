// options.h: the command line, read into a record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/c/style.h"
#include "compiler/driver/output/forms.h"
#include "compiler/interface/object.h"
#include "compiler/pipeline/runner.h"
#include "frontends/onnx/import.h"

namespace relaxc::driver {

enum class CheckFormat { kNone, kText, kJson };

/// How many of the model's names an object carries: all, those of inputs, outputs and dims, or none.
enum class Names { kFull, kIo, kNone };

/// A `--state=h0:hn`: input and output that carry one state.
struct State {
  std::string input, output;
};

/// What `relaxc run`, `verify`, `bench`, `tune` and `inspect` are told beyond what compiling needs.
struct ToolOptions {
  enum Kind { kNone, kRun, kVerify, kBench, kInspect, kTune } kind = kNone;
  std::vector<std::string> data;       ///< files and folders of inputs: FILE or NAME=FILE
  std::vector<std::string> expected;   ///< of outputs
  std::string folder;                  ///< where outputs go
  std::vector<std::string> libraries;  ///< with the functions of custom operators
  std::string function = "main";
  std::string against = "interpreter";  ///< or "onnxruntime": what `verify` compares with
  bool random = false, interpret = false, bisect = false, profile = false;
  int64_t seed = 0;
  int32_t threads = 1, repeat = 0;  ///< `repeat` 0: as often as a second takes
  double rtol = 1e-3, atol = 1e-5;
  std::string record;  ///< what `tune` writes
  double budget = 60;  ///< seconds that `tune` may take
};

struct Options {
  std::string input, output;
  std::vector<std::string> more_inputs;  ///< models that share the object with `input`
  ToolOptions tool;
  std::optional<Emit> emit;  ///< nothing: decided by the ending of `output`
  std::string name;          ///< prefix of every global symbol; empty: the stem of `output`
  std::string opt = "2";     ///< "0".."3", "s", "z"
  std::string target, cpu, features, float_abi;
  std::string target_from_cc;  ///< a C compiler and its flags: compile for what it compiles for
  codegen_c::Style c_style;    ///< of C text
  bool print_targets = false, print_target = false, print_cmake_dir = false;
  int32_t jobs = 0;              ///< threads that compile; 0: one a core
  int32_t task_slots = 0;        ///< 0: the target's own
  int64_t max_recursion = 1000;  ///< most calls of recursive functions that have not ended
  bool depfile = false, phony_targets = false;
  std::string depfile_path, depfile_target;  ///< empty: made from `output`
  bool line_tables = false;                  ///< DWARF: what a piece of code comes from
  interface::Hooks hooks;                    ///< of the context, that the object calls
  Names names = Names::kFull;
  bool quantized_io = false;  ///< inputs and outputs that are quantized stay integers
  bool verbose = false, warnings_are_errors = false;
  CheckFormat check = CheckFormat::kNone;
  std::vector<frontend::DimOverride> dims;
  std::vector<State> states;
  std::vector<interface::Pool> pools;  ///< beside the arena
  std::string arena_name;              ///< that --pool gives the arena; empty: none
  std::vector<std::string> params;     ///< files of weights
  std::string weights;                 ///< where the object's own weights go; empty: into the object, if not too many
  std::string manifest;                ///< where to describe the object; empty: nowhere
  bool selftest = false;               ///< the object carries inputs and outputs, and a function that tries them
  std::vector<std::string> selftest_data;     ///< as ToolOptions::data; none: random inputs
  std::string rust;                           ///< where to declare the typed call for Rust; empty: nowhere
  std::string rust_edition = "2021";          ///< whose grammar the declarations have; or "2024"
  uint64_t flash_budget = 0, ram_budget = 0;  ///< bytes; 0: any
  bool embed_weights = false;                 ///< into the object, however many
  std::vector<std::string> custom_ops;        ///< see custom_ops.h
  bool keep_initializers_as_inputs = false, allow_external_outside = false;
  PassOptions passes;
  double time_limit = 0;                  ///< seconds; 0: none
  uint64_t memory_limit = 0;              ///< bytes; 0: none
  int64_t max_nodes = 200'000;            ///< that an ONNX model may come to (ImportOptions)
  bool verify_semantics = false;          ///< run the module on random inputs after every pass
  std::string report;                     ///< ending in .html or .json; empty: none
  std::string mixed_precision;            ///< "float16" or "bfloat16": what products read; empty: as it is written
  std::vector<std::string> pass_options;  ///< "fold_constants.budget=0"
  std::string schedules;                  ///< how kernels are scheduled (schedule_file.h); empty: as rules choose
  std::string write_schedules;            ///< where to write how they are; empty: nowhere
  std::string runtime;                    ///< runtime-lite's library, for what is linked
  std::string linker;                     ///< the C compiler that links; empty: cc

  std::vector<std::string> object_flags;  ///< the flags that decide what the object is, as text: command_line.cpp

  int opt_level() const { return opt == "0" ? 0 : opt == "1" ? 1 : opt == "3" ? 3 : 2; }
};

}  // namespace relaxc::driver
