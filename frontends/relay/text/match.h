// match.h: reads the matching of data as branches.
#pragma once

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

/// Reads `match (%x) { … }`, `match (%x, %y) { … }`; `match? (%x) { … }` may leave values out. If `last`, the value is
/// the function's result, and each clause returns it.
Expr read_match(ReaderParts& reader, bool last);

}  // namespace relaxc::relay
