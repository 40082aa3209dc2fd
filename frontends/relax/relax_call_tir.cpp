// relax_call_tir.cpp: calls of prim funcs, and what they must be given: as many buffers and scalars as they take, of
// their dtypes, ranks and dims as far as these are known here. What is not known is a guard of the call.
#include <algorithm>

#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

/// R.call_tir(cls.f, (x, y), out_ty=R.Tensor(…), tir_vars=R.shape([n]))
Result<Term> RelaxFunctionReader::call_tir(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_DO(check_keywords(e, {"gvar", "func", "args", "out_sinfo", "out_ty", "sinfo_args", "ty_args", "tir_vars",
                               "te_grad_name", "te_grad_kwargs"}));
  const ast::Expr *prim = argument(e, 1, {"gvar", "func"}), *list = argument(e, 2, {"args"}),
                  *scalars = argument(e, 4, {"tir_vars"});
  if (prim == nullptr || list == nullptr || e.items.size() > 5)
    return source_.error(e.place, Kind::wrong_arity, "R.call_tir takes a prim func, its arguments and out_ty");
  Result<Term> function = callee(*prim);
  Result<std::vector<Value*>> args = call_arguments(*list);
  Result<std::vector<Info>> outputs = output_infos(e, 3);
  if (!function || !args || !outputs) return diag.failed();
  if (is_none(scalars)) scalars = nullptr;
  if (scalars != nullptr) {
    RELAXC_TRY(std::vector<arith::Expr> symbols, dims(*scalars));
    for (arith::Expr symbol : symbols) args->push_back(graph_.at(e.place).prim(symbol));
  }
  if (function->kind != Term::kGlobal)
    return source_.error(prim->place, Kind::dtype_mismatch,
                         "R.call_tir calls a prim func; R.call_dps_packed calls an external function");
  return finish_call_tir(function->text, std::move(*args), std::move(*outputs), e.place,
                         scalars == nullptr ? list : nullptr);
}

Result<Term> RelaxFunctionReader::finish_call_tir(const std::string& name, std::vector<Value*> args,
                                                  std::vector<Info> outputs, Place place, const ast::Expr* list) {
  Diagnostics& diag = source_.diag();
  const Global& global = scope_.globals.at(name);
  if (global.kind == Global::kPoison) return diag.failed();
  const tir::PrimFunc* prim = scope_.module.find_prim_func(name);
  if (global.kind != Global::kPrimFunc || prim == nullptr)
    return source_.error(place, Kind::dtype_mismatch, "R.call_tir calls a prim func, and '{}' is none", name);
  if (list != nullptr) RELAXC_DO(check_prim_kinds(*prim, args, outputs.size(), *list));
  RELAXC_DO(check_prim_args(*prim, args, outputs, place));
  return results_of(graph_.at(place).call_tir(name, std::move(args), std::move(outputs)));
}

/// Where as many arguments are written as the prim func takes, each must be of its parameter's kind: a mistake is shown
/// at the argument and not as a number of buffers.
Status RelaxFunctionReader::check_prim_kinds(const tir::PrimFunc& prim, const std::vector<Value*>& args, size_t outputs,
                                             const ast::Expr& list) {
  bool one_each = list.is_sequence() && list.items.size() == args.size() && args.size() + outputs == prim.params.size();
  if (!one_each) return Done{};
  std::vector<const tir::Param*> inputs;
  size_t buffers = 0;
  for (const tir::Param& param : prim.params) buffers += param.buffer != nullptr;
  // The last buffers are the outputs, wherever scalars stand.
  for (const tir::Param& param : prim.params)
    if (param.buffer == nullptr || buffers-- > outputs) inputs.push_back(&param);
  size_t wanted = 0, given = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    wanted += inputs[i]->buffer != nullptr;
    given += args[i]->info->as<relax::TensorInfo>() != nullptr;
  }
  if (wanted == given) return Done{};  // in another order, as tensors first and scalars last
  for (size_t i = 0; i < args.size(); ++i) {
    bool buffer = inputs[i]->buffer != nullptr, tensor = args[i]->info->as<relax::TensorInfo>() != nullptr;
    if (buffer == tensor) continue;
    std::string name = buffer ? inputs[i]->buffer->name : inputs[i]->var.name();
    return source_.error(list.items[i]->place, Kind::dtype_mismatch, "'{}' of '{}' must be {}, found {}", name,
                         prim.name, buffer ? "a tensor" : "a scalar", relax::to_string(args[i]->info));
  }
  return Done{};
}

/// The tensors that a call gives are compact, so a buffer that steps otherwise would not be read as they lie.
Status RelaxFunctionReader::check_compact(const tir::PrimFunc& prim, const tir::Buffer& buffer, Place place) {
  arith::Expr compact = context_.index(1);
  for (size_t d = buffer.strides.size(); d-- > 0; compact = compact * buffer.shape[d])
    if (!arith::prove_equal(buffer.strides[d], compact))
      return source_.error(place, Kind::shape_mismatch,
                           "the buffer '{}' of '{}' has stride {} in dim {}, and the tensors of a call are compact: {}",
                           buffer.name, prim.name, arith::to_string(buffer.strides[d]), d,
                           arith::to_string(arith::simplify(compact)));
  return Done{};
}

/// Number, dtype, rank and provable dims of what goes into and out of a prim func.
Status RelaxFunctionReader::check_prim_args(const tir::PrimFunc& prim, const std::vector<Value*>& args,
                                            const std::vector<Info>& outputs, Place place) {
  std::vector<Info> infos;
  size_t scalars = 0;
  for (Value* value : args) {
    if (const auto* shape = value->info->as<relax::ShapeInfo>())
      scalars += static_cast<size_t>(std::max(shape->ndim, 0));
    else if (value->info->as<relax::PrimInfo>())
      ++scalars;
    else
      infos.push_back(value->info);
  }
  size_t inputs = infos.size();
  infos.insert(infos.end(), outputs.begin(), outputs.end());
  std::vector<const tir::Param*> buffers;
  for (const tir::Param& param : prim.params)
    if (param.buffer != nullptr) buffers.push_back(&param);
  size_t wanted_scalars = prim.params.size() - buffers.size();
  buffers.resize(buffers.size() - std::min(buffers.size(), prim.memory.scratch));  // what hoist_scratch put last
  if (buffers.size() != infos.size() || wanted_scalars != scalars) {
    Failure failure = source_.error(place, Kind::wrong_arity,
                                    "'{}' takes {} buffers and {} scalars, found {} inputs, {} outputs and {} scalars",
                                    prim.name, buffers.size(), wanted_scalars, inputs, outputs.size(), scalars);
    return failure;
  }
  arith::Substitution symbols;
  for (size_t i = 0; i < infos.size(); ++i) {
    const tir::Buffer& buffer = *buffers[i]->buffer;
    const auto* tensor = infos[i]->as<relax::TensorInfo>();
    std::string which = i < inputs ? fmt::format("argument {}", i) : fmt::format("output {}", i - inputs);
    if (tensor == nullptr)
      return source_.error(place, Kind::dtype_mismatch, "{} of '{}' must be a tensor, found {}", which, prim.name,
                           relax::to_string(infos[i]));
    if (tensor->dtype && *tensor->dtype != buffer.dtype)
      return source_.error(place, Kind::dtype_mismatch, "{} of '{}' is {}, and the buffer '{}' holds {}", which,
                           prim.name, to_string(*tensor->dtype), buffer.name, to_string(buffer.dtype));
    if (tensor->ndim >= 0 && tensor->ndim != static_cast<int32_t>(buffer.shape.size()))
      return source_.error(place, Kind::rank_mismatch, "{} of '{}' has {} dims, and the buffer '{}' has {}", which,
                           prim.name, tensor->ndim, buffer.name, buffer.shape.size());
    RELAXC_DO(check_compact(prim, buffer, place));
    if (!tensor->shape) continue;
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
      arith::Expr given = (*tensor->shape)[d];
      if (buffer.shape[d].as<arith::VarNode>() && symbols.emplace(buffer.shape[d], given).second) continue;
      arith::Expr wanted = arith::substitute(buffer.shape[d], symbols);
      if (arith::prove(arith::ne(given, wanted), function_.facts))
        return source_.error(place, Kind::shape_mismatch, "dim {} of {} of '{}' is {}, and the buffer '{}' has {}", d,
                             which, prim.name, arith::to_string(given), buffer.name, arith::to_string(wanted));
    }
  }
  return Done{};
}

}  // namespace relaxc::frontend
