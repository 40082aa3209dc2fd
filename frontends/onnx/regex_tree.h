// regex_tree.h: parses a regular expression to a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace relaxc::frontend::regex {

/// Code points from `low` to `high`, both included.
struct Range {
  uint32_t low, high;
};
enum class Kind : uint8_t { kClass, kAssert, kSequence, kChoice, kRepeat };
enum class Assertion : uint8_t { kBegin, kEnd, kBoundary, kNoBoundary };

struct Node {
  Kind kind;
  std::vector<Range> ranges = {};  ///< class: ascending and disjoint
  Assertion assertion = Assertion::kBegin;
  std::vector<int> children = {};
  int least = 0, most = -1;  ///< repeat: -1 is unlimited
};
struct Tree {
  std::vector<Node> nodes;
  int root = 0;
};

/// Returns the tree of a pattern in RE2's syntax, or the error.
std::variant<Tree, std::string> parse(std::string_view pattern);

}  // namespace relaxc::frontend::regex
