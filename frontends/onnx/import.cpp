// import.cpp: the door of the ONNX frontend.
#include "frontends/onnx/import.h"

#include <filesystem>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

Result<relax::Module> import_onnx(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                  Diagnostics& diag, std::vector<std::string>* files) {
  relax::Module module;
  module.name = std::filesystem::path(path).stem().string();
  RELAXC_DO(import_onnx_into(module, path, options, table, diag, files));
  return module;
}

Status import_onnx_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                        const relax::OpTable& table, Diagnostics& diag, std::vector<std::string>* files) {
  diag.keep(module.shared_sources());
  Location where = module.sources().at(FileOrigin{path});
  RELAXC_TRY(LoadedModel model, load_model(path, where, diag));
  if (options.allow_external_outside) model.files->allow_outside();
  Status imported = GraphImporter(model, options, module, table, diag).run();
  if (files != nullptr) *files = model.files->paths();
  return imported;
}

ConverterTable::ConverterTable(std::vector<std::span<const Converter>> families) {
  for (std::span<const Converter> family : families)
    for (const Converter& row : family) rows_.push_back(&row);
  auto key = [](const Converter* row) { return std::pair(row->domain, row->name); };
  std::sort(rows_.begin(), rows_.end(), [&](const Converter* a, const Converter* b) { return key(a) < key(b); });
  for (size_t i = 1; i < rows_.size(); ++i)
    RELAXC_CHECK(key(rows_[i - 1]) != key(rows_[i]), "two converters of " + std::string(rows_[i]->name));
}

const Converter* ConverterTable::find(std::string_view domain, std::string_view name) const {
  auto key = std::pair(domain, name);
  auto it = std::lower_bound(rows_.begin(), rows_.end(), key,
                             [](const Converter* row, const auto& k) { return std::pair(row->domain, row->name) < k; });
  return it != rows_.end() && (*it)->domain == domain && (*it)->name == name ? *it : nullptr;
}

}  // namespace relaxc::frontend
