// data_sizes.h: results whose size depends on data, as TVM has them.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// Makes every result whose dims the run decides one of unknown dims, which a match_cast names; an operator that gives
/// such results becomes a prim func that fills as much memory as they can take and says how much it used.
Status read_sizes_of_data(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag);

}  // namespace relaxc
