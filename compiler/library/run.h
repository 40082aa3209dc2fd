// run.h: from a request to a result.
#pragma once

#include "compiler/api/output/outputs.h"
#include "compiler/library/handles.h"

namespace relaxc::library {

/// Compiles the request and fills the result, but throws what the compiler throws; of an exception, note_fault() makes
/// what the result says.
void run(const relaxc_request& request, api::Outputs::Place place, relaxc_result& result);

/// Makes the exception that is being handled the result's. Throws nothing.
void note_fault(relaxc_result& result) noexcept;

}  // namespace relaxc::library
