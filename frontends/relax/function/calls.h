// calls.h: reads calls of functions, and the arguments that they share.
#pragma once

#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

// arguments.cpp

/// Returns the argument at `position`, or one named by any of `names`; null if there is none.
const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names);
/// Returns the keyword for a call's result types, in any version of its name: out_ty, ty_args, out_sinfo or sinfo_args.
const ast::Keyword* result_types(const ast::Expr& call);
/// Reports the first keyword that is not one of `known`.
Status check_keywords(FunctionParts& fn, const ast::Expr& e, const std::vector<std::string>& known);
/// Returns the values of `(a, b)`, of R.tuple(a, b), of one value, or of the positional arguments of R.carry.
Result<std::vector<relax::Value*>> call_arguments(FunctionParts& fn, const ast::Expr& list, bool texts = false);
/// Returns the arguments of a call of a prim func or of an external function that fills its outputs: the values of a
/// list, or the fields of one tuple in its place.
Result<std::vector<relax::Value*>> listed_arguments(FunctionParts& fn, const ast::Expr& list, bool texts = false);
/// Returns the values of a call's positional arguments from `first` on; reports arguments that are no values.
Result<std::vector<relax::Value*>> positional_arguments(FunctionParts& fn, const ast::Expr& e, size_t first,
                                                        bool texts = false);
/// Returns the result types of a call: its result_types or the argument at `position`.
Result<std::vector<relax::Info>> output_infos(FunctionParts& fn, const ast::Expr& e, size_t position);
/// Reports a result of a call of `callee` whose bytes do not fit 64 bits whatever its symbols are, unless one is 0.
/// Calls of calls double a size until the checks of it are as many as the calls.
Status check_result_sizes(FunctionParts& fn, const relax::Op& call, const std::string& callee, Place place);
/// Returns the function that the expression names: one of the module or an external one.
Result<Term> callee(FunctionParts& fn, const ast::Expr& e);
/// Adds to `symbols` the values that an argument determines for the callee's symbols; reports one that cannot fit.
Status match_argument(FunctionParts& fn, relax::Info param, relax::Info argument, arith::Substitution& symbols,
                      Place place, const std::string& name);

// calls.cpp

/// Reads cls.f(x, y), cls.f[n](x, y).
Result<Term> call_global(FunctionParts& fn, const std::string& name, const ast::Expr& e);

// prim_calls.cpp

/// Reads cls.f(n, 2) of a prim func that returns an expression of scalars: the scalar that it gives.
Result<Term> call_prim_value(FunctionParts& fn, const std::string& name, const ast::Expr& e);
/// Reads R.call_tir(cls.f, (x, y), out_ty=R.Tensor(…), tir_vars=R.shape([n])).
Result<Term> call_tir(FunctionParts& fn, const ast::Expr& e);
/// Makes the op of such a call and checks it. `callee` is the place of the function's name; `list` is the argument
/// list, if the arguments are written one by one.
Result<Term> finish_call_tir(FunctionParts& fn, const std::string& name, std::vector<relax::Value*> args,
                             std::vector<relax::Info> outputs, const ast::Expr& call, Place callee,
                             const ast::Expr* list = nullptr);
/// If there are as many arguments as the prim func has parameters, reports each that is not of its parameter's kind: so
/// the message is at the argument and not about the number of buffers.
Status check_prim_kinds(FunctionParts& fn, const tir::PrimFunc& prim, const std::vector<relax::Value*>& args,
                        size_t outputs, const ast::Expr& list);
/// Checks number, dtype, rank and provable dims of a prim func's operands and results.
Status check_prim_args(FunctionParts& fn, const tir::PrimFunc& prim, const std::vector<relax::Value*>& args,
                       const std::vector<relax::Info>& outputs, Place place);

// external_calls.cpp

/// Makes the op of a call of an external function that fills `outputs`, or makes results whose sizes are not known.
Result<Term> external_call(FunctionParts& fn, const std::string& name, const std::vector<relax::Value*>& args,
                           std::vector<relax::Info> outputs, Place place);
/// Reads R.call_dps(shape, f, [args]) of 2021; the dtype is the callee's, or that of the annotation.
Result<Term> call_dps(FunctionParts& fn, const ast::Expr& e);
/// Reads R.call_dps_packed("f", (x, y), out_ty=R.Tensor(…)).
Result<Term> call_dps_packed(FunctionParts& fn, const ast::Expr& e);
/// Reads R.call_packed("f", x, …): a call for its effect, or, if its result is a shape, of an external shape function.
Result<Term> call_packed(FunctionParts& fn, const ast::Expr& e);

// inplace_calls.cpp

/// Reads R.call_tir_inplace(cls.f, (x, y), inplace_indices=[0, -1], out_ty=[…]).
Result<Term> call_tir_inplace(FunctionParts& fn, const ast::Expr& e);
/// Reads R.call_inplace_packed("f", x, y, inplace_indices=[0], ty_args=R.Tensor(…)).
Result<Term> call_inplace_packed(FunctionParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
