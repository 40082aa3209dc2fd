// rust.h: prints the typed call as declarations for Rust.
#pragma once

#include <span>
#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// Returns a module of `extern "C"` declarations: the context and error records, sizes as constants, an arena type of
/// the right size and alignment, for each entry its arguments and its call, and the public prim funcs. It needs only
/// `core`. With `unsafe_extern` it has an `unsafe extern` block, which edition 2024 requires and Rust before 1.82 does
/// not know. `run_stack_max`: stack of each entry's call in bytes, UINT64_MAX if not known; may be empty.
std::string rust_module(const Object& object, bool unsafe_extern = false, std::span<const uint64_t> run_stack_max = {});

/// Returns calls on slices by the crate relax-rt, for programs without `unsafe`: for each entry types of its dims,
/// inputs, states and outputs, the size of its arena, and `run`. An entry that is not called main is a module.
std::string rust_safe_module(const Object& object, bool unsafe_extern = false);

}  // namespace relaxc::interface
