// run_extremes.cpp: compiled models called with extreme sizes, from memory between guard pages.
//
// Each model is called as it is, with all dims open (symbolic.h), and with its small integers computed from floats
// (hostile_models.h), once for each variation of its small inputs (variations.h), by the generic and by the typed call.
// Every call must give a status or the right answer, which is that of the interpreter, and touch nothing but its own
// memory. A child process makes the calls of one model, so that a fault ends that model alone and is reported with the
// variation; it counts what it did in memory that it shares with its parent.
//
// Usage: onnx_extremes [--shard K/N] [--sample K/N] [--only SUBSTRING] [--c COMPILER] EXCEPTIONS SUITE=FOLDER…
// --sample runs one of N models, chosen by name, and one of N/4 of the generator's.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "compiler/api/compile.h"
#include "compiler/support/temporary_folder.h"
#include "tests/onnx/executor.h"
#include "tests/onnx/extremes/hostile_call.h"
#include "tests/onnx/extremes/hostile_models.h"
#include "tests/onnx/extremes/variations.h"
#include "tests/onnx/loaded_model.h"
#include "tests/onnx/models.h"
#include "tests/onnx/symbolic.h"

namespace relaxc::onnx_tests {
namespace {

namespace fs = std::filesystem;

struct Options {
  size_t shard = 0, shards = 1, sample = 0, samples = 1;
  std::string only, c_compiler;
  std::vector<std::pair<std::string, std::string>> suites;
};

/// What a child has done so far, in memory that outlives it.
struct Progress {
  int64_t variations = 0, calls = 0, right = 0, refused = 0, not_typed = 0, not_compared = 0, endless = 0, faults = 0;
  int64_t statuses[66] = {};
  bool interpreting = false;
  char current[256] = {};
};

struct Subject {
  std::string name, model;
  std::vector<HostTensor> inputs;
};

std::vector<int64_t> capacities_of(const std::vector<HostTensor>& outputs) {
  std::vector<int64_t> elements;
  for (const HostTensor& output : outputs) elements.push_back(output.elements());
  return elements;
}

/// All calls of one compiled model, in a process of its own.
class Child {
 public:
  Child(const Subject& subject, const LoadedModel& model, const TypedEntry& typed, Progress& progress)
      : subject_(subject), function_(model.function()), typed_(typed), progress_(progress) {}

  void run(int64_t first) {
    rlimit memory{kMostMemory, kMostMemory};
    setrlimit(RLIMIT_AS, &memory);
    const Answer normal = call_generic(function_, subject_.inputs, largest());
    if (!normal.fault.empty() || normal.status != RLX_OK) return report("true sizes", describe(normal));
    capacities_ = capacities_of(normal.outputs);
    int64_t index = 0;
    auto each = [&](const std::vector<HostTensor>& inputs, const std::string& what) {
      if (index++ < first) return;
      progress_.variations = index;
      std::snprintf(progress_.current, sizeof progress_.current, "%s", what.c_str());
      vary(inputs, what);
    };
    for_each_variation(subject_.inputs, sizes(), each);
  }

 private:
  static constexpr rlim_t kMostMemory = rlim_t{3} << 30;
  static constexpr int kMicroseconds = 400000;  ///< of the processor, for a call or a run of the interpreter

  /// Sizes in the data decide how much there is to compute, too: what takes longer is given up.
  static void limit_time(bool on) {
    itimerval limit{{0, 0}, {0, on ? kMicroseconds : 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
  }

  std::vector<bool> sizes() const {
    std::vector<bool> found = size_inputs(subject_.model);
    found.resize(subject_.inputs.size());
    return found;
  }
  std::vector<int64_t> largest() const { return std::vector<int64_t>(function_.num_outputs, 1 << 16); }

  void vary(const std::vector<HostTensor>& inputs, const std::string& what) {
    limit_time(true);
    Answer generic = call_generic(function_, inputs, capacities_);
    count(generic, what, "generic");
    if (generic.status == RLX_OK && generic.fault.empty()) compare(inputs, generic, what);
    limit_time(true);
    // A caller of the typed call gives memory for what the inputs say: that must be little enough to be given.
    Answer sized = generic;
    if (!generic.sized && generic.shapes.size() == function_.num_outputs) {
      ++progress_.not_typed;
      return;
    }
    Answer typed = call_typed(function_, typed_, inputs, capacities_, sized);
    count(typed, what, "typed");
    bool both = generic.status == RLX_OK && typed.status == RLX_OK;
    for (size_t i = 0; both && i < typed.outputs.size() && i < generic.outputs.size(); ++i)
      if (typed.outputs[i].shape != generic.outputs[i].shape || typed.outputs[i].bytes != generic.outputs[i].bytes)
        report(what, fmt::format("the typed call gives another output {}", i));
    if (generic.status == RLX_OK && typed.status != RLX_OK) report(what, "only the typed call: " + describe(typed));
    limit_time(false);
  }

  void count(const Answer& answer, const std::string& what, const char* call) {
    ++progress_.calls;
    if (answer.status >= 0 && answer.status < 66) ++progress_.statuses[answer.status];
    if (answer.status != RLX_OK) ++progress_.refused;
    if (!answer.fault.empty()) report(what, std::string(call) + ": " + answer.fault);
  }

  /// The interpreter runs operator by operator, so what it refuses is not held against the compiled model.
  void compare(const std::vector<HostTensor>& inputs, const Answer& answer, const std::string& what) {
    std::string fault;
    if (oracle_ == nullptr && !failed_) {
      oracle_ = make_interpreting_executor(false)->prepare(subject_.model, false, fault);
      failed_ = oracle_ == nullptr;
    }
    if (failed_) return;
    progress_.interpreting = true;
    try {
      auto result = oracle_->run(inputs);
      auto* outputs = std::get_if<std::vector<HostTensor>>(&result);
      if (outputs == nullptr) {
        ++progress_.not_compared;
      } else {
        Case tolerance;
        std::string wrong = onnx_tests::compare(answer.outputs, *outputs, tolerance);
        wrong.empty() ? static_cast<void>(++progress_.right) : report(what, "a wrong answer: " + wrong);
      }
    } catch (const std::exception&) {
      ++progress_.not_compared;
    }
    progress_.interpreting = false;
  }

  std::string describe(const Answer& answer) const {
    return answer.fault.empty() ? std::string(rlx_status_name(answer.status)) : answer.fault;
  }

  void report(const std::string& what, const std::string& fault) {
    if (++progress_.faults <= 5) fmt::print("FAILED {}, {}: {}\n", subject_.name, what, fault);
    std::fflush(stdout);
  }

  const Subject& subject_;
  const rlx_function& function_;
  const TypedEntry& typed_;
  Progress& progress_;
  std::vector<int64_t> capacities_;
  std::unique_ptr<Prepared> oracle_;
  bool failed_ = false;
};

class Extremes {
 public:
  explicit Extremes(Options options) : options_(std::move(options)) {
    void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RELAXC_CHECK(shared != MAP_FAILED, "no shared memory");
    progress_ = static_cast<Progress*>(shared);
  }

  int run() {
    for (const SizedModel& model : sized_models()) add_generated(model);
    for (const auto& [suite, folder] : options_.suites) add_suite(suite, folder);
    fmt::print(
        "{} models, {} variations, {} calls: {} refused, {} right, {} not compared, {} beyond the typed call, {} took "
        "too long; {} models were not compiled\n",
        models_, total_.variations, total_.calls, total_.refused, total_.right, total_.not_compared, total_.not_typed,
        total_.endless, not_compiled_);
    for (int status = 1; status < 66; ++status)
      if (total_.statuses[status] != 0) fmt::print("  {} {}\n", total_.statuses[status], rlx_status_name(status));
    if (faults_ > 0) fmt::print("{} faults\n", faults_);
    return faults_ > 0 || total_.calls == 0 ? 1 : 0;
  }

 private:
  /// Whether it is in this shard, and in the sample: one of `samples`.
  bool wanted(const std::string& name, size_t samples) {
    if (name.find(options_.only) == std::string::npos) return false;
    if (position_++ % options_.shards != options_.shard) return false;
    uint64_t hash = 1469598103934665603u;  // FNV-1a
    for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash % samples == options_.sample % samples;
  }

  void add_generated(const SizedModel& model) {
    if (!wanted("made/" + model.name, std::max<size_t>(options_.samples / 4, 1))) return;
    std::vector<HostTensor> inputs;
    std::vector<float> data{1, 2, 3, 4, 5, 6};
    inputs.push_back({DType::f(32), model.shapes[0], {}});
    inputs[0].bytes.resize(data.size() * sizeof(float));
    std::memcpy(inputs[0].bytes.data(), data.data(), inputs[0].bytes.size());
    for (size_t i = 0; i < model.integers.size(); ++i) {
      inputs.push_back({DType::i(64), model.shapes[i + 1], {}});
      inputs.back().bytes.resize(model.integers[i].size() * sizeof(int64_t));
      std::memcpy(inputs.back().bytes.data(), model.integers[i].data(), inputs.back().bytes.size());
    }
    std::string path = folder_.write("made.onnx", model.bytes);
    add_forms({"made/" + model.name, path, inputs});
  }

  void add_suite(const std::string& suite, const std::string& folder) {
    std::vector<Case> cases = find_cases(folder, suite);
    if (cases.empty()) return fmt::print("skipped {}: there are no tests in '{}'\n", suite, folder);
    for (const Case& test : cases) {
      std::vector<DataSet> sets;
      if (!wanted(test.name, options_.samples) || !test.load(sets).empty() || sets.empty()) continue;
      bool small = false;
      for (const HostTensor& input : sets[0].inputs)
        small |= (input.dtype == DType::i(64) || input.dtype == DType::i(32)) && input.elements() <= kMostVaried;
      if (small) add_forms({test.name, test.model(), sets[0].inputs});
    }
  }

  void add_forms(const Subject& subject) {
    examine(subject);
    std::string open = folder_.file("open.onnx"), computed = folder_.file("computed.onnx");
    if (write_symbolic(subject.model, open).empty()) examine({subject.name + " (open)", open, subject.inputs});
    bool changed = false;
    if (!write_computed(subject.model, computed, changed).empty() || !changed) return;
    Subject made{subject.name + " (computed)", computed, subject.inputs};
    std::vector<bool> real = size_inputs(computed);
    for (size_t i = 0; i < made.inputs.size() && i < real.size(); ++i)
      if (real[i] && made.inputs[i].dtype.is_integer()) make_real(made.inputs[i]);
    examine(made);
  }

  static void make_real(HostTensor& tensor) {
    std::vector<double> values(static_cast<size_t>(tensor.elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t wide = 0;
      int32_t narrow = 0;
      const std::byte* at = tensor.bytes.data() + i * static_cast<size_t>(tensor.dtype.bytes());
      if (tensor.dtype.bits == 64) std::memcpy(&wide, at, sizeof wide);
      if (tensor.dtype.bits == 32) std::memcpy(&narrow, at, sizeof narrow), wide = narrow;
      values[i] = static_cast<double>(wide);
    }
    tensor.dtype = DType::f(64);
    tensor.bytes.resize(values.size() * sizeof(double));
    if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  }

  void examine(const Subject& subject) {
    ++models_;
    TypedEntry typed;
    std::unique_ptr<LoadedModel> model;
    try {
      model = compile(subject, typed);
    } catch (const InternalError& error) {
      report(subject.name, std::string("internal error: ") + error.what());
    }
    if (model == nullptr) {
      ++not_compiled_;
      return;
    }
    if (subject.inputs.size() < model->function().num_inputs) return;
    Subject fitting = subject;
    fitting.inputs.resize(model->function().num_inputs);
    for (int64_t first = 0; first >= 0;) first = call_all(fitting, *model, typed, first);
  }

  std::unique_ptr<LoadedModel> compile(const Subject& subject, TypedEntry& typed) {
    std::string name = fmt::format("m{}", count_++), fault;
    api::CompileOptions options;
    options.input = subject.model;
    options.output = folder_.file(name + (options_.c_compiler.empty() ? ".so" : ".c"));
    options.name = name;
    options.opt = "1";
    options.runtime = RELAXC_RUNTIME_LIBRARY;
    Diagnostics diag;
    Result<std::unique_ptr<api::Artifact>> compiled = api::compile_to_files(options, diag);
    std::cerr << render(diag);
    if (!compiled) return nullptr;
    typed.fields = interface::call_fields((*compiled)->object.entries.at(0));
    std::string library = folder_.file(name + ".so");
    if (!options_.c_compiler.empty() && !compile_c(options.output, library)) return nullptr;
    std::unique_ptr<LoadedModel> model = LoadedModel::open(library, name, fault);
    std::string symbol = defined(folder_.file(name + ".h"), name + "_run");
    for (const char* rest : {".so", ".c", ".h"}) fs::remove(folder_.file(name + rest));
    if (model == nullptr) return nullptr;
    typed.run = reinterpret_cast<int32_t (*)(rlx_context*, const void*)>(model->symbol(symbol));
    if (typed.run == nullptr) report(subject.name, "no typed call");
    return typed.run == nullptr ? nullptr : std::move(model);
  }

  /// What the header at `path` defines `macro` as.
  static std::string defined(const std::string& path, const std::string& macro) {
    std::ifstream header(path);
    for (std::string line; std::getline(header, line);)
      if (line.rfind("#define " + macro + " ", 0) == 0) return line.substr(macro.size() + 9);
    return {};
  }

  bool compile_c(const std::string& source, const std::string& library) const {
    std::string command =
        fmt::format("{} -std=c99 -O1 -ffp-contract=off -fPIC -shared -I {} -o {} {} {} -lm", options_.c_compiler,
                    RELAXC_SOURCE_DIR "/runtime-lite/include", library, source, RELAXC_RUNTIME_LIBRARY);
    return std::system(command.c_str()) == 0;
  }

  /// Gives the variation to go on with after one that ended the child; -1: all are done.
  int64_t call_all(const Subject& subject, const LoadedModel& model, const TypedEntry& typed, int64_t first) {
    *progress_ = {};
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      Child(subject, model, typed, *progress_).run(first);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    add(first);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return -1;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    total_.endless += number == SIGPROF;
    if (number == SIGPROF) fmt::print("took too long: {}, {}\n", subject.name, progress_->current);
    if (!progress_->interpreting && number != SIGPROF)
      report(subject.name,
             fmt::format("{}: ended by {}", progress_->current, number == 0 ? "an exit" : strsignal(number)));
    bool stuck = ++faults_of_model_ > 3;
    if (progress_->variations == 0 || stuck) return faults_of_model_ = 0, -1;
    return progress_->variations;
  }

  void add(int64_t first) {
    total_.variations += std::max<int64_t>(progress_->variations - first, 0);
    total_.calls += progress_->calls, total_.refused += progress_->refused, total_.right += progress_->right;
    total_.not_typed += progress_->not_typed, total_.not_compared += progress_->not_compared;
    faults_ += progress_->faults;
    for (int i = 0; i < 66; ++i) total_.statuses[i] += progress_->statuses[i];
  }

  void report(const std::string& name, const std::string& fault) {
    ++faults_;
    fmt::print("FAILED {}, {}\n", name, fault);
    std::fflush(stdout);
  }

  Options options_;
  ModelFolder folder_;
  Progress* progress_ = nullptr;
  Progress total_;
  size_t position_ = 0;
  int count_ = 0, models_ = 0, not_compiled_ = 0, faults_of_model_ = 0;
  int64_t faults_ = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    bool more = i + 1 < argc;
    if (arg == "--only" && more) {
      options.only = argv[++i];
    } else if (arg == "--c" && more) {
      options.c_compiler = argv[++i];
    } else if (arg == "--shard" && more) {
      if (std::sscanf(argv[++i], "%zu/%zu", &options.shard, &options.shards) != 2 || options.shards == 0) return false;
    } else if (arg == "--sample" && more) {
      if (std::sscanf(argv[++i], "%zu/%zu", &options.sample, &options.samples) != 2 || options.samples == 0)
        return false;
    } else if (size_t at = arg.find('='); at != std::string::npos) {
      options.suites.emplace_back(arg.substr(0, at), arg.substr(at + 1));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace relaxc::onnx_tests

int main(int argc, char** argv) {
  relaxc::onnx_tests::Options options;
  if (!relaxc::onnx_tests::parse(argc, argv, options)) {
    std::cerr
        << "usage: onnx_extremes [--shard K/N] [--sample K/N] [--only SUBSTRING] [--c COMPILER] SUITE=FOLDER...\n";
    return 2;
  }
  return relaxc::onnx_tests::Extremes(std::move(options)).run();
}
