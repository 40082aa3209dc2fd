// rust.h: the typed call as declarations for Rust.
#pragma once

#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// A module of `extern "C"` declarations: the context and error records, sizes as constants, an arena type of the right
/// size and alignment, and for each entry its arguments and its call. It needs `core` alone.
std::string rust_module(const Object& object);

}  // namespace relaxc::interface
