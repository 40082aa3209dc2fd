// import.cpp: the door of the ONNX frontend.
#include "frontends/onnx/import.h"

#include <filesystem>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

namespace {

bool has_bare_squeeze(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (const onnx::NodeProto& node : nodes) {
    if (node.op_type() == "Squeeze" && node.attribute_size() == 0 && node.input_size() < 2) return true;
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g() && has_bare_squeeze(attribute.g().node())) return true;
  }
  return false;
}

/// What the declared shapes say of squeezes without axes: a choice is right if under it the model can be read, and has
/// all ranks that it declares, which is not so under the other.
OpenSqueeze meant_squeeze(const LoadedModel& model, ImportOptions options, const relax::OpTable& table) {
  bool bare = has_bare_squeeze(model.proto->graph().node());
  for (const onnx::FunctionProto& function : model.proto->functions()) bare = bare || has_bare_squeeze(function.node());
  if (!bare) return OpenSqueeze::kNotOne;
  options.findings = nullptr;
  auto fits = [&](OpenSqueeze choice, bool& met) {
    relax::Module module;
    Diagnostics diag;
    diag.keep(module.shared_sources());
    GraphImporter importer(model, options, module, table, diag);
    importer.open_squeeze = choice;
    bool done = bool(importer.run());
    met = importer.squeezed_open_dim;
    return done && importer.wrong_ranks == 0;
  };
  bool met = false, kept = fits(OpenSqueeze::kKept, met);
  if (!met || kept == fits(OpenSqueeze::kRemoved, met)) return OpenSqueeze::kNotOne;
  return kept ? OpenSqueeze::kKept : OpenSqueeze::kRemoved;
}

}  // namespace

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
  GraphImporter importer(model, options, module, table, diag);
  importer.open_squeeze = meant_squeeze(model, options, table);
  Status imported = importer.run();
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
