// relax_call.cpp: calls of prim funcs, of Relax functions and of external functions.
//
// A call of a Relax function has the callee's results with its symbols replaced by what the arguments put in their
// place; the callee is read first if it does not declare what it returns. The 2021 spelling call_dps(shape, f, [args])
// is call_tir or a call of an external function, by what f is.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// The argument at `position`, or one named by any of `names`; null if there is none.
const ast::Expr* argument(const ast::Expr& e, size_t position, std::initializer_list<std::string_view> names) {
  if (e.items.size() > position) return e.items[position];
  for (std::string_view name : names)
    if (const ast::Keyword* keyword = e.keyword(name)) return keyword->value;
  return nullptr;
}

}  // namespace

Term RelaxFunctionReader::results_of(relax::Op* op) const {
  if (op->results.size() == 1) return Term::of(op->results[0]);
  std::vector<Term> terms;
  for (Value* value : op->results) terms.push_back(Term::of(value));
  return Term::sequence(std::move(terms));
}

/// The values of `(a, b)`, of one value, or of the positional arguments of a call.
Result<std::vector<relax::Value*>> RelaxFunctionReader::call_arguments(const ast::Expr& list) {
  std::vector<const ast::Expr*> items = {&list};
  bool arguments = list.is(AstKind::kCall) && path_of(*list.items[0]) == "R.carry";
  if (list.is_sequence()) items = list.items;
  if (arguments) items.assign(list.items.begin() + 1, list.items.end());
  std::vector<Value*> values;
  bool ok = true;
  for (const ast::Expr* item : items) {
    Result<Term> term = eval(*item);
    bool spread = term && items.size() == 1 && !list.is_sequence() && !arguments && term->kind == Term::kSequence;
    std::vector<Term> parts = !term ? std::vector<Term>{} : spread ? term->items : std::vector<Term>{*term};
    ok = ok && term;
    for (const Term& part : parts) {
      Result<Value*> value = as_value(part, item->place);
      ok = ok && value;
      if (value && *value == nullptr) {
        (void)source_.error(item->place, Kind::invalid_value, "None is no argument");
        ok = false;
      }
      if (ok) values.push_back(*value);
    }
  }
  if (!ok) return source_.diag().failed();
  return values;
}

/// Reports the first keyword that is not one of `known`.
Status RelaxFunctionReader::check_keywords(const ast::Expr& e, const std::vector<std::string>& known) {
  for (const ast::Keyword& keyword : e.keywords) {
    if (std::find(known.begin(), known.end(), keyword.name) != known.end()) continue;
    Failure failure =
        source_.error(keyword.place, Kind::invalid_attribute, "the call has no argument '{}'", keyword.name);
    if (auto near = nearest_name(keyword.name, known)) source_.hint("did you mean '{}'?", *near);
    return failure;
  }
  return Done{};
}

const ast::Keyword* result_types(const ast::Expr& call) {
  for (std::string_view name : {"out_ty", "ty_args", "out_sinfo", "sinfo_args"})
    if (const ast::Keyword* keyword = call.keyword(name)) return keyword;
  return nullptr;
}

/// What a call gives: its result_types or the argument at `position`.
Result<std::vector<relax::Info>> RelaxFunctionReader::output_infos(const ast::Expr& e, size_t position) {
  const ast::Expr* declared = e.items.size() > position ? e.items[position] : nullptr;
  if (const ast::Keyword* keyword = result_types(e)) declared = keyword->value;
  if (declared == nullptr)
    return source_.error(e.place, Kind::wrong_arity, "the call needs out_ty=R.Tensor(…) to say what it gives");
  Diagnostics& diag = source_.diag();
  RELAXC_TRY(std::vector<Info> infos, info_list(*declared));
  const auto* tuple = infos.size() == 1 ? infos[0]->as<relax::TupleInfo>() : nullptr;
  return tuple != nullptr && !tuple->fields.empty() ? tuple->fields : infos;
}

Result<Term> RelaxFunctionReader::callee(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_TRY(Term term, eval(e));
  if (term.kind == Term::kString) return Term::of(Term::kExternal, term.text);
  if (term.kind == Term::kGlobal || term.kind == Term::kExternal) return term;
  return source_.error(e.place, Kind::dtype_mismatch, "expected a function");
}

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
  if (scalars != nullptr) {
    RELAXC_TRY(std::vector<arith::Expr> symbols, dims(*scalars));
    for (arith::Expr symbol : symbols) args->push_back(at(e.place).prim(symbol));
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
  return results_of(at(place).call_tir(name, std::move(args), std::move(outputs)));
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
  Diagnostics& diag = source_.diag();
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
  if (auto scratch = prim.attrs.find("scratch"); scratch != prim.attrs.end())  // what hoist_scratch put last
    buffers.resize(buffers.size() -
                   std::min<size_t>(buffers.size(), std::strtoul(scratch->second.c_str(), nullptr, 10)));
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

/// 2021: R.call_dps(shape, f, [args]); the dtype is the callee's, or that of the annotation.
Result<Term> RelaxFunctionReader::call_dps(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() != 4)
    return source_.error(e.place, Kind::wrong_arity, "R.call_dps takes a shape, a function and its arguments");
  Result<std::vector<arith::Expr>> shape = dims(*e.items[1]);
  Result<Term> function = callee(*e.items[2]);
  Result<std::vector<Value*>> args = call_arguments(*e.items[3]);
  const tir::PrimFunc* called =
      function && function->kind == Term::kGlobal ? scope_.module.find_prim_func(function->text) : nullptr;
  if (!shape && called != nullptr && args) (void)check_prim_kinds(*called, *args, 1, *e.items[3]);
  if (!shape || !function || !args) return diag.failed();
  std::optional<DType> dtype;
  if (hint_ != nullptr) {
    // Only the dtype is wanted; the rest of the annotation is checked when the value is there.
    const ast::Expr* written = hint_->items.size() > 2 ? hint_->items[2] : nullptr;
    if (const ast::Keyword* keyword = hint_->keyword("dtype")) written = keyword->value;
    if (written != nullptr && written->is(AstKind::kString)) dtype = parse_dtype(written->text);
  }
  if (function->kind == Term::kGlobal) {
    const tir::PrimFunc* prim = scope_.module.find_prim_func(function->text);
    if (prim != nullptr)
      for (const tir::Param& param : prim->params)
        if (param.buffer != nullptr) dtype = param.buffer->dtype;
  }
  if (!dtype)
    return source_.error(e.place, Kind::ill_formed,
                         "annotate the result with its dtype, as in y: R.Tensor[_, \"f32\"]");
  std::vector<Info> outputs = {relax::tensor_info(context_, *shape, *dtype)};
  if (function->kind == Term::kGlobal) return finish_call_tir(function->text, *args, outputs, e.place, e.items[3]);
  relax::Op* op = at(e.place).append(relax::OpKind::kCallExternal, *args);
  op->callee = function->text;
  function_.make_result(op, {}, outputs[0]);
  return results_of(op);
}

/// R.call_dps_packed("f", (x, y), out_ty=R.Tensor(…))
Result<Term> RelaxFunctionReader::call_dps_packed(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  RELAXC_DO(check_keywords(e, {"func", "args", "out_sinfo", "out_ty", "sinfo_args", "ty_args"}));
  const ast::Expr *named = argument(e, 1, {"func"}), *list = argument(e, 2, {"args"});
  if (named == nullptr || list == nullptr || e.items.size() > 4)
    return source_.error(e.place, Kind::wrong_arity, "R.call_dps_packed takes a function, its arguments and out_ty");
  Result<Term> function = callee(*named);
  Result<std::vector<Value*>> args = call_arguments(*list);
  Result<std::vector<Info>> outputs = output_infos(e, 3);
  if (!function || !args || !outputs) return diag.failed();
  if (function->kind == Term::kGlobal) return finish_call_tir(function->text, *args, *outputs, e.place, list);
  auto sizes_itself = [](Info info) {
    const auto* tensor = info->as<relax::TensorInfo>();
    return tensor == nullptr || !tensor->shape || !tensor->dtype;
  };
  if (std::any_of(outputs->begin(), outputs->end(), sizes_itself))
    return returned_results(function->text, *args, std::move(*outputs), {}, e.place);
  relax::Op* op = at(e.place).append(relax::OpKind::kCallExternal, *args);
  op->callee = function->text;
  for (Info output : *outputs) function_.make_result(op, {}, output);
  return results_of(op);
}

/// Results that the external function makes itself: of known rank and dtype, with dims that it brings if they are not
/// said; or opaque objects.
Result<Term> RelaxFunctionReader::returned_results(const std::string& name, const std::vector<Value*>& args,
                                                   std::vector<Info> infos, std::vector<arith::Var> bound,
                                                   Place place) {
  for (Info& info : infos) {
    const auto* tensor = info->as<relax::TensorInfo>();
    bool known = tensor != nullptr && tensor->dtype && tensor->ndim >= 0;
    if (!known && info->as<relax::ObjectInfo>() == nullptr)
      return source_.error(place, Kind::unsupported,
                           "'{}' gives a tensor of known rank and dtype, a shape or an object, found {}; write "
                           "R.Tensor(ndim=1, dtype=\"float32\")",
                           name, relax::to_string(info));
    if (tensor == nullptr || tensor->shape) continue;
    std::vector<arith::Expr> dims;
    for (int32_t i = 0; i < tensor->ndim; ++i) {
      bound.push_back(context_.var("d" + std::to_string(bound.size())));
      dims.push_back(bound.back());
    }
    info = relax::tensor_info(context_, std::move(dims), *tensor->dtype);
  }
  relax::Op* op = at(place).append(relax::OpKind::kCallExternal, args);
  op->callee = name;
  op->attrs.set("returned", true);
  op->binds = std::move(bound);
  for (Info info : infos) function_.make_result(op, {}, info);
  return results_of(op);
}

/// R.call_packed("f", x, …): for its effect, or, where it gives a shape, an external shape function.
Result<Term> RelaxFunctionReader::call_packed(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.items.size() < 2) return source_.error(e.place, Kind::wrong_arity, "R.call_packed takes a function");
  Result<Term> function = callee(*e.items[1]);
  std::vector<Value*> args;
  bool ok = bool(function);
  for (size_t i = 2; i < e.items.size(); ++i) {
    args.push_back(operand_value(*e.items[i]));
    ok = ok && args.back() != nullptr;
  }
  if (!ok) return diag.failed();
  const ast::Keyword* type = result_types(e);
  bool typed = type != nullptr;
  // R.Tuple without fields says that nothing comes back.
  const ast::Expr* said = typed ? type->value : hint_;
  if (said != nullptr && said->is_sequence() && said->items.size() == 1) said = said->items[0];
  if (said == nullptr || is_empty_tuple(*said)) {
    if (block_ != nullptr && block_->dataflow)
      return source_.error(e.place, Kind::purity, "a call for its effect cannot stand in a dataflow block");
    relax::Op* op = at(e.place).append(relax::OpKind::kCallExternal, args);
    op->callee = function->text;
    return Term::sequence({});
  }
  std::vector<arith::Var> bound;
  pattern_ = Pattern::kFresh;
  binding_ = &bound;
  Result<std::vector<Info>> infos = typed ? output_infos(e, e.items.size()) : info_list(*hint_);
  pattern_ = Pattern::kUse;
  binding_ = nullptr;
  if (!infos) return diag.failed();
  const auto* shape = infos->size() == 1 ? (*infos)[0]->as<relax::ShapeInfo>() : nullptr;
  if (shape == nullptr) return returned_results(function->text, args, std::move(*infos), std::move(bound), e.place);
  int32_t rank = shape->ndim;
  for (size_t i = 0; rank < 0 && i < args.size(); ++i)  // R.Shape alone: as many dims as the shape that it is made of
    if (const auto* given = args[i]->info->as<relax::ShapeInfo>()) rank = given->ndim;
  relax::Op* op = at(e.place).append(relax::OpKind::kShapeFunction, args);
  op->callee = function->text;
  op->binds = std::move(bound);
  function_.make_result(op, {}, shape->dims ? relax::shape_info(context_, *shape->dims) : relax::shape_info(context_));
  if (!shape->dims && rank >= 0) give_dims(*op, rank);
  return results_of(op);
}

/// What an external shape function gives are symbols, as many as `rank`.
void RelaxFunctionReader::give_dims(relax::Op& shape_function, int32_t rank) {
  std::vector<arith::Expr> dims;
  for (int32_t i = 0; i < rank; ++i) {
    shape_function.binds.push_back(context_.var("s" + std::to_string(i)));
    dims.push_back(shape_function.binds.back());
  }
  shape_function.result()->info = relax::shape_info(context_, std::move(dims));
}

/// Whether somebody has said how many dims each external shape function gives; reports those that are left.
bool RelaxFunctionReader::ranks_are_known() {
  bool known = true;
  for (relax::Op* op : relax::ops_of(function_.body(), true)) {
    if (op->kind != relax::OpKind::kShapeFunction || op->result()->info->as<relax::ShapeInfo>()->dims) continue;
    (void)source_.diag().error(op->location, Kind::unsupported,
                               "how many dims '{}' gives is not known; write R.Shape(ndim=2), or match_cast it to that",
                               op->callee);
    known = false;
  }
  return known;
}

/// The dims of `f[n, m](…)`, one for each symbol that f lists in brackets.
Result<std::vector<arith::Expr>> RelaxFunctionReader::explicit_symbols(const RelaxFunctionReader& callee,
                                                                       const ast::Expr& list) {
  std::vector<arith::Expr> given;
  for (size_t i = 1; i < list.items.size(); ++i)
    if (Result<arith::Expr> value = dim(*list.items[i])) given.push_back(*value);
  size_t listed = callee.definition_.type_params.size();
  if (given.size() + 1 != list.items.size()) return source_.diag().failed();
  if (given.size() != listed)
    return source_.error(list.place, Kind::wrong_arity, "'{}' lists {} symbols in brackets, found {}",
                         callee.definition_.text, listed, given.size());
  return given;
}

/// What stands in brackets must be what the arguments say: they are where the callee finds its symbols.
Status RelaxFunctionReader::check_symbols(const RelaxFunctionReader& callee, const std::vector<arith::Expr>& given,
                                          const arith::Substitution& symbols, const ast::Expr& list) {
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = callee.definition_.type_params[i].name;
    for (const auto& [symbol, value] : symbols) {
      if (arith::Var(symbol.as<arith::VarNode>()).name() != name) continue;
      if (arith::prove_equal(value, given[i], function_.facts)) continue;
      return source_.error(list.items[i + 1]->place, Kind::shape_mismatch,
                           "the arguments give '{}' of '{}' the value {}, found {}", name, callee.definition_.text,
                           arith::to_string(value), arith::to_string(given[i]));
    }
  }
  return Done{};
}

/// cls.f(x, y), cls.f[n](x, y)
Result<Term> RelaxFunctionReader::call_global(const std::string& name, const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  const ast::Expr* explicit_list = e.items[0]->is(AstKind::kSubscript) ? e.items[0] : nullptr;
  const Global& global = scope_.globals.at(name);
  std::vector<Value*> args;
  bool ok = true;
  for (size_t i = 1; i < e.items.size(); ++i) {
    args.push_back(operand_value(*e.items[i]));
    ok = ok && args.back() != nullptr;
  }
  if (!ok || global.kind == Global::kPoison) return diag.failed();
  if (global.kind == Global::kPrimFunc)
    return source_.error(e.place, Kind::ill_formed, "the prim func '{}' is called by R.call_tir", name);
  RelaxFunctionReader& reader = *global.reader;
  const std::vector<Value*>& params = reader.function_.body().arguments;
  if (params.size() != args.size())
    return source_.error(e.place, Kind::wrong_arity, "'{}' takes {} arguments, found {}", name, params.size(),
                         args.size());
  arith::Substitution symbols;
  for (size_t i = 0; i < args.size(); ++i) {
    RELAXC_DO(match_argument(params[i]->info, args[i]->info, symbols, e.items[i + 1]->place, params[i]->name));
  }
  if (explicit_list != nullptr) {
    RELAXC_TRY(std::vector<arith::Expr> given, explicit_symbols(reader, *explicit_list));
    RELAXC_DO(check_symbols(reader, given, symbols, *explicit_list));
  }
  RELAXC_TRY(std::vector<Info> results, reader.results(e.place));
  relax::Op* op = at(e.place).append(relax::OpKind::kCallFunction, args);
  op->callee = name;
  for (Info result : relax::results_of_call(context_, std::move(results), symbols, op->binds))
    function_.make_result(op, {}, result);
  return results_of(op);
}

/// Binds the callee's symbols to what an argument has in their place; reports what cannot fit.
Status RelaxFunctionReader::match_argument(Info param, Info argument, arith::Substitution& symbols, Place place,
                                           const std::string& name) {
  Diagnostics& diag = source_.diag();
  if (param->kind == relax::InfoKind::kObject) return Done{};
  auto mismatch = [&](Kind kind) {
    return source_.error(place, kind, "parameter '{}' is {}, found {}", name, relax::to_string(param),
                         relax::to_string(argument));
  };
  if (param->kind != argument->kind) return mismatch(Kind::dtype_mismatch);
  auto match_dims = [&](const auto& wanted, const auto& given) -> Status {
    if (!wanted || !given) return Done{};
    if (wanted->size() != given->size()) return mismatch(Kind::rank_mismatch);
    for (size_t i = 0; i < wanted->size(); ++i) {
      if ((*wanted)[i].template as<arith::VarNode>() && symbols.emplace((*wanted)[i], (*given)[i]).second) continue;
      arith::Expr expected = arith::substitute((*wanted)[i], symbols);
      if (arith::prove(arith::ne(expected, (*given)[i]), function_.facts)) return mismatch(Kind::shape_mismatch);
    }
    return Done{};
  };
  if (const auto* wanted = param->as<relax::TensorInfo>()) {
    const auto* given = argument->as<relax::TensorInfo>();
    if (wanted->dtype && given->dtype && wanted->dtype != given->dtype) return mismatch(Kind::dtype_mismatch);
    if (wanted->ndim >= 0 && given->ndim >= 0 && wanted->ndim != given->ndim) return mismatch(Kind::rank_mismatch);
    return match_dims(wanted->shape, given->shape);
  }
  if (const auto* wanted = param->as<relax::ShapeInfo>())
    return match_dims(wanted->dims, argument->as<relax::ShapeInfo>()->dims);
  if (const auto* wanted = param->as<relax::PrimInfo>()) {
    const auto* given = argument->as<relax::PrimInfo>();
    if (wanted->dtype != given->dtype) return mismatch(Kind::dtype_mismatch);
    if (wanted->value && given->value && wanted->value.as<arith::VarNode>())
      symbols.emplace(wanted->value, given->value);
    return Done{};
  }
  if (const auto* wanted = param->as<relax::CallableInfo>())
    if (wanted->params.size() != argument->as<relax::CallableInfo>()->params.size()) return mismatch(Kind::wrong_arity);
  if (const auto* wanted = param->as<relax::TupleInfo>()) {
    const auto& given = argument->as<relax::TupleInfo>()->fields;
    if (wanted->fields.size() != given.size()) return mismatch(Kind::wrong_arity);
    for (size_t i = 0; i < given.size(); ++i)
      RELAXC_DO(match_argument(wanted->fields[i], given[i], symbols, place, name));
  }
  return Done{};
}

}  // namespace relaxc::frontend
