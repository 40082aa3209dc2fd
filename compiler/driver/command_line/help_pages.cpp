// help_pages.cpp: prints the list of flags as a man page and as completions.
#include "compiler/driver/command_line/help_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/api/version.h"
#include "compiler/driver/command_line/flag_list.h"
#include "compiler/driver/command_line/help_text.h"

namespace relaxc::driver {
namespace {

/// Escapes text so that man(7) prints it as it is.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

std::string man_flags(const CLI::App& app) {
  std::string text, group;
  std::vector<Flag> flags = by_group(flags_of(app));
  bool grouped = std::any_of(flags.begin(), flags.end(), [&](const Flag& f) { return f.group != flags[0].group; });
  for (const Flag& flag : flags) {
    if (grouped && flag.group != group) text += fmt::format(".SS {}\n", roff(flag.group));
    group = flag.group;
    std::string value = flag.value.empty() || flag.positional ? "" : " \\fI" + roff(flag.value) + "\\fR";
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(fmt::format("{}", fmt::join(flag.names, ", "))), value,
                        roff(flag.text));
  }
  return text;
}

std::string bash(const CLI::App& app) {
  std::string tools, names;
  for (const CLI::App* tool : tools_of(app)) tools += tool->get_name() + " ";
  std::string text =
      "# relaxc's completion for bash\n_relaxc() {\n  local word=${COMP_WORDS[COMP_CWORD]} "
      "before=${COMP_WORDS[COMP_CWORD-1]} flags\n";
  text += "  case $before in\n";
  for (const Flag& flag : flags_of(app)) {
    if (flag.positional) continue;
    names += fmt::format("{} ", fmt::join(flag.names, " "));
    if (!flag.words.empty())
      text += fmt::format("    {}) COMPREPLY=($(compgen{} -W '{}' -- \"$word\")); return ;;\n",
                          fmt::join(flag.names, "|"), flag.or_file ? " -f" : "", fmt::join(flag.words, " "));
  }
  text += fmt::format("  esac\n  flags='{}'\n  case ${{COMP_WORDS[1]}} in\n", names);
  for (const CLI::App* tool : tools_of(app)) {
    std::string more;
    for (const Flag& flag : flags_of(*tool))
      if (!flag.positional) more += fmt::format("{} ", fmt::join(flag.names, " "));
    text += fmt::format("    {}) flags+='{}' ;;\n", tool->get_name(), more);
  }
  text += fmt::format(
      "  esac\n  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "    ((COMP_CWORD == 1)) && COMPREPLY+=($(compgen -W '{}' -- \"$word\"))\n  fi\n}}\n"
      "complete -o filenames -F _relaxc relaxc\n",
      tools);
  return text;
}

/// Escapes text for single quotes in a completion script, for bash or zsh.
std::string quoted(const std::string& text, bool zsh) {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += zsh ? "'\\''" : "\\'";
    else if (zsh && (c == '[' || c == ']' || c == ':'))
      out += std::string("\\") + c;
    else if (!zsh && c == '\\')
      out += "\\\\";
    else
      out += c;
  }
  return out;
}

std::string zsh_arguments(const CLI::App& app) {
  std::string text;
  for (const Flag& flag : flags_of(app)) {
    if (flag.positional) continue;
    std::string words = fmt::format("({})", fmt::join(flag.words, " "));
    std::string action = flag.words.empty() ? "_files" : words;
    if (flag.or_file) action = fmt::format("_alternative \"words:word:{}\" \"files:file:_files\"", words);
    for (const std::string& name : flag.names)
      text += fmt::format(" \\\n    '{}[{}]{}'", name, quoted(flag.text, true),
                          flag.value.empty() ? "" : fmt::format(":{}:{}", quoted(flag.value, true), action));
  }
  return text;
}

std::string zsh(const CLI::App& app) {
  std::string text = "#compdef relaxc\nlocal -a tools\n", tools;
  for (const CLI::App* tool : tools_of(app))
    tools += fmt::format(" '{}:{}'", tool->get_name(), quoted(tool->get_description(), true));
  text += fmt::format("tools=({})\n((CURRENT == 2)) && _describe tool tools\ncase $words[2] in\n", tools);
  for (const CLI::App* tool : tools_of(app))
    text += fmt::format("  {}) _arguments{}{} '*:file:_files' ;;\n", tool->get_name(), zsh_arguments(*tool),
                        zsh_arguments(app));
  return text + fmt::format("  *) _arguments{} '*:file:_files' ;;\nesac\n", zsh_arguments(app));
}

std::string fish_flags(const CLI::App& app, const std::string& condition) {
  std::string text;
  for (const Flag& flag : flags_of(app)) {
    if (flag.positional) continue;
    text += "complete -c relaxc" + condition;
    for (const std::string& name : flag.names) {
      bool is_long = name.rfind("--", 0) == 0;
      text += fmt::format(" -{} {}", is_long ? "l" : name.size() == 2 ? "s" : "o", name.substr(is_long ? 2 : 1));
    }
    if (!flag.value.empty()) text += " -r";
    if (!flag.words.empty()) text += fmt::format(" -a '{}'", fmt::join(flag.words, " "));
    text += fmt::format(" -d '{}'\n", quoted(flag.text, false));
  }
  return text;
}

std::string fish(const CLI::App& app) {
  std::string text = "# relaxc's completion for fish\n";
  for (const CLI::App* tool : tools_of(app)) {
    text += fmt::format("complete -c relaxc -n __fish_use_subcommand -a {} -d '{}'\n", tool->get_name(),
                        quoted(tool->get_description(), false));
    text += fish_flags(*tool, fmt::format(" -n '__fish_seen_subcommand_from {}'", tool->get_name()));
  }
  return text + fish_flags(app, "");
}

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH RELAXC 1 \"\" \"relaxc {}\"\n.SH NAME\nrelaxc \\- compile a tensor program to an object file\n.SH SYNOPSIS\n"
      ".B relaxc\n[\\fIflags\\fR] \\fIINPUT\\fR \\-o \\fIOUTPUT\\fR\n",
      api::kVersion);
  for (const CLI::App* tool : tools_of(app))
    text += fmt::format(".br\n.B relaxc {}\n[\\fIflags\\fR] \\fIMODEL\\fR{}\n", tool->get_name(),
                        tool->get_option_no_throw("DATA") != nullptr ? " [\\fIDATA\\fR ...]" : "");
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}", roff(app.get_description()), man_flags(app));
  for (const CLI::App* tool : tools_of(app))
    text += fmt::format(".SH relaxc {}\nTo {}. Takes all of the flags above except those of the output, and\n{}",
                        tool->get_name(), roff(tool->get_description()), man_flags(*tool));
  text += ".SH EXAMPLES\n";
  for (const Example& example : examples())
    text += fmt::format(".TP\n.B {}\n{}\n", roff(example.command), roff(example.text));
  return text +
         ".SH EXIT STATUS\n0: done. 1: the input is at fault, or verify found a difference. 2: the command line is "
         "at fault. 70: relaxc is at fault.\n";
}

std::string completion(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
}

}  // namespace relaxc::driver
