// relax_info.cpp: annotations to struct info, and values brought to what their annotation says.
#include <algorithm>
#include <utility>

#include "compiler/relax/known.h"
#include "frontends/relax/grammar.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// The arguments of R.X(…) or R.X[…]; none for a bare R.X.
std::vector<const ast::Expr*> arguments_of(const ast::Expr& e) {
  if (!e.is(AstKind::kCall) && !e.is(AstKind::kSubscript)) return {};
  return {e.items.begin() + 1, e.items.end()};
}

bool is_wildcard(const ast::Expr& e) {
  return e.is(AstKind::kNone) || e.is(AstKind::kEllipsis) || (e.is(AstKind::kName) && e.text == "_");
}

/// `(n)` is n.
Failure number_for_shape(SourceText& source, Place place) {
  Failure failure = source.error(place, Kind::ill_formed, "expected a shape, found a number");
  source.hint("a shape of one dim is written with a comma: ({},)",
              source.text().substr(place.begin, std::min<uint32_t>(place.length, 40)));
  return failure;
}

/// True if no value can have both infos.
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

/// Pairs the numbers of two infos of one kind and rank.
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

}  // namespace

Result<relax::Info> RelaxFunctionReader::info(const ast::Expr& e) {
  if (e.is(AstKind::kNone)) return relax::tuple_info(context_, {});  // `-> None`
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(source_, scope_.tree, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return source_.diag().failed();
    if (!quoted->is(AstKind::kString)) return info(*quoted);
  }
  const ast::Expr& head = e.is(AstKind::kCall) || e.is(AstKind::kSubscript) ? *e.items[0] : e;
  std::string path = path_of(head);
  if (path.rfind("relax.", 0) == 0) path = "R." + path.substr(6);
  if (path == "R.Tensor" || path == "Tensor") return tensor_info(e);
  if (path == "R.Shape" || path == "Shape") return shape_info(e);
  if (path == "R.Prim" || path == "R.PrimValue") return prim_info(e);
  if (path == "R.Tuple" || path == "Tuple") return tuple_info(e);
  if (path == "R.Callable") return callable_info(e);
  if (path == "R.Object" || path == "R.Any") return relax::object_info(context_);
  if (const ast::Expr& of = without_type(e); &of != &e) {  // x.struct_info, x.ty: what is known of x
    RELAXC_TRY(Term known, eval(of));
    if (known.kind == Term::kValue) return known.value->info;
  }
  Failure failure = source_.error(e.place, Kind::ill_formed,
                                  "expected a type such as R.Tensor((\"n\", 4), \"float32\"), found {}", describe(e));
  if (auto near = nearest_name(path, {"R.Tensor", "R.Shape", "R.Prim", "R.Tuple", "R.Callable", "R.Any"}))
    source_.hint("did you mean {}?", *near);
  return failure;
}

/// R.Tensor(shape, dtype, ndim=…), R.Tensor[shape, dtype]; `_` and None are unknown.
Result<relax::Info> RelaxFunctionReader::tensor_info(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  std::vector<const ast::Expr*> arguments = arguments_of(e);
  const ast::Expr *shape = nullptr, *dtype = nullptr, *device = nullptr, *ndim = nullptr;
  if (!arguments.empty()) shape = arguments[0];
  if (arguments.size() > 1) dtype = arguments[1];
  if (arguments.size() > 2) device = arguments[2];
  if (arguments.size() > 3) ndim = arguments[3];
  if (arguments.size() > 4)
    return source_.error(arguments[4]->place, Kind::wrong_arity,
                         "R.Tensor takes a shape, a dtype, a device and ndim, found {} arguments", arguments.size());
  // R.Tensor("float32", ndim=2): a dtype alone.
  if (shape != nullptr && dtype == nullptr && shape->is(AstKind::kString) && parse_dtype(shape->text))
    std::swap(shape, dtype);
  for (const ast::Keyword& keyword : e.keywords) {
    if (keyword.name == "shape")
      shape = keyword.value;
    else if (keyword.name == "dtype")
      dtype = keyword.value;
    else if (keyword.name == "ndim")
      ndim = keyword.value;
    else if (keyword.name == "vdevice")
      device = keyword.value;
    else
      return source_.error(keyword.place, Kind::invalid_attribute, "R.Tensor has no '{}'", keyword.name);
  }
  bool ok = device == nullptr || is_wildcard(*device) || check_device(source_, *device);
  std::optional<DType> element;
  if (dtype != nullptr && !is_wildcard(*dtype) && !(dtype->is(AstKind::kString) && dtype->text.empty())) {
    Result<DType> read = dtype_value(source_, *dtype);
    ok = ok && read;
    if (read && (*read == DType::index() || *read == DType::handle()))
      return source_.error(dtype->place, Kind::invalid_value, "a tensor cannot hold {}", to_string(*read));
    if (read) element = *read;
  }
  int64_t rank = -1;
  if (ndim != nullptr) {
    bool negative = ndim->is(AstKind::kUnary) && ndim->text == "-";
    if (!negative) {
      RELAXC_TRY(arith::Expr count, index(*ndim));
      if (count.constant() == nullptr || *count.constant() > 64)
        return source_.error(ndim->place, Kind::invalid_value, "ndim is a small integer");
      rank = *count.constant();
    }
  }
  if (shape != nullptr && !is_wildcard(*shape)) {
    Result<std::vector<arith::Expr>> list = dims(*shape);
    if (!list || !ok) return diag.failed();
    for (arith::Expr dim : *list)
      if (dim.constant() != nullptr && *dim.constant() < 0)
        return source_.error(shape->place, Kind::invalid_value, "a dim cannot be negative, found {}", *dim.constant());
    if (rank >= 0 && rank != static_cast<int64_t>(list->size()))
      return source_.error(ndim->place, Kind::rank_mismatch, "ndim={} of a shape of {} dims", rank, list->size());
    for (arith::Expr dim : *list)
      if (pattern_.kind() != DimPattern::kUse && pattern_.own_symbols() == nullptr &&
          dim.as<arith::VarNode>() != nullptr)
        function_.facts.bound(arith::Var(dim.as<arith::VarNode>()), arith::Range::at_least(0));
    return relax::tensor_info(context_, std::move(*list), element);
  }
  if (!ok) return diag.failed();
  return relax::tensor_info(context_, static_cast<int32_t>(rank), element);
}

Result<relax::Info> RelaxFunctionReader::shape_info(const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments = arguments_of(e);
  if (!arguments.empty() && !is_wildcard(*arguments[0])) {
    RELAXC_TRY(std::vector<arith::Expr> list, dims(*arguments[0]));
    return relax::shape_info(context_, std::move(list));
  }
  const ast::Keyword* ndim = e.keyword("ndim");
  if (ndim == nullptr || ndim->value->is(AstKind::kUnary)) return relax::shape_info(context_);
  RELAXC_TRY(arith::Expr count, index(*ndim->value));
  if (count.constant() == nullptr || *count.constant() < 0 || *count.constant() > 64)
    return source_.error(ndim->place, Kind::invalid_value, "ndim is a small integer");
  return relax::shape_info(context_, static_cast<int32_t>(*count.constant()));
}

/// R.Prim("int64") and R.Prim(value=n): integers of 64 bits are dims.
Result<relax::Info> RelaxFunctionReader::prim_info(const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments = arguments_of(e);
  const ast::Keyword* dtype = e.keyword("dtype");
  const ast::Keyword* value = e.keyword("value");
  const ast::Expr* written = !arguments.empty() ? arguments[0] : dtype != nullptr ? dtype->value : nullptr;
  if (written == nullptr && value == nullptr)
    return source_.error(e.place, Kind::ill_formed, "R.Prim needs a dtype, as in R.Prim(\"int64\")");
  DType type = DType::index();
  if (written != nullptr) {
    RELAXC_TRY(type, dtype_value(source_, *written));
  }
  if (type == DType::i(64)) type = DType::index();
  if (value == nullptr) return relax::prim_info(context_, type);
  RELAXC_TRY(arith::Expr of_value, prim_of(*value->value, type));
  return relax::prim_info(context_, type, of_value);
}

/// The value of a scalar type; a name that stands alone may be new.
Result<arith::Expr> RelaxFunctionReader::prim_of(const ast::Expr& e, DType dtype) {
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(source_, scope_.tree, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return source_.diag().failed();
    if (pattern_.own_symbols() != nullptr && quoted->is(AstKind::kName))
      (void)pattern_.own_symbol(context_, quoted->text, dtype);
    DimPattern::Quoted quotes(pattern_);
    return prim_of(*quoted, dtype);
  }
  const DimPattern::OwnSymbols* symbols = pattern_.quoted() ? pattern_.own_symbols() : nullptr;
  bool own = symbols != nullptr && symbols->count(e.text) != 0;
  bool fresh = e.is(AstKind::kName) && pattern_.fresh() && !own && names_.find(e.text) == nullptr;
  if (!fresh || dtype.is_index()) return value(e, dtype);
  arith::Var var = context_.var(e.text, dtype);
  names_.bind(e.text, Term::of(Scalar{var}), e.place);
  pattern_.bind(var);
  return var;
}

Result<relax::Info> RelaxFunctionReader::tuple_info(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  std::vector<const ast::Expr*> arguments = arguments_of(e);
  if (arguments.size() == 1 && arguments[0]->is_sequence()) arguments = arguments[0]->items;
  if (!e.is(AstKind::kCall) && !e.is(AstKind::kSubscript)) return relax::object_info(context_);
  std::vector<Info> fields;
  bool ok = true;
  for (const ast::Expr* argument : arguments) {
    Result<Info> field = info(*argument);
    ok = ok && field;
    if (field) fields.push_back(*field);
  }
  if (!ok) return diag.failed();
  return relax::tuple_info(context_, std::move(fields));
}

/// One info, or several in a tuple or list.
Result<std::vector<relax::Info>> RelaxFunctionReader::info_list(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  std::vector<Info> infos;
  bool ok = true;
  for (const ast::Expr* item : e.is_sequence() ? e.items : std::vector<const ast::Expr*>{&e}) {
    Result<Info> read = info(*item);
    ok = ok && read;
    if (read) infos.push_back(*read);
  }
  if (!ok) return diag.failed();
  return infos;
}

Result<relax::Info> RelaxFunctionReader::info_by(DimPattern::Kind kind, const ast::Expr& e,
                                                 std::vector<arith::Var>& binds) {
  DimPattern::Reading reading(pattern_, kind, &binds);
  return info(e);
}

Result<std::vector<relax::Info>> RelaxFunctionReader::fresh_infos(const ast::Expr& e, std::vector<arith::Var>& binds) {
  DimPattern::Reading reading(pattern_, DimPattern::kFresh, &binds);
  return info_list(e);
}

Result<arith::Expr> RelaxFunctionReader::dim(const ast::Expr& e) {
  if (!e.is(AstKind::kString)) return index(e);
  const ast::Expr* quoted = parse_quoted(source_, scope_.tree, {e.place.begin + 1, e.place.length - 2});
  if (quoted == nullptr) return source_.diag().failed();
  if (pattern_.own_symbols() != nullptr && quoted->is(AstKind::kName))
    (void)pattern_.own_symbol(context_, quoted->text);
  DimPattern::Quoted quotes(pattern_);
  return index(*quoted);
}

Result<std::vector<arith::Expr>> RelaxFunctionReader::dims(const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(source_, scope_.tree, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return diag.failed();
    if (quoted->is_sequence()) {
      DimPattern::Quoted quotes(pattern_);
      return dims(*quoted);
    }
    if (quoted->is(AstKind::kString))
      return source_.error(e.place, Kind::ill_formed, "expected a shape such as \"(n, 4)\"");
    return number_for_shape(source_, quoted->place);
  }
  if (e.is_sequence()) {
    std::vector<arith::Expr> list;
    bool ok = true;
    for (const ast::Expr* item : e.items) {
      Result<arith::Expr> value = dim(*item);
      ok = ok && value;
      if (value) list.push_back(*value);
    }
    if (!ok) return diag.failed();
    return list;
  }
  if (e.is(AstKind::kCall) && e.items.size() == 2 && path_of(*e.items[0]) == "R.shape") return dims(*e.items[1]);
  auto* known = e.is(AstKind::kName) ? find(e.text) : nullptr;
  bool number = e.is(AstKind::kInt) || e.is(AstKind::kBinary) ||
                (e.is(AstKind::kName) && known == nullptr && pattern_.fresh()) ||
                (known != nullptr && known->value.kind == Term::kScalar);
  if (number) return number_for_shape(source_, e.place);
  RELAXC_TRY(Term term, eval(e));
  return dims_of(term, e.place);
}

Result<std::vector<arith::Expr>> RelaxFunctionReader::dims_of(const Term& term, Place place) {
  Diagnostics& diag = source_.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  if (term.is_dims()) {
    std::vector<arith::Expr> list;
    for (const Term& item : term.items) {
      RELAXC_TRY(arith::Expr value, adapt(item.scalar, DType::index(), place));
      list.push_back(value);
    }
    return list;
  }
  if (term.kind == Term::kValue) {
    pin(*term.value);
    if (const auto* shape = term.value->info->as<relax::ShapeInfo>(); shape && shape->dims) return *shape->dims;
    return source_.error(place, Kind::shape_mismatch, "expected a shape such as (n, 4), found {}",
                         relax::to_string(term.value->info));
  }
  if (term.kind == Term::kScalar) return number_for_shape(source_, place);
  return source_.error(place, Kind::shape_mismatch, "expected a shape such as (n, 4)");
}

bool RelaxFunctionReader::is_empty_tuple(const ast::Expr& e) {
  bool call = e.is(AstKind::kCall) && e.items.size() == 1;
  return path_of(call ? *e.items[0] : e) == "R.Tuple";
}

Result<Term> RelaxFunctionReader::annotate(const Term& term, const ast::Expr& annotation) {
  Diagnostics& diag = source_.diag();
  if (term.kind == Term::kPoison) return diag.failed();
  if (term.kind == Term::kModule || term.kind == Term::kGlobal || term.kind == Term::kExternal) return term;
  // `_: R.Tuple = R.print(x)`: what has no result is the empty tuple.
  if (term.kind == Term::kSequence && term.items.empty() && is_empty_tuple(annotation)) return term;
  RELAXC_TRY(Value * value, as_value(term, annotation.place));
  // What an op brings into being may get its name here: `y: R.Tensor((k,)) = R.unique(x)`.
  bool brings = value->op != nullptr && !value->op->binds.empty();
  std::vector<arith::Var> fresh;
  Result<Info> wanted = info_by(brings ? DimPattern::kFresh : DimPattern::kDeclared, annotation, fresh);
  if (!wanted) return diag.failed();
  arith::Substitution named;
  pair_dims(*wanted, value->info, [&](arith::Expr name, arith::Expr deduced) {
    bool is_new = std::any_of(fresh.begin(), fresh.end(), [&](arith::Var v) { return v == name; });
    if (is_new) named.emplace(name, deduced);
  });
  if (brings && !named.empty()) {
    for (arith::Var var : fresh)
      if (auto known = named.find(var); known != named.end())
        names_.bind(var.name(), Term::of(Scalar{known->second}), annotation.place);
    std::erase_if(fresh, [&](arith::Var v) { return named.count(v) != 0; });
    wanted = relax::substitute(context_, *wanted, named);
  }
  RELAXC_TRY(value, cast_to(value, *wanted, std::move(fresh), annotation.place));
  return Term::of(value);
}

Result<relax::Value*> RelaxFunctionReader::cast_to(Value* value, Info wanted, std::vector<arith::Var> binds,
                                                   Place place) {
  // An external shape function whose rank nobody has said has that of the first cast of what it gives.
  const auto *open = value->info->as<relax::ShapeInfo>(), *said = wanted->as<relax::ShapeInfo>();
  bool made = value->op != nullptr && value->op->kind == relax::OpKind::kShapeFunction;
  if (made && open && said && open->ndim < 0 && said->ndim >= 0) give_dims(*value->op, said->ndim);
  arith::Facts room;
  const arith::Facts& facts = relax::known_facts(graph_.region(), nullptr, room);
  if (binds.empty() && relax::subsumes(wanted, value->info, facts)) return value;
  if (may_cast_in_branches(*value)) return cast_in_branches(value, wanted, binds, place);
  if (contradict(wanted, value->info)) {
    const auto *x = wanted->as<relax::TensorInfo>(), *y = value->info->as<relax::TensorInfo>();
    bool dtypes = x && y && x->dtype && y->dtype && x->dtype != y->dtype;
    bool ranks = x && y && x->ndim >= 0 && y->ndim >= 0 && x->ndim != y->ndim;
    Kind kind = dtypes || !x || !y ? Kind::dtype_mismatch : ranks ? Kind::rank_mismatch : Kind::shape_mismatch;
    return source_.error(place, kind, "declared as {}, but the value is {}", relax::to_string(wanted),
                         relax::to_string(value->info));
  }
  if (value->info->as<relax::ObjectInfo>() && !wanted->as<relax::ObjectInfo>()) {
    const auto* tensor = wanted->as<relax::TensorInfo>();
    const auto* shape = wanted->as<relax::ShapeInfo>();
    bool complete =
        (tensor && tensor->shape && tensor->dtype) || (shape && shape->dims) || wanted->as<relax::PrimInfo>();
    if (!complete)
      return source_.error(place, Kind::unsupported,
                           "an object is cast to all of what it holds, such as R.Tensor((m,), \"float32\"), found {}",
                           relax::to_string(wanted));
  }
  // What the annotation leaves open, the deduction keeps.
  if (const auto* x = wanted->as<relax::TensorInfo>(), *y = value->info->as<relax::TensorInfo>(); x && y) {
    std::optional<DType> dtype = x->dtype ? x->dtype : y->dtype;
    if (x->shape)
      wanted = relax::tensor_info(context_, *x->shape, dtype);
    else if (y->shape)
      wanted = relax::tensor_info(context_, *y->shape, dtype);
    else
      wanted = relax::tensor_info(context_, std::max(x->ndim, y->ndim), dtype);
  }
  RELAXC_TRY(Value * cast, graph_.at(place).match_cast(value, wanted, std::move(binds)));
  return cast;
}

}  // namespace relaxc::frontend
