// flag_checks.h: what values a flag takes, and what is said to who gives others.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace relaxc::api {

/// A value that is one of `names`; help shows the list, and the message says which one is near.
CLI::Validator one_of(std::vector<std::string> names);
/// An integer from `lower` to `upper`, which help does not show.
CLI::Validator between(int64_t lower, int64_t upper);
/// Seconds: more than 0, and at most 1e9. Help does not show it.
CLI::Validator seconds();
/// The names that a flag is called by, with their dashes as they are typed; empty for positional arguments.
std::vector<std::string> typed_names(const CLI::Option& option);
/// What was found and what would be right, of a command line that `app` refused with `error`.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace relaxc::api
