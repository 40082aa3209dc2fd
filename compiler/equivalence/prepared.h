// prepared.h: runs a function whose weights another one prepares (transform/graph/lift_transform_params.cpp) with the
// inputs of the program that it was made of.
#pragma once

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/object.h"

namespace relaxc::equivalence {

/// Returns the names of the inputs of a function of `module`, or of the entry that it was lowered to; tuples are lists.
std::vector<std::string> input_names(const relax::Module& module, const interface::Object& object,
                                     const std::string& function);

using RunFunction = std::function<Outcome(const std::string& function, const std::vector<HostTensor>& inputs)>;

/// Runs `function` on inputs called `names`, by `run`. If it does not have them all any more, NAME_prepare runs first,
/// and what that returns is an input by its name.
Outcome run_prepared(const relax::Module& module, const interface::Object& object, const std::string& function,
                     const std::vector<std::string>& names, const std::vector<HostTensor>& inputs,
                     const RunFunction& run);

}  // namespace relaxc::equivalence
