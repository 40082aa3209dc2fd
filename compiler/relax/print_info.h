// print_info.h: prints struct infos in the text IR, with names that the printer has chosen.
#pragma once

#include <functional>
#include <string>

#include "compiler/arith/print.h"
#include "compiler/relax/struct_info.h"

namespace relaxc::relax {

/// Returns `R.Tensor((n, 4), dtype="float32")`. In a signature, where symbols are declared by their use, dims that are
/// not numbers are `quoted`: `R.Tensor(("n", "n * 4"), …)`. `unused` returns a new name for a symbol that occurs only
/// inside of larger dims of a function type, where no bare dim declares it.
std::string info_text(Info info, const arith::Names& names, bool quoted, const std::function<std::string(Var)>& unused);

/// Returns `info` without the dims and values that depend on symbols for which `known` is false, so that it is valid
/// outside of their scope.
Info erase_unknown(Context& context, Info info, const std::function<bool(Var)>& known);

}  // namespace relaxc::relax
