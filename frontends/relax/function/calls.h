// calls.h: calls of functions, and the arguments that they share.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

// arguments.cpp

/// The argument at `position`, or one named by any of `names`; null if there is none.
const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names);
/// The keyword that says what a call gives, in any age of its name: out_ty, ty_args, out_sinfo or sinfo_args.
const ast::Keyword* result_types(const ast::Expr& call);
/// Reports the first keyword that is not one of `known`.
Status check_keywords(FunctionParts& fn, const ast::Expr& e, const std::vector<std::string>& known);
/// The values of `(a, b)`, of R.tuple(a, b), of one value, or of the positional arguments of R.carry.
Result<std::vector<relax::Value*>> call_arguments(FunctionParts& fn, const ast::Expr& list, bool texts = false);
/// The values of the positional arguments of a call from `first` on; each that is none is reported.
Result<std::vector<relax::Value*>> positional_arguments(FunctionParts& fn, const ast::Expr& e, size_t first,
                                                        bool texts = false);
/// What a call gives: its result_types or the argument at `position`.
Result<std::vector<relax::Info>> output_infos(FunctionParts& fn, const ast::Expr& e, size_t position);
/// A function of the module or an external one.
Result<Term> callee(FunctionParts& fn, const ast::Expr& e);
/// Binds the callee's symbols to what an argument has in their place; reports what cannot fit.
Status match_argument(FunctionParts& fn, relax::Info param, relax::Info argument, arith::Substitution& symbols,
                      Place place, const std::string& name);

// calls.cpp

/// cls.f(x, y), cls.f[n](x, y)
Result<Term> call_global(FunctionParts& fn, const std::string& name, const ast::Expr& e);

// prim_calls.cpp

/// R.call_tir(cls.f, (x, y), out_ty=R.Tensor(…), tir_vars=R.shape([n]))
Result<Term> call_tir(FunctionParts& fn, const ast::Expr& e);
/// The op of such a call, checked. `callee`: where its function is written; `list`: where the arguments are written one
/// by one.
Result<Term> finish_call_tir(FunctionParts& fn, const std::string& name, std::vector<relax::Value*> args,
                             std::vector<relax::Info> outputs, const ast::Expr& call, Place callee,
                             const ast::Expr* list = nullptr);
/// Where as many arguments are written as the prim func takes, each must be of its parameter's kind: a mistake is shown
/// at the argument and not as a number of buffers.
Status check_prim_kinds(FunctionParts& fn, const tir::PrimFunc& prim, const std::vector<relax::Value*>& args,
                        size_t outputs, const ast::Expr& list);
/// Number, dtype, rank and provable dims of what goes into and out of a prim func.
Status check_prim_args(FunctionParts& fn, const tir::PrimFunc& prim, const std::vector<relax::Value*>& args,
                       const std::vector<relax::Info>& outputs, Place place);

// external_calls.cpp

/// The op of a call of an external function that fills `outputs`, or makes those itself whose sizes are not known.
Result<Term> external_call(FunctionParts& fn, const std::string& name, const std::vector<relax::Value*>& args,
                           std::vector<relax::Info> outputs, Place place);
/// 2021: R.call_dps(shape, f, [args]); the dtype is the callee's, or that of the annotation.
Result<Term> call_dps(FunctionParts& fn, const ast::Expr& e);
/// R.call_dps_packed("f", (x, y), out_ty=R.Tensor(…))
Result<Term> call_dps_packed(FunctionParts& fn, const ast::Expr& e);
/// R.call_packed("f", x, …): for its effect, or, where it gives a shape, an external shape function.
Result<Term> call_packed(FunctionParts& fn, const ast::Expr& e);

// inplace_calls.cpp

/// R.call_tir_inplace(cls.f, (x, y), inplace_indices=[0, -1], out_ty=[…])
Result<Term> call_tir_inplace(FunctionParts& fn, const ast::Expr& e);
/// R.call_inplace_packed("f", x, y, inplace_indices=[0], ty_args=R.Tensor(…))
Result<Term> call_inplace_packed(FunctionParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
