// run_suite.cpp: runs ONNX's backend tests and whole models, and holds them to a list.
//
// One process for all of them: most take a millisecond, and a thousand starts of a program would take longer than the
// tests. supported.txt names the tests that must pass; one that is listed and fails, or is listed and cannot be found
// although its suite is there, fails the run. --all runs the others too and says why each fails; --update lists those
// that pass; --jit compiles definitions instead of interpreting them; --symbolic takes the sizes of all inputs away, so
// that one program must serve every size (symbolic.h).
//
// Usage: onnx_suite [--all] [--jit] [--symbolic] [--update] [--only SUBSTRING] [--shard K/N] [--compile LEVEL [--cpu
// CPU] [--c] [--lend]] LIST SUITE=FOLDER… Without --compile models are interpreted; --lend gives compiled ones an
// allocator. --shard runs every N-th test, so that several processes can share the work. A suite whose folder is
// missing is skipped, and said so: models and test data do not belong to this repository.
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
#include "tests/onnx/executor.h"
#include "tests/onnx/symbolic.h"

namespace relaxc::onnx_tests {
namespace {

struct Options {
  bool update = false, all = false, jit = false, symbolic = false, compiled = false;
  CompileOptions compile;
  size_t shard = 0, shards = 1;
  std::string only, list;
  std::vector<std::pair<std::string, std::string>> suites;
};

struct Outcome {
  bool passed = false;
  std::string reason;
};

/// A folder that lives as long as the tests run.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "relaxc-suite-XXXXXX").string();
    RELAXC_CHECK(mkdtemp(name.data()) != nullptr, "no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

Outcome run_case(const Case& test, Executor& executor, const TemporaryFolder* copies) {
  std::vector<DataSet> sets;
  if (std::string fault = test.load(sets); !fault.empty()) return {false, fault};
  std::string fault, path = test.model();
  if (copies != nullptr) {
    path = copies->file("symbolic.onnx");
    fault = write_symbolic(test.model(), path);
    if (!fault.empty()) return {false, fault};
  }
  std::unique_ptr<Prepared> model = executor.prepare(path, fault);
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
  return {true, ""};
}

/// A broken invariant fails its test and lets the others run.
Outcome guarded(const Case& test, Executor& executor, const TemporaryFolder* copies) {
  try {
    return run_case(test, executor, copies);
  } catch (const InternalError& error) {
    return {false, std::string("internal error: ") + error.what()};
  }
}

std::set<std::string> read_list(const std::string& path) {
  std::set<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') names.insert(line);
  return names;
}

void write_list(const std::string& path, const std::set<std::string>& names) {
  std::ofstream file(path);
  file << "# Tests that must pass: SUITE/FOLDER. Rewritten by onnx_suite --update, which adds what passes.\n";
  for (const std::string& name : names) file << name << "\n";
}

int run(const Options& options) {
  std::set<std::string> listed = read_list(options.list), passing, found;
  std::unique_ptr<Executor> executor =
      options.compiled ? make_compiling_executor(options.compile) : make_interpreting_executor(options.jit);
  TemporaryFolder copies;
  size_t position = 0;
  std::map<std::string, std::pair<int, int>> totals;
  int regressions = 0;
  std::vector<std::string> news;
  for (const auto& [suite, folder] : options.suites) {
    std::vector<Case> cases = find_cases(folder, suite);
    if (cases.empty()) {
      fmt::print("skipped {}: there are no tests in '{}'\n", suite, folder);
      for (const std::string& name : listed)
        if (name.starts_with(suite + "/")) found.insert(name), passing.insert(name);
      continue;
    }
    std::map<std::string, double> noise = read_noise(folder);
    for (Case& test : cases) {
      found.insert(test.name);
      if (test.name.find(options.only) == std::string::npos) continue;
      if (!options.all && listed.count(test.name) == 0) continue;
      if (position++ % options.shards != options.shard) continue;
      if (suite == "models") {
        double spread = noise[test.name.substr(suite.size() + 1)];
        test.rtol = 1e-3, test.atol = std::max(1e-5, 2 * spread);
      }
      Outcome outcome = guarded(test, *executor, options.symbolic ? &copies : nullptr);
      auto& [good, all] = totals[suite];
      good += outcome.passed ? 1 : 0;
      ++all;
      if (outcome.passed) passing.insert(test.name);
      if (outcome.passed && listed.count(test.name) == 0) news.push_back(test.name);
      bool regression = !outcome.passed && listed.count(test.name) != 0;
      regressions += regression ? 1 : 0;
      if (regression || !outcome.passed)
        fmt::print("{} {}: {}\n", regression ? "FAILED" : "open", test.name, outcome.reason);
      std::fflush(stdout);
    }
  }
  auto asked = [&](const std::string& name) {
    return std::any_of(options.suites.begin(), options.suites.end(),
                       [&](const auto& suite) { return name.starts_with(suite.first + "/"); });
  };
  for (const std::string& name : listed)
    if (asked(name) && found.count(name) == 0) {
      fmt::print("FAILED {}: there is no such test\n", name);
      ++regressions;
    }
  for (const auto& [suite, total] : totals) fmt::print("{}: {} of {} pass\n", suite, total.first, total.second);
  if (options.update) {
    listed.insert(passing.begin(), passing.end());
    write_list(options.list, listed);
  } else if (!news.empty()) {
    fmt::print("{} tests pass and are not listed, the first is {}; --update lists them\n", news.size(), news[0]);
  }
  if (regressions > 0) fmt::print("{} listed tests do not pass\n", regressions);
  return regressions > 0 ? 1 : 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--update") {
      options.update = true;
    } else if (arg == "--all") {
      options.all = true;
    } else if (arg == "--jit") {
      options.jit = true;
    } else if (arg == "--symbolic") {
      options.symbolic = true;
    } else if (arg == "--only" && i + 1 < argc) {
      options.only = argv[++i];
    } else if (arg == "--compile" && i + 1 < argc) {
      options.compiled = true;
      options.compile.level = argv[++i];
    } else if (arg == "--cpu" && i + 1 < argc) {
      options.compile.cpu = argv[++i];
    } else if (arg == "--lend") {
      options.compile.lend = true;
    } else if (arg == "--c") {
      options.compile.c_backend = true;
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
    std::cerr << "usage: onnx_suite [--all] [--jit] [--symbolic] [--update] [--only SUBSTRING] LIST SUITE=FOLDER...\n";
    return 2;
  }
  return relaxc::onnx_tests::run(options);
}
