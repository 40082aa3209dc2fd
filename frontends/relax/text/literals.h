// literals.h: constants, dtypes and dotted paths of the tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/support/dtype.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

/// The value of a kInt, with any of Python's radices; reports a number that does not fit int64.
Result<int64_t> integer_value(SourceText& source, const ast::Expr& e);
/// The value of a kFloat.
double float_value(const ast::Expr& e);
/// "R.nn.relu" for an attribute chain on a name; nothing for anything else.
std::optional<std::string> dotted_path(const ast::Expr& e);
/// A dtype written as a string ("float32", "f32").
Result<DType> dtype_value(SourceText& source, const ast::Expr& e);
/// The text of a string literal.
Result<std::string> string_value(SourceText& source, const ast::Expr& e, std::string_view what);
/// Whether an argument is left out, or given as None.
bool is_none(const ast::Expr* e);
/// Adds the nearest of some names to the last error, if one is near.
void suggest(SourceText& source, std::string_view name, const std::vector<std::string>& names);
/// The dtype that a misspelt one may mean.
std::optional<std::string> nearest_dtype(std::string_view text);
/// "a number", "a string", …: what kind of thing the tree shows, for messages.
std::string_view describe(const ast::Expr& e);

}  // namespace relaxc::frontend
