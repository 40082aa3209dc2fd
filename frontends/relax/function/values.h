// values.h: converts terms to values of the graph.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Returns a term as a value; null for None. Reports a term that cannot be a value.
Result<relax::Value*> as_value(FunctionParts& fn, const Term& term, Place place);
/// Returns a term that is a scalar of known value as one.
std::optional<Scalar> as_scalar(const Term& term);
/// Returns the value of an expression; null if an error was reported.
relax::Value* operand_value(FunctionParts& fn, const ast::Expr& e);
/// Returns a number as a rank-0 constant of `dtype`.
Result<relax::Value*> number(FunctionParts& fn, const Scalar& scalar, DType dtype, Place place);
/// Returns a dim as a tensor of one element.
Result<relax::Value*> scalar_tensor(FunctionParts& fn, arith::Expr dim, DType dtype, Place place);
/// Gives symbols to the dims of a parameter of which only the rank is known, where symbols are needed.
void pin(FunctionParts& fn, relax::Value& value);
/// Returns the info of an earlier match of this tensor, in the current region or an enclosing one; null if none.
const relax::TensorInfo* matched_info(const FunctionParts& fn, const relax::Value& value);
/// Returns the dims of a tensor, of a match of it, or new symbols of a parameter; null if they are not known here.
const std::vector<arith::Expr>* known_dims(FunctionParts& fn, relax::Value& value);
/// Returns the fields of a value that is a tuple.
Result<std::vector<relax::Value*>> tuple_fields(FunctionParts& fn, relax::Value* tuple, Place place);
/// Returns the results of an op: one value, or a sequence.
Term results_of(const relax::Op* op);

}  // namespace relaxc::frontend
