// flag_checks.h: validators of flag values, and error messages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace relaxc::api {

/// Accepts a value of `names`; help shows the list, and the message suggests the nearest name.
CLI::Validator one_of(std::vector<std::string> names);
/// Accepts an integer in [lower, upper]; help does not show the range.
CLI::Validator between(int64_t lower, int64_t upper);
/// Accepts seconds: more than 0, and at most 1e9. Help does not show the range.
CLI::Validator seconds();
/// Returns the names of a flag, with their dashes; empty for positional arguments.
std::vector<std::string> typed_names(const CLI::Option& option);
/// Returns the message for a command line that `app` refused with `error`: what was found and what would be right.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace relaxc::api
