// infos.h: reads type annotations as struct infos.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// Reads R.Tensor(…), R.Shape(…), R.Prim(…), R.Tuple(…), R.Callable(…), R.Object, or one of them in quotes.
Result<relax::Info> read_info(FunctionParts& fn, const ast::Expr& e);
/// Reads one info, or several in a tuple or list.
Result<std::vector<relax::Info>> read_infos(FunctionParts& fn, const ast::Expr& e);
/// Reads an info in which names may be bound as `kind` says; appends the bound symbols to `binds`.
Result<relax::Info> read_info_by(FunctionParts& fn, DimPattern::Kind kind, const ast::Expr& e,
                                 std::vector<arith::Var>& binds);
/// Reads one info, or several, whose unknown names become symbols; appends these to `binds`.
Result<std::vector<relax::Info>> read_fresh_infos(FunctionParts& fn, const ast::Expr& e,
                                                  std::vector<arith::Var>& binds);
/// tensor_info.cpp: reads R.Tensor(shape, dtype, ndim=…), R.Tensor[shape, dtype].
Result<relax::Info> read_tensor_info(FunctionParts& fn, const ast::Expr& e);
/// callable_info.cpp: reads R.Callable((parameters,), result, purity).
Result<relax::Info> read_callable_info(FunctionParts& fn, const ast::Expr& e);

/// Returns the arguments of R.X(…) or R.X[…]; empty for a bare R.X.
std::vector<const ast::Expr*> info_arguments(const ast::Expr& e);
/// Whether the expression is `None`, `...` or `_`: unknown.
bool is_wildcard(const ast::Expr& e);
/// Whether the expression is a type and no value: R.Tensor, R.Shape and the like, with or without arguments.
bool is_type(FunctionParts& fn, const ast::Expr& e);
/// Whether the expression is R.Tuple without fields.
bool is_empty_tuple(FunctionParts& fn, const ast::Expr& e);
/// Reports a device that is not a CPU; `R.cpu(0)`, `"llvm:0"`, `I.vdevice("llvm")` are CPUs.
Status check_device(SourceText& source, const ast::Expr& e);

}  // namespace relaxc::frontend
