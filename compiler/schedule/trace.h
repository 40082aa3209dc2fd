// trace.h: what was done to a kernel, as a text that can be read, edited and applied again.
//
// A step is a line: the name of a primitive and its arguments, with names as names.cpp gives them. What stands behind a
// "#" is a comment ("i#2" is a name). In an attribute of a prim func steps stand in one line, with semicolons between
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace relaxc::schedule {

class Arguments;

/// A primitive as a step of a trace.
struct Primitive {
  std::string_view name;
  std::string_view arguments;  ///< what they are, one word each: "LOOP FACTOR masked|peeled"
  std::string_view doc;
  void (*apply)(Schedule& s, const Arguments& arguments);
  bool changes_bits = false;  ///< it may change the order or the rounding of sums
};

/// All of them, by name.
std::span<const Primitive> primitives();

/// A step of a text, and where it stands there.
struct Step {
  std::string_view text;
  size_t begin = 0;
};
/// The steps of a text, without comments.
std::vector<Step> steps_of(std::string_view text);
std::string in_one_line(std::string_view trace);
/// Whether a step of the trace may change bits of what the kernel computes. Names of no primitive are passed over.
bool changes_bits(std::string_view trace);
/// A name as steps have it: in quotes, unless it is of letters, digits, underscores and dots.
std::string spelled(std::string_view name);
/// The words of a step: names, in quotes or not, numbers, and lists in brackets. Throws IllegalStep where a quote or a
/// bracket is not closed.
std::vector<std::string_view> words_of(std::string_view step);

/// Does one step. Throws IllegalStep, with what is wrong and what would be right, if there is no such primitive, if
/// what it names is not there, or if it would change what the kernel computes.
void apply(Schedule& s, std::string_view step);

}  // namespace relaxc::schedule
