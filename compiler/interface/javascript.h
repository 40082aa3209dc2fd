// javascript.h: prints a JavaScript module for a WebAssembly model, and declarations for TypeScript.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/support/diagnostics.h"

namespace relaxc::interface {

/// A binary of the model, in the folder of the module.
struct WasmVersion {
  std::string file;
  std::array<uint8_t, 32> hash{};
  std::vector<std::string> needs;  ///< features of WebAssembly, by LLVM's names, that relax_rt.mjs tests the engine for
};

/// Returns an ES module whose function `load` loads the first of `versions` that the engine can run, else the last, by
/// relax_rt.mjs, which is in the same folder. It refuses a file that another compilation wrote.
std::string javascript_module(const Object& object, const std::vector<WasmVersion>& versions);

/// Returns the module's declarations for TypeScript: for each entry an interface for the inputs and one for the
/// outputs, with the arrays of their dtypes, their shapes, and which inputs accept a stream. Fails (usage) on an input
/// or output of a kind or dtype for which JavaScript has no array.
Result<std::string> typescript_declarations(const Object& object, const std::string& wasm, Diagnostics& diag);

}  // namespace relaxc::interface
