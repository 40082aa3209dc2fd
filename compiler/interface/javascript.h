// javascript.h: prints a JavaScript module for a WebAssembly model, and declarations for TypeScript.
#pragma once

#include <string>

#include "compiler/interface/object.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::interface {

/// Returns an ES module whose function `load` loads the file `wasm` in the same folder by relax_rt.mjs, also there. It
/// refuses a file that another compilation wrote.
std::string javascript_module(const Object& object, const std::string& wasm);

/// Returns the module's declarations for TypeScript: for each entry an interface for the inputs and one for the
/// outputs, with the arrays of their dtypes, their shapes, and which inputs accept a stream. Fails (usage) on an input
/// or output of a kind or dtype for which JavaScript has no array.
Result<std::string> typescript_declarations(const Object& object, const std::string& wasm, Diagnostics& diag);

}  // namespace relaxc::interface
