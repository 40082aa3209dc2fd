// read_flags.cpp: see read_flags.h.
#include "compiler/api/flags/read_flags.h"

#include <algorithm>

#include "compiler/api/flags/flag_checks.h"
#include "compiler/api/flags/flags.h"

namespace relaxc::api {

std::string read_flags(std::vector<std::string> arguments, CompileOptions& options) {
  CLI::App app;
  app.set_help_flag();
  add_flags(app, options);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes arguments in reverse order
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return parse_message(app, error);
  }
  options.object_flags = object_flags(app);
  return {};
}

}  // namespace relaxc::api
