// reference.cpp: computes expected outputs, and bisects.
#include "compiler/driver/tools/reference.h"

#include <algorithm>

#include "compiler/api/observe/profile.h"
#include "compiler/api/oracle.h"
#include "compiler/driver/messages.h"
#include "compiler/driver/progress.h"
#include "compiler/driver/tools/onnxruntime.h"
#include "compiler/driver/tools/session.h"

namespace relaxc::driver {
namespace {

/// Returns the tensors that ops of the function's own body compute, without those that only forward a value.
std::vector<relax::Value*> computed_values(const relax::Function& function) {
  std::vector<relax::Value*> values;
  for (const relax::Op* op : relax::ops_of(function.body())) {
    bool computes = op->kind != relax::OpKind::kConstant && op->kind != relax::OpKind::kTupleGet &&
                    op->kind != relax::OpKind::kMatchCast && op->kind != relax::OpKind::kMakeClosure;
    for (relax::Value* value : op->results) {
      const auto* tensor = value->info == nullptr ? nullptr : value->info->as<relax::TensorInfo>();
      if (computes && tensor != nullptr && tensor->dtype && tensor->ndim >= 0) values.push_back(value);
    }
  }
  return values;
}

/// Makes the function return exactly these values.
void give(relax::Function& function, const std::vector<relax::Value*>& values) {
  function.states.clear();
  function.output_names.clear();
  function.body().yield->drop_operands();
  for (relax::Value* value : values) function.body().yield->add_operand(value);
}

std::string described(const relax::Value& value) {
  std::string place = value.op == nullptr ? "" : short_location(value.op->location);
  return fmt::format("{}{}{}", value.name, place.empty() ? "" : ", ", place);
}

class Bisection {
 public:
  Bisection(const Options& options, const Tensors& inputs) : options_(options), inputs_(inputs) {}

  int run() {
    Diagnostics diag;
    Oracle oracle(options_, options_.tool.function, diag);
    if (!oracle.read()) return complain(diag);
    std::vector<relax::Value*> values = computed_values(*oracle.function());
    for (size_t i = 0; i < values.size(); ++i) places_.push_back(i);
    if (by_onnxruntime() && !ask_onnxruntime(values)) return failed_;
    if (values.empty()) {
      fmt::print("nothing to compare: the function computes no tensor that can be compared\n");
      return 0;
    }
    std::vector<size_t> ends = results_among(values, *oracle.function());
    if (!by_onnxruntime()) {
      give(*oracle.function(), values);
      auto expected = oracle.run(inputs_);
      if (!expected) return complain(diag);
      expected_ = *std::move(expected);
    }
    std::optional<size_t> wrong;
    for (size_t k : ends)
      if (!wrong && failed_ == 0 && !agrees(k)) wrong = k;
    if (failed_ != 0) return failed_;
    if (!wrong) {
      fmt::print("no difference: the results of the function's {} values agree with {}\n", values.size(), who());
      return 0;
    }
    // Values that are computed from a wrong one are wrong as well, so bisection finds the first: `to` is known to be
    // wrong, and all before `from` are assumed to be right.
    size_t from = 0, to = *wrong;
    while (from < to) {
      size_t middle = from + (to - from) / 2;
      bool fine = agrees(middle);
      if (failed_ != 0) return failed_;
      (fine ? from : to) = fine ? middle + 1 : middle;
    }
    agrees(to);
    if (failed_ != 0) return failed_;
    report(described(*values[to]), to, values.size());
    return 1;
  }

 private:
  int complain(const Diagnostics& diag) const {
    print_diagnostics(diag, options_, {});
    return exit_code(diag, options_);
  }

  bool by_onnxruntime() const { return options_.tool.against == "onnxruntime"; }
  const char* who() const { return by_onnxruntime() ? "ONNX Runtime" : "the interpreter"; }

  /// Keeps only values that ONNX Runtime returns, and stores those tensors in `expected_`.
  bool ask_onnxruntime(std::vector<relax::Value*>& values) {
    std::vector<std::string> names;
    for (const relax::Value* value : values) names.push_back(value->name);
    Diagnostics diag;
    auto found = onnxruntime_values(options_, inputs_, names, diag);
    int code = complain(diag);
    failed_ = found ? 0 : code;
    if (!found) return false;
    size_t kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      auto tensor = found->find(values[i]->name);
      if (tensor == found->end()) continue;
      expected_.push_back(tensor->second);
      places_[kept] = i;
      values[kept++] = values[i];
    }
    values.resize(kept);
    places_.resize(kept);
    return true;
  }

  /// Returns the indices of the function's results in `values`; a result that is not among them gets the last index.
  static std::vector<size_t> results_among(const std::vector<relax::Value*>& values, const relax::Function& function) {
    std::vector<size_t> ends;
    for (relax::Value* result : function.body().results()) {
      auto found = std::find(values.begin(), values.end(), result);
      ends.push_back(found == values.end() ? values.size() - 1 : static_cast<size_t>(found - values.begin()));
    }
    return ends;
  }

  /// Compiles the program that ends at value `k`, runs it, and compares the result.
  bool agrees(size_t k) {
    progress_.at(fmt::format("looking at value {} of {}", k + 1, expected_.size()));
    Options options = options_;
    options.states.clear();
    auto session = Session::open(options, failed_, [&](relax::Module& module) {
      relax::Function& function = *module.find_function(options_.tool.function);
      give(function, {computed_values(function)[places_[k]]});
    });
    progress_.clear();
    if (session == nullptr) return false;
    auto outputs = session->run(inputs_);
    if (!outputs) {
      failed_ = 1;
      return false;
    }
    found_ = difference((*outputs)[0], expected_[k], options_.tool.rtol, options_.tool.atol);
    return found_.fine();
  }

  void report(const std::string& value, size_t k, size_t count) const {
    fmt::print("first difference: value {} of {}: {}\n", k + 1, count, value);
    if (!found_.fault.empty())
      fmt::print("  {}\n", found_.fault);
    else
      fmt::print("  {} of {} elements are beyond the tolerance; element {} is {:.9g}, {} gives {:.9g}\n",
                 found_.outside, found_.elements, found_.worst, found_.worst_actual, who(), found_.worst_expected);
  }

  const Options& options_;
  const Tensors& inputs_;
  std::vector<size_t> places_;               ///< indices of the compared values among all that are computed
  std::vector<relax::HostTensor> expected_;  ///< the expected tensor of each of them
  Progress progress_;
  Difference found_;
  int failed_ = 0;  ///< the exit code of a failure
};

}  // namespace

std::optional<std::vector<relax::HostTensor>> interpret_model(const Options& options, const Tensors& inputs,
                                                              int& exit_code) {
  Diagnostics diag;
  Oracle oracle(options, options.tool.function, diag);
  if (oracle.read())
    if (auto outputs = oracle.run(inputs)) return *std::move(outputs);
  print_diagnostics(diag, options, {});
  exit_code = driver::exit_code(diag, options);
  return std::nullopt;
}

std::optional<Tensors> reference_outputs(const Options& options, const Tensors& inputs,
                                         const std::vector<std::string>& names, int& exit_code) {
  if (options.tool.against != "onnxruntime") {
    auto outputs = interpret_model(options, inputs, exit_code);
    return outputs ? std::optional<Tensors>(Tensors(outputs->begin(), outputs->end())) : std::nullopt;
  }
  Diagnostics diag;
  auto found = onnxruntime_values(options, inputs, names, diag);
  print_diagnostics(diag, options, {});
  exit_code = driver::exit_code(diag, options);
  if (!found) return std::nullopt;
  Tensors outputs;
  for (const std::string& name : names) {
    auto tensor = found->find(name);
    outputs.push_back(tensor == found->end() ? std::nullopt : std::optional<relax::HostTensor>(tensor->second));
  }
  return outputs;
}

int bisect(const Options& options, const Tensors& inputs) {
  return Bisection(options, inputs).run();
}

}  // namespace relaxc::driver
