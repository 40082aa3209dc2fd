// model.h: a .tflite file as plain lists, after everything that could be wrong with it was checked.
//
// FlatBuffers are read in place and any field may be absent, so code that reads them is code that asks for null. The
// file is verified and copied once into the structs below; behind that, every index is within its list, every shape has
// an element count that fits, and every buffer has as many bytes as its tensor needs. Weights stay in the file.
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

/// How the integers of a tensor stand for real numbers: (stored - zero_point) * scale, of one pair or one for each
/// place along `axis`. No scale: the integers are meant.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;  ///< as many as scales
  int32_t axis = 0;
};

struct Tensor {
  std::string name;
  TensorType type = TensorType::FLOAT32;
  std::vector<int64_t> shape;
  bool open = false;  ///< a dim is declared to be unknown; `shape` has a placeholder
  bool is_variable = false;
  Quantization quantization;
  std::span<const std::byte> data;  ///< of a constant, in the file; empty: none
  bool constant = false;
};

struct Operator {
  BuiltinOperator code = BuiltinOperator::CUSTOM;
  std::string custom_code;  ///< of CUSTOM
  int64_t version = 1;
  std::vector<int32_t> inputs, outputs;  ///< tensors; -1: an input that is left out
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
  std::vector<uint64_t> tables;  ///< the file again, where its bytes are not aligned as its numbers must be; else empty
  std::vector<Subgraph> subgraphs;                          ///< at least one; the first is the model
  std::map<std::string, std::span<const std::byte>> notes;  ///< metadata by name
};

/// Maps, verifies and reads. Fails with messages that say what is wrong: no model at all, a version that is not
/// known, indices, sizes and shapes that contradict each other.
Result<Model> read_model(const std::string& path, const relax::MemoryFiles& memory, Location where, Diagnostics& diag);

/// The dtype of a tensor type; fails for strings, complex numbers, resources and variants. 4-bit integers are int8:
/// their constants are unpacked.
Result<DType> dtype_of(TensorType type, Location where, Diagnostics& diag);
/// "float32", "resource".
std::string_view type_name(TensorType type);
/// "CONV_2D", or "operator 300".
std::string operator_name(BuiltinOperator code);
/// Whether the bytes are those of a .tflite file.
bool is_tflite(std::span<const std::byte> bytes);

}  // namespace relaxc::tflite
