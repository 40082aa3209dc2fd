// selftest.h: what an object compiled with --emit-selftest carries to be tried on.
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/interface/object.h"
#include "compiler/support/result.h"

namespace relaxc::api {

/// Inputs and outputs for the entry "main" (else the first): those of --selftest-data, or random inputs; outputs that
/// are not given are the interpreter's. Reports an entry whose arena has no bound, and outputs that nothing can be
/// compared with: NaN.
Result<interface::Selftest> make_selftest(const CompileOptions& options, const interface::Object& object,
                                          Diagnostics& diag);

}  // namespace relaxc::api
