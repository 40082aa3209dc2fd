// selftest.h: the data that an object carries to be tried on, as C.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/weights.h"

namespace relaxc::codegen_c {

/// `rlx_selftest_data`; empty if the object has no self-test.
std::string selftest_data_text(const interface::Object& object, const std::vector<ElementRun>& runs);

}  // namespace relaxc::codegen_c
