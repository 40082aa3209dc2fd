// help_text.cpp: help in three lengths.
//
// The list of all flags has two hundred lines, which scroll away. So --help alone prints a page of the most used flags,
// and of the other topics; it fits a screen of 24 lines of 80 columns.
#include "compiler/driver/command_line/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/command_line/flag_list.h"

namespace relaxc::driver {
namespace {

constexpr size_t kColumns = 80, kTextColumn = 26;

constexpr Example kExamples[] = {
    {"relaxc net.onnx -o net.o", "an object and its header net.h"},
    {"relaxc net.onnx -o net.o --dim n=1..8", "the same, with a bound for a dim"},
    {"relaxc net.onnx -o net.c --target cortex-m4", "C for a machine of --print-targets"},
    {"relaxc net.onnx -o net", "a program that reads .npy files"},
    {"relaxc --check net.onnx", "why it cannot be compiled"},
    {"relaxc bench net.onnx -j 2", "its speed on this machine"},
};

/// Breaks `text` before kColumns and indents following lines by `indent` blanks; the first line starts at `column`.
std::string wrapped(const std::string& text, size_t column, size_t indent) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t blank = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, blank - at);
    bool breaks = !out.empty() && column + 1 + word.size() > kColumns;
    out += out.empty() ? word : breaks ? "\n" + std::string(indent, ' ') + word : " " + word;
    column = (breaks ? indent : column + (at == 0 ? 0 : 1)) + word.size();
    at = blank + 1;
  }
  return out;
}

std::string entry(const Flag& flag) {
  std::string name = fmt::format("  {}{}{}", fmt::join(flag.names, ", "),
                                 flag.value.empty() || flag.positional || flag.value[0] == '[' ? "" : " ",
                                 flag.positional ? "" : flag.value);
  bool fits = name.size() + 2 <= kTextColumn;
  std::string lead = fits ? std::string(kTextColumn - name.size(), ' ') : "\n" + std::string(kTextColumn, ' ');
  return name + lead + wrapped(flag.text, kTextColumn, kTextColumn) + "\n";
}

/// Returns the first word of a group's heading in lower case, which is the topic of --help=GROUP.
std::string topic_of(const std::string& group) {
  std::string word = group.substr(0, group.find(' '));
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return word;
}

/// Returns the flags of one topic, or of all if `topic` is empty.
std::string flag_pages(const CLI::App& app, const std::string& topic) {
  std::string text, group;
  for (const Flag& flag : by_group(flags_of(app))) {
    if (!topic.empty() && topic_of(flag.group) != topic) continue;
    if (flag.group != group) text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", flag.group);
    group = flag.group;
    text += entry(flag);
  }
  return text;
}

std::string usage(const CLI::App& app) {
  std::string text = app.get_description() +
                     "\n\nUsage: relaxc [FLAGS] INPUT -o OUTPUT\n"
                     "       relaxc run|verify|bench|tune|inspect [FLAGS] MODEL [DATA ...]\n"
                     "       relaxc lsp [FLAGS]\n\n"
                     "INPUT is an ONNX model, a TFLite model or a program in Relay or the text\n"
                     "IR. The extension of OUTPUT selects what is written.\n\n";
  for (const Example& example : kExamples) text += fmt::format("  {:<44}{}\n", example.command, example.text);
  text += "\n" +
          wrapped(fmt::format("--help=GROUP lists the flags of a group: {}.", fmt::join(help_topics(app), ", ")), 0, 2);
  return text + "\nrelaxc TOOL --help describes a tool, relaxc --man prints the whole manual.\n";
}

std::string tool_page(const CLI::App& tool) {
  bool data = tool.get_option_no_throw("DATA") != nullptr;
  std::string head =
      fmt::format("relaxc {} [FLAGS] MODEL{}: {}.", tool.get_name(), data ? " [DATA ...]" : "", tool.get_description());
  return fmt::format(
      "{}\n\n{}\n{}\n", wrapped(head, 0, 4), flag_pages(tool, ""),
      wrapped("It also takes the flags of a compilation, except those of the output: relaxc --help=all.", 0, 0));
}

}  // namespace

std::span<const Example> examples() {
  return kExamples;
}

std::vector<std::string> help_topics(const CLI::App& app) {
  std::vector<std::string> topics;
  for (const Flag& flag : by_group(flags_of(app)))
    if (std::string topic = topic_of(flag.group); topics.empty() || topics.back() != topic) topics.push_back(topic);
  topics.emplace_back("all");
  return topics;
}

std::optional<std::string> help_text(const CLI::App& app, const std::string& topic) {
  if (topic == "usage") {
    std::vector<const CLI::App*> named = app.get_subcommands([](const CLI::App* tool) { return tool->parsed(); });
    return named.empty() ? usage(app) : tool_page(*named.front());
  }
  if (topic == "all") {
    std::string text = flag_pages(app, "");
    for (const CLI::App* tool : tools_of(app)) text += "\n" + tool_page(*tool);
    return text;
  }
  std::string page = flag_pages(app, topic);
  return page.empty() ? std::nullopt : std::optional<std::string>(page);
}

}  // namespace relaxc::driver
