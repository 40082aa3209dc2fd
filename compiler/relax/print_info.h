// print_info.h: struct infos in the text IR, with the names that a printer has given.
#pragma once

#include <functional>
#include <string>

#include "compiler/arith/print.h"
#include "compiler/relax/struct_info.h"

namespace relaxc::relax {

/// `R.Tensor((n, 4), dtype="float32")`. Where symbols are declared by their use, in a signature, dims that are not
/// numbers are `quoted`: `R.Tensor(("n", "n * 4"), …)`. `unused` gives a symbol a name that nothing else in the
/// function has; it is for symbols of types of functions that are in no dim alone, where they would be declared.
std::string info_text(Info info, const arith::Names& names, bool quoted, const std::function<std::string(Var)>& unused);

/// `info` without the dims and values that depend on symbols for which `known` does not hold: what can be said outside
/// of their scope.
Info erase_unknown(Context& context, Info info, const std::function<bool(Var)>& known);

}  // namespace relaxc::relax
