// read_schedules.cpp: files of schedules and of tuning, as arbitrary bytes. They are read, or refused with a message
// that can be printed. A file that was read and is written again is the same file, and so is each step of it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/api/schedule_file.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/support/check.h"

namespace {

using namespace relaxc;

void check_steps(std::string_view steps) {
  for (const schedule::StepText& step : schedule::steps_of(steps)) {
    schedule::Legal<schedule::NamedStep> read = schedule::parse_step(step.text);
    if (!read) continue;
    const std::string printed = schedule::to_string(*read);
    schedule::Legal<schedule::NamedStep> again = schedule::parse_step(printed);
    RELAXC_CHECK(again && schedule::to_string(*again) == printed, "a step that is printed is another one");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Sources sources;
  Diagnostics diag;
  std::string text(reinterpret_cast<const char*>(data), size);
  Result<api::ScheduleFile> read = api::parse_schedules("fuzzed.txt", std::move(text), sources, diag);
  RELAXC_CHECK(bool(read) != diag.has_errors(), "a file is read, or refused with a message");
  render(diag);
  if (!read) return 0;
  for (api::KernelSchedule& kernel : read->kernels) {
    if (kernel.steps_at.length == 0) continue;
    kernel.steps = kernel.steps_at.file->text.substr(kernel.steps_at.begin, kernel.steps_at.length);
    check_steps(kernel.steps);
  }
  const std::string written = api::schedule_file_text(*read);
  Result<api::ScheduleFile> again = api::parse_schedules("written.txt", written, sources, diag);
  RELAXC_CHECK(again && again->target == read->target && again->kernels.size() == read->kernels.size(),
               "a file that is written is another one:\n" + written + render(diag));
  for (size_t i = 0; i < read->kernels.size(); ++i) {
    const api::KernelSchedule &a = read->kernels[i], &b = again->kernels[i];
    RELAXC_CHECK(a.key == b.key && a.choices == b.choices,
                 "a kernel is another one:\n" + written);  // names are as spelled
  }
  return 0;
}
