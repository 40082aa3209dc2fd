// read_input.cpp: selects the frontend for a file; applies --dim to text programs and --state to all.
#include "compiler/api/input/read_input.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/api/input/custom_ops.h"
#include "compiler/api/input/foreign_file.h"
#include "compiler/api/input/weights.h"
#include "compiler/api/output/plan.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/suggest.h"
#include "frontends/onnx/is_onnx.h"
#include "frontends/relax/parser.h"
#include "frontends/relay/import.h"
#include "frontends/tflite/import.h"
#include "frontends/weights/bind.h"

namespace relaxc::api {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestText = size_t{1} << 30;  ///< bytes; locations in a text have 32 bits

/// Returns the names of all symbols in alphabetical order.
std::vector<std::string> symbol_names(const relax::Module& module) {
  std::set<std::string> names;
  for (const relax::Function* function : module.functions())
    for (arith::Var symbol : function->symbols) names.insert(std::string(symbol.name()));
  return {names.begin(), names.end()};
}

Failure unknown_dim(const std::string& name, const relax::Module& module, Diagnostics& diag) {
  std::vector<std::string> names = symbol_names(module);
  Failure failure = diag.error(nullptr, Kind::usage, "--dim {}: the program has no such symbol; its symbols are: {}",
                               name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  if (auto near = nearest_name(name, names)) diag.note(nullptr, "did you mean '{}'?", *near);
  return failure;
}

/// Applies --dim to a text program: bounds the symbols of that name in all functions.
Status apply_dims(relax::Module& module, const CompileOptions& options, Diagnostics& diag) {
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
    if (!found) return unknown_dim(dim.name, module, diag);
  }
  return Done{};
}

/// Refuses contradictory flags, whose object would refuse every call or have two states in the same memory.
Status check_flags(const CompileOptions& options, Diagnostics& diag) {
  std::set<std::string> dims, ends;
  for (const frontend::DimOverride& dim : options.dims) {
    if (!dims.insert(dim.name).second) return diag.error(nullptr, Kind::usage, "--dim {} is given twice", dim.name);
    int64_t largest = dim.upper - dim.upper % dim.multiple_of;
    if (largest < dim.lower)
      return diag.error(nullptr, Kind::usage, "--dim {}: no multiple of {} is in {}..{}", dim.name, dim.multiple_of,
                        dim.lower, dim.upper);
  }
  for (const State& state : options.states)
    if (!ends.insert("input " + state.input).second || !ends.insert("output " + state.output).second)
      return diag.error(nullptr, Kind::usage, "--state={}:{}: one of the two already belongs to another state",
                        state.input, state.output);
  return Done{};
}

bool has_parameter(const relax::Function& function, const std::string& name) {
  const auto& arguments = function.body().arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const relax::Value* value) { return value->name == name; });
}

/// Splits `state` into the names that `function` has, since options cannot tell where a name with colons ends.
State parted_by(const relax::Function& function, const State& state) {
  return relax::parse_state(relax::to_string(state), function).value_or(state);
}

bool has_input_of(const relax::Function& function, const State& state) {
  return has_parameter(function, parted_by(function, state).input);
}

/// Gives each of several models the states whose inputs it has. A state that fits none is reported by the first model.
void apply_states(relax::Module& module, const CompileOptions& options) {
  bool first = true;
  for (relax::Function* function : module.functions()) {
    if (function->is_private) continue;
    std::vector<State> states;
    for (const State& state : options.states) {
      std::vector<relax::Function*> all = module.functions();
      bool elsewhere = std::any_of(all.begin(), all.end(), [&](relax::Function* other) {
        return other != function && !other->is_private && has_input_of(*other, state);
      });
      bool here = has_input_of(*function, state) || (first && !elsewhere);
      if (here || options.more_inputs.empty()) states.push_back(parted_by(*function, state));
    }
    if (!states.empty()) function->states = std::move(states);
    first = false;
  }
}

/// Asks for the gradients of --gradient.
Status apply_gradients(relax::Module& module, const CompileOptions& options, Diagnostics& diag) {
  for (const GradientFlag& flag : options.gradients) {
    relax::Function* function = module.find_function(flag.function);
    std::string known;
    for (const relax::Function* one : module.functions()) known += (known.empty() ? "" : ", ") + one->name;
    if (function == nullptr)
      return diag.error(nullptr, Kind::usage, "--gradient {}: there is no such function; the functions are: {}",
                        flag.function, known);
    function->gradient = relax::GradientRequest{flag.parameters, 0};
  }
  return Done{};
}

/// Returns the dims given for the model `function`: those with its name before a colon, and those for all models.
std::vector<frontend::DimOverride> dims_of(const CompileOptions& options, const std::string& function) {
  std::vector<frontend::DimOverride> dims;
  for (frontend::DimOverride dim : options.dims) {
    size_t colon = dim.name.find(':');
    if (!options.more_inputs.empty() && colon != std::string::npos) {
      if (dim.name.substr(0, colon) != function) continue;
      dim.name.erase(0, colon + 1);
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

/// Refuses files of other tools, with advice on how to convert them.
Status check_kinds(const CompileOptions& options, Diagnostics& diag) {
  std::vector<std::string> inputs{options.input};
  inputs.insert(inputs.end(), options.more_inputs.begin(), options.more_inputs.end());
  for (const std::string& input : inputs) {
    std::error_code none;
    if (fs::is_directory(input, none) && fs::exists(fs::path(input) / "saved_model.pb", none))
      return diag.error(nullptr, Kind::unsupported,
                        "'{0}' is a TensorFlow SavedModel; convert it with the package tf2onnx: python -m "
                        "tf2onnx.convert --saved-model {0} --output model.onnx",
                        input);
    if (relax::find_file(options.memory, input) == nullptr && !fs::is_regular_file(input, none)) continue;
    std::string extension = fs::path(input).extension().string();
    bool by_content = extension != ".onnx" && extension != ".tflite";
    if (by_content && frontend::is_onnx_file(input, options.memory)) continue;
    if (by_content && tflite::is_tflite_file(input, options.memory)) continue;
    Diagnostics unasked;
    Result<relax::FileRef> file = relax::open_file(options.memory, input, nullptr, unasked);
    if (!file) continue;
    if (std::optional<std::string> what = foreign_file(input, (*file)->bytes()))
      return diag.error(nullptr, Kind::unsupported, "{}", *what);
  }
  return Done{};
}

/// Returns the options that apply to a TFLite model.
tflite::ImportOptions tflite_options(const frontend::ImportOptions& import) {
  return {.function = import.function,
          .custom_ops = import.custom_ops,
          .max_nodes = import.max_nodes,
          .memory = import.memory,
          .findings = import.findings};
}

/// Reads several models as functions of one module, each named by its file's stem. Passes see one program, so equal
/// weights and kernels are shared.
Result<relax::Module> read_models(const CompileOptions& options, frontend::ImportOptions import,
                                  const relax::OpTable& ops, Diagnostics& diag, std::vector<relax::FileRef>& files) {
  std::vector<std::string> inputs{options.input};
  inputs.insert(inputs.end(), options.more_inputs.begin(), options.more_inputs.end());
  std::set<std::string> names;
  for (const std::string& input : inputs) {
    if (!frontend::is_onnx_file(input, options.memory) && !tflite::is_tflite_file(input, options.memory)) {
      std::error_code none;
      if (options.memory.empty() && !fs::exists(input, none))
        return diag.error(nullptr, Kind::usage,
                          "there is no file '{}'; 'relaxc MODEL -o OUTPUT' compiles, and several models become one "
                          "object",
                          input);
      return diag.error(nullptr, Kind::usage,
                        "'{}' is not an ONNX or TFLite model; only those can share an object with others", input);
    }
    if (std::string name = valid_model_name(fs::path(input).stem().string()); !names.insert(name).second)
      return diag.error(nullptr, Kind::usage, "two models would be called '{}' in one object; rename a file", name);
  }
  for (const frontend::DimOverride& dim : options.dims)
    if (size_t colon = dim.name.find(':'); colon != std::string::npos && names.count(dim.name.substr(0, colon)) == 0)
      return diag.error(nullptr, Kind::usage, "--dim {}: there is no model '{}' in this command", dim.name,
                        dim.name.substr(0, colon));
  relax::Module module;
  module.name = fs::path(options.output).stem().string();
  for (const std::string& input : inputs) {
    import.function = valid_model_name(fs::path(input).stem().string());
    import.dims = dims_of(options, import.function);
    std::vector<relax::FileRef> read;
    if (frontend::is_onnx_file(input, options.memory))
      RELAXC_DO(frontend::import_onnx_into(module, input, import, ops, diag, &read));
    else
      RELAXC_DO(tflite::import_tflite_into(module, input, tflite_options(import), ops, diag, &read));
    files.insert(files.end(), read.begin(), read.end());
  }
  return module;
}

/// Refuses flags for what a TFLite model itself specifies.
Status check_tflite_flags(const CompileOptions& options, Diagnostics& diag) {
  if (!options.dims.empty())
    return diag.error(nullptr, Kind::usage, "--dim {}: the sizes of a TFLite model are those in the file",
                      options.dims[0].name);
  if (options.keep_initializers_as_inputs || options.allow_external_outside)
    return diag.error(nullptr, Kind::usage,
                      "--keep-initializers-as-inputs and --allow-external-outside are for ONNX models");
  return Done{};
}

/// With --untrusted, accepts only models, and refuses flags that let a model call C functions or read other files.
Status check_trust(const CompileOptions& options, bool is_model, Diagnostics& diag) {
  if (!options.untrusted) return Done{};
  if (options.allow_external_outside)
    return diag.error(nullptr, Kind::usage, "--untrusted refuses --allow-external-outside");
  if (!options.custom_ops.empty() || !options.external_patterns.empty())
    return diag.error(nullptr, Kind::usage, "--untrusted refuses {}, which lets the model call a C function",
                      options.custom_ops.empty() ? "--external-patterns" : "--custom-op");
  if (is_model) return Done{};
  return diag.error(
      nullptr, Kind::unsupported,
      "'{}' is not an ONNX or TFLite model, and --untrusted refuses text programs: they are code, which names "
      "C functions and addresses memory",
      options.input);
}

enum class ModelFormat { kOnnx, kTflite, kSeveral };

/// Returns the format of a model, or nothing if the input is a program in the text IR.
std::optional<ModelFormat> model_format(const CompileOptions& options) {
  if (!options.more_inputs.empty()) return ModelFormat::kSeveral;
  if (frontend::is_onnx_file(options.input, options.memory)) return ModelFormat::kOnnx;
  if (tflite::is_tflite_file(options.input, options.memory)) return ModelFormat::kTflite;
  return std::nullopt;
}

Result<relax::Module> import_model(ModelFormat format, const CompileOptions& options, const relax::OpTable& ops,
                                   Diagnostics& diag, std::vector<relax::FileRef>& files,
                                   frontend::Findings& findings) {
  if (!options.params.empty())
    return diag.error(nullptr, Kind::usage, "--params is for text programs; a model names its own weights");
  bool is_tflite = format == ModelFormat::kTflite;
  if (is_tflite) RELAXC_DO(check_tflite_flags(options, diag));
  frontend::ImportOptions import;
  import.dims = options.dims;
  import.keep_initializers_as_inputs = options.keep_initializers_as_inputs;
  import.allow_external_outside = options.allow_external_outside;
  import.refuse_external_data = options.untrusted;
  import.max_nodes = options.max_nodes;
  import.memory = options.memory;
  import.findings = &findings;
  std::vector<relax::FileRef> declared;
  RELAXC_TRY(import.custom_ops, read_custom_ops(options, diag, declared));
  RELAXC_TRY(relax::Module module, format == ModelFormat::kSeveral ? read_models(options, import, ops, diag, files)
                                   : is_tflite
                                       ? tflite::import_tflite(options.input, tflite_options(import), ops, diag, &files)
                                       : frontend::import_onnx(options.input, import, ops, diag, &files));
  files.insert(files.end(), declared.begin(), declared.end());
  return module;
}

/// Reads a program in the text IR, and applies the weights and dims that flags give.
Result<relax::Module> read_program(const CompileOptions& options, const relax::OpTable& ops, Diagnostics& diag,
                                   std::vector<relax::FileRef>& files) {
  if (!options.custom_ops.empty() || options.keep_initializers_as_inputs || options.allow_external_outside)
    return diag.error(
        nullptr, Kind::usage,
        "--custom-op, --keep-initializers-as-inputs and --allow-external-outside are for ONNX models, and "
        "--custom-op for TFLite models");
  RELAXC_TRY(relax::FileRef source, relax::open_file(options.memory, options.input, nullptr, diag));
  if (source->bytes().size() > kLargestText)
    return diag.error(nullptr, Kind::io,
                      "cannot read '{}': it has {} bytes, and a program in the text IR may have {}; give weights in a "
                      "file of --params",
                      options.input, source->bytes().size(), kLargestText);
  files.push_back(source);
  std::string text(reinterpret_cast<const char*>(source->bytes().data()), source->bytes().size());
  std::vector<relax::FileRef> params_files;
  RELAXC_TRY(frontend::NamedConstants params, read_params(options, diag, params_files));
  frontend::ExternalConstants beside;
  RELAXC_TRY(beside.constants, frontend::numbered_constants(params, diag));
  beside.load = [&](const std::string& file, Location where) {
    return load_params(options, file, where, diag, params_files);
  };
  std::map<std::string, frontend::NamedConstants> of_text;
  beside.give = [&](const std::string& function, frontend::NamedConstants values) {
    of_text[function] = std::move(values);
  };
  RELAXC_TRY(relax::Module module, relay::is_relay(options.input, text)
                                       ? relay::parse_relay(options.input, std::move(text), ops, diag, beside)
                                       : frontend::parse_module(options.input, std::move(text), ops, diag, beside));
  if (!options.params.empty() || !of_text.empty()) RELAXC_DO(frontend::bind_parameters(module, params, diag, of_text));
  files.insert(files.end(), params_files.begin(), params_files.end());
  RELAXC_DO(apply_dims(module, options, diag));
  return module;
}

}  // namespace

Result<relax::Module> read_input(const CompileOptions& options, const relax::OpTable& ops, Diagnostics& diag,
                                 std::vector<relax::FileRef>& files, frontend::Findings& findings) {
  RELAXC_DO(check_flags(options, diag));
  RELAXC_DO(check_kinds(options, diag));
  std::optional<ModelFormat> format = model_format(options);
  RELAXC_DO(check_trust(options, format.has_value(), diag));
  RELAXC_TRY(relax::Module module, format ? import_model(*format, options, ops, diag, files, findings)
                                          : read_program(options, ops, diag, files));
  apply_states(module, options);
  RELAXC_DO(apply_gradients(module, options, diag));
  return module;
}

}  // namespace relaxc::api
