// plan.cpp: decides the files, their formats and names.
//
// This happens before the input is read, so that errors on the command line cost no time. A stem that is no C
// identifier ("mnist-8") is an error and not changed silently: the name is in every symbol that the user's program
// uses, so the user should choose it.
#include "compiler/api/output/plan.h"

#include <cctype>
#include <filesystem>

#include "compiler/interface/reserved_names.h"
#include "compiler/interface/typed_call.h"
#include "compiler/support/suggest.h"

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string with_extension(const std::string& path, const char* extension) {
  return fs::path(path).replace_extension(extension).string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::path(a).lexically_normal() == fs::path(b).lexically_normal() || fs::equivalent(a, b, error);
}

Status all_differ(const OutputPlan& plan, const CompileOptions& options, Diagnostics& diag) {
  std::vector<std::pair<const char*, std::string>> files{{"input", options.input}, {"output", plan.output}};
  for (const std::string& input : options.more_inputs) files.emplace_back("input", input);
  if (!plan.header.empty()) files.emplace_back("header", plan.header);
  if (!plan.script.empty()) files.emplace_back("module for JavaScript", plan.script);
  if (!plan.depfile.empty()) files.emplace_back("dependency file", plan.depfile);
  if (!plan.weights.empty()) files.emplace_back("file of weights", plan.weights);
  if (!options.report.empty()) files.emplace_back("report", options.report);
  if (!options.rust.empty()) files.emplace_back("declarations for Rust", options.rust);
  if (!options.manifest.empty()) files.emplace_back("manifest", options.manifest);
  if (!options.write_schedules.empty()) files.emplace_back("file of schedules", options.write_schedules);
  if (!plan.params.empty()) files.emplace_back("file of constants", plan.params);
  for (const std::string& read : options.params)
    for (const auto& [what, file] : files)
      if (same_file(read, file))
        return diag.error(nullptr, Kind::usage, "'{}' cannot be both a file of --params and the {}", read, what);
  for (size_t i = 0; i < files.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (files[i].first == files[j].first && same_file(files[i].second, files[j].second))
        return diag.error(nullptr, Kind::usage, "'{}' is given twice", files[i].second);
      else if (same_file(files[i].second, files[j].second))
        return diag.error(nullptr, Kind::usage, "'{}' cannot be both the {} and the {}", files[i].second,
                          files[j].first, files[i].first);
  return Done{};
}

Status check_budget(const CompileOptions& options, Emit emit, Diagnostics& diag) {
  if (options.flash_budget != 0 && emit != Emit::kObject && emit != Emit::kSharedLibrary)
    return diag.error(nullptr, Kind::usage,
                      "--flash-budget counts the sections of an object: the output must be an object");
  return Done{};
}

Status check_c_style(const codegen_c::Style& style, Emit emit, Diagnostics& diag) {
  const char* flag = style.profile != codegen_c::Profile::kPlain       ? "--c-profile=misra"
                     : style.weights != codegen_c::WeightsForm::kArray ? "--c-weights"
                     : style.vectors.has_value()                       ? "--c-vectors"
                     : style.part_bytes != 0                           ? "--c-split"
                                                                       : nullptr;
  if (flag == nullptr) return Done{};
  if (emit != Emit::kC) return diag.error(nullptr, Kind::usage, "{} is for C: give an output that ends in .c", flag);
  bool other = style.weights != codegen_c::WeightsForm::kArray || style.vectors == true || style.part_bytes != 0;
  if (style.profile == codegen_c::Profile::kMisra && other)
    return diag.error(nullptr, Kind::usage,
                      "--c-profile=misra is one file of C99: leave out --c-weights, --c-vectors and --c-split");
  return Done{};
}

/// Turns the format js into WebAssembly with a JavaScript module beside it.
Status plan_script(OutputPlan& plan, const CompileOptions& options, Diagnostics& diag) {
  if (plan.emit != Emit::kJavaScript) return Done{};
  std::string extension = fs::path(options.output).extension().string();
  if (extension != ".wasm" && extension != ".mjs")
    return diag.error(nullptr, Kind::usage, "--emit=js writes a .wasm and the .mjs that loads it: '{}' is neither",
                      options.output);
  if (options.names == Names::kNone)
    return diag.error(nullptr, Kind::usage, "JavaScript calls inputs by name: leave out --names none");
  if (!options.weights.empty())
    return diag.error(nullptr, Kind::usage, "a module for JavaScript has its weights inside: leave out --weights");
  plan.emit = Emit::kSharedLibrary;
  plan.output = with_extension(options.output, ".wasm");
  plan.script = with_extension(options.output, ".mjs");
  return Done{};
}

}  // namespace

bool names_text(const CompileOptions& options) {
  std::optional<Emit> emit = options.emit ? options.emit : format_of_path(options.output);
  return emit == Emit::kText || emit == Emit::kDot;
}

Status check_report(const CompileOptions& options, Diagnostics& diag) {
  if (options.report.empty()) return Done{};
  std::string extension = fs::path(options.report).extension().string();
  if (extension != ".html" && extension != ".json" && extension != ".onnx")
    return diag.error(nullptr, Kind::usage, "--report={}: a report is .html, .json or .onnx", options.report);
  if (names_text(options) || !options.passes.stop_after.empty())
    return diag.error(nullptr, Kind::usage, "--report is for compiled models: give an output that is not text");
  return Done{};
}

bool is_model_name(const std::string& name) {
  if (name.empty() || is_digit(name[0]) || interface::capitals(name).rfind("RLX", 0) == 0) return false;
  if (interface::is_keyword(name)) return false;
  for (char c : name)
    if (!is_letter(c) && !is_digit(c)) return false;
  return true;
}

std::string valid_model_name(const std::string& name) {
  std::string near;
  for (char c : name) near += is_letter(c) || is_digit(c) ? c : '_';
  return is_model_name(near) ? near : "model_" + near;
}

/// Reports that there is no output, and suggests a tool if the input may be a misspelt one, or a name for the output:
/// that of a further input which does not exist, or the model's.
static Failure no_output(const CompileOptions& options, Diagnostics& diag) {
  std::error_code none;
  if (!fs::path(options.input).extension().empty() || fs::exists(options.input, none)) {
    std::string output = valid_model_name(fs::path(options.input).stem().string()) + ".o";
    for (const std::string& file : options.more_inputs)
      if (!fs::exists(file, none)) output = file;
    return diag.error(nullptr, Kind::usage, "nothing to write: give an output with -o, as in -o {}", output);
  }
  std::optional<std::string> near = nearest_name(options.input, {"run", "verify", "bench", "tune", "inspect", "lsp"});
  return diag.error(nullptr, Kind::usage,
                    "'{}' is neither a file nor one of the tools run, verify, bench, tune, inspect and lsp{}",
                    options.input, near ? "; did you mean '" + *near + "'?" : "");
}

/// Refuses flags that are for other formats or contradict each other.
static Status check_format_flags(Emit emit, const CompileOptions& options, Diagnostics& diag) {
  RELAXC_DO(check_report(options, diag));
  RELAXC_DO(check_budget(options, emit, diag));
  if (!options.manifest.empty() && emit != Emit::kObject && emit != Emit::kSharedLibrary)
    return diag.error(nullptr, Kind::usage, "--manifest={}: it describes an object or a shared library (.o, .so)",
                      options.manifest);
  if (emit == Emit::kC && options.cpu.find(',') != std::string::npos)
    return diag.error(nullptr, Kind::usage, "--mcpu={}: a C compiler decides what C is compiled for", options.cpu);
  if (options.line_tables && options.names != Names::kFull)
    return diag.error(nullptr, Kind::usage, "-g writes the names that --names removes; give only one of the two");
  RELAXC_DO(check_c_style(options.c_style, emit, diag));
  bool is_program = emit == Emit::kText || emit == Emit::kDot;
  if (is_program && (!options.weights.empty() || options.embed_weights))
    return diag.error(nullptr, Kind::usage,
                      "--weights and --embed-weights are for compiled models, not for the text IR");
  return Done{};
}

Result<OutputPlan> plan_outputs(const CompileOptions& options, Diagnostics& diag) {
  if (options.output.empty()) return no_output(options, diag);
  if (options.output == "-")
    return diag.error(nullptr, Kind::usage,
                      "-o -: an output is a file, which is there only once it is whole; name one");
  OutputPlan plan;
  std::optional<Emit> emit = options.emit ? options.emit : format_of_path(options.output);
  if (!emit && fs::path(options.output).extension() == ".onnx")
    return diag.error(
        nullptr, Kind::usage,
        "relaxc does not write ONNX models; -o {} --report={} writes an object and the graph of what runs "
        "for viewers such as Netron",
        with_extension(options.output, ".o"), options.output);
  if (!emit)
    return diag.error(nullptr, Kind::usage, "the extension of '{}' selects no format; use {}, or --emit",
                      options.output, format_extensions());
  plan.emit = *emit;
  plan.output = options.output;
  RELAXC_DO(plan_script(plan, options, diag));
  if (options.depfile)
    plan.depfile = options.depfile_path.empty() ? with_extension(options.output, ".d") : options.depfile_path;
  RELAXC_DO(check_format_flags(plan.emit, options, diag));
  if (plan.emit == Emit::kText || plan.emit == Emit::kDot) {
    if (plan.emit == Emit::kText) plan.params = with_extension(options.output, ".safetensors");
    RELAXC_DO(all_differ(plan, options, diag));
    return plan;
  }
  plan.name = options.name.empty() ? valid_model_name(fs::path(options.output).stem().string()) : options.name;
  if (!is_model_name(plan.name))
    return diag.error(nullptr, Kind::usage,
                      "--name={}: this cannot be the prefix of C names (an identifier, not a keyword, not starting "
                      "with 'rlx'); --name={} can",
                      plan.name, valid_model_name(plan.name));
  if (options.header && plan.emit != Emit::kExecutable && plan.script.empty())
    plan.header = with_extension(options.output, ".h");
  plan.weights = options.weights;
  RELAXC_DO(all_differ(plan, options, diag));
  return plan;
}

Status plan_weights(OutputPlan& plan, uint64_t bytes, const CompileOptions& options, Diagnostics& diag) {
  constexpr uint64_t kMostInside = uint64_t{1} << 30;
  if (bytes == 0 && !plan.weights.empty())
    return diag.error(nullptr, Kind::usage, "--weights={}: the model has no weights", plan.weights);
  if (!plan.weights.empty() || options.embed_weights || bytes <= kMostInside) return Done{};
  plan.weights = with_extension(options.output, ".weights");
  return all_differ(plan, options, diag);
}

}  // namespace relaxc::api
