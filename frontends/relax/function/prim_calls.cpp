// prim_calls.cpp: reads calls of prim funcs, and checks the number, dtypes, ranks and known dims of their buffers and
// scalars. A guard of the call checks what is not known.
#include <algorithm>

#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/shared/returned_scalar.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

/// Matches the tensors of one call with the buffers of its prim func, in order; earlier ones determine symbols.
class BufferMatch {
 public:
  BufferMatch(FunctionParts& fn, const tir::PrimFunc& prim, Place place) : fn_(fn), prim_(prim), place_(place) {}

  /// `which` is the argument's name in messages, such as "argument 0".
  Status check(const tir::Buffer& buffer, Info given, const std::string& which) {
    const auto* tensor = given->as<relax::TensorInfo>();
    if (tensor == nullptr)
      return fn_.source.error(place_, Kind::dtype_mismatch, "{} of '{}' must be a tensor, found {}", which, prim_.name,
                              relax::to_string(given));
    if (tensor->dtype && *tensor->dtype != buffer.dtype)
      return fn_.source.error(place_, Kind::dtype_mismatch, "{} of '{}' is {}, and the buffer '{}' holds {}", which,
                              prim_.name, to_string(*tensor->dtype), buffer.name, to_string(buffer.dtype));
    if (tensor->ndim >= 0 && tensor->ndim != static_cast<int32_t>(buffer.shape.size()))
      return fn_.source.error(place_, Kind::rank_mismatch, "{} of '{}' has {} dims, and the buffer '{}' has {}", which,
                              prim_.name, tensor->ndim, buffer.name, buffer.shape.size());
    RELAXC_DO(check_compact(buffer));
    return tensor->shape ? check_dims(buffer, *tensor->shape, which) : Status(Done{});
  }

 private:
  /// Reports a buffer with strides that are not compact, since the tensors of a call are compact.
  Status check_compact(const tir::Buffer& buffer) {
    arith::Expr compact = fn_.context().index(1);
    for (size_t d = buffer.strides.size(); d-- > 0; compact = compact * buffer.shape[d])
      if (!arith::prove_equal(buffer.strides[d], compact))
        return fn_.source.error(
            place_, Kind::shape_mismatch,
            "the buffer '{}' of '{}' has stride {} in dim {}, and the tensors of a call are compact: {}", buffer.name,
            prim_.name, arith::to_string(buffer.strides[d]), d, arith::to_string(arith::simplify(compact)));
    return Done{};
  }

  Status check_dims(const tir::Buffer& buffer, const std::vector<arith::Expr>& dims, const std::string& which) {
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
      arith::Expr given = dims[d];
      if (buffer.shape[d].as<arith::VarNode>() && symbols_.emplace(buffer.shape[d], given).second) continue;
      arith::Expr wanted = arith::substitute(buffer.shape[d], symbols_);
      if (arith::prove(arith::ne(given, wanted), fn_.function.facts))
        return fn_.source.error(place_, Kind::shape_mismatch, "dim {} of {} of '{}' is {}, and the buffer '{}' has {}",
                                d, which, prim_.name, arith::to_string(given), buffer.name, arith::to_string(wanted));
    }
    return Done{};
  }

  FunctionParts& fn_;
  const tir::PrimFunc& prim_;
  Place place_;
  arith::Substitution symbols_;
};

/// The form of 2022: R.call_tir(f, args, (16, 16), dtype="float32"), or lists of both for several outputs.
Result<std::vector<Info>> shaped_outputs(FunctionParts& fn, const ast::Expr& e) {
  const ast::Expr* shape = argument(e, 3, {"shape"});
  const ast::Expr& dtype = *e.keyword("dtype")->value;
  if (shape == nullptr) return fn.source.error(e.place, Kind::wrong_arity, "dtype= says what a shape holds");
  std::vector<const ast::Expr*> shapes = {shape}, dtypes = {&dtype};
  if (dtype.is_sequence()) shapes = shape->items, dtypes = dtype.items;
  if (shapes.size() != dtypes.size())
    return fn.source.error(dtype.place, Kind::wrong_arity, "{} dtypes for {} shapes", dtypes.size(), shapes.size());
  std::vector<Info> infos;
  for (size_t i = 0; i < shapes.size(); ++i) {
    RELAXC_TRY(std::vector<arith::Expr> dims, fn.dims.list(*shapes[i]));
    RELAXC_TRY(DType element, dtype_value(fn.source, *dtypes[i]));
    infos.push_back(relax::tensor_info(fn.context(), std::move(dims), element));
  }
  return infos;
}

/// Whether every part of `e` is arithmetic or a comparison of int64, which dims have as well.
bool is_of_dims(arith::Expr e) {
  bool all = true;
  arith::for_each_node(e, [&](arith::Expr part) {
    bool other = part.as<arith::Cast>() || part.as<arith::Load>() || part.as<arith::Call>() || part.as<arith::Extern>();
    all = all && !other && (part.dtype() == DType::i(64) || part.dtype().is_bool());
  });
  return all;
}

/// Returns the store of what a prim func of scalars returns, if its body is that expression alone; else null. An int64
/// is a dim where it is called, so it has to be arithmetic of int64.
const tir::Store* returned(const tir::PrimFunc* prim, size_t scalars) {
  const tir::Store* store = prim != nullptr ? returned_scalar(*prim, scalars) : nullptr;
  if (store == nullptr) return nullptr;
  return store->value.dtype() != DType::i(64) || is_of_dims(store->value) ? store : nullptr;
}

/// Returns an expression of int64 as one of dims.
arith::Expr with_dims_for(arith::Expr e, const arith::Substitution& values) {
  return arith::rewrite(e, [&](arith::Expr part) {
    if (auto value = values.find(part); value != values.end()) return value->second;
    bool literal = part.as<arith::IntImm>() != nullptr && part.dtype() == DType::i(64);
    return literal ? part.context().index(*part.constant()) : part;
  });
}

/// Returns the values of the scalar parameters; those of int64 as dims if `dims` is set.
Result<arith::Substitution> scalar_arguments(FunctionParts& fn, const tir::PrimFunc& prim, const ast::Expr& e,
                                             bool dims) {
  arith::Substitution values;
  for (size_t i = 0; i + 1 < e.items.size(); ++i) {
    Place place = e.items[i + 1]->place;
    RELAXC_TRY(Term term, eval(fn, *e.items[i + 1]));
    std::optional<Scalar> scalar = as_scalar(term);
    if (!scalar)
      return fn.source.error(place, Kind::dtype_mismatch, "argument {} of '{}' must be a scalar", i, prim.name);
    DType dtype = prim.params[i].var.dtype();
    RELAXC_TRY(arith::Expr given,
               fn.dims.adapt(*scalar, dims && dtype == DType::i(64) ? DType::index() : dtype, place));
    values.emplace(prim.params[i].var, given);
  }
  return values;
}

}  // namespace

Result<Term> call_prim_value(FunctionParts& fn, const std::string& name, const ast::Expr& e) {
  const tir::PrimFunc* prim = fn.scope.prim_func(name);
  size_t scalars = fn.scope.globals.at(name).definition->params.size();
  const tir::Store* store = returned(prim, scalars);
  if (store == nullptr) {
    Failure failure = fn.source.error(e.place, Kind::ill_formed, "the prim func '{}' is called by R.call_tir", name);
    fn.source.hint(
        "one that returns an expression of scalars, and does nothing else, gives a scalar where it is called");
    return failure;
  }
  if (e.items.size() != scalars + 1)
    return fn.source.error(e.place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", name, scalars,
                           e.items.size() - 1);
  bool dims = is_of_dims(store->value);
  RELAXC_TRY(arith::Substitution values, scalar_arguments(fn, *prim, e, dims));
  return Term::of(Scalar{dims ? with_dims_for(store->value, values) : arith::substitute(store->value, values)});
}

Result<Term> call_tir(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_DO(check_keywords(fn, e,
                           {"gvar", "func", "args", "out_sinfo", "out_ty", "sinfo_args", "ty_args", "tir_vars",
                            "te_grad_name", "te_grad_kwargs", "shape", "dtype"}));
  const ast::Expr *prim = argument(e, 1, {"gvar", "func"}), *list = argument(e, 2, {"args"}),
                  *scalars = argument(e, 4, {"tir_vars"});
  if (prim == nullptr || list == nullptr || e.items.size() > 5)
    return fn.source.error(e.place, Kind::wrong_arity, "R.call_tir takes a prim func, its arguments and out_ty");
  Result<Term> function = callee(fn, *prim);
  Result<std::vector<Value*>> args = listed_arguments(fn, *list);
  bool shapes = e.keyword("dtype") != nullptr;
  Result<std::vector<Info>> outputs = shapes ? shaped_outputs(fn, e) : output_infos(fn, e, 3);
  if (!function || !args || !outputs) return fn.diag().failed();
  if (is_none(scalars)) scalars = nullptr;
  if (scalars != nullptr) {
    RELAXC_TRY(std::vector<arith::Expr> symbols, fn.dims.list(*scalars));
    for (arith::Expr symbol : symbols) args->push_back(fn.graph.at(e.place).prim(symbol));
  }
  if (function->kind == Term::kExternal && prim->is(AstKind::kString))  // the form of 2022
    return external_call(fn, function->text, *args, std::move(*outputs), e.place);
  if (function->kind != Term::kGlobal)
    return fn.source.error(prim->place, Kind::dtype_mismatch,
                           "R.call_tir calls a prim func; R.call_dps_packed calls an external function");
  return finish_call_tir(fn, function->text, std::move(*args), std::move(*outputs), e, prim->place,
                         scalars == nullptr ? list : nullptr);
}

Result<Term> finish_call_tir(FunctionParts& fn, const std::string& name, std::vector<Value*> args,
                             std::vector<Info> outputs, const ast::Expr& call, Place callee, const ast::Expr* list) {
  const Global& global = fn.scope.globals.at(name);
  if (global.kind == Global::kPoison) return fn.diag().failed();
  const tir::PrimFunc* prim = fn.scope.prim_func(name);
  if (prim == nullptr)
    return fn.source.error(callee, Kind::dtype_mismatch, "R.call_tir calls a prim func, and '{}' is not one", name);
  if (list != nullptr) RELAXC_DO(check_prim_kinds(fn, *prim, args, outputs.size(), *list));
  RELAXC_DO(check_prim_args(fn, *prim, args, outputs, call.place));
  return results_of(fn.graph.at(call.place).call_tir(prim->name, std::move(args), std::move(outputs)));
}

Status check_prim_kinds(FunctionParts& fn, const tir::PrimFunc& prim, const std::vector<Value*>& args, size_t outputs,
                        const ast::Expr& list) {
  bool one_each = list.is_sequence() && list.items.size() == args.size() && args.size() + outputs == prim.params.size();
  if (!one_each) return Done{};
  std::vector<const tir::Param*> inputs;
  size_t buffers = 0;
  for (const tir::Param& param : prim.params) buffers += param.buffer != nullptr;
  // The last buffers are the outputs, wherever the scalars are.
  for (const tir::Param& param : prim.params)
    if (param.buffer == nullptr || buffers-- > outputs) inputs.push_back(&param);
  size_t wanted = 0, given = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    wanted += inputs[i]->buffer != nullptr;
    given += args[i]->info->as<relax::TensorInfo>() != nullptr;
  }
  if (wanted == given) return Done{};  // the order differs, such as tensors before scalars
  for (size_t i = 0; i < args.size(); ++i) {
    bool buffer = inputs[i]->buffer != nullptr, tensor = args[i]->info->as<relax::TensorInfo>() != nullptr;
    if (buffer == tensor) continue;
    std::string name = buffer ? inputs[i]->buffer->name : inputs[i]->var.name();
    return fn.source.error(list.items[i]->place, Kind::dtype_mismatch, "'{}' of '{}' must be {}, found {}", name,
                           prim.name, buffer ? "a tensor" : "a scalar", relax::to_string(args[i]->info));
  }
  return Done{};
}

Status check_prim_args(FunctionParts& fn, const tir::PrimFunc& prim, const std::vector<Value*>& args,
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
  std::vector<tir::BufferRef> buffers;
  for (const tir::Param& param : prim.params)
    if (param.buffer != nullptr) buffers.push_back(param.buffer);
  size_t wanted_scalars = prim.params.size() - buffers.size();
  buffers.resize(buffers.size() - std::min(buffers.size(), prim.memory.scratch));  // hoist_scratch put these last
  if (buffers.size() != infos.size() || wanted_scalars != scalars)
    return fn.source.error(place, Kind::wrong_arity,
                           "'{}' takes {} buffers and {} scalars, found {} inputs, {} outputs and {} scalars",
                           prim.name, buffers.size(), wanted_scalars, inputs, outputs.size(), scalars);
  BufferMatch match(fn, prim, place);
  for (size_t i = 0; i < infos.size(); ++i)
    RELAXC_DO(match.check(*buffers[i], infos[i],
                          i < inputs ? fmt::format("argument {}", i) : fmt::format("output {}", i - inputs)));
  return Done{};
}

}  // namespace relaxc::frontend
