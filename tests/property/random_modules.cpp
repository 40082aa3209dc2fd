// random_modules.cpp: random programs mean what they say: random_modules [--exact] [--seeds A..B] [--objects N]
// [--no-reduce]
// [--print] [FILE...]
//
// For every seed from A to before B a module is made and checked in every way (check_program.h); one in N also by
// objects that are linked and loaded. With --exact the modules are such that no order of a sum changes a bit. A program
// that fails is printed, reduced. Files are checked in the same ways.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <sstream>

#include "compiler/ops/op_table.h"
#include "compiler/relax/print.h"
#include "compiler/relax/verify.h"
#include "tests/property/check_program.h"
#include "tests/property/isolated.h"
#include "tests/property/random_module.h"
#include "tests/property/reduce.h"

namespace relaxc::property {
namespace {

constexpr unsigned kSeconds = 30;
constexpr size_t kMegabytes = 4096;

struct Arguments {
  uint64_t first = 0, last = 20, objects = 16;
  bool reduce = true, print = false, exact = false;
  std::vector<std::string> files;
};

class Session {
 public:
  explicit Session(Arguments arguments) : arguments_(std::move(arguments)), ops_(ops::op_table()) {}

  int run() {
    for (const std::string& file : arguments_.files) {
      std::ifstream in(file, std::ios::binary);
      check(std::string(std::istreambuf_iterator<char>(in), {}), {}, 0, true, file);
    }
    if (arguments_.files.empty())
      for (uint64_t seed = arguments_.first; seed < arguments_.last; ++seed) check_seed(seed);
    fmt::print("{} programs hold, {} were refused, {} fail; {} of {} runs end early, {} programs have sums reordered\n",
               counts_[0], counts_[1], counts_[2], early_, runs_, reordered_);
    return counts_[2] == 0 ? 0 : 1;
  }

 private:
  void check_seed(uint64_t seed) {
    std::string title = fmt::format("seed {}", seed);
    Ended made = run_isolated([&] { return relax::first_fault(made_of(seed)); }, kSeconds, kMegabytes);
    if (made.how != Ended::kWell || !made.output.empty())
      return report({Finding::kFails, "making the module", made.output}, "", title);
    relax::Module module = made_of(seed);
    std::string text = relax::to_string(module);
    if (arguments_.print) fmt::print("# {}\n{}", title, text);
    bool objects = arguments_.objects != 0 && seed % arguments_.objects == 0;
    check(text, relax::large_constants(module), seed, objects, title);
  }

  relax::Module made_of(uint64_t seed) const {
    return arguments_.exact ? random_exact_module(seed, ops_) : random_module(seed, ops_);
  }

  void check(std::string text, const std::vector<relax::ConstantRef>& constants, uint64_t seed, bool objects,
             const std::string& title) {
    auto found = [&](const std::string& candidate) { return finding(candidate, constants, seed, objects); };
    Finding first = found(text);
    if (first.kind == Finding::kFails && arguments_.reduce) {
      text = reduce(text, [&](const std::string& candidate) {
        Finding now = found(candidate);
        return now.kind == Finding::kFails && now.where == first.where && cause(now) == cause(first);
      });
      first = found(text);
    }
    report(first, text, title);
  }

  /// What is wrong with a text that is not read, without places and names: a reduced program must keep it.
  static std::string cause(const Finding& finding) {
    static const std::regex kPlaces(R"(^[^ ]* |'[^']*'|\d+)");
    if (finding.where.rfind("parsing", 0) != 0) return {};
    return std::regex_replace(finding.what.substr(0, finding.what.find('\n')), kPlaces, "");
  }

  Finding finding(const std::string& text, const std::vector<relax::ConstantRef>& constants, uint64_t seed,
                  bool objects) const {
    Checks checks;
    checks.objects = objects;
    checks.exact = arguments_.exact;
    Ended ended = run_isolated(
        [&] {
          Finding found = check_program(text, constants, ops_, seed, checks);
          return fmt::format("{}{}{}{}", static_cast<int>(found.kind), found.where, '\0', found.what);
        },
        kSeconds, kMegabytes);
    if (ended.how == Ended::kTimedOut) return {Finding::kFails, "time", fmt::format("more than {} s", kSeconds)};
    if (ended.how == Ended::kCrashed || ended.output.empty()) return {Finding::kFails, "crash", ended.output};
    size_t end = ended.output.find('\0');
    return {static_cast<Finding::Kind>(ended.output[0] - '0'), ended.output.substr(1, end - 1),
            ended.output.substr(end + 1)};
  }

  void report(const Finding& finding, const std::string& text, const std::string& title) {
    ++counts_[finding.kind];
    if (finding.kind == Finding::kHolds) {
      long runs = 0, early = 0, reordered = 0;
      std::istringstream(finding.what) >> runs >> early >> reordered;
      runs_ += runs, early_ += early, reordered_ += reordered;
    }
    if (finding.kind == Finding::kRefused && arguments_.print) fmt::print("{}: refused: {}\n", title, finding.what);
    if (finding.kind == Finding::kFails) fmt::print("==== {}: {}: {}\n{}\n", title, finding.where, finding.what, text);
    std::fflush(stdout);
  }

  Arguments arguments_;
  relax::OpTable ops_;
  int counts_[3] = {};
  long runs_ = 0, early_ = 0, reordered_ = 0;
};

int main_of(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--no-reduce") {
      arguments.reduce = false;
    } else if (word == "--exact") {
      arguments.exact = true;
    } else if (word == "--print") {
      arguments.print = true;
    } else if (word == "--seeds" && i + 1 < argc) {
      char* end = nullptr;
      arguments.first = std::strtoull(argv[++i], &end, 10);
      arguments.last = std::strncmp(end, "..", 2) == 0 ? std::strtoull(end + 2, nullptr, 10) : arguments.first + 1;
    } else if (word == "--objects" && i + 1 < argc) {
      arguments.objects = std::strtoull(argv[++i], nullptr, 10);
    } else if (word[0] == '-') {
      fmt::print(stderr,
                 "usage: random_modules [--exact] [--seeds A..B] [--objects N] [--no-reduce] [--print] [FILE...]\n");
      return 2;
    } else {
      arguments.files.push_back(word);
    }
  }
  return Session(std::move(arguments)).run();
}

}  // namespace
}  // namespace relaxc::property

int main(int argc, char** argv) {
  return relaxc::property::main_of(argc, argv);
}
