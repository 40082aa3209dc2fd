// runner.cpp: one loop around all passes.
//
// All that observes passes is here, so that no pass contains any of it: the time that a pass took, the module before
// and after it and its size, whether the module verifies and computes the same, and which pass is at fault (bisection:
// run the first N optional passes, halve N).
//
// A pass that changed something is followed by its clean-ups, which have lines of their own in the list of times. All
// else treats both as one step: the module in between holds ops without uses, some of them made only to be tried.
#include "compiler/pipeline/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "compiler/pipeline/pipelines.h"
#include "compiler/relax/print.h"
#include "compiler/relax/verify.h"
#include "compiler/tir/visit.h"

namespace relaxc {
namespace {

bool lists(const std::vector<std::string>& list, std::string_view pass) {
  return std::find(list.begin(), list.end(), pass) != list.end();
}
bool names(const std::vector<std::string>& list, std::string_view pass) {
  return lists(list, pass) || lists(list, "all");
}

/// Returns text for what else may have caused a fault after `pass`, since its clean-ups are not checked one by one.
std::string_view blame(const Pass& pass) {
  return pass.cleanups.empty() ? "" : " or a clean-up after it";
}

/// The size of a module, for the statistics after each pass.
struct Counts {
  size_t ops = 0, prim_funcs = 0, statements = 0;
};
Counts count(const relax::Module& module) {
  Counts counts;
  for (const relax::Function* function : module.functions()) counts.ops += relax::ops_of(function->body(), true).size();
  for (const tir::PrimFunc* function : module.prim_funcs()) {
    ++counts.prim_funcs;
    tir::for_each_stmt(function->body, [&](tir::Stmt) { ++counts.statements; });
  }
  return counts;
}

class Runner {
 public:
  Runner(std::span<const Pass> passes, relax::Module& module, PassContext& context, const PassOptions& options)
      : passes_(passes), module_(module), context_(context), options_(options) {}

  Status run() {
    Diagnostics& diag = context_.diag;
    RELAXC_DO(check_disabled());
    RELAXC_DO(dump("input"));
    if (options_.observe) options_.observe("input", module_, 0);
    uint32_t holds = kNone;
    for (const Pass& pass : passes_) {
      if (runs(pass)) {
        if ((pass.needs & holds) != pass.needs)
          return diag.error(nullptr, Kind::usage, "pass '{}' needs what a disabled pass gives", pass.name);
        RELAXC_DO(one(pass));
        holds = (holds & ~static_cast<uint32_t>(pass.breaks)) | pass.gives;
      }
      if (pass.name == options_.stop_after) break;
    }
    if (options_.time_passes) options_.show(times_ + fmt::format("{:>9.2f} ms  all passes\n", total_));
    if (options_.statistics) options_.show("      ops  kernels  statements  after\n" + statistics_);
    return Done{};
  }

 private:
  /// Refuses to disable clean-ups of optimization level 0. The passes that list them rely on them: what they leave
  /// without the clean-up is not a program that later passes accept.
  Status check_disabled() {
    for (const Pass& pass : passes_)
      for (std::string_view name : pass.cleanups)
        if (find_pass(name)->opt_level == 0 && names(options_.disabled, name))
          return context_.diag.error(nullptr, Kind::usage,
                                     "pass '{}' cannot be disabled: '{}' is not complete without it", name, pass.name);
    return Done{};
  }

  bool runs(const Pass& pass) {
    if (pass.opt_level > context_.opt_level || names(options_.disabled, pass.name)) return false;
    if (options_.bisect_limit < 0 || !is_optional(pass, passes_)) return true;
    bool within = ++optional_ <= options_.bisect_limit;
    options_.show(fmt::format("bisect: {} pass {} {}\n", within ? "running" : "leaving out", optional_, pass.name));
    return within;
  }

  Status one(const Pass& pass) {
    if (options_.prepare) RELAXC_DO(options_.prepare(pass.name, module_, context_));
    if (names(options_.print_before, pass.name)) show("before", pass.name);
    double took = 0;
    Result<Changed> changed = timed(pass, "", took);
    if (!changed) return changed.failure();
    if (*changed == Changed::kYes) {
      RELAXC_DO(clean_up(pass, "  "));
      RELAXC_DO(after_change(pass));
    }
    if (options_.observe) options_.observe(pass.name, module_, took);
    if (options_.statistics) {
      Counts counts = count(module_);
      statistics_ += fmt::format("{:>9}{:>9}{:>12}  {}{}\n", counts.ops, counts.prim_funcs, counts.statements,
                                 pass.name, *changed == Changed::kYes ? "" : " (nothing changed)");
    }
    if (names(options_.print_after, pass.name)) show("after", pass.name);
    return Done{};
  }

  Result<Changed> timed(const Pass& pass, std::string_view indent, double& took) {
    std::clock_t start = std::clock();  // processor time, which depends little on the load of the machine
    Result<Changed> changed = pass.run(module_, context_);
    took = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    total_ += took;
    times_ += fmt::format("{:>9.2f} ms  {}{}\n", took, indent, pass.name);
    return changed;
  }

  /// Runs the clean-ups of a pass that changed something, and the clean-ups of those in turn.
  Status clean_up(const Pass& pass, const std::string& indent) {
    for (std::string_view name : pass.cleanups) {
      const Pass& cleanup = *find_pass(name);
      if (cleanup.opt_level > context_.opt_level || names(options_.disabled, name)) continue;
      if (lists(options_.print_before, name)) show("before", name);
      double took = 0;
      Result<Changed> changed = timed(cleanup, indent, took);
      if (!changed) return changed.failure();
      if (*changed == Changed::kYes) RELAXC_DO(clean_up(cleanup, indent + "  "));
      if (options_.observe) options_.observe(name, module_, took);
      if (lists(options_.print_after, name)) show("after", name);
    }
    return Done{};
  }

  /// Verifies, checks and dumps the module after a pass and its clean-ups, as far as the options ask for it.
  Status after_change(const Pass& pass) {
    if (options_.verify) {
      std::string fault = relax::first_fault(module_);
      RELAXC_CHECK(fault.empty(), fmt::format("after pass {}{}: {}", pass.name, blame(pass), fault));
    }
    if (options_.check) {
      std::string fault = options_.check(module_);
      RELAXC_CHECK(fault.empty(),
                   fmt::format("pass {}{} changed what the program computes: {}", pass.name, blame(pass), fault));
    }
    return dump(pass.name);
  }

  /// Writes the module to a file for this pass: 00_input.relax, 07_canonicalize.relax. The number is the position of
  /// the pass in the pipeline, so that two runs can be compared file by file.
  Status dump(std::string_view name) {
    if (options_.dump_folder.empty()) return Done{};
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(options_.dump_folder, error);
    auto pass = std::find_if(passes_.begin(), passes_.end(), [&](const Pass& p) { return p.name == name; });
    size_t number = pass == passes_.end() ? 0 : static_cast<size_t>(pass - passes_.begin()) + 1;
    fs::path path = fs::path(options_.dump_folder) / fmt::format("{:02}_{}.relax", number, name);
    if (fs::file_status there = fs::status(path, error); fs::exists(there) && !fs::is_regular_file(there))
      return context_.diag.error(nullptr, Kind::io, "cannot write {}: it is not a regular file", path.string());
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    out << relax::to_string(module_);
    out.close();
    if (out) return Done{};
    return context_.diag.error(nullptr, Kind::io, "cannot write {}: {}", path.string(),
                               errno == 0 ? "writing failed" : std::strerror(errno));
  }

  void show(std::string_view when, std::string_view pass) {
    options_.show(fmt::format("# ---- {} {}\n{}\n", when, pass, relax::to_string(module_)));
  }

  std::span<const Pass> passes_;
  relax::Module& module_;
  PassContext& context_;
  const PassOptions& options_;
  std::string times_, statistics_;
  double total_ = 0;
  int64_t optional_ = 0;
};

}  // namespace

bool is_optional(const Pass& pass, std::span<const Pass> passes) {
  if (pass.opt_level == 0) return false;
  uint32_t needed = kNone;
  for (const Pass& other : passes) needed |= other.needs;
  return (pass.gives & needed) == 0;
}

Status run_passes(std::span<const Pass> passes, relax::Module& module, PassContext& context,
                  const PassOptions& options) {
  return Runner(passes, module, context, options).run();
}

}  // namespace relaxc
