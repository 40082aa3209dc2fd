// session.cpp: compiles a shared library by compile(), loads it by dlopen and makes generic calls.
//
// Rejected: a JIT of the whole object inside of this program. Users link an object and runtime-lite; a tool that checks
// whether the model is right should run those.
#include "compiler/driver/tools/session.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "compiler/api/output/plan.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/progress.h"
#include "compiler/interface/dlpack.h"
#include "compiler/support/input_file.h"
#include "compiler/support/quote.h"
#include "compiler/support/tell.h"
#include "compiler/support/temporary_folder.h"

extern "C" {
#include "runtime-lite/include/relax_rt_hosted.h"
#include "runtime-lite/runner/call.h"
}

namespace relaxc::driver {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

}  // namespace

struct Session::State {
  TemporaryFolder folder;
  std::vector<void*> libraries;  ///< libraries that the model calls
  void* handle = nullptr;
  const rlx_model* model = nullptr;
  const rlx_function* function = nullptr;
  rlx_context context = RLX_CONTEXT_INIT;
  rlx_error error{};
  rlx_pool* pool = nullptr;

  ~State() {
    rlx_pool_destroy(pool);
    if (model != nullptr && model->weights_bytes != 0) rlx_weights_unmap(&context);
    rlx_free_memory(&context);
    if (handle != nullptr) dlclose(handle);
    for (void* library : libraries) dlclose(library);
  }
};

/// The arrays of one call, with outputs that are freed at its end.
class Session::Call {
 public:
  Call(State& state, const Tensors& inputs)
      : state_(state), in_(state.function->num_inputs), out_(state.function->num_outputs) {
    for (size_t i = 0; i < in_.size(); ++i) {
      const relax::HostTensor& given = *inputs[i];
      interface::DLPackType type = interface::dlpack_type(given.dtype);
      in_[i].code = type.code;
      in_[i].bits = type.bits;
      in_[i].ndim = static_cast<int32_t>(std::min<size_t>(given.shape.size(), RLX_MAX_RANK));
      std::copy_n(given.shape.begin(), in_[i].ndim, in_[i].dims);
      in_[i].data = const_cast<std::byte*>(given.bytes.data());  // not written: outputs of states have other memory
      in_[i].bytes = given.bytes.size();
    }
  }
  ~Call() {
    for (rlx_array& array : out_) std::free(array.data);
  }
  Call(const Call&) = delete;

  /// Runs the model with new memory for the outputs. Prints the error and returns false if that fails.
  bool first() {
    state_.error = {0, -1, -1, -1, -1, 0, 0};
    int32_t status = rlx_call(state_.model, state_.function, &state_.context, in_.data(), out_.data());
    if (status != RLX_OK) rlx_explain(state_.model, state_.function, status, &state_.error);
    return status == RLX_OK;
  }

  std::vector<int64_t> symbols() {
    const rlx_function& f = *state_.function;
    for (rlx_array& array : in_) in_records_.push_back(record(array));
    std::vector<int64_t> values(f.num_symbols + 1);
    int32_t status = f.bind(&state_.context, in_records_.data(), f.num_inputs, values.data(), &state_.error);
    in_records_.clear();
    if (status != RLX_OK) rlx_explain(state_.model, state_.function, status, &state_.error);
    values.resize(status == RLX_OK ? f.num_symbols : 0);
    return values;
  }

  /// Runs the model again in the same memory.
  bool again() {
    const rlx_function& f = *state_.function;
    for (size_t i = 0; i < in_.size(); ++i) in_records_.push_back(record(in_[i]));
    for (size_t i = 0; i < out_.size(); ++i) out_records_.push_back(record(out_[i]));
    int32_t status = f.run(&state_.context, in_records_.data(), f.num_inputs, out_records_.data(), f.num_outputs);
    in_records_.clear();
    out_records_.clear();
    if (status != RLX_OK) rlx_explain(state_.model, state_.function, status, &state_.error);
    return status == RLX_OK;
  }

  std::vector<relax::HostTensor> outputs() const {
    std::vector<relax::HostTensor> made;
    for (const rlx_array& array : out_) {
      relax::HostTensor tensor{dtype_of(array.code, array.bits).value_or(DType::u(8)),
                               {array.dims, array.dims + array.ndim},
                               std::vector<std::byte>(array.bytes)};
      if (array.bytes != 0) std::memcpy(tensor.bytes.data(), array.data, array.bytes);
      made.push_back(std::move(tensor));
    }
    return made;
  }

 private:
  static rlx_tensor record(rlx_array& array) {
    return {array.data, RLX_DEVICE_CPU, 0, array.ndim, array.code, array.bits, 1, array.dims, nullptr, 0};
  }

  State& state_;
  std::vector<rlx_array> in_, out_;
  std::vector<rlx_tensor> in_records_, out_records_;
};

/// Compiles one model to a shared library and loads it. Errors are printed where they occur.
class Session::Opening {
 public:
  Opening(const Options& options, int& exit_code) : options_(options), compiling_(options), exit_code_(exit_code) {}

  std::unique_ptr<State> run(const ModuleEdit& edit, const Look& look) {
    if (state_->folder.path().empty()) return refuse("cannot make a temporary folder");
    bool open = compile(edit, look) && load_operators() && load_model() && find_function() && make_context();
    return open ? std::move(state_) : nullptr;
  }

 private:
  std::nullptr_t refuse(const std::string& why) {
    tell("relaxc: error: {}\n", printable(why));
    exit_code_ = 1;
    return nullptr;
  }
  bool fails(const std::string& why) { return refuse(why) != nullptr; }

  bool compile(const ModuleEdit& edit, const Look& look) {
    compiling_.emit = Emit::kSharedLibrary;
    compiling_.output = state_->folder.file("model.so");
    compiling_.depfile = false;
    compiling_.names = Names::kFull;  // full names for error messages
    if (compiling_.name.empty()) compiling_.name = valid_model_name(fs::path(options_.input).stem().string());
    if (compiling_.target.empty() && compiling_.cpu.empty()) compiling_.target = "native";
    Diagnostics diag;
    Progress progress;
    frontend::Findings findings;
    Watch watch;
    watch.edit = edit, watch.compiled = look, watch.observe = static_cast<bool>(look);
    watch.progress = [&](std::string_view what) { progress.at(what); };
    watch.findings = &findings;
    static_cast<void>(compile_to_files(compiling_, diag, watch));
    progress.clear();
    print_diagnostics(diag, compiling_, {}, findings);
    exit_code_ = driver::exit_code(diag, compiling_);
    return exit_code_ == 0;
  }

  /// Loads the libraries with the functions of custom operators and external patterns.
  bool load_operators() {
    for (const std::string& library : options_.tool.libraries) {
      std::string path = fs::absolute(library).string();  // dlopen would search a bare name in the system's folders
      if (InputFile file = InputFile::at(path); !file)
        return fails(fmt::format("--load {}: {}", library, file.fault()));
      void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (handle == nullptr) return fails(fmt::format("--load {}: {}", library, dlerror()));
      state_->libraries.push_back(handle);
    }
    return true;
  }

  bool load_model() {
    state_->handle = dlopen(compiling_.output.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (state_->handle == nullptr) {
      const bool calls = !options_.custom_ops.empty() || !options_.external_patterns.empty();
      return fails(fmt::format("the compiled model cannot be loaded: {}{}", dlerror(),
                               options_.tool.libraries.empty() && calls
                                   ? "; --load names the library of the C functions that it calls"
                                   : ""));
    }
    state_->model = static_cast<const rlx_model*>(dlsym(state_->handle, (compiling_.name + "_model").c_str()));
    return true;
  }

  bool find_function() {
    std::string names;
    for (uint32_t i = 0; state_->model != nullptr && i < state_->model->num_functions; ++i) {
      const rlx_function* function = rlx_function_at(state_->model, i);
      names += (i == 0 ? "" : ", ") + std::string(function->name);
      if (function->name == options_.tool.function) state_->function = function;
    }
    if (names.empty())
      return fails("the model has no Relax function, and prim funcs cannot be run here; call them from C");
    if (state_->function != nullptr) return true;
    return fails(fmt::format("the model has no function '{}'; there are: {}", options_.tool.function, names));
  }

  bool make_context() {
    state_->context.error = &state_->error;
    state_->context.alloc = rlx_allocate;
    std::string weights = state_->folder.file("model.weights");
    if (state_->model->weights_bytes != 0 &&
        rlx_weights_map(weights.c_str(), state_->model, &state_->context) != RLX_OK)
      return fails("the weights of the compiled model cannot be mapped");
    if (options_.tool.threads > 1) state_->pool = rlx_pool_create(options_.tool.threads);
    if (state_->pool != nullptr) rlx_pool_attach(state_->pool, &state_->context);
    return true;
  }

  const Options& options_;
  Options compiling_;  ///< the options with which the library is compiled
  int& exit_code_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::open(const Options& options, int& exit_code, const ModuleEdit& edit,
                                       const Look& look) {
  std::unique_ptr<State> state = Opening(options, exit_code).run(edit, look);
  return state == nullptr ? nullptr : std::unique_ptr<Session>(new Session(std::move(state)));
}

const rlx_model& Session::model() const {
  return *state_->model;
}
const rlx_function& Session::function() const {
  return *state_->function;
}
std::string Session::input_name(uint32_t index) const {
  return rlx_spec_at(state_->model, state_->function->inputs, index)->name;
}
std::string Session::output_name(uint32_t index) const {
  std::string name = rlx_spec_at(state_->model, state_->function->outputs, index)->name;
  return name.empty() ? fmt::format("output_{}", index) : name;
}

std::optional<std::vector<relax::HostTensor>> Session::run(const Tensors& inputs) {
  Call call(*state_, inputs);
  if (!call.first()) return std::nullopt;
  return call.outputs();
}

std::vector<int64_t> Session::symbols(const Tensors& inputs) {
  return Call(*state_, inputs).symbols();
}

std::optional<Timing> Session::time(const Tensors& inputs, int32_t repeat, Measure measure) {
  constexpr double kEnough = 1;
  Call call(*state_, inputs);
  if (!call.first()) return std::nullopt;
  Tracer tracer(measure, *state_->function, state_->context);
  Timing timing;
  double sum = 0;
  while (repeat > 0 ? timing.seconds.size() < static_cast<size_t>(repeat) : sum < kEnough) {
    tracer.begin_run();
    Clock::time_point begin = Clock::now();
    if (!call.again()) return std::nullopt;
    timing.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    tracer.end_run(timing.seconds.back());
    sum += timing.seconds.back();
  }
  timing.kernels = tracer.kernels();
  timing.spans = tracer.take_spans();
  return timing;
}

}  // namespace relaxc::driver
