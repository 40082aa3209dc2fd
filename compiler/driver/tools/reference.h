// reference.h: computes a model's expected outputs by the interpreter or by ONNX Runtime, and finds the first node
// whose compiled value differs.
#pragma once

#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"
#include "compiler/driver/tools/difference.h"

namespace relaxc::driver {

/// Returns the outputs that the interpreter computes, operator by operator. nullopt if it fails: then it has printed
/// the reason and set `exit_code`.
std::optional<std::vector<relax::HostTensor>> interpret_model(const Options& options, const Tensors& inputs,
                                                              int& exit_code);

/// The same by the reference that options.tool.against names; it may lack some of `names`, the outputs.
std::optional<Tensors> reference_outputs(const Options& options, const Tensors& inputs,
                                         const std::vector<std::string>& names, int& exit_code);

/// Finds the first value of the function whose compiled form differs from options.tool.against, by bisecting the list
/// of values: for each value that is tested, the program that ends with it is compiled. So operators before it are
/// fused as usual, and a model of n nodes takes log2(n) compilations. Prints the result. Returns the exit code: 0 if
/// every value agrees.
int bisect(const Options& options, const Tensors& inputs);

}  // namespace relaxc::driver
