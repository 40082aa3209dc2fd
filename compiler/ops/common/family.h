// family.h: the names that operator files use of other components, and the macro at their end.
#pragma once

#include "compiler/relax/op_def.h"
#include "compiler/support/status_code.h"

namespace relaxc::ops {

using arith::cast;
using arith::Context;
using arith::Expr;
using arith::Intrinsic;
using arith::select;
using arith::Var;
using relax::AttrDef;
using relax::AttrType;
using relax::DefineContext;
using relax::InferContext;
using relax::InferResult;
using relax::Info;
using relax::Op;
using relax::OpDef;
using relax::OperandDef;
using relax::OpName;
using relax::prim_info;
using relax::shape_info;
using relax::tensor_info;
using relax::TensorInfo;
using relax::Value;
using tir::BufferRef;
using tir::Indices;
using tir::Stmt;

inline constexpr OperandDef kX[] = {{"x"}};

}  // namespace relaxc::ops

/// Ends a file compiler/ops/<family>.cpp: defines the function by which the generated list finds its operators.
#define RELAXC_OPERATORS(family, table)         \
  namespace relaxc::ops {                       \
  std::span<const OpDef> family##_operators();  \
  std::span<const OpDef> family##_operators() { \
    return family##_family::table;              \
  }                                             \
  }
