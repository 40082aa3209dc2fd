// special_forms.h: reads calls of the language that are not operators of the table.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Reads the forms that compute nothing and return their operand; `known` is false for any other call.
Result<Term> transparent_form(FunctionParts& fn, const std::string& path, const ast::Expr& e, bool& known);
/// Returns the names of all forms, without R.
std::vector<std::string> special_form_names();
/// Reads all other forms; `known` is false if it is none, or has another number of arguments.
Result<Term> special_form(FunctionParts& fn, const std::string& path, const ast::Expr& e, bool& known);

// layout_transform.cpp
/// Reads R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i)), pad_value=None).
Result<Term> layout_transform(FunctionParts& fn, const ast::Expr& e);

// inspect.cpp
/// Reads R.inspect.tensor_stride_i(x, 0) and its relatives.
Result<Term> inspect_tensor(FunctionParts& fn, const ast::Expr& e);
/// Whether an attribute or subscript asks the same of a tensor: x.ndim, x.strides[0], x.dtype.bits.
bool inspects_tensor(const ast::Expr& e);
Result<Term> inspect_attribute(FunctionParts& fn, const ast::Expr& e);

// effects.cpp
/// Reads R.assert_op(condition, values…, format="…").
Result<Term> assert_op(FunctionParts& fn, const ast::Expr& e);
/// Reads R.print(values…, format="…").
Result<Term> print_values(FunctionParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
