// bindings.h: tells an observer what the names of a text mean, for editors.
//
// The readers know the type of every name at the moment they bind it, also in a text with errors elsewhere, of which no
// module is made. So they report it there instead of an index being made of the finished module, where names are no
// longer tied to places.
#pragma once

#include <functional>
#include <string>

#include "compiler/support/dtype.h"
#include "frontends/relax/text/source_text.h"

namespace relaxc::frontend {

/// Receives each name that a text binds: its place, and its type in the syntax of the text IR, such as
/// `R.Tensor((n, 4), dtype="float32")`; empty if an error prevents that it is known. A place that is longer than the
/// name is that of the statement that binds it.
using TellBinding = std::function<void(Place place, const std::string& name, const std::string& type)>;

/// Returns the dtype of a scalar as the text declares it: a dim is an int64 there.
inline std::string prim_dtype_text(DType dtype) {
  return dtype.is_index() ? "int64" : to_string(dtype);
}

}  // namespace relaxc::frontend
