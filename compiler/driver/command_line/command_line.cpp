// command_line.cpp: prepares argv for CLI11 and handles its result.
//
// Flags that compiler users know keep their names: -MD, -MF, -MT and -MP are long options with one dash, which CLI11
// does not support, so they get a second dash before CLI11 sees them. `--check` takes a format only after an equals
// sign, since the next word may be the input; CLI11 would take that word.
#include "compiler/driver/command_line/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/api/flags/flag_checks.h"
#include "compiler/api/flags/flags.h"
#include "compiler/api/version.h"
#include "compiler/driver/command_line/help_pages.h"
#include "compiler/driver/command_line/help_text.h"
#include "compiler/driver/command_line/program_flags.h"
#include "compiler/support/quote.h"
#include "compiler/support/tell.h"

namespace relaxc::driver {
namespace {

std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = argc - 1; i > 0; --i) {  // CLI11 takes the arguments in reverse order
    std::string arg = argv[i];
    bool old_spelling =
        arg.size() >= 3 && arg[0] == '-' && arg[1] == 'M' && std::string_view("DFTP").find(arg[2]) != std::string::npos;
    if (old_spelling) {
      if (arg.size() > 3) out.push_back(arg.substr(3));
      arg = "-" + arg.substr(0, 3);
    }
    if (arg == "--check") arg = "--check=text";
    out.push_back(std::move(arg));
  }
  return out;
}

int refuse(const std::string& why) {
  tell("relaxc: error: {}\nRun with --help for more information.\n", printable(why));
  return 2;
}

/// Prints the help on a topic, or the general page, and returns the exit code.
int print_help(const CLI::App& app, const std::string& topic) {
  std::optional<std::string> text = help_text(app, topic);
  if (!text) return refuse(fmt::format("--help={}: there are {}", topic, fmt::join(help_topics(app), ", ")));
  fmt::print("{}", *text);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

CommandLine read_command_line(int argc, char** argv) {
  CommandLine line;
  Options& o = line.options;
  CLI::App app("relaxc compiles a tensor program to a native object file and a C header.", "relaxc");
  app.set_help_flag();
  add_flags(app, o);
  std::string topic;
  CLI::Option* help =
      app.add_flag("-h{usage},--help{usage}", topic, "print help, on a group of flags with --help=GROUP, and exit");
  add_program_flags(app, o);
  add_tools(app, o);
  std::string shell;
  bool man = false;
  app.add_option("--completion", shell, "print a completion script for this shell, and exit")
      ->check(one_of({"bash", "zsh", "fish"}));
  app.add_flag("--man", man, "print a manual page, and exit");
  app.add_flag("-v,--verbose", o.verbose, "print each step: files, passes, target, kernels, sizes");
  app.set_version_flag("--version", std::string("relaxc ") + kVersion);
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::Success& success) {
    line.exit = app.exit(success);
  } catch (const CLI::ParseError& error) {
    // With --help, other arguments may be missing or wrong.
    if (help->count() == 0) line.exit = refuse(parse_message(app, error));
  }
  if (!line.exit && help->count() > 0) line.exit = print_help(app, help->results().back());
  o.passes.time_passes |= o.verbose;
  if (o.untrusted && o.time_limit == 0) o.time_limit = Options::kUntrustedSeconds;
  if (o.untrusted && o.memory_limit == 0) o.memory_limit = Options::kUntrustedBytes;
  if (!line.exit) o.object_flags = object_flags(app);
  if (!line.exit && (man || !shell.empty())) {
    fmt::print("{}", man ? man_page(app) : completion(app, shell));
    line.exit = std::fflush(stdout) == 0 ? 0 : 1;
  }
  const bool answers = o.print_targets || o.print_target || o.print_cmake_dir || !o.check_certificate.empty();
  const bool needs_none = o.tool.machine || o.tool.kind == ToolOptions::kLsp;
  if (!line.exit && !answers && !needs_none && o.input.empty())
    line.exit = refuse("no input is given; 'relaxc MODEL -o OUTPUT' compiles a model");
  return line;
}

}  // namespace relaxc::driver
