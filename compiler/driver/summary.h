// summary.h: what `-v` tells of a compiled object, and the states that `--check` proposes.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::driver {

/// One line each: the target; every entry with its inputs, outputs, symbols, kernels and arena; the weights.
std::vector<std::string> summary(const interface::Object& object, const Target& target);

/// An input and an output of `function` that look like one state: dtype and dims are the same, the names differ only in
/// words such as in/out, past/present, 0/n, and no other pair fits either of them.
struct StateProposal {
  std::string function;
  State state;
};
std::vector<StateProposal> propose_states(const interface::Object& object);

/// What names of a state's two ends have in common: "h0", "hn" and "h_out" give "h". Empty if nothing is left.
std::string state_stem(const std::string& name);

}  // namespace relaxc::driver
