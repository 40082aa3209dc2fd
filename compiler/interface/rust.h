// rust.h: the typed call as declarations for Rust.
#pragma once

#include <span>
#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// A module of `extern "C"` declarations: the context and error records, sizes as constants, an arena type of the right
/// size and alignment, for each entry its arguments and its call, and the public prim funcs. It needs `core` alone.
/// From edition 2024 on foreign functions stand in an `unsafe extern` block, which compilers before Rust 1.82 do not
/// know. `run_stack_max`: bytes of stack of each entry's call, UINT64_MAX where they are not known; or empty.
std::string rust_module(const Object& object, bool unsafe_extern = false, std::span<const uint64_t> run_stack_max = {});

/// Calls of slices through the crate relax-rt, which programs without `unsafe` make: for each entry types of its dims,
/// inputs, states and outputs, the bytes of its arena, and `run`. An entry that is not called main is a module.
std::string rust_safe_module(const Object& object, bool unsafe_extern = false);

}  // namespace relaxc::interface
