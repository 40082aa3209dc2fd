// trace.h: what was done to a kernel, as a text that can be read, edited and applied again.
//
// A step is a line: the name of a primitive and its arguments, with names as tree/names.h gives them. What stands
// behind a "#" is a comment ("i#2" is a name). In an attribute of a prim func steps stand in one line, with semicolons
// between them.
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
std::string_view present_name(std::string_view step);

/// A step of a text, and where it stands there.
struct StepText {
  std::string_view text;
  size_t begin = 0;
};
/// The steps of a text, without comments.
std::vector<StepText> steps_of(std::string_view text);
std::string in_one_line(std::string_view trace);
/// Whether a step of the trace may change bits of what the kernel computes. Names of no primitive are passed over.
bool changes_bits(std::string_view trace);
/// Whether machines may round a step of the trace in their own way.
bool rounds_by_machine(std::string_view trace);

/// Reads a step, with names as the tree has them now. Illegal, with what would be right, if there is no such primitive,
/// or if what it names is not there.
Legal<Step> parse_step(const Tree& tree, std::string_view text);
/// Reads a step and does it.
Legal<> apply_text(Tree& tree, std::string_view step);

}  // namespace relaxc::schedule
