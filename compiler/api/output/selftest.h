// selftest.h: the data of an object's self-test (--emit-selftest).
#pragma once

#include "compiler/api/compile_options.h"
#include "compiler/interface/object.h"
#include "compiler/support/result.h"

namespace relaxc::api {

/// Returns inputs and outputs for the entry "main" (else the first): those of --selftest-data, or random inputs; the
/// interpreter computes missing outputs. Reports an entry whose arena has no bound, and outputs that cannot be compared
/// because they are NaN.
Result<interface::Selftest> make_selftest(const CompileOptions& options, const interface::Object& object,
                                          Diagnostics& diag);

}  // namespace relaxc::api
