// operands.h: what the file says of one operator: its tensors, their quantization and contents, and its options.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/tflite/formula.h"
#include "frontends/tflite/model.h"

namespace relaxc::tflite {

class Operands {
 public:
  /// Errors are reported to `report`.
  Operands(Report& report, Importer& importer, const Subgraph& graph, const Operator& op)
      : graph(graph), op(op), report_(report), importer_(importer) {}

  const Subgraph& graph;
  const Operator& op;

  size_t inputs() const { return op.inputs.size(); }
  size_t outputs() const { return op.outputs.size(); }
  bool has(size_t i) const { return i < inputs() && op.inputs[i] >= 0; }
  const Tensor& in(size_t i) const { return graph.tensors[static_cast<size_t>(op.inputs.at(i))]; }
  const Tensor& out(size_t i = 0) const { return graph.tensors[static_cast<size_t>(op.outputs.at(i))]; }
  TensorType type(size_t i = 0) const { return in(i).type; }
  /// Returns whether input i is int8, uint8 or int16 and has a scale.
  bool quantized(size_t i = 0) const;
  /// Return the scale and the zero point of a tensor; report an error unless it has exactly one of each.
  float scale_of(const Tensor& tensor);
  int64_t zero_of(const Tensor& tensor);
  DType dtype_of(const Tensor& tensor);
  /// Return the dtype of output i, which must be of the type of input 0, or of one of `types`. Converters ask this
  /// where they bring numbers to the type of the output: TFLite's kernels compute no other types, whatever a file
  /// declares.
  DType stored_type() { return result_type({type()}); }
  DType result_type(std::initializer_list<TensorType> types, size_t i = 0);

  Value* input(size_t i);
  Value* optional_input(size_t i) { return has(i) ? input(i) : nullptr; }
  std::vector<Value*> all_inputs();
  /// Returns the data of an input that is known at compile time, else null.
  relax::ConstantRef constant(size_t i);
  /// Returns the integers of a constant input, else nothing.
  std::optional<Ints> known_ints(size_t i);
  /// Same, but reports that `what` must be a constant if it is none.
  Ints constant_ints(size_t i, std::string_view what);
  std::vector<double> constant_numbers(size_t i, std::string_view what);

  /// Returns the operator's options, or a table of defaults if the file has none.
  template <typename T>
  const T& options() const {
    const T* found = op.raw->builtin_options_as<T>();
    return found == nullptr ? *reinterpret_cast<const T*>(empty_table()) : *found;
  }

 private:
  static const void* empty_table();

  Report& report_;
  Importer& importer_;
};

}  // namespace relaxc::tflite
