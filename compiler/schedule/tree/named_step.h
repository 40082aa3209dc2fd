// named_step.h: a step as a trace keeps it: its primitive, and its arguments by name.
//
// A step itself names loops, blocks and buffers by ids, which only the tree that made them knows, and names change with
// every step. So a trace keeps for each step the names that the tree had just before it; trace/trace.h prints, parses
// and replays them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace relaxc::schedule {

struct StepInfo;

/// A loop, a block or a buffer, as tree/names.h spells it; "-" where a step may name no loop.
struct Name {
  std::string text;
};
/// One of two words that StepInfo::arguments lists, such as "masked|peeled".
struct Keyword {
  std::string text;
};
using Names = std::vector<Name>;
using Numbers = std::vector<int64_t>;
using Argument = std::variant<Name, Names, int64_t, Numbers, Keyword>;

struct NamedStep {
  const StepInfo* primitive = nullptr;
  std::vector<Argument> arguments;  ///< one for each word of StepInfo::arguments
};

/// The steps that were applied to a tree, in order. Copies of a tree, which plans are tried on, share them.
using Trace = std::vector<std::shared_ptr<const NamedStep>>;

}  // namespace relaxc::schedule
