// load.h: a model file, mapped and parsed, and its tensors as constants.
#pragma once

#include <map>
#include <memory>
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

  /// Lets external data be anywhere.
  void allow_outside() { outside_ = true; }
  /// Refuses external data, also such as is in memory.
  void refuse_external() { alone_ = true; }

  const std::string& path() const { return path_; }
  const std::shared_ptr<const relax::MappedFile>& model() const { return model_; }
  /// The file at `location`, relative to the model's folder. Refuses absolute paths, "..", and symbolic links, unless
  /// outside is allowed: a model must not read what is elsewhere on the machine that compiles it.
  Result<std::shared_ptr<const relax::MappedFile>> external(const std::string& location, Location where,
                                                            Diagnostics& diag);
  /// The model and every external file read so far, in path order.
  std::vector<relax::FileRef> all() const;

 private:
  std::string path_;
  bool outside_ = false, alone_ = false;
  std::shared_ptr<const relax::MappedFile> model_;
  relax::MemoryFiles memory_;
  std::map<std::string, std::shared_ptr<const relax::MappedFile>> external_;
};

struct LoadedModel {
  std::unique_ptr<onnx::ModelProto> proto;  ///< raw_data of its tensors is replaced by raw_offset and raw_length
  std::unique_ptr<ModelFiles> files;
};

/// Maps and parses. Fails with one message for a file that is not a model: empty, text, truncated, random. The model
/// and its external data are taken from `memory` where they are there.
Result<LoadedModel> load_model(const std::string& path, const relax::MemoryFiles& memory, Location where,
                               Diagnostics& diag);

/// The dtype of a TensorProto.DataType; fails for string, complex and what has no dtype here.
Result<DType> dtype_of(int32_t data_type, Location where, Diagnostics& diag);
/// "float", "int4", "data type 77": ONNX's word for it.
std::string data_type_name(int32_t data_type);

/// A tensor of the model as a constant: a slice of the file where its bytes are as they will be used, an inline copy
/// where values are encoded one by one. Checks dims, the number of bytes, and external data against the file.
Result<relax::ConstantRef> tensor_constant(const onnx::TensorProto& tensor, ModelFiles& files, Location where,
                                           Diagnostics& diag);

/// The tensor in a file of its own, as test data is stored (a serialized TensorProto).
Result<relax::ConstantRef> load_tensor(const std::string& path, Location where, Diagnostics& diag);

}  // namespace relaxc::frontend
