// regex_tree.h: a regular expression as a tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace relaxc::frontend::regex {

/// Code points from `low` to `high`.
struct Range {
  uint32_t low, high;
};
enum class Kind : uint8_t { kClass, kAssert, kSequence, kChoice, kRepeat };
enum class Assertion : uint8_t { kBegin, kEnd, kBoundary, kNoBoundary };

struct Node {
  Kind kind;
  std::vector<Range> ranges = {};  ///< class: in ascending order, apart from each other
  Assertion assertion = Assertion::kBegin;
  std::vector<int> children = {};
  int least = 0, most = -1;  ///< repeat: -1 is without end
};
struct Tree {
  std::vector<Node> nodes;
  int root = 0;
};

/// The tree of a pattern in RE2's syntax, or what is wrong with it.
std::variant<Tree, std::string> parse(std::string_view pattern);

}  // namespace relaxc::frontend::regex
