// help_text.h: what --help prints.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

namespace relaxc::driver {

/// A command and what it is for.
struct Example {
  const char *command, *text;
};
std::span<const Example> examples();

/// `topic`: "usage" (a page that fits a screen), "all", or the first word of a heading, as "target". If a tool is
/// named on the command line and the topic is "usage", the page is the tool's. Nothing if there is no such topic.
std::optional<std::string> help_text(const CLI::App& app, const std::string& topic);
/// All topics.
std::vector<std::string> help_topics(const CLI::App& app);

}  // namespace relaxc::driver
