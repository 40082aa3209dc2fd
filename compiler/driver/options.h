// options.h: the parsed command line.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/compile_options.h"

namespace relaxc::driver {

using namespace api;  // the driver is a front end of the API and uses its names throughout

enum class CheckFormat { kNone, kText, kJson };

/// Options of `relaxc run`, `verify`, `bench`, `tune`, `inspect` and `lsp` in addition to those of a compilation.
struct ToolOptions {
  enum Kind { kNone, kRun, kVerify, kBench, kInspect, kTune, kLsp } kind = kNone;
  std::vector<std::string> data;       ///< files and folders of inputs: FILE or NAME=FILE
  std::vector<std::string> expected;   ///< the same for expected outputs
  std::string folder;                  ///< a folder for outputs
  std::vector<std::string> libraries;  ///< shared libraries with the functions of custom operators
  std::string function = "main";
  std::string against = "interpreter";  ///< what `verify` compares with; or "onnxruntime"
  bool random = false, interpret = false, bisect = false, profile = false,
       machine = false;  ///< `machine`: whether `tune` measures the machine
  int64_t seed = 0;
  int32_t threads = 1, repeat = 0;  ///< `repeat` 0: as many runs as take a second
  double rtol = 1e-3, atol = 1e-5;
  std::string timeline;  ///< a file for the events of a run that `bench` traces; empty: none
  std::string record;    ///< what `tune` writes
  std::string prove;     ///< what `inspect` checks: "memory", "kernels" or "all"; empty: nothing
  std::string safety;    ///< how `inspect` lists what safety-related systems ask: "text" or "json"; empty: not at all
  std::string explain;   ///< the kernel, or "all", whose schedule `inspect` explains; empty: none
  double budget = 60;    ///< seconds that `tune` may take
};

struct Options : CompileOptions {
  ToolOptions tool;
  bool print_targets = false, print_target = false, print_cmake_dir = false;
  bool verbose = false;
  CheckFormat check = CheckFormat::kNone;
  double time_limit = 0;          ///< seconds; 0: none
  uint64_t memory_limit = 0;      ///< bytes; 0: none
  std::string certificate;        ///< a folder for the certificate of what is written; empty: none
  std::string check_certificate;  ///< the folder of a certificate to hold against files; empty: none

  /// The limits that `--untrusted` sets if none are given.
  static constexpr double kUntrustedSeconds = 300;
  static constexpr uint64_t kUntrustedBytes = uint64_t{4} << 30;
};

}  // namespace relaxc::driver
