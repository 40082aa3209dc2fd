// run_suite.cpp: runs ONNX's backend tests and whole models, in one of several forms, and holds them to a list.
//
// One process for all of them: most take a millisecond, and a thousand starts of a program would take longer than the
// tests. Every test must pass but those that the list excepts (exceptions.h); those must not, so that the list says
// what is true. Models are interpreted, unless --compile says the level at which they are compiled, linked and loaded;
// --jit compiles definitions instead of interpreting them; --symbolic takes the sizes of all inputs away, so that one
// program must serve every size (symbolic.h); --c COMPILER goes through C as well and compares the bits.
//
// Usage: onnx_suite [--jit] [--symbolic] [--only SUBSTRING] [--shard K/N] [--compile LEVEL [--fast-codegen] [--cpu CPU]
// [--c COMPILER [--plain-c]]] EXCEPTIONS SUITE=FOLDER… --shard runs every N-th test, so that several processes can
// share the work. A suite whose folder is missing is skipped, and said so: models and test data do not belong to this
// repository.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "compiler/support/check.h"
#include "compiler/support/temporary_folder.h"
#include "tests/onnx/exceptions.h"
#include "tests/onnx/executor.h"
#include "tests/onnx/symbolic.h"

namespace relaxc::onnx_tests {
namespace {

struct Options {
  bool jit = false;
  Form form;
  CompileOptions compile;
  size_t shard = 0, shards = 1;
  std::string only, list;
  std::vector<std::pair<std::string, std::string>> suites;
};

struct Outcome {
  bool passed = false;
  std::string reason;
  bool allocated = false;  ///< it asked for memory while it ran
};

Outcome run_case(const Case& test, Executor& executor, bool with_allocator, const TemporaryFolder* copies) {
  std::vector<DataSet> sets;
  if (std::string fault = test.load(sets); !fault.empty()) return {false, fault};
  std::string fault, path = test.model();
  if (copies != nullptr) {
    path = copies->file("symbolic.onnx");
    fault = write_symbolic(test.model(), path);
    if (!fault.empty()) return {false, fault};
  }
  std::unique_ptr<Prepared> model = executor.prepare(path, with_allocator, fault);
  if (model == nullptr) return {false, fault};
  for (const DataSet& set : sets) {
    auto result = model->run(set.inputs);
    if (auto* reason = std::get_if<std::string>(&result)) return {false, set.name + ": " + *reason};
    auto& outputs = std::get<std::vector<HostTensor>>(result);
    for (size_t i : set.no_elements)
      if (i < outputs.size() && outputs[i].shape.size() == 2 && outputs[i].shape[0] == 0)
        outputs[i].shape = set.outputs[i].shape;
    for (size_t i : set.spans)
      if (std::string fault = put_in_order(outputs, i); !fault.empty()) return {false, set.name + ": " + fault};
    std::string wrong = compare(outputs, set.outputs, test);
    if (!wrong.empty()) return {false, set.name + ": " + wrong};
  }
  return {true, "", model->allocated()};
}

/// A broken invariant fails its test and lets the others run.
Outcome guarded(const Case& test, Executor& executor, bool with_allocator, const TemporaryFolder* copies) {
  try {
    return run_case(test, executor, with_allocator, copies);
  } catch (const InternalError& error) {
    return {false, std::string("internal error: ") + error.what()};
  }
}

/// One run over all suites.
class Suite {
 public:
  Suite(const Options& options, const Exceptions& exceptions)
      : options_(options),
        exceptions_(exceptions),
        executor_(options.form.compiled ? make_compiling_executor(options.compile)
                                        : make_interpreting_executor(options.jit)) {}

  int run() {
    for (const auto& [suite, folder] : options_.suites) run_suite(suite, folder);
    for (const auto& [suite, total] : totals_) fmt::print("{}: {} of {} pass\n", suite, total.first, total.second);
    if (faults_ > 0) fmt::print("{} tests are not as the list says\n", faults_);
    return faults_ > 0 ? 1 : 0;
  }

 private:
  void run_suite(const std::string& suite, const std::string& folder) {
    std::vector<Case> cases = find_cases(folder, suite);
    if (cases.empty()) return fmt::print("skipped {}: there are no tests in '{}'\n", suite, folder);
    std::map<std::string, double> noise = read_noise(folder);
    std::set<std::string> found;
    for (Case& test : cases) {
      found.insert(test.name);
      if (test.name.find(options_.only) == std::string::npos) continue;
      if (position_++ % options_.shards != options_.shard) continue;
      if (suite == "models") {
        double spread = noise[test.name.substr(suite.size() + 1)];
        test.rtol = 1e-3, test.atol = std::max(1e-5, 2 * spread);
      } else if (suite == "wild") {  // chains of operators, some of them in float16
        test.rtol = 2e-3, test.atol = 1e-5;
      }
      run_test(test, suite);
    }
    for (const auto& [name, list] : exceptions_.all())
      if (name.starts_with(suite + "/") && found.count(name) == 0) report(name, "is listed, and there is no such test");
  }

  void run_test(Case& test, const std::string& suite) {
    auto listed = [&](Exception::Kind kind) { return exceptions_.has(kind, test.name, options_.form); };
    test.random = listed(Exception::kRandom);
    bool with_allocator = options_.form.compiled && listed(Exception::kAllocates);
    Outcome outcome = guarded(test, *executor_, with_allocator, options_.form.symbolic ? &copies_ : nullptr);
    auto& [good, all] = totals_[suite];
    good += outcome.passed ? 1 : 0;
    ++all;
    bool excepted = listed(Exception::kFails);
    if (outcome.passed && excepted) report(test.name, "is listed as failing, and passes");
    if (outcome.passed && with_allocator && !outcome.allocated)
      report(test.name, "is listed as allocating, and does not");
    if (!outcome.passed && !excepted) report(test.name, outcome.reason);
  }

  void report(const std::string& test, const std::string& what) {
    ++faults_;
    fmt::print("FAILED {}: {}\n", test, what);
    std::fflush(stdout);
  }

  const Options& options_;
  const Exceptions& exceptions_;
  std::unique_ptr<Executor> executor_;
  TemporaryFolder copies_;
  size_t position_ = 0;
  std::map<std::string, std::pair<int, int>> totals_;
  int faults_ = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--jit") {
      options.jit = true;
    } else if (arg == "--symbolic") {
      options.form.symbolic = true;
    } else if (arg == "--only" && i + 1 < argc) {
      options.only = argv[++i];
    } else if (arg == "--compile" && i + 1 < argc) {
      options.form.compiled = true;
      options.compile.level = argv[++i];
      options.form.unoptimized = options.compile.level == "0";
    } else if (arg == "--fast-codegen") {
      options.compile.fast = true;
    } else if (arg == "--cpu" && i + 1 < argc) {
      options.compile.cpu = argv[++i];
    } else if (arg == "--c" && i + 1 < argc) {
      options.compile.c_compiler = argv[++i];
    } else if (arg == "--plain-c") {
      options.compile.c_vectors = false;
    } else if (arg == "--shard" && i + 1 < argc) {
      if (std::sscanf(argv[++i], "%zu/%zu", &options.shard, &options.shards) != 2 || options.shard >= options.shards)
        return false;
    } else if (size_t at = arg.find('='); at != std::string::npos) {
      options.suites.emplace_back(arg.substr(0, at), arg.substr(at + 1));
    } else if (options.list.empty()) {
      options.list = arg;
    } else {
      return false;
    }
  }
  return !options.list.empty() && !options.suites.empty();
}

}  // namespace
}  // namespace relaxc::onnx_tests

int main(int argc, char** argv) {
  relaxc::onnx_tests::Options options;
  options.compile.runtime = RELAXC_RUNTIME_LIBRARY;
  options.compile.include = RELAXC_SOURCE_DIR "/runtime-lite/include";
  if (!relaxc::onnx_tests::parse(argc, argv, options)) {
    std::cerr
        << "usage: onnx_suite [--jit] [--symbolic] [--only SUBSTRING] [--shard K/N] [--compile LEVEL [--fast-codegen] "
           "[--cpu CPU] [--c COMPILER [--plain-c]]] "
           "EXCEPTIONS SUITE=FOLDER...\n";
    return 2;
  }
  std::string fault;
  relaxc::onnx_tests::Exceptions exceptions(options.list, fault);
  if (!fault.empty()) {
    std::cerr << fault << "\n";
    return 2;
  }
  return relaxc::onnx_tests::Suite(options, exceptions).run();
}
