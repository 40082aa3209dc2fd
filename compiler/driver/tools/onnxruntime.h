// onnxruntime.h: what ONNX Runtime gives for a model, where it is installed for Python.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// The values of these names, intermediate ones too, computed without its optimizations; names that the model does not
/// have are left out. Fails (usage) if the model is not an ONNX model or python3 has no onnx and onnxruntime, which
/// it has said then.
Result<std::map<std::string, relax::HostTensor>> onnxruntime_values(const Options& options, const Tensors& inputs,
                                                                    const std::vector<std::string>& names,
                                                                    Diagnostics& diag);

}  // namespace relaxc::driver
