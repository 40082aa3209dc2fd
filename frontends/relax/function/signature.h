// signature.h: reads the head of a Relax function: parameters, symbols, the declared result.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Reads the head; false if errors were reported.
bool read_signature(FunctionParts& fn);
/// Declares the module's symbols that the body uses and the signature does not, as a declaration in the body's first
/// line would.
void declare_module_symbols(FunctionParts& fn);

}  // namespace relaxc::frontend
