// signature.h: the head of a Relax function: parameters, symbols, the declared result.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Reads it all; false if something was reported.
bool read_signature(FunctionParts& fn);
/// Declares the symbols of the module that the body mentions and the signature does not, as the body's first line
/// would.
void declare_module_symbols(FunctionParts& fn);

}  // namespace relaxc::frontend
