// import.cpp: the entry points of the ONNX frontend.
#include "frontends/onnx/import.h"

#include <filesystem>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

namespace {

using IsNode = bool (*)(const onnx::NodeProto&);
bool has_node(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, IsNode wanted) {
  for (const onnx::NodeProto& node : nodes) {
    if (wanted(node)) return true;
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g() && has_node(attribute.g().node(), wanted)) return true;
  }
  return false;
}

bool has_node(const onnx::ModelProto& model, IsNode wanted) {
  bool found = has_node(model.graph().node(), wanted);
  for (const onnx::FunctionProto& function : model.functions()) found = found || has_node(function.node(), wanted);
  return found;
}

/// Decides what a Squeeze without axes does with open dims: returns the only choice under which the model imports with
/// all declared ranks, or kNotOne if that holds of both choices or of neither.
OpenSqueeze meant_squeeze(const LoadedModel& model, ImportOptions options, const relax::OpTable& table) {
  auto is_bare = [](const onnx::NodeProto& node) {
    return node.op_type() == "Squeeze" && node.attribute_size() == 0 && node.input_size() < 2;
  };
  if (!has_node(*model.proto, is_bare)) return OpenSqueeze::kNotOne;
  options.findings = nullptr;
  auto fits = [&](OpenSqueeze choice, bool& met) {
    relax::Module module;
    Diagnostics diag;
    diag.keep(module.shared_sources());
    GraphImporter importer(model, options, module, table, diag);
    importer.open_squeeze = choice;
    bool done = bool(importer.run());
    met = importer.squeezed_open_dim;
    return done && importer.wrong_ranks() == 0;
  };
  bool met = false, kept = fits(OpenSqueeze::kKept, met);
  if (!met || kept == fits(OpenSqueeze::kRemoved, met)) return OpenSqueeze::kNotOne;
  return kept ? OpenSqueeze::kKept : OpenSqueeze::kRemoved;
}

/// Finds out which branches of Ifs to give up: repeats the import and adds the branches that fit nothing after them,
/// until the model imports. Gives up none if it does not in kMostRounds rounds or after max_nodes converted nodes.
void give_up_branches(const LoadedModel& model, ImportOptions options, const relax::OpTable& table,
                      GraphImporter& importer) {
  constexpr int kMostRounds = 16;
  if (!has_node(*model.proto, [](const onnx::NodeProto& node) { return node.op_type() == "If"; })) return;
  options.findings = nullptr;
  std::set<std::pair<std::string, bool>> given_up;
  int64_t converted = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    relax::Module module;
    Diagnostics diag;
    diag.keep(module.shared_sources());
    GraphImporter trial(model, options, module, table, diag);
    trial.open_squeeze = importer.open_squeeze;
    trial.given_up = given_up;
    if (trial.run()) {
      importer.given_up = std::move(given_up);
      return;
    }
    size_t before = given_up.size();
    given_up.insert(trial.misfits.begin(), trial.misfits.end());
    converted += trial.converted();
    if (given_up.size() == before || converted > options.max_nodes) return;
  }
}

}  // namespace

Result<relax::Module> import_onnx(const std::string& path, const ImportOptions& options, const relax::OpTable& table,
                                  Diagnostics& diag, std::vector<relax::FileRef>* files) {
  relax::Module module;
  module.name = std::filesystem::path(path).stem().string();
  RELAXC_DO(import_onnx_into(module, path, options, table, diag, files));
  return module;
}

Status import_onnx_into(relax::Module& module, const std::string& path, const ImportOptions& options,
                        const relax::OpTable& table, Diagnostics& diag, std::vector<relax::FileRef>* files) {
  diag.keep(module.shared_sources());
  Location where = module.sources().at(FileOrigin{path});
  RELAXC_TRY(LoadedModel model, load_model(path, options.memory, where, diag));
  if (options.allow_external_outside) model.files->allow_outside();
  if (options.refuse_external_data) model.files->refuse_external();
  GraphImporter importer(model, options, module, table, diag);
  importer.open_squeeze = meant_squeeze(model, options, table);
  give_up_branches(model, options, table, importer);
  Status imported = importer.run();
  if (files != nullptr) *files = model.files->all();
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
