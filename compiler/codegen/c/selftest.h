// selftest.h: prints the self-test's data (inputs and expected outputs) as C.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/weights.h"

namespace relaxc::codegen_c {

/// Returns the definition of `rlx_selftest_data`; empty if the object has no self-test.
std::string selftest_data_text(const interface::Object& object, const std::vector<ElementRun>& runs);

}  // namespace relaxc::codegen_c
