// origin_text.h: an op as messages of a compiled program name it.
#pragma once

#include <string>

#include "compiler/relax/graph.h"

namespace relaxc::relax {

/// "Reshape 'view_3'" of an ONNX node; "reshape 'lv2'", by its operator or callee and its variable, of a program's op.
std::string origin_text(const Op& op);
/// A callee's name without the number that made it unique.
std::string base_name(const std::string& name);

}  // namespace relaxc::relax
