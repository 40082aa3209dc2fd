// code_places.cpp: reads what was written and finds the kernels by their symbols.
//
// The places come from the bytes of the output and not from the plan for them, so that they are those of the very file
// whose hash is beside them.
#include "compiler/driver/certificate/code_places.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "compiler/api/output/names.h"
#include "compiler/codegen/llvm/inspect.h"

namespace relaxc::driver {
namespace {

using Places = std::map<std::string, std::vector<CodePlace>>;

/// Returns the kernels by the names that they have in code, which --names may have replaced by numbers.
std::map<std::string, std::string, std::less<>> kernels_by_code_name(const CompileOptions& options,
                                                                     const interface::Object& object) {
  RenamedFunctions renamed;
  const interface::Object shown = with_names(object, options.names, renamed);
  std::map<std::string, std::string, std::less<>> kernels;
  for (size_t i = 0; i < object.functions.size(); ++i) kernels[shown.functions[i]->name] = object.functions[i]->name;
  return kernels;
}

/// Returns the kernel of a symbol such as "digits.f.conv.range.1", which is a part of the kernel "conv"; empty if it is
/// of none.
std::string kernel_of_symbol(std::string_view symbol, const std::string& model,
                             const std::map<std::string, std::string, std::less<>>& kernels) {
  const size_t begin = symbol.starts_with("_" + model) ? 1 : 0;
  symbol.remove_prefix(begin);
  const size_t mark = symbol.find(".f.");
  if (!symbol.starts_with(model + ".") || mark == std::string_view::npos) return {};
  std::string_view name = symbol.substr(mark + 3);
  while (true) {
    if (const auto known = kernels.find(name); known != kernels.end()) return known->second;
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    name = name.substr(0, dot);
  }
}

Result<Places> places_in_object(const CompileOptions& options, const Artifact& artifact, Diagnostics& diag) {
  RELAXC_TRY(const codegen_llvm::ObjectContents found,
             codegen_llvm::inspect_object(artifact.written.file, artifact.plan.output, diag));
  const auto kernels = kernels_by_code_name(options, artifact.object);
  const std::string file = std::filesystem::path(artifact.plan.output).filename().string();
  Places places;
  for (const codegen_llvm::ObjectSymbol& symbol : found.locals) {
    const std::string kernel = kernel_of_symbol(symbol.name, artifact.object.name, kernels);
    if (!kernel.empty())
      places[kernel].push_back({file, symbol.name, symbol.section, symbol.offset, symbol.bytes, 0, 0});
  }
  return places;
}

/// Returns the name of the function whose definition begins in this line of C text; empty if none does.
std::string_view defined_function(std::string_view line) {
  constexpr std::string_view kMark = "RLX_NOINLINE ";
  const size_t mark = line.find(kMark), end = line.find('(');
  if (line.starts_with(" ") || !line.ends_with("{") || mark == std::string_view::npos ||
      end == std::string_view::npos || end < mark)
    return {};
  const size_t blank = line.rfind(' ', end);
  return line.substr(blank + 1, end - blank - 1);
}

/// Whether the C function is that of the prim func: "k_conv", "digits_k_conv", "k_k_conv".
bool is_function_of(std::string_view function, std::string_view identifier, std::string_view model) {
  if (!function.ends_with(identifier)) return false;
  function.remove_suffix(identifier.size());
  if (function.starts_with(model) && function.substr(model.size()).starts_with("_k_"))
    function.remove_prefix(model.size() + 1);
  while (function.starts_with("k_")) function.remove_prefix(2);
  return function.empty();
}

class TextPlaces {
 public:
  TextPlaces(const CompileOptions& options, const Artifact& artifact) : model_(artifact.object.name) {
    for (const auto& [name, kernel] : kernels_by_code_name(options, artifact.object))
      identifiers_[interface::identifier(name)] = kernel;
  }

  void read(const WrittenFile& file) {
    const auto bytes = file.content->bytes();
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (uint64_t number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (const std::string_view name = defined_function(line); !name.empty()) begin(file.name, name, number);
      if (line == "}") end(number);
    }
  }

  Places places;

 private:
  void begin(const std::string& file, std::string_view name, uint64_t line) {
    const std::pair<const std::string, std::string>* best = nullptr;  // of a kernel "k_conv" beside one "conv"
    for (const auto& one : identifiers_)
      if (is_function_of(name, one.first, model_) && (best == nullptr || one.first.size() > best->first.size()))
        best = &one;
    if (best != nullptr)
      open_ = &places[best->second].emplace_back(CodePlace{file, std::string(name), {}, 0, 0, line, 0});
  }
  void end(uint64_t line) {
    if (open_ != nullptr) open_->last_line = line;
    open_ = nullptr;
  }

  const std::string& model_;
  std::map<std::string, std::string> identifiers_;
  CodePlace* open_ = nullptr;
};

}  // namespace

Result<Places> code_places(const CompileOptions& options, const Artifact& artifact,
                           const std::vector<WrittenFile>& written, Diagnostics& diag) {
  if (artifact.plan.emit != Emit::kC) return places_in_object(options, artifact, diag);
  TextPlaces text(options, artifact);
  for (const WrittenFile& file : written)
    if (file.name.ends_with(".c")) text.read(file);
  return std::move(text.places);
}

}  // namespace relaxc::driver
