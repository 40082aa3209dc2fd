// stored.h: compares a program with quantized inputs and outputs (transform/graph/quantized_io.cpp) and the float
// program that it was made of: the same inputs, quantized for the one, and outputs as floats.
#pragma once

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/quantization.h"

namespace relaxc::equivalence {

/// The quantized tensors of a function's interface, and the dtypes of its inputs.
struct StoredInterface {
  interface::QuantizedTensors tensors;
  std::vector<DType> inputs;
};

/// Returns the interface of the function of that name in `module`, or of the entry that it was lowered to.
StoredInterface stored_interface(const relax::Module& module, const interface::Object& object, const std::string& name);

/// Quantizes floats to integers of `dtype`: rounded to nearest, ties to even, and clamped to its range.
HostTensor stored(const interface::Quantization& q, const HostTensor& floats, DType dtype);
/// Quantizes the float inputs that the interface has as integers; the others stay as they are.
std::vector<HostTensor> stored(const StoredInterface& in, std::vector<HostTensor> inputs);
/// Returns the outcome with quantized outputs as floats.
Outcome as_floats(const StoredInterface& in, Outcome outcome);

}  // namespace relaxc::equivalence
