// value_inputs.h: which inputs decide shapes by their values.
#pragma once

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// Whether the entry's `values` looks at the data of input `input`: `bind` needs that data, and the record says so
/// (RLX_FLAG_VALUES).
bool reads_values(const Object& object, const Entry& entry, size_t input);

}  // namespace relaxc::interface
