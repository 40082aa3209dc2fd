// golden_file.h: a test in the text IR: an input, and what it must become.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace relaxc::test {

/// `# passes: a, b` in the comments at the top (`all`: the compile pipeline), and `# options: a.x=1` if passes take
/// numbers, `# pools: fast=256` for memories beside the arena, `# pointers: 32` for a machine of other than 64
/// bits, and lines `# external: …` of a file of external patterns; then the input; then, after a line `# ---- expect`,
/// `# ---- equiv` or `# ---- errors`, what it must become. The input keeps its lines, so that places in messages are
/// those of the file.
struct GoldenFile {
  enum Kind { kRoundTrip, kExpect, kEquiv, kErrors };
  std::string path;
  std::vector<std::string> passes;
  std::map<std::string, int64_t, std::less<>> options;  ///< of passes
  std::vector<std::pair<std::string, uint64_t>> pools;
  int32_t pointer_bits = 64;
  std::string external;  ///< a file of external patterns; empty: none
  Kind kind = kRoundTrip;
  std::string input;
  std::string wanted;  ///< of kErrors the lines without their "# "
};

/// Reads a file; throws std::runtime_error if that fails.
GoldenFile read_golden(const std::string& path);
/// Replaces what the file wants.
void write_golden(const GoldenFile& golden, const std::string& wanted);

}  // namespace relaxc::test
