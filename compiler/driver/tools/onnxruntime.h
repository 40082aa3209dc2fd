// onnxruntime.h: runs a model by ONNX Runtime, if that is installed for Python.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Returns the values of these names, which may be intermediate ones, computed without optimizations; names that the
/// model does not have are left out. Fails (usage) if the input is not an ONNX model, or if python3 has no onnx and
/// onnxruntime, which it has then printed.
Result<std::map<std::string, relax::HostTensor>> onnxruntime_values(const Options& options, const Tensors& inputs,
                                                                    const std::vector<std::string>& names,
                                                                    Diagnostics& diag);

}  // namespace relaxc::driver
