// trace.h: the steps that were applied to a kernel: printed, parsed and replayed.
//
// In memory a trace is a list of typed steps (tree/named_step.h). As text a step is a line: the name of a primitive and
// its arguments, with names as tree/names.h gives them. A "#" starts a comment, except within a name ("i#2"). In an
// attribute of a prim func the steps are in one line, separated by semicolons.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/primitives/steps.h"

namespace relaxc::schedule {

/// All steps, by name.
std::span<const StepInfo> primitives();

/// The present name of a step that had this name in an earlier version, and any other name as it is. All functions here
/// read former names, too.
std::string_view current_step_name(std::string_view step);

/// A step of a text, and its place there.
struct StepText {
  std::string_view text;
  size_t begin = 0;
};
/// The steps of a text, without comments.
std::vector<StepText> steps_of(std::string_view text);
/// Whether a step of this text may change bits of what the kernel computes. Steps of unknown names do not count.
bool changes_bits(std::string_view trace);
/// Whether machines may round a step of this text in their own way.
bool rounds_by_machine(std::string_view trace);

/// "split i 8 peeled"
std::string to_string(const NamedStep& step);
std::string to_string(const Trace& trace, std::string_view separator = "; ");
/// Reads a step. Illegal, with what would be right: there is no such primitive, or its arguments are others.
Legal<NamedStep> parse_step(std::string_view text);
/// Applies a step to a tree that has what it names. Illegal: it names what is not there, or the step is not legal.
Legal<> replay(Tree& tree, const NamedStep& step);
/// Reads a step and applies it.
Legal<> apply_text(Tree& tree, std::string_view step);

}  // namespace relaxc::schedule
