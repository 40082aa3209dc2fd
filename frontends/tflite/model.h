// model.h: a .tflite file as plain lists, which were checked completely while reading.
//
// FlatBuffers are read in place and any field may be absent, so code that uses them must test for null everywhere. So
// the file is verified and copied once into the structs below. In these, every index is within its list, every shape
// has an element count that fits int64, and every buffer has the size that its tensor needs. Weights stay in the file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/relax/constant.h"
#include "compiler/relax/mapped_file.h"
#include "compiler/support/result.h"
#include "flatbuffers/flatbuffers.h"
#include "frontends/tflite/tflite_generated.h"

namespace relaxc::tflite {

using tflite_schema::BuiltinOperator;
using tflite_schema::TensorType;

/// How integers represent real numbers: (stored - zero_point) * scale, with one pair, or one for each index along
/// `axis`. If `scale` is empty, the tensor is not quantized.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;  ///< same length as `scale`
  int32_t axis = 0;
};

struct Tensor {
  std::string name;
  TensorType type = TensorType::FLOAT32;
  std::vector<int64_t> shape;
  bool open = false;  ///< a dim is declared as unknown; `shape` has 1 in its place
  bool is_variable = false;
  Quantization quantization;
  std::span<const std::byte> data;  ///< contents of a constant or initial value, in the file; else empty
  bool constant = false;
};

struct Operator {
  BuiltinOperator code = BuiltinOperator::CUSTOM;
  std::string custom_code;  ///< name of a CUSTOM operator
  int64_t version = 1;
  std::vector<int32_t> inputs, outputs;  ///< indices of tensors; -1 is an optional input that is absent
  const tflite_schema::Operator* raw = nullptr;
  std::span<const std::byte> custom_options;
};

struct Subgraph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<int32_t> inputs, outputs;
  std::vector<Operator> operators;
};

struct Model {
  std::string path;
  relax::FileRef file;
  std::vector<uint64_t> tables;     ///< aligned copy of a file whose bytes are not aligned to 8; else empty
  std::vector<Subgraph> subgraphs;  ///< at least one; the first is the main one
  std::map<std::string, std::span<const std::byte>> notes;  ///< metadata by name
};

/// Maps, verifies and reads the file. Reports an error if it is not a model, has an unsupported schema version, or
/// contains indices, sizes and shapes that contradict each other.
Result<Model> read_model(const std::string& path, const relax::MemoryFiles& memory, Location where, Diagnostics& diag);

/// Returns the dtype for a tensor type. Reports an error for strings, complex numbers, resources and variants. 4-bit
/// integers give int8, since their constants are unpacked.
Result<DType> dtype_of(TensorType type, Location where, Diagnostics& diag);
/// Returns the type's name, such as "float32" or "resource".
std::string_view type_name(TensorType type);
/// Returns the operator's name, such as "CONV_2D", or "operator 300" if the schema has none.
std::string operator_name(BuiltinOperator code);
/// Returns whether the bytes have the file identifier of .tflite files.
bool is_tflite(std::span<const std::byte> bytes);

}  // namespace relaxc::tflite
