// values.h: terms of the text to values of the graph.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// A term as a value; null for None. Reports a term that is none.
Result<relax::Value*> as_value(FunctionParts& fn, const Term& term, Place place);
/// The value of an expression; null if it was reported.
relax::Value* operand_value(FunctionParts& fn, const ast::Expr& e);
/// A number as a constant of `dtype` and no dims.
Result<relax::Value*> number(FunctionParts& fn, const Scalar& scalar, DType dtype, Place place);
/// A dim as a tensor of one element.
Result<relax::Value*> scalar_tensor(FunctionParts& fn, arith::Expr dim, DType dtype, Place place);
/// Names the dims of a parameter whose rank alone is known, where a name is needed.
void pin(FunctionParts& fn, relax::Value& value);
/// What an earlier match says of a tensor's shape, here or in a region around; null: nothing.
const relax::TensorInfo* matched_info(const FunctionParts& fn, const relax::Value& value);
/// The results of an op: one value, or a sequence.
Term results_of(const relax::Op* op);

}  // namespace relaxc::frontend
