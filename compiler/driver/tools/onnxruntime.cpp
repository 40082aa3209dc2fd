// onnxruntime.cpp: writes files for a Python script, and reads its results.
//
// Rejected: linking ONNX Runtime's C library, which few users have; those who make models have its Python package.
#include "compiler/driver/tools/onnxruntime.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/api/install.h"
#include "compiler/support/temporary_folder.h"
#include "compiler/support/termination.h"
#include "frontends/weights/weights.h"

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<std::map<std::string, relax::HostTensor>> onnxruntime_values(const Options& options, const Tensors& inputs,
                                                                    const std::vector<std::string>& names,
                                                                    Diagnostics& diag) {
  auto refuse = [&](const std::string& why) {
    return diag.error(nullptr, Kind::usage, "--against onnxruntime: {}", why);
  };
  if (fs::path(options.input).extension() != ".onnx") return refuse("'" + options.input + "' is not an ONNX model");
  std::string script = installed("share/relaxc/python/onnxruntime_values.py");
  if (script.empty()) return refuse("onnxruntime_values.py was not installed with relaxc");
  TemporaryFolder folder;
  if (folder.path().empty()) return refuse("cannot make a temporary folder");
  // Names may contain any bytes, also newlines. Invalid UTF-8 is replaced: no model that ONNX's package reads has it.
  std::ofstream wanted(folder.path() / "names.json");
  wanted << nlohmann::json(names).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  wanted.close();
  for (size_t i = 0; i < inputs.size(); ++i)
    RELAXC_DO(write_npy(folder.path().string(), fmt::format("input_{}", i), *inputs[i], diag));
  std::string answer = (folder.path() / "values.npz").string();
  if (!wanted || !run_program({"python3", script, options.input, folder.path().string()}) || !fs::exists(answer))
    return refuse("python3 with the packages onnx and onnxruntime could not run the model");
  RELAXC_TRY(frontend::NamedConstants values, frontend::read_weights(answer, nullptr, diag));
  std::map<std::string, relax::HostTensor> tensors;
  for (size_t i = 0; i < names.size(); ++i)
    if (auto found = values.find(std::to_string(i)); found != values.end())
      tensors.emplace(names[i],
                      relax::HostTensor{found->second->dtype(), found->second->shape(), found->second->to_vector()});
  return tensors;
}

}  // namespace relaxc::driver
