// tools.cpp: runs, verifies, benchmarks and inspects a model.
//
// All tools compile like `relaxc model.onnx -o model.so`; none has a pipeline of its own. Results go to the standard
// output, everything else to the standard error.
#include "compiler/driver/tools/tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "compiler/api/output/plan.h"
#include "compiler/api/report/write_reports.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/tools/core_speed.h"
#include "compiler/driver/tools/kernel_table.h"
#include "compiler/driver/tools/reference.h"
#include "compiler/driver/tools/session.h"
#include "compiler/driver/tools/tune.h"
#include "compiler/driver/tools/tune_machine.h"
#include "compiler/language_server/server.h"
#include "compiler/support/quote.h"
#include "compiler/support/tell.h"

namespace relaxc::driver {
namespace {

std::string element_text(const relax::HostTensor& tensor, size_t index) {
  const std::byte* at = tensor.bytes.data() + index * static_cast<size_t>(tensor.dtype.bytes());
  if (tensor.dtype.is_float()) return fmt::format("{:.9g}", relax::decode_scalar(tensor.dtype, at));
  if (tensor.dtype == DType::u(64))
    return std::to_string(static_cast<uint64_t>(relax::decode_integer(tensor.dtype, at)));
  return std::to_string(relax::decode_integer(tensor.dtype, at));
}

/// Prints at most eight elements: "y: float32 [2, 3] = 1 2 3 4 5 6".
void print_tensor(const std::string& name, const relax::HostTensor& tensor) {
  constexpr size_t kShown = 8;
  auto count = static_cast<size_t>(tensor.elements());
  fmt::print("{}: {} {} =", name, to_string(tensor.dtype), shape_text(tensor.shape));
  for (size_t i = 0; i < std::min(count, kShown); ++i) fmt::print(" {}", element_text(tensor, i));
  fmt::print("{}\n", count > kShown ? " …" : "");
}

/// Returns microseconds for times below a second, so that the numbers of a table have one unit.
std::string time_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} us", 1e6 * seconds) : fmt::format("{:.3f} s", seconds);
}

/// Runs one tool on one model.
class Tool {
 public:
  explicit Tool(const Options& options) : options_(options), tool_(options.tool) {}

  int run() {
    if (!options_.output.empty() || options_.check != CheckFormat::kNone || !options_.passes.stop_after.empty())
      return usage(
          "run, verify, bench and tune compile for themselves; -o, --check and --stop-after are for compiling");
    if (!options_.target.empty() && options_.target != "native")
      return usage("run, verify, bench and tune are for this machine; --target is for compiling");
    if (options_.quantized_io && (tool_.bisect || tool_.against == "onnxruntime"))
      return usage("--bisect and --against onnxruntime need the model as it was written: omit --io=quantized");
    if (options_.lift_params && tool_.kind == ToolOptions::kVerify)
      return usage("verify compares with the model as it was written: omit --lift-params");
    if (options_.untrusted && (!tool_.libraries.empty() || tool_.against == "onnxruntime"))
      return usage("--untrusted refuses --load, and --against onnxruntime, which reads the model by other code");
    if (!check_report(options_, diag_)) return complain();
    Options plain = options_;
    if (tool_.profile) plain.report.clear();  // written with the measured times
    session_ = Session::open(plain, code_);
    if (session_ == nullptr) return code_;
    Result<std::vector<DataSet>> sets =
        read_data(session_->model(), session_->function(), tool_.data, tool_.expected, diag_);
    if (!sets) return complain();
    for (DataSet& set : *sets)
      if (!complete(set)) return complain();
    switch (tool_.kind) {
      case ToolOptions::kRun:
        return run_all(*sets);
      case ToolOptions::kVerify:
        return verify_all(*sets);
      case ToolOptions::kTune:
        return tune(options_, sets->front().inputs);
      default:
        return bench(sets->front());
    }
  }

 private:
  static int usage(const char* text) {
    tell("relaxc: error: {}\n", text);
    return 2;
  }

  int complain() {
    print_diagnostics(diag_, options_, {});
    return exit_code(diag_, options_);
  }

  /// Fills missing inputs randomly, if --random asks for it or if none is given to a tool other than `run`.
  bool complete(DataSet& set) {
    bool nothing =
        std::none_of(set.inputs.begin(), set.inputs.end(), [](const auto& input) { return input.has_value(); });
    if (tool_.random || (nothing && tool_.kind != ToolOptions::kRun))
      if (!fill_randomly(session_->model(), session_->function(), tool_.seed, set, diag_)) return false;
    for (uint32_t i = 0; i < set.inputs.size(); ++i) {
      if (set.inputs[i]) continue;
      diag_.error(nullptr, Kind::usage, "no file is given for input '{}'; give one, or --random",
                  session_->input_name(i));
      return false;
    }
    return true;
  }

  std::optional<std::vector<relax::HostTensor>> outputs_of(const DataSet& set) {
    auto outputs = tool_.interpret ? interpret_model(options_, set.inputs, code_) : session_->run(set.inputs);
    if (!outputs && code_ == 0) code_ = 1;
    return outputs;
  }

  int run_all(const std::vector<DataSet>& sets) {
    for (const DataSet& set : sets) {
      auto outputs = outputs_of(set);
      if (!outputs) return code_;
      if (sets.size() > 1) fmt::print("{}\n", printable(set.name));
      std::vector<std::string> names;
      for (uint32_t i = 0; i < outputs->size(); ++i) names.push_back(session_->output_name(i));
      const std::vector<std::string> files = file_stems(names);
      for (uint32_t i = 0; i < outputs->size(); ++i) {
        print_tensor(printable(names[i]), (*outputs)[i]);
        std::string folder = sets.size() > 1 ? tool_.folder + "/" + set.name : tool_.folder;
        if (!tool_.folder.empty() && !write_npy(folder, files[i], (*outputs)[i], diag_)) return complain();
      }
    }
    return 0;
  }

  int verify_all(std::vector<DataSet>& sets) {
    bool fine = true;
    fmt::print("{:<20} {:<20} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "data", "output", "elements", "max abs", "max rel",
               "max ulp", "cosine");
    for (DataSet& set : sets) {
      bool given =
          std::any_of(set.expected.begin(), set.expected.end(), [](const auto& tensor) { return tensor.has_value(); });
      if (!given) {
        std::vector<std::string> names;
        for (uint32_t i = 0; i < set.expected.size(); ++i) names.push_back(session_->output_name(i));
        auto expected = reference_outputs(options_, set.inputs, names, code_);
        if (!expected) return code_;
        set.expected = *std::move(expected);
        if (set.name == "files") set.name = tool_.against;
      }
      auto outputs = outputs_of(set);
      if (!outputs) return code_;
      for (uint32_t i = 0; i < outputs->size(); ++i) {
        Difference found;
        found.fault = "cannot be compared: there is no expected value";
        if (set.expected[i]) found = difference((*outputs)[i], *set.expected[i], tool_.rtol, tool_.atol);
        fine &= report(set.name, i, found);
      }
    }
    std::fflush(stdout);
    if (tool_.bisect) {
      int code = bisect(options_, sets.front().inputs);
      return code == 0 && !fine ? 1 : code;
    }
    return fine ? 0 : 1;
  }

  bool report(const std::string& set, uint32_t output, const Difference& found) const {
    std::string name = printable(session_->output_name(output));
    if (!found.fault.empty()) {
      fmt::print("{:<20} {:<20} {}\n", set, name, found.fault);
      return false;
    }
    fmt::print("{:<20} {:<20} {:>10} {:>10.3g} {:>10.3g} {:>10} {:>12.9f}\n", set, name, found.elements, found.max_abs,
               found.max_rel, found.max_ulp, found.cosine);
    if (!found.fine())
      fmt::print("  {} beyond the tolerance; element {} is {:.9g}, expected {:.9g}\n", found.outside, found.worst,
                 found.worst_actual, found.worst_expected);
    return found.fine();
  }

  int bench(const DataSet& set) {
    auto timing = session_->time(set.inputs, tool_.repeat, Measure::kRuns);
    if (!timing) return 1;
    std::vector<double> sorted = timing->seconds;
    std::sort(sorted.begin(), sorted.end());
    double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
    print_dims(set);
    fmt::print("{} runs, {} thread{}: min {}, median {}, mean {}, max {}\n", sorted.size(), tool_.threads,
               tool_.threads == 1 ? "" : "s", time_text(sorted.front()), time_text(sorted[sorted.size() / 2]),
               time_text(mean), time_text(sorted.back()));
    return tool_.profile || !tool_.timeline.empty() ? profile(set) : 0;
  }

  /// Prints the open dims of the model with their values for these inputs, some of which may be chosen randomly.
  void print_dims(const DataSet& set) {
    std::vector<int64_t> values = session_->symbols(set.inputs);
    std::string text;
    for (size_t i = 0; i < values.size(); ++i)
      text += fmt::format("{}{}={}", i == 0 ? "" : ", ", printable(session_->function().symbols[i].name), values[i]);
    if (!text.empty()) fmt::print("dims: {}\n", text);
  }

  /// Measures kernels, and their timeline, with a second object, since the one that was timed above has no trace, as a
  /// user would ship it.
  int profile(const DataSet& set) {
    std::vector<int64_t> symbols = session_->symbols(set.inputs);
    Options traced = options_;
    traced.hooks.trace = true;
    traced.report.clear();
    EntryProfile profile;
    PerformanceReport report;
    Target target;
    auto look = [&](const Artifact& compiled) {
      target = compiled.target;
      report = report_on(options_, compiled);
      for (const interface::Entry& entry : compiled.object.entries)
        if (entry.name == tool_.function)
          profile = profile_entry_at(compiled.module, compiled.observed.unplanned, entry, target, symbols);
    };
    session_ = Session::open(traced, code_, {}, look);
    if (session_ == nullptr) return code_;
    if (tool_.profile) {
      auto timing = session_->time(set.inputs, tool_.repeat, Measure::kKernels);
      if (!timing) return 1;
      fmt::print("{}", kernel_table(*timing, profile.kernels, target, measured_speed(), tool_.threads));
      if (!options_.report.empty() && !write_measured(*timing, profile, report)) return complain();
    }
    return tool_.timeline.empty() ? 0 : write_timeline(set, profile.kernels);
  }

  /// Writes the report with the times of these runs; whether that succeeded.
  bool write_measured(const Timing& timing, EntryProfile profile, PerformanceReport& report) {
    const auto runs = static_cast<double>(timing.seconds.size());
    profile.measured.count = static_cast<int64_t>(timing.seconds.size());
    profile.measured.threads = tool_.threads;
    profile.measured.seconds = std::accumulate(timing.seconds.begin(), timing.seconds.end(), 0.0) / runs;
    for (KernelCost& kernel : profile.kernels)
      for (const KernelTime& time : timing.kernels)
        if (time.name == kernel.name) kernel.measured_seconds = time.seconds / runs;
    report.profiles.push_back(std::move(profile));
    Outputs outputs(diag_);
    return write_report(report, options_.report, outputs) && outputs.commit();
  }

  /// Writes when the kernels and tasks of the fastest run ran.
  int write_timeline(const DataSet& set, const std::vector<KernelCost>& costs) {
    auto timing = session_->time(set.inputs, tool_.repeat, Measure::kSpans);
    if (!timing) return 1;
    const rlx_function& function = session_->function();
    std::vector<std::string> nodes(function.nodes, function.nodes + function.num_nodes);
    std::vector<std::vector<std::string>> sources(nodes.size());
    for (const KernelCost& cost : costs)
      for (size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i] == cost.name) sources[i] = cost.sources;
    Outputs outputs(diag_);
    const bool written = outputs.write(tool_.timeline, chrome_trace(timing->spans, nodes, sources)) && outputs.commit();
    return written ? 0 : complain();
  }

  const Options& options_;
  const ToolOptions& tool_;
  Diagnostics diag_;
  std::unique_ptr<Session> session_;
  int code_ = 0;
};

}  // namespace

int run_tool(const Options& options) {
  if (options.tool.kind == ToolOptions::kLsp) return language_server::serve(options, STDIN_FILENO, STDOUT_FILENO);
  if (options.tool.machine) return tune_machine(options);
  return options.tool.kind == ToolOptions::kInspect ? driver::compile(options) : Tool(options).run();
}

}  // namespace relaxc::driver
