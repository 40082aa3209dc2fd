// messages.cpp: prints messages as text or JSON, and derives the exit code.
#include "compiler/driver/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compiler/driver/fix_hint.h"
#include "compiler/support/fault.h"
#include "compiler/support/quote.h"
#include "compiler/support/tell.h"
#include "compiler/support/unicode.h"

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

/// Returns what is known about the operands of the message's node, or null.
const frontend::NodeFinding* finding_of(const Diagnostic& d, const frontend::Findings& findings) {
  auto found = findings.nodes.find(d.location);
  return found == findings.nodes.end() ? nullptr : &found->second;
}

/// Returns the operator without the domain that the location of a node has before it.
std::string plain_op(const NodeOrigin& node, const frontend::NodeFinding& finding) {
  std::string prefix = finding.domain + ".";
  return node.op.starts_with(prefix) ? node.op.substr(prefix.size()) : node.op;
}

/// Returns a dim as a number if the text is one, else as text.
Json dim(const std::string& text) {
  bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return number ? Json(std::strtoll(text.c_str(), nullptr, 10)) : Json(text);
}

Json operands(const frontend::NodeFinding& finding) {
  Json list = Json::array();
  for (const frontend::OperandFinding& operand : finding.inputs) {
    Json item = {{"name", operand.name}, {"form", operand.form}};
    if (!operand.dtype.empty()) {
      item["dtype"] = operand.dtype;
      item["shape"] = Json::array();
      for (const std::string& extent : operand.shape) item["shape"].push_back(dim(extent));
    }
    list.push_back(std::move(item));
  }
  return list;
}

Json as_json(const Diagnostics& diagnostics, const std::vector<StateProposal>& states,
             const frontend::Findings& findings) {
  Json list = Json::array();
  for (const Diagnostic& d : diagnostics.all()) {
    Json item = place(d.location);
    item["severity"] = d.severity == Severity::kError ? "error" : "warning";
    item["kind"] = kind_name(d.kind);
    item["message"] = d.text;
    Advice advice = advice_for(d);
    item["reason"] = advice.reason;
    item["remedy"] = advice.fix_hint;
    if (const frontend::NodeFinding* finding = finding_of(d, findings)) {
      item["domain"] = finding->domain;
      item["op"] = plain_op(std::get<NodeOrigin>(*d.location), *finding);
      item["inputs"] = operands(*finding);
    }
    item["notes"] = Json::array();
    for (const Note& note : d.notes) item["notes"].push_back(note.text);
    list.push_back(std::move(item));
  }
  Json proposals = Json::array();
  for (const StateProposal& p : states)
    proposals.push_back({{"function", p.function}, {"input", p.state.input}, {"output", p.state.output}});
  return {{"compiles", !diagnostics.has_errors()},
          {"diagnostics", list},
          {"remarks", findings.remarks},
          {"states", proposals}};
}

/// "boxes: float32 [n, 4]".
std::string described(const frontend::OperandFinding& operand) {
  std::string text = operand.name.empty() ? std::string() : operand.name + ": ";
  if (operand.dtype.empty()) return text + operand.form;
  return text + fmt::format("{} [{}]", operand.dtype, fmt::join(operand.shape, ", "));
}

/// Lists every error at a node, with all that is known of the node.
void list_refused(const Diagnostics& diagnostics, const frontend::Findings& findings) {
  for (const Diagnostic& d : diagnostics.all()) {
    const frontend::NodeFinding* finding = finding_of(d, findings);
    const auto* node = d.location == nullptr ? nullptr : std::get_if<NodeOrigin>(d.location);
    if (d.severity != Severity::kError || finding == nullptr || node == nullptr) continue;
    std::vector<std::string> inputs;
    for (const frontend::OperandFinding& operand : finding->inputs) inputs.push_back(described(operand));
    Advice advice = advice_for(d);
    const std::pair<const char*, std::string> lines[] = {
        {"node", node->node},
        {"op", fmt::format("{}, domain {}, opset {}", plain_op(*node, *finding), finding->domain, node->opset)},
        {"inputs", fmt::format("{}", fmt::join(inputs, "; "))},
        {"reason", advice.reason},
        {"remedy", advice.fix_hint}};
    for (const auto& [what, text] : lines) fmt::print("{:<8} {}\n", what, printable(text));
    fmt::print("\n");
  }
}

/// Whether messages are coloured: not if NO_COLOR is set to any text (no-color.org), nor if the terminal is dumb.
bool on_terminal() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  bool wanted = no_color == nullptr || *no_color == '\0';
  return wanted && isatty(STDERR_FILENO) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

void print_diagnostics(const Diagnostics& diagnostics, const Options& options, const std::vector<StateProposal>& states,
                       const frontend::Findings& findings) {
  if (options.check == CheckFormat::kJson) {
    // Names from a model may be any bytes; invalid UTF-8 is replaced.
    fmt::print("{}\n", visible_json(
                           as_json(diagnostics, states, findings).dump(2, ' ', false, Json::error_handler_t::replace)));
    return;
  }
  tell("{}", render(diagnostics, {.color = on_terminal()}));
  for (const std::string& remark : findings.remarks)
    tell("{}: note: {}\n", printable(options.input), printable(remark));
  if (options.check != CheckFormat::kNone) list_refused(diagnostics, findings);
  if (options.check == CheckFormat::kNone || diagnostics.has_errors()) return;
  fmt::print("{}: nothing prevents compilation\n", printable(options.input));
  for (const StateProposal& p : states)
    fmt::print("{}\n",
               printable(fmt::format("{}: '{}' could carry '{}' of '{}' to the next call: --state={}:{}", options.input,
                                     p.state.output, p.state.input, p.function, p.state.input, p.state.output)));
}

int exit_code(const Diagnostics& diagnostics, const Options& options) {
  const auto& all = diagnostics.all();
  bool usage = std::any_of(all.begin(), all.end(),
                           [](const Diagnostic& d) { return d.severity == Severity::kError && d.kind == Kind::usage; });
  if (usage) return 2;
  return diagnostics.has_errors() || (options.warnings_are_errors && !all.empty()) ? 1 : 0;
}

namespace {

int system_error(const std::string& what) {
  tell("relaxc: error: {}\n", printable(what));
  return 1;
}

int internal_error(const std::string& what) {
  tell(
      "relaxc: internal error: {}\n"
      "this is a bug of relaxc; please report it with the input and the command line\n",
      printable(what));
  return kInternalError;
}

}  // namespace

int run_guarded(const std::function<int()>& program) {
  try {
    int code = program();
    // Output may still be buffered, so a full disk may be noticed only here; or an earlier print has set the error.
    bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return written ? code : code != 0 ? code : system_error("cannot write to the standard output");
  } catch (...) {
    Fault fault = current_fault();
    return fault.kind == Fault::kInternal ? internal_error(fault.text) : system_error(fault.text);
  }
}

}  // namespace relaxc::driver
