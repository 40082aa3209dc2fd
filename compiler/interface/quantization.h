// quantization.h: which tensors of an entry are stored as integers that stand for real numbers.
//
// Between the pass that decides it (quantized_io) and the records of the object, a Relax function has it in a field
// (relax::Function::quantized).
#pragma once

#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

using tir::QuantizedTensors;

/// What the tensors of `entry` stand for.
QuantizedTensors quantized_tensors(const Entry& entry);

/// "(stored - 3) * 0.5", for comments and tables; of more than one scale the axis.
std::string formula_text(const Quantization& quantization);

}  // namespace relaxc::interface
