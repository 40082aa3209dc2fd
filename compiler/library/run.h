// run.h: compiles a request and fills its result.
#pragma once

#include "compiler/api/output/outputs.h"
#include "compiler/library/handles.h"

namespace relaxc::library {

/// Compiles the request and fills the result. Passes on the compiler's exceptions; the caller must then call
/// note_fault(), which describes the exception in the result.
void run(const relaxc_request& request, api::Outputs::Place place, relaxc_result& result);

/// Sets status and message of the result from the exception that is being handled. Does not throw.
void note_fault(relaxc_result& result) noexcept;

}  // namespace relaxc::library
