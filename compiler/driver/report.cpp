// report.cpp: messages as text or JSON, and what they mean for the exit code.
#include "compiler/driver/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

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

Json as_json(const Diagnostics& diagnostics, const std::vector<StateProposal>& states) {
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
  Json proposals = Json::array();
  for (const StateProposal& p : states)
    proposals.push_back({{"function", p.function}, {"input", p.state.input}, {"output", p.state.output}});
  return {{"compiles", !diagnostics.has_errors()}, {"diagnostics", list}, {"states", proposals}};
}

/// no-color.org: any text in NO_COLOR that is not empty; a terminal that says it is dumb has no colours either.
bool on_terminal() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  bool wanted = no_color == nullptr || *no_color == '\0';
  return wanted && isatty(STDERR_FILENO) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

void print_diagnostics(const Diagnostics& diagnostics, const Options& options,
                       const std::vector<StateProposal>& states) {
  if (options.check == CheckFormat::kJson) {
    // Names from a model may be any bytes; what is no UTF-8 is replaced.
    fmt::print("{}\n", as_json(diagnostics, states).dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print(stderr, "{}", render(diagnostics, {.color = on_terminal()}));
  if (options.check == CheckFormat::kNone || diagnostics.has_errors()) return;
  fmt::print("{}: nothing keeps it from compiling\n", options.input);
  for (const StateProposal& p : states)
    fmt::print("{}: '{}' could carry '{}' of '{}' to the next call: --state={}:{}\n", options.input, p.state.output,
               p.state.input, p.function, p.state.input, p.state.output);
}

int exit_code(const Diagnostics& diagnostics, const Options& options) {
  const auto& all = diagnostics.all();
  bool usage = std::any_of(all.begin(), all.end(), [](const Diagnostic& d) { return d.kind == Kind::usage; });
  if (usage) return 2;
  return diagnostics.has_errors() || (options.warnings_are_errors && !all.empty()) ? 1 : 0;
}

namespace {

int system_error(const std::string& what) {
  fmt::print(stderr, "relaxc: error: {}\n", what);
  return 1;
}

int internal_error(const std::string& what) {
  fmt::print(stderr,
             "relaxc: internal error: {}\n"
             "this is a bug of relaxc; please report it with the input and the command line\n",
             what);
  return kInternalError;
}

}  // namespace

int last_resort(const std::function<int()>& program) {
  try {
    int code = program();
    // What was printed may still be in a buffer, and a full disk be noticed only now.
    return std::fflush(stdout) == 0 ? code : system_error("cannot write to the standard output");
  } catch (const std::bad_alloc&) {
    return system_error("out of memory");
  } catch (const std::system_error& error) {
    return system_error(error.what());
  } catch (const std::exception& error) {
    return internal_error(error.what());
  } catch (...) {
    return internal_error("an exception of unknown type");
  }
}

}  // namespace relaxc::driver
