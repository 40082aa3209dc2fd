// origin_text.h: the names of ops in messages of a compiled program.
#pragma once

#include <string>

#include "compiler/relax/graph.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::relax {

/// Returns "Reshape 'view_3'" for an ONNX node; "reshape 'lv2'", operator or callee and variable, for a program's op.
std::string origin_text(const Op& op);
/// The same for a call of `kernel`, which has guards: its fused ops that may fail, and its assertions' messages.
std::string call_text(const Op& op, const tir::PrimFunc& kernel);
/// Returns the text of one of the op's requirements, preceded by the op's origin if the text does not begin with one.
std::string located_text(const Op& op, const Requirement& requirement);
/// Returns a callee's name without the suffix that made it unique.
std::string base_name(const std::string& name);

}  // namespace relaxc::relax
