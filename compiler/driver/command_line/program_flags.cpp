// program_flags.cpp: flags that make the program print something and end, and its limits. They are under the headings
// of the compilation's flags in --help.
#include "compiler/driver/command_line/program_flags.h"

#include <fmt/format.h>

#include <cstdlib>

#include "compiler/api/flags/flag_checks.h"
#include "compiler/api/flags/flag_values.h"
#include "compiler/api/flags/flags.h"

namespace relaxc::driver {
namespace {

void add_answers(CLI::App& app, Options& o) {
  app.add_option_function<std::string>(
         "--check",
         [&](const std::string& format) { o.check = format == "json" ? CheckFormat::kJson : CheckFormat::kText; },
         "list every reason why the model does not compile, and write nothing; --check=json for programs")
      ->check(one_of({"text", "json"}))
      ->type_name("[=json]")
      ->group(kInputFlags);
  app.add_option("--certificate", o.certificate,
                 "also write what a safety case needs of the output to this folder: certificate.json and "
                 "certificate.md")
      ->type_name("DIR")
      ->group(kOutputFlags);
  app.add_option("--check-certificate", o.check_certificate,
                 "check that the INPUTs, or the files beside this folder, are those that its certificate is about, and "
                 "exit")
      ->type_name("DIR")
      ->group(kOutputFlags);
  app.add_flag("--print-target", o.print_target, "print the flags that select the chosen machine, and exit")
      ->group(kTargetFlags);
  app.add_flag("--print-targets", o.print_targets, "list the named machines, and exit")->group(kTargetFlags);
  app.add_flag("--cmake-dir", o.print_cmake_dir, "print the folder of the package for CMake (relaxc_DIR), and exit")
      ->group(kBuildFlags);
}

/// Adds limits, which decide only whether anything is written, not what.
void add_limits(CLI::App& app, Options& o) {
  app.add_option("--time-limit", o.time_limit, "fail after this many seconds, and write nothing")
      ->check(seconds())
      ->type_name("SECONDS")
      ->group(kLimitFlags);
  app.add_option_function<std::string>(
         "--max-memory",
         [&](const std::string& given) {
           std::optional<uint64_t> parsed = parse_bytes(given);
           if (!parsed || *parsed == 0)
             throw CLI::ConversionError("--max-memory: expected bytes, as in 500000000, 512M or 2G, found '" + given +
                                        "'");
           o.memory_limit = *parsed;
         },
         "fail if more memory is needed, not counting mapped files, and write nothing: 512M")
      ->type_name("BYTES")
      ->group(kLimitFlags);
}

}  // namespace

void add_program_flags(CLI::App& app, Options& o) {
  add_answers(app, o);
  add_limits(app, o);
}

}  // namespace relaxc::driver
