// session.h: compiles and loads a model, and calls it.
#pragma once

#include <memory>
#include <vector>

#include "compiler/api/compile.h"
#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"
#include "compiler/driver/tools/tracer.h"

namespace relaxc::driver {

struct Timing {
  std::vector<double> seconds;  ///< of each run, in order
  std::vector<KernelTime> kernels;
  std::vector<Span> spans;  ///< of the fastest run
};

class Session {
 public:
  /// Compiles the model that `options` names for this machine into a temporary library and loads it. `edit` changes the
  /// module after it is read; `look` receives the compiled and observed artifact before it is written. If it fails,
  /// prints the reason, sets `exit_code` and returns null.
  static std::unique_ptr<Session> open(const Options& options, int& exit_code, const ModuleEdit& edit = {},
                                       const Look& look = {});
  ~Session();
  Session(const Session&) = delete;

  const rlx_model& model() const;
  const rlx_function& function() const;
  /// Return the name of an input or output.
  std::string input_name(uint32_t index) const;
  std::string output_name(uint32_t index) const;

  /// Returns the values of the function's symbols for these inputs; empty if the model refuses them.
  std::vector<int64_t> symbols(const Tensors& inputs);
  /// Returns the outputs; if the model refuses the inputs, prints why and returns nullopt. `inputs` must be complete.
  std::optional<std::vector<relax::HostTensor>> run(const Tensors& inputs);
  /// Runs the model `repeat` times after a warm-up run, or (0) for about a second; fails like run(). Kernels and spans
  /// are those of an object that was compiled with Options::hooks.trace.
  std::optional<Timing> time(const Tensors& inputs, int32_t repeat, Measure measure);

 private:
  class Call;
  class Opening;
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace relaxc::driver
