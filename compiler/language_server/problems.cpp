// problems.cpp: compiles the text from memory and converts the messages.
//
// A note that has a place in the text becomes related information; any other is a way out, and part of the message.
#include "compiler/language_server/problems.h"

#include <fmt/format.h>

#include "compiler/api/compile.h"
#include "compiler/api/input/read_input.h"
#include "compiler/api/schedule_file.h"
#include "compiler/schedule/trace/trace.h"
#include "compiler/support/fault.h"

namespace relaxc::language_server {
namespace {

using Json = nlohmann::json;

Json position_of(const Document& document, size_t byte) {
  const Position position = document.lines.position(byte);
  return {{"line", position.line}, {"character", position.character}};
}

/// Returns the part of the document at a location; null if it is elsewhere.
const TextSpan* span_in(const Document& document, Location location) {
  const auto* span = location == nullptr ? nullptr : std::get_if<TextSpan>(location);
  return span != nullptr && span->file->path == document.path ? span : nullptr;
}

Json range_at(const Document& document, const TextSpan* span) {
  if (span == nullptr) return range_of(document, 0, 0);
  return range_of(document, span->begin, span->begin + std::max<size_t>(span->length, 1));
}

Json problem(const Document& document, const Diagnostic& one) {
  const TextSpan* span = span_in(document, one.location);
  std::string message = one.text;
  if (span == nullptr && one.location != nullptr) message = short_name(one.location) + ": " + message;
  Json related = Json::array();
  for (const Note& note : one.notes) {
    const TextSpan* at = span_in(document, note.location);
    if (at == nullptr)
      message += "\n" + note.text;
    else
      related.push_back(
          {{"location", {{"uri", document.uri}, {"range", range_at(document, at)}}}, {"message", note.text}});
  }
  return {{"range", range_at(document, span)},
          {"severity", one.severity == Severity::kError ? 1 : 2},
          {"code", kind_name(one.kind)},
          {"source", "relaxc"},
          {"message", message},
          {"relatedInformation", related}};
}

/// Reports what is wrong with a schedule file by itself: its form, and steps that there are not.
void check_schedules(const Document& document, Sources& sources, Diagnostics& diag) {
  Result<api::ScheduleFile> file = api::parse_schedules(document.path, document.text, sources, diag);
  if (!file) return;
  for (const api::KernelSchedule& kernel : file->kernels) {
    if (kernel.steps_at.length == 0) continue;
    const std::string_view all = kernel.steps_at.file->text;
    for (const schedule::StepText& step :
         schedule::steps_of(all.substr(kernel.steps_at.begin, kernel.steps_at.length))) {
      const schedule::Legal<schedule::NamedStep> read = schedule::parse_step(step.text);
      if (read) continue;
      const auto begin = static_cast<uint32_t>(kernel.steps_at.begin + step.begin);
      const TextSpan at{kernel.steps_at.file, begin, static_cast<uint32_t>(step.text.size())};
      diag.error(sources.at(at), Kind::syntax, "{}", read.illegal().reason);
    }
  }
}

void check_program(const Document& document, Depth depth, api::CompileOptions options, const relax::OpTable& ops,
                   const std::function<bool()>& stop, Diagnostics& diag) {
  options.input = document.path;
  options.memory.push_back(relax::memory_file(document.path, std::as_bytes(std::span(document.text))));
  options.remark = options.passes.show = [](const std::string&) {};
  options.stop = stop;
  if (depth == Depth::kPasses) {
    api::Outputs none(diag);
    (void)api::compile(options, api::Goal::kModule, none, diag);
    return;
  }
  std::vector<relax::FileRef> files;
  frontend::Findings findings;
  Result<relax::Module> module = api::read_input(options, ops, diag, files, findings);
  if (module) diag.keep(module->shared_sources());
}

}  // namespace

Json range_of(const Document& document, size_t begin, size_t end) {
  return {{"start", position_of(document, begin)}, {"end", position_of(document, end)}};
}

std::optional<Json> problems(const Document& document, Depth depth, const api::CompileOptions& options,
                             const relax::OpTable& ops, const std::function<bool()>& stop) {
  Sources sources;
  Diagnostics diag;
  Json list = Json::array();
  try {
    if (document.language == Language::kSchedules)
      check_schedules(document, sources, diag);
    else
      check_program(document, depth, options, ops, stop, diag);
  } catch (...) {
    const Fault fault = current_fault();
    list.push_back({{"range", range_of(document, 0, 0)},
                    {"severity", 1},
                    {"source", "relaxc"},
                    {"message", (fault.kind == Fault::kInternal ? "internal error: " : "") + fault.text}});
  }
  for (const Diagnostic& one : diag.all()) {
    if (one.kind == Kind::cancelled) return std::nullopt;
    list.push_back(problem(document, one));
  }
  return list;
}

}  // namespace relaxc::language_server
