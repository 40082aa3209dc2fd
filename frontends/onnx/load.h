// load.h: maps and parses a model file, and reads its tensors as constants.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

/// The mapped model and the files that it refers to, each mapped once.
class ModelFiles {
 public:
  ModelFiles(std::string path, std::shared_ptr<const relax::MappedFile> model, relax::MemoryFiles memory = {})
      : path_(std::move(path)), model_(std::move(model)), memory_(std::move(memory)) {}

  /// Allows external data outside of the model's folder.
  void allow_outside() { outside_ = true; }
  /// Refuses external data, also if it is in memory.
  void refuse_external() { alone_ = true; }

  const std::string& path() const { return path_; }
  const std::shared_ptr<const relax::MappedFile>& model() const { return model_; }
  /// Returns the file at `location`, relative to the model's folder. Unless outside is allowed, refuses absolute paths,
  /// "..", and symbolic links: a model must not read other files of the machine that compiles it.
  Result<std::shared_ptr<const relax::MappedFile>> external(const std::string& location, Location where,
                                                            Diagnostics& diag);
  /// Returns the model and every external file that was read so far, sorted by path.
  std::vector<relax::FileRef> all() const;

 private:
  std::string path_;
  bool outside_ = false, alone_ = false;
  std::shared_ptr<const relax::MappedFile> model_;
  relax::MemoryFiles memory_;
  std::map<std::string, std::shared_ptr<const relax::MappedFile>> external_;
};

struct LoadedModel {
  std::unique_ptr<onnx::ModelProto> proto;  ///< with raw_offset and raw_length in place of raw_data in its tensors
  std::unique_ptr<ModelFiles> files;
};

/// Maps and parses a model. Fails with one message for a file that is not a model: empty, text, truncated, random. The
/// model and its external data are read from `memory` if they are in there.
Result<LoadedModel> load_model(const std::string& path, const relax::MemoryFiles& memory, Location where,
                               Diagnostics& diag);

/// Returns the dtype of a TensorProto.DataType; fails for string, complex and types that relaxc does not have.
Result<DType> dtype_of(int32_t data_type, Location where, Diagnostics& diag);
/// Returns the TensorProto.DataType of a dtype; nullopt if ONNX has none for it.
std::optional<int32_t> data_type_of(DType dtype);
/// Returns ONNX's name for a TensorProto.DataType: "float", "int4", "data type 77".
std::string data_type_name(int32_t data_type);

/// Returns a tensor of the model as a constant: a slice of the file if its bytes are in the form that is used, else an
/// inline copy. Checks dims, the number of bytes, and external data against the file.
Result<relax::ConstantRef> tensor_constant(const onnx::TensorProto& tensor, ModelFiles& files, Location where,
                                           Diagnostics& diag);

/// Reads a tensor in a file of its own, as test data is stored (a serialized TensorProto).
Result<relax::ConstantRef> load_tensor(const std::string& path, Location where, Diagnostics& diag);

}  // namespace relaxc::frontend
