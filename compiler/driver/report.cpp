// report.cpp: messages as text or JSON, and what they mean for the exit code.
#include "compiler/driver/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace relaxc::driver {
namespace {

using Json = nlohmann::ordered_json;

Json place(Location location) {
  Json out = Json::object();
  if (location == nullptr) return out;
  if (const auto* span = std::get_if<TextSpan>(location)) {
    LineColumn at = line_column(*span);
    out["file"] = span->file->path;
    out["line"] = at.line;
    out["column"] = at.column;
  } else if (const auto* node = std::get_if<NodeOrigin>(location)) {
    out["file"] = node->file;
    out["node"] = node->node;
    out["op"] = node->op;
    out["opset"] = node->opset;
  } else {
    out["file"] = std::get<FileOrigin>(*location).file;
  }
  return out;
}

Json as_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics.all()) {
    Json item = place(d.location);
    item["severity"] = d.severity == Severity::kError ? "error" : "warning";
    item["kind"] = kind_name(d.kind);
    item["message"] = d.text;
    item["notes"] = Json::array();
    for (const Note& note : d.notes) item["notes"].push_back(note.text);
    list.push_back(std::move(item));
  }
  return {{"compiles", !diagnostics.has_errors()}, {"diagnostics", std::move(list)}};
}

bool on_terminal() {
  return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace

void print_diagnostics(const Diagnostics& diagnostics, const Options& options) {
  if (options.check == CheckFormat::kJson) {
    // Names from a model may be any bytes; what is no UTF-8 is replaced.
    fmt::print("{}\n", as_json(diagnostics).dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print(stderr, "{}", render(diagnostics, {.color = on_terminal()}));
}

int exit_code(const Diagnostics& diagnostics, const Options& options) {
  const auto& all = diagnostics.all();
  bool usage = std::any_of(all.begin(), all.end(), [](const Diagnostic& d) { return d.kind == Kind::usage; });
  if (usage) return 2;
  return diagnostics.has_errors() || (options.warnings_are_errors && !all.empty()) ? 1 : 0;
}

}  // namespace relaxc::driver
