// options.h: the command line, read into a record.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"

namespace relaxc::driver {

using namespace api;  // the driver is a front of the API and speaks of little else

enum class CheckFormat { kNone, kText, kJson };

/// Options of `relaxc run`, `verify`, `bench`, `tune` and `inspect` beyond those of compiling.
struct ToolOptions {
  enum Kind { kNone, kRun, kVerify, kBench, kInspect, kTune } kind = kNone;
  std::vector<std::string> data;       ///< files and folders of inputs: FILE or NAME=FILE
  std::vector<std::string> expected;   ///< of outputs
  std::string folder;                  ///< where outputs go
  std::vector<std::string> libraries;  ///< with the functions of custom operators
  std::string function = "main";
  std::string against = "interpreter";  ///< or "onnxruntime": what `verify` compares with
  bool random = false, interpret = false, bisect = false, profile = false,
       machine = false;  ///< `machine`: what `tune` measures
  int64_t seed = 0;
  int32_t threads = 1, repeat = 0;  ///< `repeat` 0: as often as a second takes
  double rtol = 1e-3, atol = 1e-5;
  std::string record;   ///< what `tune` writes
  std::string prove;    ///< what `inspect` checks: "memory", "kernels" or "all"; empty: nothing
  std::string safety;   ///< how `inspect` lists what safety-related systems ask: "text" or "json"; empty: not at all
  std::string explain;  ///< the kernel, or "all", whose schedule `inspect` explains; empty: none
  double budget = 60;   ///< seconds that `tune` may take
};

struct Options : CompileOptions {
  ToolOptions tool;
  bool print_targets = false, print_target = false, print_cmake_dir = false;
  bool verbose = false;
  CheckFormat check = CheckFormat::kNone;
  double time_limit = 0;      ///< seconds; 0: none
  uint64_t memory_limit = 0;  ///< bytes; 0: none

  /// The limits that `--untrusted` sets where none are given.
  static constexpr double kUntrustedSeconds = 300;
  static constexpr uint64_t kUntrustedBytes = uint64_t{4} << 30;
};

}  // namespace relaxc::driver
