// options.cpp: the flags.
//
// Flags that compiler users know keep their spelling: -MD, -MF, -MT and -MP are long options with one dash, which CLI11
// does not know, so they are given a second dash before CLI11 sees them. `--check` takes its format only after an
// equals sign, since the word behind it may be the input; CLI11 would take that word.
#include "compiler/driver/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>

#include "compiler/driver/terminal/help_pages.h"
#include "compiler/driver/version.h"

namespace relaxc::driver {
namespace {

std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes them in reverse
    std::string arg = argv[i];
    bool old_spelling =
        arg.size() >= 3 && arg[0] == '-' && arg[1] == 'M' && std::string_view("DFTP").find(arg[2]) != std::string::npos;
    if (old_spelling) {
      if (arg.size() > 3) out.push_back(arg.substr(3));
      arg = "-" + arg.substr(0, 3);
    }
    if (arg == "--check") arg = "--check=text";
    out.push_back(std::move(arg));
  }
  return out;
}

std::optional<int64_t> integer(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "batch=1", "seq=1..512", "seq=1..512:64", "rows=..300".
std::optional<frontend::DimOverride> parse_dim(const std::string& text) {
  frontend::DimOverride dim;
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  dim.name = text.substr(0, equals);
  std::string range = text.substr(equals + 1);
  if (size_t colon = range.find(':'); colon != std::string::npos) {
    std::optional<int64_t> multiple = integer(std::string_view(range).substr(colon + 1));
    if (!multiple || *multiple < 1) return std::nullopt;
    dim.multiple_of = *multiple;
    range.resize(colon);
  }
  size_t dots = range.find("..");
  std::string lower = range.substr(0, dots), upper = dots == std::string::npos ? lower : range.substr(dots + 2);
  std::optional<int64_t> low = lower.empty() ? std::optional<int64_t>(0) : integer(lower);
  std::optional<int64_t> high =
      upper.empty() && dots != std::string::npos ? std::optional<int64_t>(INT64_MAX) : integer(upper);
  if (!low || !high || *low < 0 || *high < *low) return std::nullopt;
  dim.lower = *low;
  dim.upper = *high;
  return dim;
}

std::optional<State> parse_state(const std::string& text) {
  size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  return State{text.substr(0, colon), text.substr(colon + 1)};
}

template <typename T>
CLI::callback_t collect(std::vector<T>& list, std::optional<T> (*parse)(const std::string&)) {
  return [&list, parse](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      std::optional<T> item = parse(text);
      if (!item) return false;
      list.push_back(std::move(*item));
    }
    return true;
  };
}

const std::map<std::string, Emit> kEmit = {
    {"obj", Emit::kObject}, {"asm", Emit::kAssembly}, {"llvm", Emit::kLLVM},
    {"bc", Emit::kBitcode}, {"c", Emit::kC},          {"shared", Emit::kSharedLibrary},
    {"relax", Emit::kText}, {"ar", Emit::kArchive},   {"exe", Emit::kExecutable},
    {"dot", Emit::kDot}};

void add_output_flags(CLI::App& app, Options& o) {
  app.add_option_function<std::vector<std::string>>(
         "INPUT",
         [&o](const std::vector<std::string>& files) {
           o.input = files.front();
           o.more_inputs.assign(files.begin() + 1, files.end());
         },
         "an ONNX model, or a program in the text IR (.relax, .py); several ONNX models become functions of one object")
      ->type_name("FILE");
  app.add_option("-o", o.output,
                 "what to write; the ending says which form: .o .obj .a .lib .s .ll .bc .c .so .relax .dot, none: a "
                 "program that "
                 "runs the model on files")
      ->type_name("OUTPUT");
  app.add_option_function<std::string>(
         "--emit", [&](const std::string& form) { o.emit = kEmit.at(form); }, "the form to write, whatever the ending")
      ->check(CLI::IsMember({"obj", "ar", "asm", "llvm", "bc", "c", "shared", "exe", "relax", "dot"}));
  app.add_option("--name", o.name, "prefix of every global symbol (default: the stem of OUTPUT)");
  auto* apart = app.add_option("--weights", o.weights,
                               "write the weights to a file of their own, which the program maps (default: OUTPUT with "
                               "the ending .weights if they are more than 1 GB)");
  apart->type_name("FILE");
  app.add_option("--manifest", o.manifest, "also write what the object holds and needs, as JSON (.o and .so)")
      ->type_name("FILE");
  app.add_option("--rust", o.rust, "also write declarations of the typed call for Rust")->type_name("FILE");
  auto* selftest = app.add_flag("--emit-selftest", o.selftest,
                                "the object carries inputs and outputs, and NAME_selftest() tries them");
  app.add_option("--selftest-data", o.selftest_data, "inputs and outputs of the self-test (default: random inputs)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE|FOLDER")
      ->needs(selftest);
  app.add_flag("--embed-weights", o.embed_weights, "keep weights of more than 1 GB in the object")->excludes(apart);
  app.add_option("--runtime", o.runtime,
                 "runtime-lite's library, linked into a .so or a program (default: beside relaxc)");
  app.add_option("--cc", o.linker, "the C compiler that links a .so or a program (default: cc)")->type_name("PROGRAM");
}

void add_target_flags(CLI::App& app, Options& o) {
  app.add_flag("-g", o.line_tables, "line tables: addr2line names the ONNX node, or the line of the text, of a kernel");
  app.add_option("-O", o.opt, "optimization level")
      ->check(CLI::IsMember({"0", "1", "2", "3", "s", "z"}))
      ->capture_default_str();
  app.add_option("--target", o.target,
                 "a name of --print-targets, a triple, a description in a .json file, or 'native' (default: this "
                 "machine's triple)");
  app.add_option("--mcpu", o.cpu, "target CPU, or 'native' (default: x86-64-v3, else the triple's baseline)");
  app.add_option("--float-abi", o.float_abi, "of ARM: soft, softfp or hard (default: as the triple says)")
      ->check(CLI::IsMember({"soft", "softfp", "hard"}));
  app.add_option("--target-from-cc", o.target_from_cc,
                 "compile for the machine of this C compiler with these flags: 'arm-none-eabi-gcc -mcpu=cortex-m4'")
      ->type_name("COMMAND");
  app.add_flag("--print-target", o.print_target, "print the flags that mean the chosen machine, and end");
  app.add_flag("--cmake-dir", o.print_cmake_dir, "print where the package for CMake is (relaxc_DIR), and end");
  app.add_flag("--print-targets", o.print_targets, "list the machines that have names, and end");
  app.add_option("--mattr", o.features, "target features, as in +avx2,-fma");
  app.add_option("--flash-budget", o.flash_budget, "refuse an object that takes more: 64K")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  app.add_option("--ram-budget", o.ram_budget, "refuse an object whose arena takes more: 8K")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  app.add_option("--threads", o.task_slots, "most tasks of a parallel loop")->check(CLI::Range(1, 1024));
  app.add_option("--max-recursion", o.max_recursion, "most calls of recursive functions that have not ended")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31))
      ->capture_default_str();
}

void add_model_flags(CLI::App& app, Options& o) {
  auto* dim = app.add_option("--dim", collect<frontend::DimOverride>(o.dims, parse_dim),
                             "fixes or bounds a dim: batch=1, seq=1..512, seq=1..512:64");
  dim->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->type_name("NAME=RANGE");
  auto* state = app.add_option("--state", collect<State>(o.states, parse_state),
                               "an input and the output that carries it to the next call: h0:hn");
  state->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->type_name("INPUT:OUTPUT");
  app.add_option("--params", o.params, "weights of a text program by name, .npz or .safetensors")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE");
  app.add_option(
         "--custom-op", o.custom_ops,
         "an operator of ONNX that is a C function of yours: my.ops::Foo='[n, c] -> [n, 2 * c]', or a JSON file")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=RULE|FILE");
  app.add_flag("--keep-initializers-as-inputs", o.keep_initializers_as_inputs,
               "inputs of an ONNX model that have a default stay inputs");
  app.add_flag("--allow-external-outside", o.allow_external_outside,
               "weights of an ONNX model may lie outside of its folder");
  app.add_option_function<std::string>(
         "--check",
         [&](const std::string& format) { o.check = format == "json" ? CheckFormat::kJson : CheckFormat::kText; },
         "only list what keeps the model from compiling; --check=json for machines")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("[=json]");
}

void add_dependency_flags(CLI::App& app, Options& o) {
  auto* wanted = app.add_flag("--MD", o.depfile, "-MD: also write a dependency file for make");
  app.add_option("--MF", o.depfile_path, "-MF: its path (default: OUTPUT with the ending .d)")->needs(wanted);
  app.add_option("--MT", o.depfile_target, "-MT: the target it names, as make is to read it (default: OUTPUT)")
      ->join(' ')
      ->needs(wanted);
  app.add_flag("--MP", o.phony_targets, "-MP: an empty rule for each dependency, so that a deleted one is no error")
      ->needs(wanted);
}

void add_pass_flags(CLI::App& app, Options& o) {
  auto list = [&](const char* flag, std::vector<std::string>& names, const char* text) {
    app.add_option(flag, names, text)->delimiter(',')->type_name("PASS");
  };
  list("--print-before", o.passes.print_before, "print the module before these passes ('all': every one)");
  list("--print-after", o.passes.print_after, "print the module after these passes");
  list("--disable-pass", o.passes.disabled, "leave these passes out");
  app.add_option("--stop-after", o.passes.stop_after, "end after this pass, print the module and write nothing");
  app.add_option("--report", o.report, "also write a page (.html) or data (.json) on graphs, kernels and memory")
      ->type_name("FILE");
  app.add_option("--dump-passes", o.passes.dump_folder, "write the module after every pass that changed it to a folder")
      ->type_name("FOLDER");
  app.add_option("--opt-bisect-limit", o.passes.bisect_limit, "run only the first N optional passes, and list them")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->type_name("N");
  auto* option = app.add_option("--pass-option", o.pass_options, "set a number of a pass: fold_constants.budget=0");
  option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->type_name("PASS.NAME=N");
  app.add_flag("--verify-semantics", o.verify_semantics,
               "run the module on random inputs after every pass, and name the first that changes what it gives");
  app.add_flag("--pass-statistics", o.passes.statistics, "print what each pass leaves: ops, kernels, statements");
  app.add_flag("--time-passes", o.passes.time_passes, "print how long each pass took");
}

void add_numbers_flags(CLI::App& app, ToolOptions& t) {
  app.add_option("--function", t.function, "the function to call")->capture_default_str()->type_name("NAME");
  app.add_option("-j,--jobs", t.threads, "threads that share the loops that are parallel")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--random", t.random, "random numbers for inputs that have no file");
  app.add_option("--seed", t.seed, "of the random numbers")->capture_default_str();
}

void add_tool(CLI::App& app, Options& o, ToolOptions::Kind kind, const char* name, const char* text) {
  CLI::App* tool = app.add_subcommand(name, text);
  tool->fallthrough()->callback([&o, kind] { o.tool.kind = kind; });
  tool->add_option("MODEL", o.input, "an ONNX model, or a program in the text IR")->required();
  if (kind == ToolOptions::kInspect) return;
  ToolOptions& t = o.tool;
  tool->add_option(
      "DATA", t.data,
      "inputs in their order or as NAME=FILE: .npy, .pb; .npz or .safetensors by name; a folder of input_K.pb "
      "and output_K.pb, or of folders test_data_set_K");
  add_numbers_flags(*tool, t);
  if (kind == ToolOptions::kRun) {
    tool->add_option("-o,--output-folder", t.folder, "write each output to FOLDER/NAME.npy")->type_name("FOLDER");
    tool->add_flag("--interpret", t.interpret, "run the model by the interpreter");
  }
  if (kind == ToolOptions::kVerify) {
    auto* expect =
        tool->add_option("--expect", t.expected, "an output to expect, as DATA (default: the interpreter's)");
    expect->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->type_name("FILE");
    tool->add_option("--rtol", t.rtol, "relative tolerance")->capture_default_str();
    tool->add_option("--atol", t.atol, "absolute tolerance")->capture_default_str();
    tool->add_flag("--bisect", t.bisect, "find the first node that differs from the interpreter");
  }
  if (kind == ToolOptions::kBench) {
    tool->add_option("--repeat", t.repeat, "runs (default: as many as a second takes)")->check(CLI::Range(1, 1000000));
    tool->add_flag("--profile", t.profile, "also the time of each kernel");
  }
}

void add_tools(CLI::App& app, Options& o) {
  add_tool(app, o, ToolOptions::kRun, "run", "run a model on files and print its outputs");
  add_tool(app, o, ToolOptions::kVerify, "verify", "compare a compiled model with reference data or the interpreter");
  add_tool(app, o, ToolOptions::kBench, "bench", "time a compiled model");
  add_tool(app, o, ToolOptions::kInspect, "inspect", "print inputs, outputs, dims, memory and kernels of a model");
  app.require_subcommand(0, 1);
}

}  // namespace

CommandLine read_command_line(int argc, char** argv) {
  CommandLine line;
  Options& o = line.options;
  CLI::App app("relaxc compiles a tensor program to an object file that needs no runtime but runtime-lite.", "relaxc");
  add_output_flags(app, o);
  add_target_flags(app, o);
  add_model_flags(app, o);
  add_dependency_flags(app, o);
  add_pass_flags(app, o);
  add_tools(app, o);
  std::string warnings, shell;
  bool man = false;
  app.add_option("--completion", shell, "print a script that completes commands in this shell, and end")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.add_flag("--man", man, "print a page for man, and end");
  app.add_option("-W", warnings, "-Werror: warnings are errors")->check(CLI::IsMember({"error"}));
  app.add_flag("-v,--verbose", o.verbose, "say what is done");
  app.set_version_flag("--version", std::string("relaxc ") + kVersion);
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::Success& success) {
    line.exit = app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error, std::cerr, std::cerr);
    line.exit = 2;
  }
  o.warnings_are_errors = warnings == "error";
  if (!line.exit && (man || !shell.empty())) {
    fmt::print("{}", man ? man_page(app) : completion(app, shell));
    line.exit = std::fflush(stdout) == 0 ? 0 : 1;
  }
  if (!line.exit && !o.print_targets && !o.print_target && !o.print_cmake_dir && o.input.empty()) {
    fmt::print(stderr, "INPUT is required\nRun with --help for more information.\n");
    line.exit = 2;
  }
  return line;
}

}  // namespace relaxc::driver
