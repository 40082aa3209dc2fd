// rust_names.h: names and types of a model as Rust writes them.
#pragma once

#include <set>
#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::interface {

/// The Rust type of a stored element.
std::string rust_type(DType dtype);

/// An identifier of C that may stand in Rust beside `others`: words of its grammar as raw identifiers, and the few that
/// cannot be raw with an underscore.
std::string rust_name(const std::string& name, const std::set<std::string>& others);

}  // namespace relaxc::interface
