// quantization.h: the tensors of an entry that are stored as integers and represent real numbers.
//
// Between the pass that decides it (quantized_io) and the records of the object, this is a field of the Relax function
// (relax::Function::quantized).
#pragma once

#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

using tir::QuantizedTensors;

/// Returns the quantization parameters of the tensors of `entry`.
QuantizedTensors quantized_tensors(const Entry& entry);

/// Returns "(stored - 3) * 0.5", for comments and tables; with several scales, the axis.
std::string formula_text(const Quantization& quantization);

}  // namespace relaxc::interface
