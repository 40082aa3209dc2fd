// bind.h: binds tensors of a weights file to the constants and parameters of a program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/relax/module.h"
#include "frontends/weights/weights.h"

namespace relaxc::frontend {

/// Returns the tensors for `metadata["relax.expr.Constant"][i]`, by i. Their names are `i` or `relax.expr.Constant[i]`;
/// reports an error if there are two for one i.
Result<std::map<int64_t, relax::ConstantRef>> numbered_constants(const NamedConstants& named, Diagnostics& diag);

/// Turns each parameter of a public function into a constant if `named` has its name. Symbols in its dims get the
/// tensor's extents. Reports an error if a tensor's dtype or shape differs from its parameter's, if a parameter from
/// index `num_input` (a function attribute) on has no tensor or one before it has, and if a tensor is neither for a
/// parameter nor for a constant of the module.
///
/// `of_text` has tensors that the program itself gives for parameters of its functions, by function; `named` has
/// precedence over them. One that is null, as the text lacks its data, is reported as a warning unless `named` has it.
Status bind_parameters(relax::Module& module, const NamedConstants& named, Diagnostics& diag,
                       const std::map<std::string, NamedConstants>& of_text = {});

}  // namespace relaxc::frontend
