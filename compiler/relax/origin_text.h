// origin_text.h: an op as messages of a compiled program name it.
#pragma once

#include <string>

#include "compiler/relax/graph.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::relax {

/// "Reshape 'view_3'" of an ONNX node; "reshape 'lv2'", by its operator or callee and its variable, of a program's op.
std::string origin_text(const Op& op);
/// The same of a call of `kernel`, which has guards: of what is fused in it the ops that may fail, and what it asserts.
std::string call_text(const Op& op, const tir::PrimFunc& kernel);
/// The text of one of the op's requirements: with its place in front, also where that was not known when it was made.
std::string located_text(const Op& op, const Requirement& requirement);
/// A callee's name without the number that made it unique.
std::string base_name(const std::string& name);

}  // namespace relaxc::relax
