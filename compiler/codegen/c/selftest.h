// selftest.h: the data that an object carries to be tried on, as C.
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/weights.h"

namespace relaxc::codegen_c {

/// The data and `<name>_selftest`; empty if the object has none.
std::string selftest_text(const interface::Object& object, const std::vector<ElementRun>& runs);

}  // namespace relaxc::codegen_c
