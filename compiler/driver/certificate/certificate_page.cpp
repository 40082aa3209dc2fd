// certificate_page.cpp: prints a record section by section.
#include "compiler/driver/certificate/certificate_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "compiler/support/quote.h"

namespace relaxc::driver {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a value for a cell: texts without markup, numbers as they are, "no bound" for null.
std::string cell(const Json& value) {
  if (value.is_null()) return "no bound";
  if (value.is_string()) return markdown_text(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(cell(part));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Returns a table of the fields `columns` of each record of a list.
std::string table(const Json& list, const std::vector<std::pair<const char*, const char*>>& columns) {
  std::string head = "|", rule = "|", rows;
  for (const auto& [field, title] : columns) head += fmt::format(" {} |", title), rule += "---|";
  for (const Json& row : list) {
    rows += "|";
    for (const auto& [field, title] : columns) rows += fmt::format(" {} |", cell(row.at(field)));
    rows += "\n";
  }
  return head + "\n" + rule + "\n" + rows + "\n";
}

std::string place_text(const Json& place) {
  if (place.contains("first_line"))
    return fmt::format("{} lines {} to {}", cell(place["file"]), place["first_line"].dump(), place["last_line"].dump());
  return fmt::format("{} in {} at {}, {} bytes", cell(place["symbol"]), cell(place["section"]), place["offset"].dump(),
                     place["bytes"].dump());
}

std::string kernel_section(const Json& kernel) {
  std::string text = fmt::format("### {}\n\n", cell(kernel["name"]));
  text += fmt::format("- Nodes: {}\n", kernel["nodes"].empty() ? "none" : cell(kernel["nodes"]));
  if (kernel["code"].empty()) text += "- Code: it has no symbol in the output\n";
  for (const Json& place : kernel["code"]) text += fmt::format("- Code: {}\n", place_text(place));
  for (const Json& bound : kernel["error"])
    text += fmt::format("- Error: {} (test: {})\n", cell(bound["bound"]), cell(bound["test"]));
  if (kernel["error"].empty()) text += "- Error: no bound is known\n";
  const Json& proof = kernel["proof"];
  text += fmt::format("- Proof: {}{}\n", cell(proof["answer"]),
                      proof["text"].get<std::string>().empty() ? "" : ", " + cell(proof["text"]));
  text += fmt::format("- Elements written by one call, at most: {}\n\n", cell(kernel["stores_at_most"]));
  if (kernel["loops"].empty()) return text;
  return text + table(kernel["loops"], {{"name", "loop"},
                                        {"depth", "loops around it"},
                                        {"extent", "iterations"},
                                        {"at_most", "at most"},
                                        {"total_at_most", "in one call, at most"}});
}

std::string requirements_text(const Json& list, std::string_view answer) {
  std::string text;
  for (const Json& one : list) {
    if (one["answer"] != answer) continue;
    text += fmt::format("- **{}** ({})\n", cell(one["id"]), cell(one["requirement"]));
    for (const Json& fact : one["facts"]) text += fmt::format("  - {}\n", cell(fact));
  }
  return text.empty() ? "None.\n" : text;
}

std::string identity_text(const Json& record) {
  std::string text = fmt::format("# Certificate of {}\n\n", cell(record["name"]));
  text += fmt::format("Written by {} (program {}, LLVM {}) for {}, CPU {}, features {}.\n\n",
                      cell(record["compiler"]["producer"]), cell(record["compiler"]["sha256"]),
                      cell(record["compiler"]["llvm"]), cell(record["target"]["triple"]), cell(record["target"]["cpu"]),
                      cell(record["target"]["features"]));
  text += fmt::format("Flags: {}.\n\n", record["flags"].empty() ? "none" : cell(record["flags"]));
  const std::vector<std::pair<const char*, const char*>> files{
      {"file", "file"}, {"bytes", "bytes"}, {"sha256", "SHA-256"}};
  text += "## Inputs\n\n" + table(record["inputs"], files) + "## Outputs\n\n" + table(record["outputs"], files);
  return text + fmt::format("Constants: {} bytes, SHA-256 {}.\n\n", record["constants"]["bytes"].dump(),
                            cell(record["constants"]["sha256"]));
}

}  // namespace

std::string markdown_text(const std::string& text) {
  constexpr std::string_view kMarks = "\\`*{}[]()#+!|~$@:";
  std::string out;
  const std::string shown = printable(text);
  for (size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += kMarks.find(c) != std::string_view::npos || (c == '_' && (i == 0 || i + 1 == shown.size()))
                 ? fmt::format("\\{}", c)
                 : std::string(1, c);
  }
  return out;
}

std::string certificate_page(const Json& record) {
  std::string text = identity_text(record);
  text += "## Memory\n\n" + table(record["entries"], {{"name", "function"},
                                                      {"arena_max", "arena, bytes"},
                                                      {"stack_max", "stack, bytes"},
                                                      {"run_stack_max", "stack of the typed call, bytes"},
                                                      {"kernels", "kernels"}});
  text +=
      table(record["memory_proofs"],
            {{"function", "plan of"}, {"proved", "claims proved"}, {"refuted", "refuted"}, {"undecided", "undecided"}});
  text += "## Deviations\n\n" + requirements_text(record["requirements"], "deviation");
  text += "\n## Requirements that are met\n\n" + requirements_text(record["requirements"], "met");
  text += "\n## Requirements that do not apply\n\n" + requirements_text(record["requirements"], "not applicable");
  text += "\n## Kernels\n\n";
  for (const Json& kernel : record["kernels"]) text += kernel_section(kernel);
  return text;
}

}  // namespace relaxc::driver
