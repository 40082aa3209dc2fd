// operators.h: calls of operators of the table.
#pragma once

#include "compiler/relax/op_def.h"
#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

struct Argument {
  Term term;
  Place place;
};

/// R.name(…), by a row of TVM's operators or by the operator's own definition.
Result<Term> operator_call(FunctionParts& fn, const std::string& name, const ast::Expr& e);
/// tvm/tvm_call.cpp: a call as TVM writes it; `known` is false for what has no row.
Result<Term> tvm_operator(FunctionParts& fn, const std::string& name, const ast::Expr& e, bool& known);
/// Their names, without R.
std::vector<std::string> tvm_operator_names();
/// Reports an unknown one, with the nearest that there is.
Result<const relax::OpDef*> find_operator(FunctionParts& fn, const std::string& name, Place place);
/// Appends an op with operands made of terms.
Result<Term> apply(FunctionParts& fn, const relax::OpDef& def, std::vector<Argument> operands, relax::Attrs attrs,
                   Place place);
/// attribute_value.cpp: a term as an attribute. `type` guides what a tuple or a string is; the table converts the rest
/// and complains.
Result<relax::AttrValue> attribute_value(SourceText& source, const Term& term, relax::AttrType type,
                                         const std::string& name, Place place);

}  // namespace relaxc::frontend
