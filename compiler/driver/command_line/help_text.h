// help_text.h: the output of --help.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

namespace relaxc::driver {

/// A command line, and what it does.
struct Example {
  const char *command, *text;
};
std::span<const Example> examples();

/// Returns the page for a topic: "usage" (fits a screen), "all", or the first word of a heading, such as "target". If
/// the command line names a tool, "usage" is the tool's page. nullopt if there is no such topic.
std::optional<std::string> help_text(const CLI::App& app, const std::string& topic);
/// Returns all topics.
std::vector<std::string> help_topics(const CLI::App& app);

}  // namespace relaxc::driver
