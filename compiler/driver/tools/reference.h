// reference.h: what a model should give, by the interpreter or by ONNX Runtime, and the first node at which a compiled
// model departs from that.
#pragma once

#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"
#include "compiler/driver/tools/difference.h"

namespace relaxc::driver {

/// The outputs that the interpreter gives: every operator by its meaning, one after the other. Nothing if it cannot,
/// with `exit_code` set; the reason has been printed.
std::optional<std::vector<relax::HostTensor>> interpret_model(const Options& options, const Tensors& inputs,
                                                              int& exit_code);

/// The same by what options.tool.against names; of `names`, the outputs, some may have no value then.
std::optional<Tensors> reference_outputs(const Options& options, const Tensors& inputs,
                                         const std::vector<std::string>& names, int& exit_code);

/// Finds the first value of the function whose compiled form is not what options.tool.against gives, by halving the
/// list of values: for each one looked at, the program that ends with it is compiled. So what is fused before it stays
/// fused, and a model of n nodes costs log2(n) compilations. Prints what it found. The exit code: 0 if every value
/// agrees.
int bisect(const Options& options, const Tensors& inputs);

}  // namespace relaxc::driver
