// value_inputs.h: finds the inputs whose values determine shapes.
#pragma once

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// Returns whether the entry's `values` reads the data of input `input`: `bind` then needs that data, and the record
/// has RLX_FLAG_VALUES.
bool reads_values(const Object& object, const Entry& entry, size_t input);

}  // namespace relaxc::interface
