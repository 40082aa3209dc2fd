// casts.cpp: casts values to their annotations.
#include "frontends/relax/function/casts.h"

#include <algorithm>
#include <functional>

#include "compiler/relax/known.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/values.h"

namespace relaxc::frontend {

using relax::Info;
using relax::Value;

namespace {

/// Returns whether no value can have both types.
bool contradict(relax::Info a, relax::Info b) {
  if (a->kind == relax::InfoKind::kObject || b->kind == relax::InfoKind::kObject) return false;
  if (a->kind != b->kind) return true;
  auto dims_differ = [](const auto& x, const auto& y) {
    if (!x || !y) return false;
    if (x->size() != y->size()) return true;
    for (size_t i = 0; i < x->size(); ++i)
      if (arith::prove(arith::ne((*x)[i], (*y)[i]))) return true;
    return false;
  };
  if (const auto* x = a->as<relax::TensorInfo>()) {
    const auto* y = b->as<relax::TensorInfo>();
    if (x->dtype && y->dtype && x->dtype != y->dtype) return true;
    return (x->ndim >= 0 && y->ndim >= 0 && x->ndim != y->ndim) || dims_differ(x->shape, y->shape);
  }
  if (const auto* x = a->as<relax::ShapeInfo>()) {
    const auto* y = b->as<relax::ShapeInfo>();
    return (x->ndim >= 0 && y->ndim >= 0 && x->ndim != y->ndim) || dims_differ(x->dims, y->dims);
  }
  if (const auto* x = a->as<relax::PrimInfo>()) {
    const auto* y = b->as<relax::PrimInfo>();
    return x->dtype != y->dtype || (x->value && y->value && arith::prove(arith::ne(x->value, y->value)));
  }
  if (const auto* x = a->as<relax::TupleInfo>()) {
    const auto& y = b->as<relax::TupleInfo>()->fields;
    if (x->fields.size() != y.size()) return true;
    for (size_t i = 0; i < y.size(); ++i)
      if (contradict(x->fields[i], y[i])) return true;
  }
  if (const auto* x = a->as<relax::CallableInfo>()) {
    const auto* y = b->as<relax::CallableInfo>();
    return x->params.size() != y->params.size();
  }
  return false;
}

/// Calls `f` for each pair of corresponding numbers in two types of the same kind and rank.
void pair_dims(relax::Info a, relax::Info b, const std::function<void(arith::Expr, arith::Expr)>& f) {
  const std::vector<arith::Expr>*x = nullptr, *y = nullptr;
  if (const auto* s = a->as<relax::TensorInfo>(), *t = b->as<relax::TensorInfo>(); s && t && s->shape && t->shape)
    x = &*s->shape, y = &*t->shape;
  if (const auto* s = a->as<relax::ShapeInfo>(), *t = b->as<relax::ShapeInfo>(); s && t && s->dims && t->dims)
    x = &*s->dims, y = &*t->dims;
  if (const auto* s = a->as<relax::PrimInfo>(), *t = b->as<relax::PrimInfo>(); s && t && s->value && t->value)
    f(s->value, t->value);
  if (const auto* s = a->as<relax::TupleInfo>(), *t = b->as<relax::TupleInfo>(); s && t)
    for (size_t i = 0; i < s->fields.size() && i < t->fields.size(); ++i) pair_dims(s->fields[i], t->fields[i], f);
  if (x == nullptr || x->size() != y->size()) return;
  for (size_t i = 0; i < x->size(); ++i) f((*x)[i], (*y)[i]);
}

/// Returns whether the type is complete, as it must be to cast an object to it.
bool is_complete(Info info) {
  const auto* tensor = info->as<relax::TensorInfo>();
  const auto* shape = info->as<relax::ShapeInfo>();
  return (tensor && tensor->shape && tensor->dtype) || (shape && shape->dims) || info->as<relax::PrimInfo>();
}

/// Reports a cast that certainly fails, and a cast of an object to an incomplete type.
Status check_cast(SourceText& source, const Value& value, Info wanted, Place place) {
  if (contradict(wanted, value.info)) {
    const auto *x = wanted->as<relax::TensorInfo>(), *y = value.info->as<relax::TensorInfo>();
    bool dtypes = x && y && x->dtype && y->dtype && x->dtype != y->dtype;
    bool ranks = x && y && x->ndim >= 0 && y->ndim >= 0 && x->ndim != y->ndim;
    Kind kind = dtypes || !x || !y ? Kind::dtype_mismatch : ranks ? Kind::rank_mismatch : Kind::shape_mismatch;
    return source.error(place, kind, "declared as {}, but the value is {}", relax::to_string(wanted),
                        relax::to_string(value.info));
  }
  bool opens = value.info->as<relax::ObjectInfo>() && !wanted->as<relax::ObjectInfo>();
  if (opens && !is_complete(wanted))
    return source.error(place, Kind::unsupported,
                        "an object is cast to all of what it holds, such as R.Tensor((m,), \"float32\"), found {}",
                        relax::to_string(wanted));
  return Done{};
}

/// Returns the annotated type, with what it leaves open taken from the deduced type.
Info completed(arith::Context& context, Info wanted, Info deduced) {
  const auto *x = wanted->as<relax::TensorInfo>(), *y = deduced->as<relax::TensorInfo>();
  if (x == nullptr || y == nullptr) return wanted;
  std::optional<DType> dtype = x->dtype ? x->dtype : y->dtype;
  if (x->shape) return relax::tensor_info(context, *x->shape, dtype);
  if (y->shape) return relax::tensor_info(context, *y->shape, dtype);
  return relax::tensor_info(context, std::max(x->ndim, y->ndim), dtype);
}

/// Reads R.match_cast(x, info) or R.match_shape(x, dims); symbols that have no value yet get one here.
Result<Term> match(FunctionParts& fn, const ast::Expr& e, bool shape_only) {
  Diagnostics& diag = fn.source.diag();
  if (e.items.size() != 3)
    return fn.source.error(e.place, Kind::wrong_arity, "{} takes a value and {}, found {} arguments",
                           shape_only ? "R.match_shape" : "R.match_cast", shape_only ? "dims" : "a type",
                           e.items.size() - 1);
  Value* value = operand_value(fn, *e.items[1]);
  std::vector<arith::Var> bound;
  auto matched_dims = [&] {
    DimPattern::Reading reading(fn.dims.pattern(), DimPattern::kFresh, &bound);
    return fn.dims.list(*e.items[2]);
  };
  Result<std::vector<arith::Expr>> list =
      shape_only ? matched_dims() : Result<std::vector<arith::Expr>>(std::vector<arith::Expr>());
  Result<Info> wanted =
      shape_only ? Result<Info>(Info(nullptr)) : read_info_by(fn, DimPattern::kDeclared, *e.items[2], bound);
  if (value == nullptr || !list || !wanted) return diag.failed();
  Info type = *wanted;
  if (shape_only) {
    const auto* tensor = value->info->as<relax::TensorInfo>();
    if (tensor == nullptr && value->info->as<relax::ShapeInfo>() == nullptr)
      return fn.source.error(e.items[1]->place, Kind::dtype_mismatch,
                             "R.match_shape takes a tensor or a shape, found {}", relax::to_string(value->info));
    type = tensor ? relax::tensor_info(fn.context(), *list, tensor->dtype) : relax::shape_info(fn.context(), *list);
  }
  // Emit the cast even if it certainly holds, since symbols get their values from it.
  if (bound.empty() && relax::same(type, value->info)) {
    RELAXC_TRY(Value * again, fn.graph.at(e.place).match_cast(value, type, {}));
    return Term::of(again);
  }
  RELAXC_TRY(Value * cast, cast_to(fn, value, type, std::move(bound), e.place));
  if (cast != value) return Term::of(cast);
  RELAXC_TRY(Value * checked, fn.graph.at(e.place).match_cast(value, type, {}));
  return Term::of(checked);
}

}  // namespace

Result<Term> annotate(FunctionParts& fn, const Term& term, const ast::Expr& annotation) {
  Diagnostics& diag = fn.source.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  if (term.kind == Term::kModule || term.kind == Term::kGlobal || term.kind == Term::kExternal) return term;
  // `_: R.Tuple = R.print(x)`: a call without a result is an empty tuple.
  if (term.kind == Term::kSequence && term.items.empty() && is_empty_tuple(fn, annotation)) return term;
  RELAXC_TRY(Value * value, as_value(fn, term, annotation.place));
  // The annotation may name symbols that the op binds: `y: R.Tensor((k,)) = R.unique(x)`.
  bool brings = value->op != nullptr && !value->op->binds.empty();
  std::vector<arith::Var> fresh;
  Result<Info> wanted = read_info_by(fn, brings ? DimPattern::kFresh : DimPattern::kDeclared, annotation, fresh);
  if (!wanted) return diag.failed();
  arith::Substitution named;
  pair_dims(*wanted, value->info, [&](arith::Expr name, arith::Expr deduced) {
    bool is_new = std::any_of(fresh.begin(), fresh.end(), [&](arith::Var v) { return v == name; });
    if (is_new) named.emplace(name, deduced);
  });
  if (brings && !named.empty()) {
    for (arith::Var var : fresh)
      if (auto known = named.find(var); known != named.end())
        fn.names.bind(var.name(), Term::of(Scalar{known->second}), annotation.place);
    std::erase_if(fresh, [&](arith::Var v) { return named.count(v) != 0; });
    wanted = relax::substitute(fn.context(), *wanted, named);
  }
  RELAXC_TRY(value, cast_to(fn, value, *wanted, std::move(fresh), annotation.place));
  return Term::of(value);
}

Result<relax::Value*> cast_to(FunctionParts& fn, Value* value, Info wanted, std::vector<arith::Var> binds,
                              Place place) {
  // If the rank of an external shape function's result is not declared, the first cast determines it.
  const auto *open = value->info->as<relax::ShapeInfo>(), *said = wanted->as<relax::ShapeInfo>();
  bool made = value->op != nullptr && value->op->kind == relax::OpKind::kShapeFunction;
  if (made && open && said && open->ndim < 0 && said->ndim >= 0) give_dims(fn.context(), *value->op, said->ndim);
  arith::Facts room;
  const arith::Facts& facts = relax::known_facts(fn.graph.region(), nullptr, room);
  if (binds.empty() && relax::subsumes(wanted, value->info, facts)) return value;
  if (may_cast_in_branches(fn, *value)) return cast_in_branches(fn, value, wanted, binds, place);
  RELAXC_DO(check_cast(fn.source, *value, wanted, place));
  wanted = completed(fn.context(), wanted, value->info);
  RELAXC_TRY(Value * cast, fn.graph.at(place).match_cast(value, wanted, std::move(binds)));
  return cast;
}

Result<Term> match_cast(FunctionParts& fn, const ast::Expr& e) {
  return match(fn, e, false);
}

Result<Term> match_shape(FunctionParts& fn, const ast::Expr& e) {
  return match(fn, e, true);
}

void give_dims(arith::Context& context, relax::Op& shape_function, int32_t rank) {
  std::vector<arith::Expr> dims;
  for (int32_t i = 0; i < rank; ++i) {
    shape_function.binds.push_back(context.var("s" + std::to_string(i)));
    dims.push_back(shape_function.binds.back());
  }
  shape_function.result()->info = relax::shape_info(context, std::move(dims));
}

bool ranks_are_known(FunctionParts& fn) {
  bool known = true;
  for (relax::Op* op : relax::ops_of(fn.function.body(), true)) {
    if (op->kind != relax::OpKind::kShapeFunction || op->result()->info->as<relax::ShapeInfo>()->dims) continue;
    (void)fn.source.diag().error(
        op->location, Kind::unsupported,
        "how many dims '{}' gives is not known; write R.Shape(ndim=2), or match_cast it to that", op->callee);
    known = false;
  }
  return known;
}

}  // namespace relaxc::frontend
