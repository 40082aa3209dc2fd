// loaded_model.h: a shared library that relaxc wrote, run as its ABI says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/relax/interpret.h"
#include "runtime-lite/include/relax_rt.h"

namespace relaxc::onnx_tests {

/// The dtype that a tensor of a model has; none if it is no dtype of ours.
std::optional<DType> dtype_of(const rlx_tensor_spec& spec);

/// The entry points of `<name>_model`. Every run asks for sizes, gives an arena of exactly the size asked for
/// between canaries, and outputs of exactly the capacity asked for (a fixed one where there is no bound), so that each
/// test is a test of these promises too.
class LoadedModel {
 public:
  /// Null with `fault` set if the library does not load or has no such model.
  static std::unique_ptr<LoadedModel> open(const std::string& library, const std::string& name, std::string& fault);
  ~LoadedModel();

  enum States { kApart, kInPlace };
  /// The outputs of the entry point of that index, or why there are none. kInPlace: outputs that carry a state are
  /// written over their inputs.
  std::variant<std::vector<relax::HostTensor>, std::string> run(const std::vector<relax::HostTensor>& inputs,
                                                                States states = kApart, uint32_t entry = 0) const;
  /// From now on `tasks` runs what the model shares among tasks.
  void share_tasks(int32_t (*tasks)(void*, int32_t, int32_t (*)(void*, int32_t), void*), void* user) {
    context_.parallel_for = tasks;
    context_.parallel_user = user;
  }
  /// From now on `alloc` gives what has no bound before the run; without it there is none to be had.
  void set_allocator(void* (*alloc)(void*, uint64_t, uint64_t), void* user) {
    context_.alloc = alloc;
    context_.alloc_user = user;
  }
  /// From now on `trace` is told of kernels, if the model was compiled to.
  void watch(void (*trace)(void*, int32_t, int32_t), void* user) {
    context_.trace = trace;
    context_.trace_user = user;
  }
  /// From now on `poll` is asked before kernels, if the model was compiled to.
  void ask(int32_t (*poll)(void*, int32_t), void* user) {
    context_.poll = poll;
    context_.poll_user = user;
  }
  const rlx_function& function(uint32_t entry = 0) const { return model_->functions[entry]; }
  const rlx_model& model() const { return *model_; }
  /// The address of a symbol of the library; null if there is none.
  void* symbol(const std::string& name) const;

 private:
  LoadedModel(void* handle, const rlx_model* model) : handle_(handle), model_(model) {}
  void* handle_;
  const rlx_model* model_;
  rlx_context context_ = RLX_CONTEXT_INIT;
};

}  // namespace relaxc::onnx_tests
