// schedule_file.cpp: prints and parses schedules.
//
//   relaxc schedules 1
//   target x86_64-unknown-linux-gnu skylake +avx2
//   kernel matmul_relu 8d0e...          the name, and what it computes
//     focus_nests [matmul, relu]        steps ...
//   kernel softmax 55ab...
//     choose "tile: 4x3"                ... or options of strategies
//
// One format serves tuning and editing. A kernel is identified by what it computes, not by its name, so that a file
// applies to every model with the same kernel; without the key, the name identifies it. An option that no strategy of
// this compiler has is ignored, so an old file of choices can only cost speed. A step that cannot be applied is an
// error.
#include "compiler/api/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/codegen/llvm/hash.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/support/hex.h"
#include "compiler/support/input_file.h"
#include "compiler/support/suggest.h"
#include "compiler/tir/print.h"

namespace relaxc::api {
namespace {

constexpr std::string_view kFirstLine = "relaxc schedules 1";

class Reading {
 public:
  Reading(std::string path, std::string text, Sources& sources, Diagnostics& diag)
      : source_(sources.add_file(std::move(path), std::move(text))), sources_(sources), diag_(diag) {}

  Result<ScheduleFile> run() {
    const std::vector<schedule::StepText> lines = schedule::steps_of(source_->text);
    if (lines.empty() || lines[0].text != kFirstLine)
      return diag_.error(lines.empty() ? nullptr : location(span(lines[0])), Kind::syntax,
                         "'{}' is not a file of schedules: it does not start with '{}'; --write-schedules and 'relaxc "
                         "tune' write one",
                         source_->path, kFirstLine);
    for (size_t i = 1; i < lines.size(); ++i)
      if (!read(lines[i])) return diag_.failed();
    return std::move(file_);
  }

 private:
  TextSpan span(const schedule::StepText& line) const {
    return {source_, static_cast<uint32_t>(line.begin), static_cast<uint32_t>(line.text.size())};
  }
  Location location(const TextSpan& at) const { return sources_.at(at); }

  Status read(const schedule::StepText& line) {
    const schedule::Legal<std::vector<std::string_view>> read = schedule::words_of(line.text);
    if (!read) return diag_.error(location(span(line)), Kind::syntax, "{}", read.illegal().reason);
    const std::vector<std::string_view>& words = *read;
    if (words[0] == "kernel") return begin_kernel(words, span(line));
    if (words[0] == "target" && file_.kernels.empty()) {
      file_.target = line.text.substr(std::min(line.text.size(), std::string_view("target ").size()));
      return Done{};
    }
    if (file_.kernels.empty())
      return diag_.error(location(span(line)), Kind::syntax, "a step must come after a line 'kernel NAME'");
    KernelSchedule& kernel = file_.kernels.back();
    if (words[0] == "choose") return read_choices(kernel, words, span(line));
    if (!kernel.choices.empty())
      return diag_.error(location(span(line)), Kind::syntax, "a kernel has either steps or one 'choose'");
    TextSpan& steps = kernel.steps_at;
    if (steps.length == 0) steps = span(line);
    steps.length = static_cast<uint32_t>(line.begin + line.text.size()) - steps.begin;
    return Done{};
  }

  Status begin_kernel(const std::vector<std::string_view>& words, const TextSpan& at) {
    if (words.size() < 2 || words.size() > 3)
      return diag_.error(location(at), Kind::syntax, "expected 'kernel NAME' or 'kernel NAME KEY'");
    KernelSchedule kernel;
    kernel.name = words[1], kernel.key = words.size() == 3 ? words[2] : "";
    kernel.at = kernel.steps_at = at;
    kernel.steps_at.length = 0;
    for (const KernelSchedule& other : file_.kernels) {
      if (kernel.key.empty() ? other.key.empty() && other.name != kernel.name : other.key != kernel.key) continue;
      if (kernel.key.empty() && !other.key.empty()) continue;
      Failure twice = diag_.error(location(at), Kind::redefinition, "kernel '{}' has a schedule already", kernel.name);
      diag_.note(location(other.at), "here");
      return twice;
    }
    file_.kernels.push_back(std::move(kernel));
    return Done{};
  }

  Status read_choices(KernelSchedule& kernel, const std::vector<std::string_view>& words, const TextSpan& at) {
    bool quoted = words.size() == 2 && words[1].size() > 2 && words[1].front() == '"' &&
                  words[1].find('"', 1) == words[1].size() - 1;
    if (!quoted || kernel.steps_at.length != 0 || !kernel.choices.empty())
      return diag_.error(location(at), Kind::syntax,
                         "'choose' takes choices in quotes, \"tile: 4x3\", as the kernel's only line");
    kernel.choices = words[1].substr(1, words[1].size() - 2);
    return Done{};
  }

  const SourceFile* source_;
  Sources& sources_;
  Diagnostics& diag_;
  ScheduleFile file_;
};

}  // namespace

std::string target_text(const Target& target) {
  return fmt::format("{} {}{}{}", target.triple, target.cpu, target.features.empty() ? "" : " ", target.features);
}

std::string kernel_key(const tir::PrimFunc& kernel) {
  tir::PrimFunc nameless = kernel;
  nameless.name = "kernel";
  nameless.schedule.choices.reset();
  return hex(codegen_llvm::hash_of({tir::to_string(nameless)})).substr(0, 32);
}

std::string schedule_file_text(const ScheduleFile& file) {
  std::string text = fmt::format("{}\n", kFirstLine);
  if (!file.target.empty()) text += fmt::format("target {}\n", file.target);
  for (const KernelSchedule& kernel : file.kernels) {
    text += fmt::format("\nkernel {}{}{}\n", schedule::spelled(kernel.name), kernel.key.empty() ? "" : " ", kernel.key);
    if (!kernel.comment.empty()) text += fmt::format("  # {}\n", kernel.comment);
    if (!kernel.choices.empty()) text += fmt::format("  choose \"{}\"\n", kernel.choices);
    for (const schedule::StepText& step : schedule::steps_of(kernel.steps)) text += fmt::format("  {}\n", step.text);
  }
  return text;
}

Result<ScheduleFile> read_schedule_file(const std::string& path, Sources& sources, Diagnostics& diag) {
  RELAXC_TRY(std::string text, read_settings(path, fmt::format("the schedules '{}'", path), diag));
  return parse_schedules(path, std::move(text), sources, diag);
}

Result<ScheduleFile> parse_schedules(std::string path, std::string text, Sources& sources, Diagnostics& diag) {
  return Reading(std::move(path), std::move(text), sources, diag).run();
}

namespace {

/// Prints a note for each step that the file calls by a former name.
void tell_former_names(const ScheduleFile& file, const CompileOptions& options) {
  std::set<std::string_view> noted;
  for (const KernelSchedule& kernel : file.kernels) {
    if (kernel.steps_at.length == 0) continue;
    const std::string_view all = kernel.steps_at.file->text;
    for (const schedule::StepText& step :
         schedule::steps_of(all.substr(kernel.steps_at.begin, kernel.steps_at.length))) {
      const std::string_view name = step.text.substr(0, step.text.find(' ')), now = schedule::current_step_name(name);
      if (now != name && noted.insert(name).second)
        print_note(options, fmt::format("the step '{}' is now called '{}'", name, now));
    }
  }
}

}  // namespace

Status assign_schedules(const ScheduleFile& file, const CompileOptions& options, relax::Module& module,
                        PassContext& context) {
  std::vector<std::string> known;
  auto give = [&](const KernelSchedule& to, tir::PrimFunc& kernel) {
    if (to.choices.empty())
      context.traces[kernel.name] = to.steps_at;
    else
      kernel.schedule.choices = to.choices;
  };
  size_t strange = 0;
  std::map<std::string, std::vector<tir::PrimFunc*>> by_key;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    by_key[kernel_key(*kernel)].push_back(kernel);
    known.push_back(schedule::spelled(kernel->name));
  }
  for (const KernelSchedule& one : file.kernels) {
    auto same = by_key.find(one.key);
    if (!one.key.empty() && same == by_key.end()) ++strange;
    if (!one.key.empty() && same != by_key.end())
      for (tir::PrimFunc* kernel : same->second) give(one, *kernel);
  }
  for (const KernelSchedule& one : file.kernels) {  // schedules by name override those by key
    if (!one.key.empty()) continue;
    auto at = std::find(known.begin(), known.end(), one.name);
    if (at == known.end()) {
      Failure none = context.diag.error(module.sources().at(one.at), Kind::unbound_name,
                                        "there is no kernel '{}' in the model", one.name);
      if (auto near = nearest_name(one.name, known)) context.diag.note(nullptr, "did you mean '{}'?", *near);
      return none;
    }
    give(one, *module.prim_funcs()[static_cast<size_t>(at - known.begin())]);
  }
  tell_former_names(file, options);
  if (strange != 0)
    print_note(options, fmt::format("{} of {} schedules in '{}' match no kernel of the model", strange,
                                    file.kernels.size(), options.schedules));
  return Done{};
}

}  // namespace relaxc::api
