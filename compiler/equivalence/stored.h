// stored.h: a program whose interface holds integers (transform/graph/quantized_io.cpp) beside the one with floats that
// it was made of: the same numbers go in, and what comes out is compared as floats.
#pragma once

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/quantization.h"

namespace relaxc::equivalence {

/// Which tensors of a function's interface are stored, and the dtypes of its inputs.
struct StoredInterface {
  interface::QuantizedTensors tensors;
  std::vector<DType> inputs;
};

/// What the function of that name in `module`, or the entry that it was lowered to, says.
StoredInterface stored_interface(const relax::Module& module, const interface::Object& object, const std::string& name);

/// Floats as integers of `dtype`: rounded to nearest, ties to even, and cut to its range.
HostTensor stored(const interface::Quantization& q, const HostTensor& floats, DType dtype);
/// Those of the inputs that the interface stores, so; the others as they are.
std::vector<HostTensor> stored(const StoredInterface& in, std::vector<HostTensor> inputs);
/// Outputs as the floats that they stand for.
Outcome as_floats(const StoredInterface& in, Outcome outcome);

}  // namespace relaxc::equivalence
