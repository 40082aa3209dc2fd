// operators.h: reads calls of operators of the table.
#pragma once

#include "compiler/relax/op_def.h"
#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

struct Argument {
  Term term;
  Place place;
};

/// Reads R.name(…), by a row of TVM's operators or by the operator's own definition.
Result<Term> operator_call(FunctionParts& fn, const std::string& name, const ast::Expr& e);
/// tvm/tvm_call.cpp: reads a call in TVM's form; `known` is false if there is no row for it.
Result<Term> tvm_operator(FunctionParts& fn, const std::string& name, const ast::Expr& e, bool& known);
/// Returns the names of TVM's operators, without R.
std::vector<std::string> tvm_operator_names();
/// Returns an operator; reports an unknown one, with the nearest name.
Result<const relax::OpDef*> find_operator(FunctionParts& fn, const std::string& name, Place place);
/// Appends an op whose operands are made of terms.
Result<Term> apply(FunctionParts& fn, const relax::OpDef& def, std::vector<Argument> operands, relax::Attrs attrs,
                   Place place);
/// attribute_value.cpp: returns a term as an attribute. `type` says how to read a tuple or a string; the table converts
/// all others and reports errors.
Result<relax::AttrValue> attribute_value(SourceText& source, const Term& term, relax::AttrType type,
                                         const std::string& name, Place place);

}  // namespace relaxc::frontend
