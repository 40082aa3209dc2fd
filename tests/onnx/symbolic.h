// symbolic.h: a model with the sizes of its inputs taken away.
#pragma once

#include <string>

namespace relaxc::onnx_tests {

/// Writes a copy of the model at `model` to `copy`, in which every dim of every graph input is a symbol of its own
/// (what an initializer stands for stays as it is) and outputs and inner values declare no shape. A dim that decides a
/// rank stays: the length of an operand that holds a shape, axes or pads. Returns empty, or why there is no copy.
std::string write_symbolic(const std::string& model, const std::string& copy);

}  // namespace relaxc::onnx_tests
