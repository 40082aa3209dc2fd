// infos.h: types as they are written to struct info.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

/// R.Tensor(…), R.Shape(…), R.Prim(…), R.Tuple(…), R.Callable(…), R.Object, or one of them in quotes.
Result<relax::Info> read_info(FunctionParts& fn, const ast::Expr& e);
/// One info, or several in a tuple or list.
Result<std::vector<relax::Info>> read_infos(FunctionParts& fn, const ast::Expr& e);
/// An info where names may be bound as `kind` says; symbols that are go to `binds`.
Result<relax::Info> read_info_by(FunctionParts& fn, DimPattern::Kind kind, const ast::Expr& e,
                                 std::vector<arith::Var>& binds);
/// One info, or several, whose unknown names become symbols and go to `binds`.
Result<std::vector<relax::Info>> read_fresh_infos(FunctionParts& fn, const ast::Expr& e,
                                                  std::vector<arith::Var>& binds);
/// tensor_info.cpp: R.Tensor(shape, dtype, ndim=…), R.Tensor[shape, dtype].
Result<relax::Info> read_tensor_info(FunctionParts& fn, const ast::Expr& e);
/// callable_info.cpp: R.Callable((parameters,), result, purity).
Result<relax::Info> read_callable_info(FunctionParts& fn, const ast::Expr& e);

/// The arguments of R.X(…) or R.X[…]; none for a bare R.X.
std::vector<const ast::Expr*> info_arguments(const ast::Expr& e);
/// `None`, `...` or `_`: unknown.
bool is_wildcard(const ast::Expr& e);
/// R.Tensor, R.Shape and the like, with or without arguments: what is a type and no value.
bool is_type(FunctionParts& fn, const ast::Expr& e);
/// R.Tuple without fields.
bool is_empty_tuple(FunctionParts& fn, const ast::Expr& e);
/// Reports a device that is not a CPU: `R.cpu(0)`, `"llvm:0"`, `I.vdevice("llvm")` are.
Status check_device(SourceText& source, const ast::Expr& e);

}  // namespace relaxc::frontend
