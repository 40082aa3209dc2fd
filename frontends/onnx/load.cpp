// load.cpp: maps and parses a model and the files that it refers to.
#include "frontends/onnx/load.h"

#include <filesystem>

#include "compiler/relax/mapped_file.h"
#include "compiler/support/input_file.h"
#include "frontends/onnx/strip_tensor_data.h"

namespace relaxc::frontend {
namespace {

namespace fs = std::filesystem;

/// Returns what a file that is not a model most likely is, as the rest of a message; empty if unknown.
std::string_view guess(std::span<const std::byte> bytes) {
  size_t sample = std::min<size_t>(bytes.size(), 512), printable = 0;
  for (size_t i = 0; i < sample; ++i) {
    uint8_t c = static_cast<uint8_t>(bytes[i]);
    printable += (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t' ? 1 : 0;
  }
  std::string_view head(reinterpret_cast<const char*>(bytes.data()), sample);
  if (head.starts_with("version https://git-lfs"))
    return "it is a Git LFS pointer; fetch the file itself with git lfs pull";
  if (printable == sample) return "it is a text file";
  if (head.starts_with("PK")) return "it is a zip archive";
  return {};
}

}  // namespace

Result<LoadedModel> load_model(const std::string& path, const relax::MemoryFiles& memory, Location where,
                               Diagnostics& diag) {
  RELAXC_TRY(relax::FileRef file, relax::open_file(memory, path, where, diag));
  std::span<const std::byte> bytes = file->bytes();
  if (bytes.empty()) return diag.error(where, Kind::malformed_model, "the file is empty, expected an ONNX model");
  auto refuse = [&](std::string_view reason) {
    Failure failure = diag.error(where, Kind::malformed_model, "not an ONNX model: {}", reason);
    if (std::string_view hint = guess(bytes); !hint.empty()) diag.note(nullptr, "{}", hint);
    return failure;
  };
  StrippedMessage stripped = strip_tensor_data(bytes, WireRoot::kModel);
  if (!stripped.fault.empty()) return refuse(stripped.fault + "; is it truncated?");
  LoadedModel model{std::make_unique<onnx::ModelProto>(), std::make_unique<ModelFiles>(path, file, memory)};
  if (stripped.bytes.size() > INT32_MAX)
    return diag.error(where, Kind::unsupported, "the graph without its weights has {} bytes, more than 2 GiB",
                      stripped.bytes.size());
  if (!model.proto->ParseFromString(stripped.bytes)) return refuse("its fields have other types than those of a model");
  if (!model.proto->has_graph()) return refuse("it has no graph");
  return model;
}

Result<relax::ConstantRef> load_tensor(const std::string& path, Location where, Diagnostics& diag) {
  RELAXC_TRY(std::shared_ptr<const relax::MappedFile> file, relax::map_file(path, where, diag));
  StrippedMessage stripped = strip_tensor_data(file->bytes(), WireRoot::kTensor);
  onnx::TensorProto tensor;
  if (!stripped.fault.empty() || !tensor.ParseFromString(stripped.bytes))
    return diag.error(where, Kind::malformed_model, "'{}' is not a tensor: {}", path,
                      stripped.fault.empty() ? "its fields have other types" : stripped.fault);
  ModelFiles files(path, file);
  return tensor_constant(tensor, files, where, diag);
}

Result<std::shared_ptr<const relax::MappedFile>> ModelFiles::external(const std::string& location, Location where,
                                                                      Diagnostics& diag) {
  if (auto found = external_.find(location); found != external_.end()) return found->second;
  if (alone_)
    return diag.error(where, Kind::unsupported,
                      "its data are in another file, '{}', and --untrusted takes models of one file", location);
  fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos)
    return diag.error(where, Kind::missing_data, "external data names no file");
  bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (!outside_ && (relative.is_absolute() || climbs))
    return diag.error(where, Kind::missing_data,
                      "external data '{}' is outside of the model's folder; the path must be relative to it and may "
                      "not contain '..', unless --allow-external-outside is given",
                      location);
  fs::path folder = fs::path(path_).parent_path();
  if (folder.empty()) folder = ".";
  if (relax::FileRef file = relax::find_file(memory_, (folder / relative).string()); file != nullptr)
    return external_[location] = file;
  InputFile opened =
      outside_ ? InputFile::at((folder / relative).string()) : InputFile::beneath(folder.string(), relative.string());
  if (!opened) {
    Failure failure =
        diag.error(where, Kind::missing_data, "cannot read external data '{}': {}", location, opened.fault());
    if (opened.is_link())
      diag.note(nullptr, "a model must not lead out of its folder by links; --allow-external-outside follows them");
    return failure;
  }
  std::string path = (folder / relative).lexically_normal().string();
  RELAXC_TRY(external_[location], relax::map_file(opened, path, where, diag));
  return external_[location];
}

std::vector<relax::FileRef> ModelFiles::all() const {
  std::vector<relax::FileRef> list{model_};
  for (const auto& [location, file] : external_) list.push_back(file);
  return list;
}

}  // namespace relaxc::frontend
