// summary.h: the output of `-v` for a compiled object, and the states that `--check` proposes.
#pragma once

#include <string>
#include <vector>

#include "compiler/api/observe/profile.h"
#include "compiler/driver/options.h"
#include "compiler/interface/object.h"
#include "targets/target.h"

namespace relaxc::driver {

/// Returns a line each for the target, every entry (inputs, outputs, symbols, kernels, arena) and the weights.
std::vector<std::string> summary(const interface::Object& object, const Target& target);

/// Returns a line for each constant whose data is in several forms: as it is, transposed, packed.
std::vector<std::string> several_forms(const interface::Weights& weights);

/// Returns several lines: the target, the weights, and each entry with the dtypes and dims of its inputs and outputs,
/// the range of its symbols and its arena.
std::string contents(const interface::Object& object, const Target& target);
/// Returns a table of the kernels of a profile, slowest first: calls, operations, bytes, share of the estimated time.
std::string work(const EntryProfile& profile);

/// An input and an output of `function` that look like a state: dtype and dims are equal, the names differ only in
/// words such as in/out, past/present, 0/n, and neither matches another tensor.
struct StateProposal {
  std::string function;
  State state;
};
std::vector<StateProposal> propose_states(const interface::Object& object);

/// Returns the common part of the names of a state: "h" for "h0", "hn" and "h_out". May be empty.
std::string state_stem(const std::string& name);

}  // namespace relaxc::driver
