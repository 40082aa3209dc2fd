// special_forms.h: calls of the language that are not operators of the table.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// The forms that compute nothing of their own and give their operand; `known` is false for any other.
Result<Term> transparent_form(FunctionParts& fn, const std::string& path, const ast::Expr& e, bool& known);
/// The names of the forms, without R.
std::vector<std::string> special_form_names();
/// All other forms; `known` is false for what is none, or has another number of arguments.
Result<Term> special_form(FunctionParts& fn, const std::string& path, const ast::Expr& e, bool& known);

// layout_transform.cpp
/// R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i)), pad_value=None)
Result<Term> layout_transform(FunctionParts& fn, const ast::Expr& e);

// effects.cpp
/// R.assert_op(condition, values…, format="…")
Result<Term> assert_op(FunctionParts& fn, const ast::Expr& e);
/// R.print(values…, format="…")
Result<Term> print_values(FunctionParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
