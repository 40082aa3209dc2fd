// javascript.h: a model of WebAssembly as a module of JavaScript, with declarations for TypeScript.
#pragma once

#include <string>

#include "compiler/interface/object.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::interface {

/// An ES module whose `load` loads the file `wasm`, which is beside it, by relax_rt.mjs, which does too. It refuses a
/// file that another compilation wrote.
std::string javascript_module(const Object& object, const std::string& wasm);

/// What that module exports, for TypeScript: an interface for the inputs and one for the outputs of each entry, with
/// the arrays of their dtypes and their shapes, and which inputs a stream takes. Fails (usage) where an input or output
/// is of a kind or dtype that JavaScript has no array for.
Result<std::string> typescript_declarations(const Object& object, const std::string& wasm, Diagnostics& diag);

}  // namespace relaxc::interface
