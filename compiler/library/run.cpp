// run.cpp: runs compile() for a request, and copies what it reports into messages that own their texts.
#include "compiler/library/run.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "compiler/api/compile.h"
#include "compiler/api/flags/read_flags.h"
#include "compiler/support/fault.h"

namespace relaxc::library {
namespace {

using api::Artifact;
using api::CompileOptions;
using api::Goal;
using api::Outputs;

void set_place(Message& message, Location location) {
  if (location == nullptr) return;
  if (const auto* span = std::get_if<TextSpan>(location)) {
    LineColumn at = line_column(*span);
    message.file = span->file->path;
    message.line = at.line, message.column = at.column;
  } else if (const auto* node = std::get_if<NodeOrigin>(location)) {
    message.file = node->file, message.node = node->node, message.op = node->op, message.opset = node->opset;
  } else {
    message.file = std::get<FileOrigin>(*location).file;
  }
}

Message message_of(const Diagnostic& diagnostic) {
  Message message;
  message.severity = diagnostic.severity == Severity::kError ? RELAXC_ERROR : RELAXC_WARNING;
  message.kind = kind_name(diagnostic.kind);
  message.text = diagnostic.text;
  set_place(message, diagnostic.location);
  for (const Note& note : diagnostic.notes) {
    Message& one = message.notes.emplace_back();
    one.severity = RELAXC_NOTE, one.kind = "note", one.text = note.text;
    set_place(one, note.location);
  }
  return message;
}

bool has_error(const Diagnostics& diag, Kind kind) {
  return std::any_of(diag.all().begin(), diag.all().end(),
                     [&](const Diagnostic& one) { return one.severity == Severity::kError && one.kind == kind; });
}

int status_of(const Diagnostics& diag, const CompileOptions& options) {
  if (has_error(diag, Kind::cancelled)) return RELAXC_CANCELLED;
  if (has_error(diag, Kind::usage)) return RELAXC_USAGE;
  bool refused = diag.has_errors() || (options.warnings_are_errors && !diag.all().empty());
  return refused ? RELAXC_REFUSED : RELAXC_OK;
}

class Run {
 public:
  Run(const relaxc_request& request, Outputs::Place place, relaxc_result& result)
      : request_(request), place_(place), result_(result), outputs_(diag_, place) {}

  void run() {
    bool done = prepare() && compile();
    RELAXC_CHECK(done || diag_.has_errors(), "a step failed without saying why");
    result_.status = status_of(diag_, options_);
    if (result_.status != RELAXC_OK) result_.files.clear();
    for (const Diagnostic& one : diag_.all()) result_.messages.push_back(message_of(one));
    for (std::string& text : findings_.remarks) add_remark(std::move(text));
    for (std::string& text : remarks_) add_remark(std::move(text));
    result_.text = render(diag_);
  }

 private:
  void add_remark(std::string text) {
    Message& message = result_.messages.emplace_back();
    message.severity = RELAXC_REMARK, message.kind = "remark", message.text = std::move(text);
  }

  Status prepare() {
    if (std::string why = api::read_flags(request_.arguments, options_); !why.empty())
      return diag_.error(nullptr, Kind::usage, "{}", why);
    if (request_.inputs.empty()) return diag_.error(nullptr, Kind::usage, "there is no input");
    options_.input = request_.inputs.front();
    options_.more_inputs.assign(request_.inputs.begin() + 1, request_.inputs.end());
    options_.memory = request_.memory;
    options_.stop = [this] { return stops(); };
    options_.remark = options_.passes.show = [this](const std::string& text) { remarks_.push_back(text); };
    if (!options_.passes.stop_after.empty() && api::goal_of(options_) != Goal::kText)
      return diag_.error(nullptr, Kind::usage,
                         "--stop-after gives a module as text, which needs an output .relax or .dot");
    return Done{};
  }

  Status compile() {
    Diagnostics& diag = diag_;
    api::Watch watch;
    watch.findings = &findings_;
    watch.progress = [this](std::string_view what) { now_ = what; };
    RELAXC_TRY(std::unique_ptr<Artifact> made, api::compile(options_, api::goal_of(options_), outputs_, diag, watch));
    if (options_.warnings_are_errors && !diag.all().empty()) return Done{};
    if (place_ == Outputs::Place::kMemory) RELAXC_DO(take_files());
    return api::commit(*made, outputs_, diag);
  }

  Status take_files() {
    RELAXC_TRY(std::vector<relax::FileRef> contents, outputs_.contents());
    std::vector<std::string> paths = outputs_.paths();
    for (size_t i = 0; i < contents.size(); ++i) result_.files.push_back({paths[i], std::move(contents[i])});
    return Done{};
  }

  /// Called by all threads that compile; the watcher is only called in the caller's thread.
  bool stops() {
    if (cancelled_ || request_.cancelled) return true;
    if (request_.watcher == nullptr || std::this_thread::get_id() != caller_) return false;
    if (request_.watcher(request_.user, now_.c_str()) != 0) cancelled_ = true;
    return cancelled_;
  }

  const relaxc_request& request_;
  Outputs::Place place_;
  relaxc_result& result_;
  CompileOptions options_;
  Diagnostics diag_;
  Outputs outputs_;
  frontend::Findings findings_;
  std::vector<std::string> remarks_;
  std::string now_ = "reading";
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> cancelled_{false};  ///< set when the watcher cancels
};

}  // namespace

void run(const relaxc_request& request, Outputs::Place place, relaxc_result& result) {
  Run(request, place, result).run();
}

void note_fault(relaxc_result& result) noexcept {
  result.status = RELAXC_NO_MEMORY;
  result.files.clear();
  try {
    Fault fault = current_fault();
    result.status = fault.kind == Fault::kMemory   ? RELAXC_NO_MEMORY
                    : fault.kind == Fault::kSystem ? RELAXC_REFUSED
                                                   : RELAXC_INTERNAL;
    Message& message = result.messages.emplace_back();
    message.kind = fault.kind == Fault::kInternal ? "internal" : "io";
    message.text = std::move(fault.text);
  } catch (...) {  // there is no memory for the message either
  }
}

}  // namespace relaxc::library
