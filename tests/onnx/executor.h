// executor.h: what runs a model in these tests: the interpreter, or a compiled library.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tests/onnx/case.h"

namespace relaxc::onnx_tests {

/// A model ready to run.
class Prepared {
 public:
  virtual ~Prepared() = default;
  /// The outputs, or why there are none.
  virtual std::variant<std::vector<HostTensor>, std::string> run(const std::vector<HostTensor>& inputs) = 0;
  /// Whether a run has asked for the memory that was lent.
  virtual bool allocated() const { return false; }
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Imports (and compiles) the model, and gives runs an allocator if `with_allocator`; null with `fault` set if that
  /// is not possible.
  virtual std::unique_ptr<Prepared> prepare(const std::string& model, bool with_allocator, std::string& fault) = 0;
};

/// Runs modules op by op, each by its meaning; `compile`: definitions are compiled for this machine instead of being
/// interpreted, which gives the same bits and is what models of many operations need.
std::unique_ptr<Executor> make_interpreting_executor(bool compile);

struct CompileOptions {
  std::string level = "2";  ///< -O
  bool fast = false;        ///< --fast-codegen
  std::string cpu;          ///< --mcpu
  std::string c_compiler;   ///< also through C by this compiler, and compare; empty: not
  bool c_vectors = true;    ///< in C, with the vector types of GCC and clang
  std::string runtime;      ///< librelax_rt.a
  std::string include;      ///< runtime-lite/include
};
/// Compiles, links and loads every model.
std::unique_ptr<Executor> make_compiling_executor(CompileOptions options);

}  // namespace relaxc::onnx_tests
