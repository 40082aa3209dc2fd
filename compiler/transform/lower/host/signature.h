// signature.h: the parameters of a host function: inputs, outputs, arena and the dims that it leaves.
//
// Owns the lists of inputs and outputs, which are the leaves of the Relax function's parameters and results, with the
// buffers that stand for them. Uses the symbols, for the dims of outputs.
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
  int32_t pair = -1;                    ///< the output that is the same state; -1: none
  int32_t append_axis = -1;
};

struct Output {
  std::string name;
  relax::Value* value = nullptr;  ///< whose leaf at `path` it is
  std::vector<size_t> path;
  relax::Info info = nullptr;
  BufferRef buffer = nullptr;
  size_t first_dim = 0;      ///< in out_dims
  int32_t pair = -1;         ///< the input that is the same state; -1: none
  int32_t append_axis = -1;  ///< of a state that grows: its rows so far are the first of it
};

class Signature {
 public:
  Signature(InsertionPoint& at, const ShapeProgram& shapes) : build_(at.build()), shapes_(shapes) {}
  Signature(const Signature&) = delete;

  /// Buffers for all parameters, in the slots of their values.
  void add_parameters(const relax::Function& function, Values& values);
  /// Outputs for all results, by the names that the program or its attribute `output_names` gives; without buffers.
  void list_outputs(const relax::Function& function);
  /// Buffers for the outputs, the arena and their dims, once the entry's symbols are known.
  void make_outputs();

  std::vector<Input>& inputs() { return inputs_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  std::vector<Output>& outputs() { return outputs_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  BufferRef arena() const { return arena_; }
  BufferRef out_dims() const { return out_dims_; }
  /// The dims under which the caller sees an output: a shape is a vector, a scalar has none.
  std::vector<Expr> output_dims(const Output& output) const;
  /// The place of the input with this memory; -1: there is none.
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
