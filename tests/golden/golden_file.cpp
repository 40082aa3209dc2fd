// golden_file.cpp: reading and rewriting tests in the text IR.
#include "tests/golden/golden_file.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace relaxc::test {
namespace {

constexpr const char* kMarkers[] = {"", "# ---- expect", "# ---- equiv", "# ---- errors"};

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::stringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) {
    size_t begin = name.find_first_not_of(" \t"), end = name.find_last_not_of(" \t\r");
    if (begin != std::string::npos) names.push_back(name.substr(begin, end - begin + 1));
  }
  return names;
}

}  // namespace

GoldenFile read_golden(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path);
  GoldenFile golden;
  golden.path = path;
  bool input = true;
  for (std::string line; std::getline(stream, line);) {
    bool marker = false;
    for (int kind = GoldenFile::kExpect; kind <= GoldenFile::kErrors && input; ++kind)
      if (line == kMarkers[kind]) {
        golden.kind = static_cast<GoldenFile::Kind>(kind);
        input = false;
        marker = true;
      }
    if (marker) continue;
    constexpr std::string_view kPasses = "# passes:";
    if (input && line.rfind(kPasses, 0) == 0) golden.passes = split_names(line.substr(kPasses.size()));
    constexpr std::string_view kOptions = "# options:";
    if (input && line.rfind(kOptions, 0) == 0)
      for (const std::string& option : split_names(line.substr(kOptions.size())))
        golden.options[option.substr(0, option.find('='))] = std::stoll(option.substr(option.find('=') + 1));
    constexpr std::string_view kPools = "# pools:";
    if (input && line.rfind(kPools, 0) == 0)
      for (const std::string& pool : split_names(line.substr(kPools.size())))
        golden.pools.emplace_back(pool.substr(0, pool.find('=')), std::stoull(pool.substr(pool.find('=') + 1)));
    constexpr std::string_view kExternal = "# external:";
    if (input && line.rfind(kExternal, 0) == 0)
      golden.external +=
          (golden.external.empty() ? "relaxc external patterns 1\n" : "") + line.substr(kExternal.size()) + "\n";
    constexpr std::string_view kPointers = "# pointers:";
    if (input && line.rfind(kPointers, 0) == 0) golden.pointer_bits = std::stoi(line.substr(kPointers.size()));
    if (golden.kind == GoldenFile::kErrors) line = line.rfind("# ", 0) == 0 ? line.substr(2) : line;
    (input ? golden.input : golden.wanted) += line + "\n";
  }
  return golden;
}

void write_golden(const GoldenFile& golden, const std::string& wanted) {
  std::ofstream stream(golden.path, std::ios::binary);
  stream << golden.input << kMarkers[golden.kind] << "\n";
  std::stringstream lines(wanted);
  for (std::string line; std::getline(lines, line);)
    stream << (golden.kind == GoldenFile::kErrors ? "# " : "") << line << "\n";
  if (!stream) throw std::runtime_error("cannot write " + golden.path);
}

}  // namespace relaxc::test
