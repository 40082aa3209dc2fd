// metadata.cpp: reports, as remarks for --check, what the file's metadata says of its inputs.
//
// Normalization is done by the caller before a model's input, so relaxc cannot do it; a caller who does not know of
// it gets wrong answers from a correct program. Metadata that cannot be read is ignored: the model does not depend on
// it.
#include "frontends/tflite/importer.h"
#include "frontends/tflite/metadata_generated.h"

namespace relaxc::tflite {
namespace {

namespace notes = tflite_metadata;

std::string numbers(const flatbuffers::Vector<float>* list) {
  std::string text;
  for (flatbuffers::uoffset_t i = 0; list != nullptr && i < list->size(); ++i)
    text += (i == 0 ? "" : ", ") + fmt::format("{}", list->Get(i));
  return text;
}

}  // namespace

std::vector<std::string> metadata_remarks(const Model& model) {
  std::vector<std::string> remarks;
  auto found = model.notes.find("TFLITE_METADATA");
  if (found == model.notes.end()) return remarks;
  // Copy: the buffer in the file need not be aligned for the numbers in it.
  std::vector<std::byte> bytes(found->second.begin(), found->second.end());
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  if (bytes.size() < 8 || !notes::VerifyModelMetadataBuffer(verifier)) return remarks;
  const auto* graphs = notes::GetModelMetadata(data)->subgraph_metadata();
  if (graphs == nullptr || graphs->size() == 0 || graphs->Get(0)->input_tensor_metadata() == nullptr) return remarks;
  const auto& inputs = *graphs->Get(0)->input_tensor_metadata();
  const Subgraph& graph = model.subgraphs[0];
  for (flatbuffers::uoffset_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    const auto* units = inputs.Get(i)->process_units();
    for (flatbuffers::uoffset_t k = 0; units != nullptr && k < units->size(); ++k) {
      const auto* normal = units->Get(k)->options_as_NormalizationOptions();
      if (normal == nullptr) continue;
      remarks.push_back(fmt::format(
          "input '{}' is to be normalized by the caller: (value - mean) / std, mean {}, std {}",
          graph.tensors[static_cast<size_t>(graph.inputs[i])].name, numbers(normal->mean()), numbers(normal->std())));
    }
  }
  return remarks;
}

}  // namespace relaxc::tflite
