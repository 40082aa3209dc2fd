// bind.h: which part of a program a tensor of a file of weights stands for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/module.h"
#include "frontends/weights/weights.h"

namespace relaxc::frontend {

/// The tensors that stand for `metadata["relax.expr.Constant"][i]`, by i. Their names are `i` or
/// `relax.expr.Constant[i]`; reports two for one i.
Result<std::map<int64_t, relax::ConstantRef>> numbered_constants(const NamedConstants& named, Diagnostics& diag);

/// Turns the parameters of public functions that have a name of `named` into constants. The symbols of their dims
/// become what the tensors have there. Reports a tensor of another dtype or shape than its parameter; a parameter from
/// `num_input` on (a function attribute) that no tensor is given for, and a tensor for one before it; and a tensor that
/// is neither a parameter nor a constant of the module.
Status bind_parameters(relax::Module& module, const NamedConstants& named, Diagnostics& diag);

}  // namespace relaxc::frontend
