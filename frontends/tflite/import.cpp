// import.cpp: the entry points of the TFLite frontend, and the table of operators.
#include "frontends/tflite/import.h"

#include <algorithm>
#include <filesystem>

#include "frontends/tflite/importer.h"

namespace relaxc::tflite {

bool is_tflite_file(const std::string& path, const relax::MemoryFiles& memory) {
  if (std::filesystem::path(path).extension() == ".tflite") return true;
  Diagnostics unasked;
  std::error_code none;
  if (relax::find_file(memory, path) == nullptr && !std::filesystem::is_regular_file(path, none)) return false;
  Result<relax::FileRef> file = relax::open_file(memory, path, nullptr, unasked);
  return file && is_tflite((*file)->bytes());
}

Result<relax::Module> import_tflite(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                    Diagnostics& diag, std::vector<relax::FileRef>* files) {
  relax::Module module;
  module.name = std::filesystem::path(path).stem().string();
  RELAXC_DO(import_tflite_into(module, path, options, table, diag, files));
  return module;
}

Status import_tflite_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                          const relax::OpTable& table, Diagnostics& diag, std::vector<relax::FileRef>* files) {
  diag.keep(module.shared_sources());
  Location where = module.sources().at(FileOrigin{path});
  RELAXC_TRY(Model model, read_model(path, options.memory, where, diag));
  if (files != nullptr) *files = {model.file};
  return Importer(model, options, module, table, diag).run();
}

OperatorTable::OperatorTable(std::vector<std::span<const Row>> families) {
  for (std::span<const Row> family : families)
    for (const Row& row : family) rows_.push_back(&row);
  auto code = [](const Row* row) { return operator_name(row->code); };
  std::sort(rows_.begin(), rows_.end(), [&](const Row* a, const Row* b) { return code(a) < code(b); });
  for (size_t i = 1; i < rows_.size(); ++i)
    RELAXC_CHECK(rows_[i - 1]->code != rows_[i]->code, "two rows of " + code(rows_[i]));
}

const Row* OperatorTable::find(BuiltinOperator code) const {
  auto it = std::find_if(rows_.begin(), rows_.end(), [code](const Row* row) { return row->code == code; });
  return it == rows_.end() ? nullptr : *it;
}

std::string types_text(Types types) {
  if (types == kAny) return "any";
  std::string text;
  for (unsigned bit = 0; bit < 32; ++bit)
    if ((types >> bit & 1) != 0)
      text += (text.empty() ? "" : ", ") + std::string(type_name(static_cast<TensorType>(bit)));
  return text;
}

}  // namespace relaxc::tflite
