// tool_flags.cpp: declares the flags of `relaxc run`, `verify`, `bench`, `tune`, `inspect` and `lsp`.
#include "compiler/api/flags/flag_checks.h"
#include "compiler/api/flags/flags.h"
#include "compiler/driver/command_line/program_flags.h"

namespace relaxc::driver {
namespace {

void add_numbers_flags(CLI::App& app, ToolOptions& t) {
  app.add_option("--function", t.function, "the function to call")->capture_default_str()->type_name("NAME");
  repeated(app.add_option("--load", t.libraries, "load a shared library with the functions of custom operators"),
           "FILE");
  app.add_option("-j,--jobs", t.threads, "run parallel loops on this many threads")
      ->check(between(1, 1024))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--random", t.random, "fill inputs without a file with random numbers");
  app.add_option("--seed", t.seed, "seed of the random numbers")->capture_default_str()->type_name("N");
}

void add_inspect_flags(CLI::App& tool, ToolOptions& t) {
  tool.add_flag("--explain{all}", t.explain,
                "say which strategy schedules each kernel (--explain=KERNEL: that one), with its plan and estimate, "
                "and why others do not");
  tool.add_flag(
          "--prove{all}", t.prove,
          "prove that no two tensors in use at one time share memory, for all sizes that the model admits, and "
          "that scheduled kernels compute what they are defined to (--prove=memory, --prove=kernels: one of them)")
      ->check(one_of({"all", "memory", "kernels"}));
  tool.add_flag("--safety{text}", t.safety,
                "hold the model against what safety-related systems ask of a model and its implementation "
                "(--safety=json for programs)")
      ->check(one_of({"text", "json"}));
}

void add_run_flags(CLI::App& tool, ToolOptions& t) {
  tool.add_option("-o,--output-folder", t.folder, "write each output to FOLDER/NAME.npy")->type_name("FOLDER");
  tool.add_flag("--interpret", t.interpret, "interpret the model operator by operator");
}

void add_verify_flags(CLI::App& tool, ToolOptions& t) {
  repeated(
      tool.add_option("--expect", t.expected, "expected outputs, given as DATA (default: what --against computes)"),
      "FILE");
  tool.add_option("--rtol", t.rtol, "relative tolerance")->capture_default_str()->type_name("X");
  tool.add_option("--atol", t.atol, "absolute tolerance")->capture_default_str()->type_name("X");
  tool.add_flag("--bisect", t.bisect, "find the first node whose value differs from that of --against");
  tool.add_option("--against", t.against,
                  "compute the outputs that no file gives, and all values for --bisect, with this")
      ->check(one_of({"interpreter", "onnxruntime"}))
      ->capture_default_str();
}

void add_bench_flags(CLI::App& tool, ToolOptions& t) {
  tool.add_option("--repeat", t.repeat, "number of runs (default: as many as fit a second)")
      ->check(between(1, 1000000))
      ->type_name("N");
  tool.add_flag("--profile", t.profile, "also print time, arithmetic and memory traffic of each kernel");
  tool.add_option("--timeline", t.timeline,
                  "write when kernels and tasks ran on which thread, as trace events for Perfetto and chrome://tracing")
      ->type_name("FILE");
}

void add_tune_flags(CLI::App& tool, ToolOptions& t) {
  tool.add_option("-o", t.record, "the file to write, for --schedules, or for --target")->required()->type_name("FILE");
  tool.add_flag("--machine", t.machine,
                "measure this machine instead: caches, arithmetic and memory, for a description that --target takes");
  tool.add_option("--budget", t.budget, "time limit")->capture_default_str()->check(seconds())->type_name("SECONDS");
}

void add_tool(CLI::App& app, Options& o, ToolOptions::Kind kind, const char* name, const char* text) {
  CLI::App* tool = app.add_subcommand(name, text);
  tool->fallthrough()->callback([&o, kind] {
    o.tool.kind = kind;
    if (o.tool.machine && !o.input.empty())
      throw CLI::ValidationError("--machine", "measures the machine and takes no model");
    if (kind == ToolOptions::kTune && !o.tool.machine && o.input.empty()) throw CLI::RequiredError("MODEL");
  });
  tool->add_option("MODEL", o.input, "an ONNX or TFLite model, or a program in the text IR")
      ->required(kind != ToolOptions::kTune);
  ToolOptions& t = o.tool;
  if (kind == ToolOptions::kInspect) return add_inspect_flags(*tool, t);
  tool->add_option(
      "DATA", t.data,
      "inputs in order or as NAME=FILE (.npy, .pb); .npz or .safetensors, matched by name; a folder of input_K.pb "
      "and output_K.pb, or of folders test_data_set_K");
  add_numbers_flags(*tool, t);
  if (kind == ToolOptions::kRun) add_run_flags(*tool, t);
  if (kind == ToolOptions::kVerify) add_verify_flags(*tool, t);
  if (kind == ToolOptions::kBench) add_bench_flags(*tool, t);
  if (kind == ToolOptions::kTune) add_tune_flags(*tool, t);
}

/// It takes flags of a compilation, but no model: an editor gives the texts.
void add_language_server(CLI::App& app, Options& o) {
  app.add_subcommand("lsp", "serve an editor with messages, types and definitions of text programs")
      ->fallthrough()
      ->callback([&o] {
        o.tool.kind = ToolOptions::kLsp;
        if (!o.input.empty()) throw CLI::ValidationError("lsp", "takes no model: the editor opens them");
      });
}

}  // namespace

void add_tools(CLI::App& app, Options& o) {
  add_tool(app, o, ToolOptions::kRun, "run", "run a model on files and print its outputs");
  add_tool(app, o, ToolOptions::kVerify, "verify", "compare a compiled model with reference data or the interpreter");
  add_tool(app, o, ToolOptions::kBench, "bench", "time a compiled model");
  add_tool(app, o, ToolOptions::kTune, "tune",
           "measure alternative schedules on this machine, and write the best to a file");
  add_tool(app, o, ToolOptions::kInspect, "inspect", "print inputs, outputs, dims, memory and kernels of a model");
  add_language_server(app, o);
  app.require_subcommand(0, 1);
}

}  // namespace relaxc::driver
