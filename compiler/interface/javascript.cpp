// javascript.cpp: prints the C header's information for TypeScript, and the module that it declares.
//
// The module has no code of its own except the name and the hash of its model: relax_rt.mjs reads names, dtypes and
// shapes from the tables of the model. The declarations repeat them as types, so an editor knows inputs by name, and a
// TypeScript compiler refuses a wrong array or shape. Rejected: a class with a method for each entry, which would
// repeat the tables at run time.
#include "compiler/interface/javascript.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/interface/identifiers.h"
#include "compiler/support/hex.h"
#include "compiler/support/quote.h"

namespace relaxc::interface {
namespace {

/// The array class and the element type of a dtype in JavaScript; elements_of returns nothing for other dtypes.
struct Elements {
  const char* array;
  const char* number;
};

std::optional<Elements> elements_of(DType dtype) {
  if (dtype.is_complex() || dtype.bits % 8 != 0) return std::nullopt;
  bool wide = dtype.bits == 64;
  if (dtype.is_int() || dtype.is_index()) {
    if (dtype.bits == 8) return Elements{"Int8Array", "number"};
    if (dtype.bits == 16) return Elements{"Int16Array", "number"};
    return wide ? Elements{"BigInt64Array", "bigint"} : Elements{"Int32Array", "number"};
  }
  if (dtype == DType::f(16)) return Elements{"Float16Elements", "number"};
  if (dtype == DType::f(32)) return Elements{"Float32Array", "number"};
  if (dtype == DType::f(64)) return Elements{"Float64Array", "number"};
  if (dtype.bits == 8) return Elements{"Uint8Array", "number"};
  if (dtype.bits == 16) return Elements{"Uint16Array", "number"};
  return wide ? Elements{"BigUint64Array", "bigint"} : Elements{"Uint32Array", "number"};
}

std::string listed(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// "image: float32 [n, 1, 8, 8]"
std::string described(const Tensor& tensor) {
  return comment_text(tensor.name + ": " + to_string(tensor.dtype) + " [" + listed(tensor.dim_text, ", ") + "]");
}

/// "[number, 1, 8, 8]"
std::string shape_type(const Tensor& tensor) {
  std::vector<std::string> dims;
  for (int64_t dim : tensor.dims) dims.push_back(dim < 0 ? "number" : std::to_string(dim));
  return "[" + listed(dims, ", ") + "]";
}

/// Whether a number of elements determines the shape of the tensor, by the rule of relax_rt.mjs.
bool elements_give_shape(const Tensor& tensor) {
  auto open = std::count_if(tensor.dims.begin(), tensor.dims.end(), [](int64_t dim) { return dim < 0; });
  bool empty = std::find(tensor.dims.begin(), tensor.dims.end(), 0) != tensor.dims.end();
  return open == 0 || (open == 1 && !empty);
}

/// Returns the relative URL of a file in the same folder, with special characters percent-encoded.
std::string relative_url(const std::string& file) {
  std::string url = "./";
  for (char c : file) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    url += plain || c == '-' ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

class Declarations {
 public:
  Declarations(const Object& object, const std::string& wasm, Diagnostics& diag)
      : object_(object), wasm_(wasm), diag_(diag) {}

  Result<std::string> run() {
    line("// How to call the model {}. Written by relaxc; changes are lost.", object_.name);
    line(
        "import type {{ EntryOf, Float16Elements, InputOf, LoadOptions, ShapedInputOf, Source, StreamingEntryOf, "
        "TensorOf, TensorSpec");
    line("}} from \"./relax_rt.mjs\";");
    line("import type {{ InWorker }} from \"./relax_rt_threads.mjs\";");
    line("export {{ RelaxError }} from \"./relax_rt.mjs\";\n");
    std::vector<std::string> names;
    for (const Entry& entry : object_.entries) names.push_back(entry.identifier);
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string prefix = names[i].empty() ? "Main" : names[i] + "_";
      RELAXC_DO(record(object_.entries[i].inputs, prefix + "Inputs", &Declarations::input_type));
      RELAXC_DO(record(object_.entries[i].outputs, prefix + "Outputs", &Declarations::output_type));
    }
    model(names);
    line("/** Loads {}, which is beside this module, or the same file from elsewhere. */", comment_text(wasm_));
    line("export function load(source?: Source, options?: LoadOptions): Promise<Model>;\n");
    line("/** Loads it in a worker of its own; the calls give promises. */");
    line("export function loadInWorker(source?: Source, options?: LoadOptions): Promise<InWorker<Model>>;");
    return out_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  static std::string input_type(const Tensor& tensor, const Elements& elements) {
    return fmt::format("{}<{}, {}, {}>", elements_give_shape(tensor) ? "InputOf" : "ShapedInputOf", elements.array,
                       elements.number, shape_type(tensor));
  }

  static std::string output_type(const Tensor& tensor, const Elements& elements) {
    return fmt::format("TensorOf<{}, {}>", elements.array, shape_type(tensor));
  }

  relaxc::Status record(const std::vector<Tensor>& tensors, const std::string& name,
                        std::string (*type)(const Tensor&, const Elements&)) {
    line("export interface {} {{", name);
    std::set<std::string> seen;
    for (const Tensor& tensor : tensors) {
      std::optional<Elements> elements = elements_of(tensor.dtype);
      if (!elements || tensor.kind > Tensor::kScalar)
        return diag_.error(nullptr, Kind::usage,
                           "--emit=js: JavaScript has no array for '{}'; write a .wasm without --emit and call it by "
                           "a loader of your own",
                           tensor.name);
      if (!seen.insert(tensor.name).second) continue;
      line("  /** {} */", described(tensor));
      line("  {}: {};", quoted(tensor.name), type(tensor, *elements));
    }
    line("}}\n");
    return Done{};
  }

  /// Returns the type EntryOf, or StreamingEntryOf with the inputs that are states and the dims that size them.
  std::string entry_type(const Entry& entry, const std::string& prefix) const {
    std::vector<std::string> states, dims;
    std::set<int64_t> seen;
    for (const Tensor& input : entry.inputs) {
      if (input.pair < 0) continue;
      states.push_back(quoted(input.name));
      for (size_t axis = 0; axis < input.dims.size(); ++axis) {
        int64_t symbol = -1 - input.dims[axis];
        if (symbol < 0 || symbol >= static_cast<int64_t>(entry.symbols.size())) continue;
        if (static_cast<int32_t>(axis) != input.append_axis && seen.insert(symbol).second)
          dims.push_back(quoted(entry.symbols[static_cast<size_t>(symbol)].name) + ": number");
      }
    }
    if (states.empty()) return fmt::format("EntryOf<{0}Inputs, {0}Outputs>", prefix);
    std::string given = dims.empty() ? "[]" : "[dims: { " + listed(dims, "; ") + " }]";
    return fmt::format("StreamingEntryOf<{0}Inputs, {0}Outputs, {1}, {2}>", prefix, listed(states, " | "), given);
  }

  void model(const std::vector<std::string>& names) {
    std::string functions, of_main;
    for (size_t i = 0; i < names.size(); ++i) {
      const Entry& entry = object_.entries[i];
      std::string type = entry_type(entry, names[i].empty() ? "Main" : names[i] + "_");
      if (entry.name == "main") of_main = "extends " + type + " ";
      functions += fmt::format("    readonly {}: {};\n", quoted(entry.name), type);
    }
    line("/** The model{}. */", of_main.empty() ? "" : ", with the calls of its function main");
    line("export interface Model {}{{\n  readonly name: string;\n  readonly hash: string;", of_main);
    line("  /** How many threads run parallel loops. */\n  readonly threads: number;");
    line("  /** Ends the threads; later calls run on the caller's alone. */\n  close(): void;");
    line("  readonly functions: {{\n{}  }};\n}}\n", functions);
  }

  const Object& object_;
  const std::string& wasm_;
  Diagnostics& diag_;
  std::string out_;
};

}  // namespace

std::string javascript_module(const Object& object, const std::vector<WasmVersion>& versions) {
  std::string rows;
  for (const WasmVersion& version : versions) {
    std::vector<std::string> needs;
    for (const std::string& feature : version.needs) needs.push_back(quoted(feature));
    rows += fmt::format("  {{ url: new URL({}, import.meta.url), needs: [{}],\n    hash: \"{}\" }},\n",
                        quoted(relative_url(version.file)), listed(needs, ", "), hex(version.hash));
  }
  return fmt::format(
      R"(// Loads the model {0}. Written by relaxc; changes are lost.
import {{ best, load as loadModel }} from "./relax_rt.mjs";
export {{ RelaxError }} from "./relax_rt.mjs";

const VERSIONS = [
{1}];

function checked(model) {{
  if (VERSIONS.some(({{ hash }}) => hash === model.hash)) return model;
  model.close();
  throw new TypeError({2});
}}

export async function load(source = best(VERSIONS).url, options = {{}}) {{
  return checked(await loadModel(source, options));
}}

export async function loadInWorker(source = best(VERSIONS).url, options = {{}}) {{
  const {{ loadInWorker: loadModelInWorker }} = await import("./relax_rt_threads.mjs");
  return checked(await loadModelInWorker(source, options));
}}
)",
      object.name, rows,
      quoted(versions.back().file + " is from another compilation than this module; compile both again"));
}

Result<std::string> typescript_declarations(const Object& object, const std::string& wasm, Diagnostics& diag) {
  return Declarations(object, wasm, diag).run();
}

}  // namespace relaxc::interface
