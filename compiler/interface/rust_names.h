// rust_names.h: Rust names and types for the names and dtypes of a model.
#pragma once

#include <set>
#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::interface {

/// Returns the Rust type of a stored element.
std::string rust_type(DType dtype);

/// Returns a C identifier as a Rust name that differs from `others`: Rust keywords become raw identifiers, and the few
/// that cannot be raw get an underscore.
std::string rust_name(const std::string& name, const std::set<std::string>& others);

}  // namespace relaxc::interface
