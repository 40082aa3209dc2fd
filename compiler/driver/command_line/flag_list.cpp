// flag_list.cpp: see flag_list.h.
#include "compiler/driver/command_line/flag_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "compiler/api/flags/flag_checks.h"
#include "compiler/pipeline/pipelines.h"
#include "targets/machine.h"

namespace relaxc::driver {
namespace {

/// Returns the choices in a type of the form "TEXT:{a,b,c}".
std::vector<std::string> choices_of(const std::string& type) {
  size_t begin = type.find('{'), end = type.find('}');
  std::vector<std::string> list;
  if (begin == std::string::npos || end == std::string::npos) return list;
  for (size_t at = begin + 1; at <= end;) {
    size_t comma = std::min(type.find(',', at), end);
    list.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return list;
}

void add_words(Flag& flag) {
  flag.words = flag.choices;
  if (flag.value == "PASS") {
    for (const Pass& pass : compile_pipeline()) flag.words.emplace_back(pass.name);
    std::sort(flag.words.begin(), flag.words.end());
  }
  if (flag.names.front() == "--target") {
    for (const KnownMachine& machine : known_machines()) flag.words.emplace_back(machine.name);
    flag.words.emplace_back("native");
    flag.or_file = true;
  }
}

}  // namespace

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    Flag flag;
    flag.names = typed_names(*option);
    flag.positional = flag.names.empty();
    if (flag.positional) flag.names.push_back(option->get_name());
    flag.text = option->get_description();
    flag.group = option->get_group();
    if (option->get_items_expected_max() > 0) {
      std::string type = option->get_type_name();
      flag.choices = choices_of(type);
      flag.value = flag.choices.empty() ? type : fmt::format("{}", fmt::join(flag.choices, "|"));
    }
    add_words(flag);
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::vector<const CLI::App*> tools_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<Flag> by_group(const std::vector<Flag>& flags) {
  std::vector<Flag> sorted;
  std::set<std::string> seen;
  for (const Flag& first : flags)
    if (seen.insert(first.group).second)
      std::copy_if(flags.begin(), flags.end(), std::back_inserter(sorted),
                   [&](const Flag& flag) { return flag.group == first.group; });
  return sorted;
}

}  // namespace relaxc::driver
