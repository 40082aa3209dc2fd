// input.cpp: which frontend reads the file; --dim on a text program; --state on both.
#include "compiler/driver/input.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "compiler/driver/custom_ops.h"
#include "compiler/driver/weights.h"
#include "frontends/relax/parser.h"
#include "frontends/weights/bind.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

Result<std::string> text_of(const std::string& path, Diagnostics& diag) {
  auto refuse = [&](const char* why) { return diag.error(nullptr, Kind::io, "cannot read {}: {}", path, why); };
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return refuse("not a file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return refuse(std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return refuse("reading failed");
  return text;
}

/// The names of all symbols, as a message lists them.
std::string symbol_names(const relax::Module& module) {
  std::set<std::string> names;
  for (const relax::Function* function : module.functions())
    for (arith::Var symbol : function->symbols) names.insert(std::string(symbol.name()));
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

/// `--dim` on a text program: facts about the symbols of that name.
Status apply_dims(relax::Module& module, const Options& options, Diagnostics& diag) {
  for (const frontend::DimOverride& dim : options.dims) {
    bool found = false;
    for (relax::Function* function : module.functions())
      for (arith::Var symbol : function->symbols) {
        if (symbol.name() != dim.name) continue;
        function->facts.bound(symbol, {dim.lower, dim.upper});
        function->facts.multiple(symbol, dim.multiple_of);
        found = true;
        if (std::string why = arith::contradiction(function->facts); !why.empty())
          return diag.error(nullptr, Kind::usage, "--dim {} contradicts the program: {}", dim.name, why);
      }
    if (!found)
      return diag.error(nullptr, Kind::usage, "--dim {}: the program has no such symbol; its symbols are: {}", dim.name,
                        symbol_names(module));
  }
  return Done{};
}

/// Flags that contradict each other would silently make an object that refuses every call, or two states of one memory.
Status check_flags(const Options& options, Diagnostics& diag) {
  std::set<std::string> dims, ends;
  for (const frontend::DimOverride& dim : options.dims) {
    if (!dims.insert(dim.name).second) return diag.error(nullptr, Kind::usage, "--dim {} is given twice", dim.name);
    int64_t largest = dim.upper - dim.upper % dim.multiple_of;
    if (largest < dim.lower)
      return diag.error(nullptr, Kind::usage, "--dim {}: no multiple of {} lies in {}..{}", dim.name, dim.multiple_of,
                        dim.lower, dim.upper);
  }
  for (const State& state : options.states)
    if (!ends.insert("input " + state.input).second || !ends.insert("output " + state.output).second)
      return diag.error(nullptr, Kind::usage, "--state={}:{}: one of the two is in another state already", state.input,
                        state.output);
  return Done{};
}

void apply_states(relax::Module& module, const Options& options) {
  std::vector<std::string> pairs;
  for (const State& state : options.states) pairs.push_back(state.input + ":" + state.output);
  if (pairs.empty()) return;
  for (relax::Function* function : module.functions())
    if (!function->is_private) function->attrs["state"] = pairs;
}

}  // namespace

Result<relax::Module> read_input(const Options& options, const relax::OpTable& ops, Diagnostics& diag,
                                 std::vector<std::string>& files, frontend::Findings& findings) {
  RELAXC_DO(check_flags(options, diag));
  if (fs::path(options.input).extension() == ".onnx") {
    if (!options.params.empty())
      return diag.error(nullptr, Kind::usage, "--params is for text programs; an ONNX model names its own weights");
    frontend::ImportOptions import;
    import.dims = options.dims;
    import.keep_initializers_as_inputs = options.keep_initializers_as_inputs;
    import.allow_external_outside = options.allow_external_outside;
    import.findings = &findings;
    std::vector<std::string> declared;
    RELAXC_TRY(import.custom_ops, read_custom_ops(options.custom_ops, diag, declared));
    RELAXC_TRY(relax::Module module, frontend::import_onnx(options.input, import, ops, diag, &files));
    files.insert(files.end(), declared.begin(), declared.end());
    apply_states(module, options);
    return module;
  }
  if (!options.custom_ops.empty() || options.keep_initializers_as_inputs || options.allow_external_outside)
    return diag.error(nullptr, Kind::usage,
                      "--custom-op, --keep-initializers-as-inputs and --allow-external-outside are for ONNX models");
  RELAXC_TRY(std::string text, text_of(options.input, diag));
  files.push_back(options.input);
  std::vector<std::string> params_files;
  RELAXC_TRY(frontend::NamedConstants params, read_params(options.params, diag, params_files));
  frontend::BesideText beside;
  RELAXC_TRY(beside.constants, frontend::numbered_constants(params, diag));
  beside.load = [&](const std::string& file, Location where) {
    return load_params(options.input, file, where, diag, params_files);
  };
  RELAXC_TRY(relax::Module module, frontend::parse_module(options.input, std::move(text), ops, diag, beside));
  if (!options.params.empty()) RELAXC_DO(frontend::bind_parameters(module, params, diag));
  files.insert(files.end(), params_files.begin(), params_files.end());
  RELAXC_DO(apply_dims(module, options, diag));
  apply_states(module, options);
  return module;
}

}  // namespace relaxc::driver
