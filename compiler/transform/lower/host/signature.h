// signature.h: the parameters of a host function: inputs, outputs, arena and out_dims.
//
// Owns the lists of inputs and outputs, which are the leaves of the Relax function's parameters and results, and their
// buffers. Uses the symbols, for the dims of outputs.
#pragma once

#include <string>
#include <vector>

#include "compiler/transform/lower/host/values.h"

namespace relaxc::lower {

struct Input {
  std::string name;
  relax::Info info = nullptr;
  BufferRef buffer = nullptr;
  const relax::Value* value = nullptr;  ///< the parameter; null for a field of a tuple
  int32_t pair = -1;                    ///< index of the output that is the same state; -1: none
  int32_t append_axis = -1;
};

struct Output {
  std::string name;
  relax::Value* value = nullptr;  ///< the value that has it as the leaf at `path`
  std::vector<size_t> path;
  relax::Info info = nullptr;
  BufferRef buffer = nullptr;
  size_t first_dim = 0;      ///< index of its first dim in out_dims
  int32_t pair = -1;         ///< index of the input that is the same state; -1: none
  int32_t append_axis = -1;  ///< axis along which a state grows behind its old rows; -1: none
};

class Signature {
 public:
  Signature(InsertionPoint& at, const ShapeProgram& shapes) : build_(at.build()), shapes_(shapes) {}
  Signature(const Signature&) = delete;

  /// Adds inputs with buffers for all parameters, and makes these the storage of their values.
  void add_parameters(const relax::Function& function, Values& values);
  /// Adds outputs for all results, named by the attribute `output_names` or by the program, without buffers.
  void list_outputs(const relax::Function& function);
  /// Makes the buffers of the outputs, the arena and out_dims, once the entry symbols are known.
  void make_outputs();

  std::vector<Input>& inputs() { return inputs_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  std::vector<Output>& outputs() { return outputs_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  BufferRef arena() const { return arena_; }
  BufferRef out_dims() const { return out_dims_; }
  /// Returns the dims of an output as the caller sees it: a shape is a vector, a scalar has rank 0.
  std::vector<Expr> output_dims(const Output& output) const;
  /// Returns the index of the input with this buffer; -1 if there is none.
  int32_t input_of(BufferRef buffer) const;

 private:
  ValueStorage add_parameter(const std::string& name, relax::Info info);
  void flatten_result(relax::Value& value, relax::Info info, std::vector<size_t> path, const std::string& name);

  tir::Builder& build_;
  const ShapeProgram& shapes_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  BufferRef arena_ = nullptr, out_dims_ = nullptr;
};

}  // namespace relaxc::lower
