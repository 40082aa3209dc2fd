// session.h: a model that is compiled, loaded and ready to be called.
#pragma once

#include <memory>
#include <vector>

#include "compiler/api/compile.h"
#include "compiler/api/input/tensor_files.h"
#include "compiler/driver/options.h"

namespace relaxc::driver {

/// How often each kernel ran and how long, if the object was compiled to report it.
struct KernelTime {
  std::string name;
  int64_t calls = 0;
  double seconds = 0;
  double least = 0;  ///< seconds of all its calls in one run, in the run where they were fewest
};

struct Timing {
  std::vector<double> seconds;  ///< of each run, in order
  std::vector<KernelTime> kernels;
};

class Session {
 public:
  /// Compiles the model that `options` names for this machine into a temporary library and loads it. `edit` changes the
  /// module that was read; `look` sees what was compiled, and observed, before it is written. Null with `exit_code` set
  /// if that is not possible; the reason has been printed.
  static std::unique_ptr<Session> open(const Options& options, int& exit_code, const ModuleEdit& edit = {},
                                       const Look& look = {});
  ~Session();
  Session(const Session&) = delete;

  const rlx_model& model() const;
  const rlx_function& function() const;
  /// The name of an input or output.
  std::string input_name(uint32_t index) const;
  std::string output_name(uint32_t index) const;

  /// What the symbols of the function are with these inputs; empty if the model refused.
  std::vector<int64_t> symbols(const Tensors& inputs);
  /// The outputs; nothing if the model refused, which has then been printed. Every input must be there.
  std::optional<std::vector<relax::HostTensor>> run(const Tensors& inputs);
  /// Runs the model `repeat` times after one that is not counted, or (0) for about a second; nothing as run() does.
  std::optional<Timing> time(const Tensors& inputs, int32_t repeat, bool kernels);

 private:
  class Call;
  class Opening;
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace relaxc::driver
