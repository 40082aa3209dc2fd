// summary.h: what `-v` prints of a compiled object, and the states that `--check` proposes.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/observe/profile.h"
#include "compiler/driver/options.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::driver {

/// One line each: the target; every entry with its inputs, outputs, symbols, kernels and arena; the weights.
std::vector<std::string> summary(const interface::Object& object, const Target& target);

/// One line for each constant whose data is in several forms: as it is, transposed, packed.
std::vector<std::string> several_forms(const interface::Weights& weights);

/// Several lines: the target, the weights, and each entry with the dtypes and dims of its inputs and outputs, the range
/// of its symbols and its arena.
std::string contents(const interface::Object& object, const Target& target);
/// A table of the kernels of a profile, the slowest first: calls, operations, bytes, share of the estimated time.
std::string work(const EntryProfile& profile);

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
