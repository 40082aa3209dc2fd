// flags.cpp: one list of the flags; help, man page, completion and the object's hash are made from it.
#include "compiler/api/flags/flags.h"

#include "compiler/api/flags/flag_checks.h"
#include "compiler/api/flags/flag_values.h"
#include "compiler/api/output/output_formats.h"
#include "compiler/api/report/budget.h"

namespace relaxc::api {
namespace {

/// Throws the error that CLI11 reports for a value that is not of the expected form.
[[noreturn]] void refuse(const char* flag, const char* form, const std::string& found) {
  throw CLI::ConversionError(std::string(flag) + ": expected " + form + ", found '" + found + "'");
}

template <typename T>
CLI::callback_t collect(std::vector<T>& list, std::optional<T> (*parse)(const std::string&), const char* flag,
                        const char* form) {
  return [=, &list](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      std::optional<T> item = parse(text);
      if (!item) refuse(flag, form, text);
      list.push_back(std::move(*item));
    }
    return true;
  };
}

/// Returns the bytes of a budget, which must not be 0.
uint64_t budget_of(const char* flag, const char* form, const std::string& given) {
  std::optional<uint64_t> parsed = parse_bytes(given);
  if (!parsed || *parsed == 0) refuse(flag, form, given);
  return *parsed;
}

/// Adds a pool. Pools with a size are separate from the arena; the one without a size is the arena itself.
void take_pool(CompileOptions& o, const std::string& text) {
  std::optional<interface::Pool> pool = parse_pool(text);
  if (!pool) refuse("--pool", "NAME=BYTES or NAME in lower case, as in fast=64K", text);
  bool known = pool->name == o.arena_name;
  for (const interface::Pool& other : o.pools) known = known || other.name == pool->name;
  if (known) throw CLI::ConversionError("--pool: two pools are named '" + pool->name + "'");
  if (!o.arena_name.empty())
    throw CLI::ConversionError("--pool: '" + o.arena_name + "' has no size and takes the rest, so it must be the last");
  if (pool->bytes == 0)
    o.arena_name = pool->name;
  else
    o.pools.push_back(std::move(*pool));
}

namespace {

void add_code_flags(CLI::App& app, CompileOptions& o) {
  app.add_option("-O", o.opt, "optimization level; the last one counts")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(one_of({"0", "1", "2", "3", "s", "z"}))
      ->capture_default_str();
  app.add_flag("--fast-codegen", o.fast_codegen,
               "compile in less than half of the time, to slower code, by LLVM's fast instruction selection and "
               "register allocation");
  app.add_flag("--trace", o.hooks.trace, "call context.trace before and after each kernel");
  app.add_flag("--poll", o.hooks.poll, "call context.poll before each kernel; it can end the run");
  app.add_flag("-g", o.line_tables,
               "write line tables: addr2line gives the ONNX node or the line of text that a kernel comes from");
  app.add_option_function<std::string>(
         "--names",
         [&](const std::string& names) {
           o.names = names == "full" ? Names::kFull : names == "io" ? Names::kIo : Names::kNone;
         },
         "keep names of the model in the object: all (full), those of inputs, outputs and dims (io), or none")
      ->check(one_of({"full", "io", "none"}));
}

/// Adds flags for what the functions of the object take and return.
void add_interface_flags(CLI::App& app, CompileOptions& o) {
  app.add_option_function<std::string>(
         "--io", [&](const std::string& form) { o.quantized_io = form == "quantized"; },
         "quantized: keep inputs that are only quantized, and outputs that are only dequantized, as integers")
      ->check(one_of({"plain", "quantized"}));
  repeated(app.add_option("--dim",
                          collect<frontend::DimOverride>(o.dims, parse_dim, "--dim",
                                                         "NAME=RANGE, as in batch=1, seq=1..512 or seq=1..512:64"),
                          "fix or bound a dim: batch=1, seq=1..512, seq=1..512:64 (multiples of 64)"),
           "NAME=RANGE");
  repeated(app.add_option("--state", collect<State>(o.states, parse_state, "--state", "INPUT:OUTPUT, as in h0:hn"),
                          "make the output OUTPUT the next call's INPUT: h0:hn"),
           "INPUT:OUTPUT");
  app.add_flag(
      "--lift-params", o.lift_params,
      "add FUNCTION_prepare, which computes once what depends on parameters after num_input alone, and take its "
      "results in their place");
  repeated(app.add_option("--gradient",
                          collect<GradientFlag>(o.gradients, parse_gradient, "--gradient",
                                                "FUNCTION or FUNCTION:PARAMETERS, as in main or main:w,b"),
                          "add FUNCTION_adjoint, which also returns the derivatives of FUNCTION's first result by its "
                          "parameters: main, main:w,b"),
           "FUNCTION[:PARAMETERS]");
  repeated(app.add_option_function<std::vector<std::string>>(
               "--pool",
               [&](const std::vector<std::string>& texts) {
                 o.pools.clear(), o.arena_name.clear();
                 for (const std::string& text : texts) take_pool(o, text);
               },
               "place the buffers with most traffic per byte in a memory beside the arena: fast=64K; a last name "
               "without a size is the arena's: slow"),
           "NAME[=BYTES]");
  repeated(
      app.add_option("--custom-op", o.custom_ops,
                     "call a C function of yours for a model's operator: my.ops::Foo='[n, c] -> [n, 2 * c]', or a JSON "
                     "file of such rules"),
      "NAME=RULE|FILE");
  repeated(app.add_option("--external-patterns", o.external_patterns,
                          "call C functions of yours for groups of operators, as the patterns of this file say"),
           "FILE");
  app.add_flag("--keep-initializers-as-inputs", o.keep_initializers_as_inputs,
               "keep inputs of an ONNX model that have a default as inputs (default: they become constants)");
  auto* selftest = app.add_flag("--emit-selftest", o.selftest,
                                "add NAME_selftest() to the object, with inputs and the outputs to expect");
  repeated(
      app.add_option("--selftest-data", o.selftest_data, "inputs and outputs of the self-test (default: random inputs)")
          ->needs(selftest),
      "FILE|FOLDER");
}

/// Adds flags for what passes do.
void add_optimization_flags(CLI::App& app, CompileOptions& o) {
  app.add_option("--threads", o.task_slots, "split parallel loops into at most this many tasks")
      ->check(between(1, 1024))
      ->type_name("N");
  app.add_option("--max-recursion", o.max_recursion, "limit the depth of recursive calls")
      ->check(between(1, int64_t{1} << 31))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-data-nodes", o.max_data_nodes, "limit the nodes of algebraic data in a run")
      ->check(between(1, int64_t{1} << 31))
      ->type_name("N")
      ->capture_default_str();
  repeated(app.add_option("--disable-pass", o.passes.disabled, "do not run these passes, also not as clean-ups")
               ->delimiter(','),
           "PASS");
  app.add_option("--mixed-precision", o.mixed_precision, "store operands of products in 16 bits; sums stay float32")
      ->check(one_of({"float16", "bfloat16"}))
      ->type_name("DTYPE");
  repeated(app.add_option("--pass-option", o.pass_options, "set an option of a pass: fold_constants.budget=0"),
           "PASS.NAME=N");
  app.add_option_function<std::string>(
         "--ram-budget",
         [&o](const std::string& given) {
           o.ram_budget =
               given == "min" ? kLeastRam : budget_of("--ram-budget", "bytes, as in 16384, 64K or 2M, or min", given);
         },
         "run layers a few rows at a time if the arena and the pools take more, and fail if they still do: 8K; min: as "
         "little as can be")
      ->type_name("BYTES");
  app.add_option("--opt-bisect-limit", o.passes.bisect_limit,
                 "run only the first N optional passes, and list which ran")
      ->check(between(0, INT64_MAX))
      ->type_name("N");
}

}  // namespace

void add_object_flags(CLI::App& app, CompileOptions& o) {
  add_code_flags(app, o);
  add_interface_flags(app, o);
  add_optimization_flags(app, o);
}

void add_input_flags(CLI::App& app, CompileOptions& o) {
  app.add_option_function<std::vector<std::string>>(
         "INPUT",
         [&o](const std::vector<std::string>& files) {
           o.input = files.front();
           o.more_inputs.assign(files.begin() + 1, files.end());
         },
         "an ONNX or TFLite model, or a program in the text IR (.relax, .py); several models become functions of one "
         "object")
      ->type_name("FILE");
  repeated(
      app.add_option("--params", o.params, "read weights of a text program by name from an .npz or .safetensors file"),
      "FILE");
  app.add_flag("--allow-external-outside", o.allow_external_outside,
               "accept external data of an ONNX model outside of its folder");
}

namespace {

/// Adds flags for which files are written, and for their contents.
void add_file_flags(CLI::App& app, CompileOptions& o) {
  app.add_option("-o", o.output, "the output; its extension selects the format: " + format_extensions())
      ->type_name("OUTPUT");
  app.add_option_function<std::string>(
         "--emit", [&](const std::string& form) { o.emit = format_of_name(form); },
         "the format to write, whatever the extension")
      ->check(one_of(format_names()));
  app.add_option("--name", o.name, "prefix of every global symbol (default: the stem of OUTPUT)")->type_name("NAME");
  auto* apart = app.add_option("--weights", o.weights,
                               "write the weights to a separate file, which the program maps (default: OUTPUT with the "
                               "extension .weights if they are more than 1 GB)");
  apart->type_name("FILE");
  app.add_flag("--embed-weights", o.embed_weights, "keep weights in the object even if they are more than 1 GB")
      ->excludes(apart);
  app.add_option("--manifest", o.manifest,
                 "also describe the object or shared library as JSON: sections, symbols, memory, functions")
      ->type_name("FILE");
  auto* rust = app.add_option("--rust", o.rust, "also write declarations of the typed call for Rust");
  rust->type_name("FILE");
  app.add_option("--rust-edition", o.rust_edition, "edition of the crate that includes them: 2021 (or earlier) or 2024")
      ->check(one_of({"2021", "2024"}))
      ->needs(rust);
  app.add_option_function<std::string>(
         "--rust-api", [&](const std::string& api) { o.rust_safe = api == "safe"; },
         "raw: declarations that need core alone; safe: calls of slices on the crate relax-rt")
      ->check(one_of({"raw", "safe"}))
      ->needs(rust);
  app.add_option("--schedules,--tune-log", o.schedules,
                 "schedule kernels as this file says; 'relaxc tune' and --write-schedules write such files")
      ->type_name("FILE");
  app.add_option("--write-schedules", o.write_schedules, "also write how each kernel is scheduled, for --schedules")
      ->type_name("FILE");
  app.add_option("--report", o.report,
                 "also write a page (.html), data (.json) or a graph for Netron (.onnx) on kernels")
      ->type_name("FILE");
}

void add_flash_budget(CLI::App& app, CompileOptions& o) {
  app.add_option_function<std::string>(
         "--flash-budget",
         [&o](const std::string& given) {
           o.flash_budget = budget_of("--flash-budget", "bytes, as in 16384, 64K or 2M", given);
         },
         "fail if the object takes more flash: 64K")
      ->type_name("BYTES");
}

/// Adds flags for code generation and linking.
void add_build_flags(CLI::App& app, CompileOptions& o) {
  app.add_option("-j,--jobs", o.jobs,
                 "generate code on N threads; the output does not depend on N (default: one per core)")
      ->check(between(1, 1024))
      ->type_name("N");
  app.add_option(
         "--runtime", o.runtime,
         "the runtime to link into a library or a program: librelax_rt.a, or the folder of its sources (default: the "
         "installed one)")
      ->type_name("FILE|FOLDER");
  app.add_option("--cc", o.linker,
                 "the C compiler that links a library or a program, and its flags (default: cc; clang for another "
                 "machine)")
      ->type_name("COMMAND");
}

void add_c_flags(CLI::App& app, CompileOptions& o) {
  app.add_option_function<std::string>(
         "--c-profile",
         [&](const std::string& name) {
           o.c_style.profile = name == "misra" ? codegen_c::Profile::kMisra : codegen_c::Profile::kPlain;
         },
         "for .c: misra forbids function pointers, unions, recursion and loops without constant bounds; the model must "
         "have fixed sizes")
      ->check(one_of({"c99", "misra"}));
  app.add_option_function<std::string>(
         "--c-vectors", [&](const std::string& name) { o.c_style.vectors = name == "gnu"; },
         "for .c: write vectorized loops with the vector types of GCC and clang (gnu, default), or in plain C99 (none)")
      ->check(one_of({"none", "gnu"}));
  app.add_option_function<std::string>(
         "--c-weights",
         [&](const std::string& name) {
           o.c_style.weights = name == "incbin"  ? codegen_c::WeightsForm::kIncbin
                               : name == "embed" ? codegen_c::WeightsForm::kEmbed
                                                 : codegen_c::WeightsForm::kArray;
         },
         "for .c: write weights as an array, or to STEM.weights.bin, which .incbin or #embed includes")
      ->check(one_of({"array", "incbin", "embed"}));
  app.add_option("--c-split", o.c_style.part_bytes,
                 "for .c: distribute functions over STEM_1.c, STEM_2.c ... of about this size")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->type_name("BYTES");
}

}  // namespace

void add_output_flags(CLI::App& app, CompileOptions& o) {
  add_file_flags(app, o);
  add_flash_budget(app, o);
  add_build_flags(app, o);
  add_c_flags(app, o);
}

void add_target_flags(CLI::App& app, CompileOptions& o) {
  app.add_option("--target", o.target,
                 "a name of --print-targets, a triple, a description in a .json file, or 'native' (default: this "
                 "machine's triple); with -o model.mjs a list puts binaries for several engines beside the module, the "
                 "most basic first: wasm32-simd,wasm32-relaxed")
      ->type_name("TARGET");
  app.add_option(
         "--mcpu", o.cpu,
         "target CPU, or 'native' (default on x86-64: x86-64-v3, whose calls return RLX_CPU_FEATURES on older CPUs; "
         "elsewhere the triple's baseline); a list puts code for each into one object, the most basic CPU first: "
         "x86-64-v3,x86-64-v4+avx512vnni")
      ->type_name("CPU");
  app.add_option("--mattr", o.features, "target features, as in +avx2,-fma")->type_name("FEATURES");
  app.add_option("--float-abi", o.float_abi, "for ARM: soft, softfp or hard (default: as the triple says)")
      ->check(one_of({"soft", "softfp", "hard"}));
  app.add_option(
         "--target-from-cc", o.target_from_cc,
         "compile for the machine that this C compiler targets with these flags: 'arm-none-eabi-gcc -mcpu=cortex-m4'")
      ->type_name("COMMAND");
}

void add_dependency_flags(CLI::App& app, CompileOptions& o) {
  auto* wanted = app.add_flag("--MD", o.depfile, "-MD: also write a dependency file for make");
  app.add_option("--MF", o.depfile_path, "-MF: its path (default: OUTPUT with the extension .d)")
      ->needs(wanted)
      ->type_name("FILE");
  app.add_option("--MT", o.depfile_target, "-MT: the target of its rule, as make reads it (default: OUTPUT)")
      ->join(' ')
      ->needs(wanted)
      ->type_name("TARGET");
  app.add_flag("--MP", o.phony_targets,
               "-MP: add an empty rule for each dependency, so that make accepts a deleted one")
      ->needs(wanted);
}

/// Adds limits, which decide only whether anything is written, not what.
void add_limit_flags(CLI::App& app, CompileOptions& o) {
  app.add_option("--max-nodes", o.max_nodes,
                 "limit the nodes of an ONNX model; a model-local function counts at each call")
      ->check(between(1, int64_t{1} << 40))
      ->capture_default_str()
      ->type_name("N");
  app.add_flag("--untrusted", o.untrusted,
               "for untrusted models: refuse text programs, custom operators and external data, and limit time and "
               "memory (default then: 300 seconds and 4G)");
}

void add_pass_flags(CLI::App& app, CompileOptions& o) {
  auto list = [&](const char* flag, std::vector<std::string>& names, const char* text) {
    repeated(app.add_option(flag, names, text)->delimiter(','), "PASS");
  };
  list("--print-before", o.passes.print_before, "print the module before these passes ('all': every one)");
  list("--print-after", o.passes.print_after, "print the module after these passes");
  app.add_option("--stop-after", o.passes.stop_after, "stop after this pass, print the module and write no object")
      ->type_name("PASS");
  app.add_option("--dialect", o.dialect,
                 "with --emit=relax: whose operators to write; those that TVM lacks become prim funcs")
      ->check(CLI::IsMember({"relaxc", "tvm"}))
      ->capture_default_str();
  app.add_option("--dump-passes", o.passes.dump_folder, "write the module to a folder after every pass that changed it")
      ->type_name("FOLDER");
  app.add_flag("--verify-semantics", o.verify_semantics,
               "run the module on random inputs after every pass, and name the first pass that changes its results");
  app.add_flag("--pass-statistics", o.passes.statistics,
               "print the number of ops, kernels and statements after each pass");
  app.add_flag("--time-passes", o.passes.time_passes, "print how long each pass and clean-up took");
}

}  // namespace

void add_flags(CLI::App& app, CompileOptions& o) {
  struct Group {
    const char* name;
    void (*add)(CLI::App&, CompileOptions&);
  };
  static constexpr Group kGroups[] = {
      {kInputFlags, add_input_flags},   {kObjectFlags, add_object_flags},    {kTargetFlags, add_target_flags},
      {kOutputFlags, add_output_flags}, {kBuildFlags, add_dependency_flags}, {kLimitFlags, add_limit_flags},
      {kPassFlags, add_pass_flags},
  };
  for (const Group& group : kGroups) {
    app.option_defaults()->group(group.name);
    group.add(app, o);
  }
  app.option_defaults()->group("Options");
  app.add_option_function<std::string>(
         "-W", [&o](const std::string&) { o.warnings_are_errors = true; }, "-Werror: warnings are errors")
      ->check(one_of({"error"}));
}

std::vector<std::string> object_flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* any) { return any->get_group() == kObjectFlags; })) {
    bool is_short = option->get_lnames().empty();
    std::string name = is_short ? "-" + option->get_snames().front() : "--" + option->get_lnames().front();
    std::vector<std::string> values = option->empty() ? option->results() : option->reduced_results();
    if (option->get_items_expected_max() == 0) {
      if (!values.empty()) flags.push_back(name);
      continue;
    }
    if (values.empty() && !option->get_default_str().empty()) values.push_back(option->get_default_str());
    for (const std::string& value : values) flags.push_back(name + (is_short ? "" : "=") + value);
  }
  return flags;
}

}  // namespace relaxc::api
