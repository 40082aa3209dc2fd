// literals.h: reads constants, dtypes and dotted paths of the tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/support/dtype.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// Returns the value of a kInt in any of Python's radices; reports a number that does not fit int64.
Result<int64_t> integer_value(SourceText& source, const ast::Expr& e);
/// Returns the value of a kFloat.
double float_value(const ast::Expr& e);
/// Returns "R.nn.relu" for an attribute chain on a name; nullopt for other expressions.
std::optional<std::string> dotted_path(const ast::Expr& e);
/// Reads a dtype that is written as a string ("float32", "f32").
Result<DType> dtype_value(SourceText& source, const ast::Expr& e);
/// Returns the contents of a string literal.
Result<std::string> string_value(SourceText& source, const ast::Expr& e, std::string_view what);
/// Whether an argument is missing or None.
bool is_none(const ast::Expr* e);
/// Adds the nearest of `names` to the last error, if one is similar.
void suggest(SourceText& source, std::string_view name, const std::vector<std::string>& names);
/// Returns the dtype that a misspelt one may mean.
std::optional<std::string> nearest_dtype(std::string_view text);
/// Returns "a number", "a string", …: the kind of an expression, for messages.
std::string_view describe(const ast::Expr& e);

}  // namespace relaxc::frontend
