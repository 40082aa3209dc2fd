// step.h: what a primitive is: a step of a schedule, as a type.
//
// Each step is a struct in a file of its own: its arguments as fields, what it is called and does (kInfo), `legal`,
// which looks at the tree and says why not or gives the facts that it found, and `apply`, which changes the tree by
// these facts and asks nothing again. `legal` keeps what the kernel computes: an edited trace is refused and never
// computes something else. steps.h lists all of them; parser, printer, docs and tests come from that list.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

struct StepInfo {
  std::string_view name;
  std::string_view arguments;  ///< one word for each field: "LOOP FACTOR masked|peeled"
  std::string_view doc;
  bool changes_bits = false;  ///< it may change the order or the rounding of sums
  /// What a machine makes of it may round otherwise than its meaning, and flush subnormals to zero. Changes bits, too.
  bool rounds_by_machine = false;
};

/// A loop by its id; 0: none.
struct LoopId {
  uint32_t id = 0;
  constexpr LoopId(uint32_t loop = 0) : id(loop) {}
  constexpr operator uint32_t() const { return id; }
};

/// A block by its id.
struct BlockId {
  uint32_t id = 0;
  constexpr BlockId(uint32_t block = 0) : id(block) {}
  constexpr operator uint32_t() const { return id; }
};

/// Blocks of the kernel, whatever is in focus.
struct BlockIds {
  std::vector<uint32_t> ids;
};

/// The step with the names that the tree has now.
template <typename S>
NamedStep named(const Tree& tree, const S& step);

/// Applies the step and adds it to the tree's trace. A step that is not legal changes nothing; the answer is the
/// reason.
template <typename S>
Legal<typename S::Made> apply(Tree& tree, const S& step) {
  RELAXC_STEP(const typename S::Facts facts, step.legal(tree));
  if constexpr (requires { S::changes_nothing(facts); })
    if (S::changes_nothing(facts)) return typename S::Made{};
  NamedStep note = named(tree, step);
  typename S::Made made = step.apply(tree, facts);
  tree.note(std::move(note));
  return made;
}

}  // namespace relaxc::schedule

#include "compiler/schedule/primitives/step_arguments.h"
