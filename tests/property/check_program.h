// check_program.h: one program, run in every way there is.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/op_def.h"
#include "targets/target.h"

namespace relaxc::property {

/// What a check found. Of a program that holds, `what` has three numbers: runs, those that end early, and whether a
/// schedule reordered sums. `where` names the step (and the place of an internal error), so that two programs that fail
/// for one reason have one `where`.
struct Finding {
  enum Kind { kHolds, kRefused, kFails } kind = kHolds;
  std::string where, what;
};

struct Checks {
  bool prefixes = true;  ///< interprets the module after passes in the middle
  bool jit = true;
  bool exact = false;    ///< inputs are whole numbers, and bits are compared whatever a schedule reordered
  bool objects = false;  ///< compiles, links and loads by both backends, at -O0 and -O3, what calls nothing outside
};

/// Parses, prints, transforms, interprets and compiles `text`, and compares what each step gives with what the
/// interpreter gives for the source: the same bits, unless a schedule reordered a sum, and then the backends are
/// compared with the interpreter on what was scheduled. `constants` as for frontend::parse_module.
Finding check_program(const std::string& text, const std::vector<relax::ConstantRef>& constants,
                      const relax::OpTable& ops, uint64_t seed, const Checks& checks);

}  // namespace relaxc::property
