// runner.cpp: one loop around all passes.
#include "compiler/pipeline/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compiler/relax/print.h"
#include "compiler/relax/verify.h"

namespace relaxc {
namespace {

bool names(const std::vector<std::string>& list, std::string_view pass) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& name) { return name == pass || name == "all"; });
}

class Runner {
 public:
  Runner(relax::Module& module, PassContext& context, const PassOptions& options)
      : module_(module), context_(context), options_(options) {}

  Status run(std::span<const Pass> passes) {
    Diagnostics& diag = context_.diag;
    uint32_t holds = kNone;
    for (const Pass& pass : passes) {
      if (pass.opt_level <= context_.opt_level && !names(options_.disabled, pass.name)) {
        if ((pass.needs & holds) != pass.needs)
          return diag.error(nullptr, Kind::usage, "pass '{}' needs what a disabled pass gives", pass.name);
        RELAXC_DO(one(pass));
        holds = (holds & ~static_cast<uint32_t>(pass.breaks)) | pass.gives;
      }
      if (pass.name == options_.stop_after) break;
    }
    if (options_.time_passes) options_.show(times_ + fmt::format("{:>9.2f} ms  all passes\n", total_));
    return Done{};
  }

 private:
  Status one(const Pass& pass) {
    if (names(options_.print_before, pass.name)) show("before", pass.name);
    auto start = std::chrono::steady_clock::now();
    Result<Changed> changed = pass.run(module_, context_);
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    total_ += took.count();
    times_ += fmt::format("{:>9.2f} ms  {}\n", took.count(), pass.name);
    if (!changed) return context_.diag.failed();
    if (options_.verify && *changed == Changed::kYes) {
      std::string fault = relax::first_fault(module_);
      RELAXC_CHECK(fault.empty(), fmt::format("after pass {}: {}", pass.name, fault));
    }
    if (names(options_.print_after, pass.name)) show("after", pass.name);
    return Done{};
  }

  void show(std::string_view when, std::string_view pass) {
    options_.show(fmt::format("# ---- {} {}\n{}\n", when, pass, relax::to_string(module_)));
  }

  relax::Module& module_;
  PassContext& context_;
  const PassOptions& options_;
  std::string times_;
  double total_ = 0;
};

}  // namespace

Status run_passes(std::span<const Pass> passes, relax::Module& module, PassContext& context,
                  const PassOptions& options) {
  return Runner(module, context, options).run(passes);
}

}  // namespace relaxc
