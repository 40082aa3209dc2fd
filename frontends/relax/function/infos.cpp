// infos.cpp: reads type annotations as struct infos.
#include "frontends/relax/function/infos.h"

#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/text/grammar.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;

namespace {

constexpr std::string_view kTypes[] = {"R.Tensor", "R.Shape",    "R.Prim",   "R.PrimValue",
                                       "R.Tuple",  "R.Callable", "R.Object", "R.Any"};

Result<relax::Info> read_shape_info(FunctionParts& fn, const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments = info_arguments(e);
  if (!arguments.empty() && !is_wildcard(*arguments[0])) {
    RELAXC_TRY(std::vector<arith::Expr> list, fn.dims.list(*arguments[0]));
    return relax::shape_info(fn.context(), std::move(list));
  }
  const ast::Keyword* ndim = e.keyword("ndim");
  if (ndim == nullptr || ndim->value->is(AstKind::kUnary)) return relax::shape_info(fn.context());
  RELAXC_TRY(arith::Expr count, fn.dims.index(*ndim->value));
  if (count.constant() == nullptr || *count.constant() < 0 || *count.constant() > 64)
    return fn.source.error(ndim->place, Kind::invalid_value, "ndim is a small integer");
  return relax::shape_info(fn.context(), static_cast<int32_t>(*count.constant()));
}

/// Reads R.Prim("int64") or R.Prim(value=n); 64-bit integers are dims.
Result<relax::Info> read_prim_info(FunctionParts& fn, const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments = info_arguments(e);
  const ast::Keyword* dtype = e.keyword("dtype");
  const ast::Keyword* value = e.keyword("value");
  const ast::Expr* written = !arguments.empty() ? arguments[0] : dtype != nullptr ? dtype->value : nullptr;
  if (written == nullptr && value == nullptr)
    return fn.source.error(e.place, Kind::ill_formed, "R.Prim needs a dtype, as in R.Prim(\"int64\")");
  DType type = DType::index();
  if (written != nullptr) {
    RELAXC_TRY(type, dtype_value(fn.source, *written));
  }
  if (type == DType::i(64)) type = DType::index();
  if (value == nullptr) return relax::prim_info(fn.context(), type);
  RELAXC_TRY(arith::Expr of_value, fn.dims.scalar(*value->value, type));
  return relax::prim_info(fn.context(), type, of_value);
}

Result<relax::Info> read_tuple_info(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  std::vector<const ast::Expr*> arguments = info_arguments(e);
  if (arguments.size() == 1 && arguments[0]->is_sequence()) arguments = arguments[0]->items;
  if (!e.is(AstKind::kCall) && !e.is(AstKind::kSubscript)) return relax::object_info(fn.context());
  std::vector<Info> fields;
  bool ok = true;
  for (const ast::Expr* argument : arguments) {
    Result<Info> field = read_info(fn, *argument);
    ok = ok && field;
    if (field) fields.push_back(*field);
  }
  if (!ok) return diag.failed();
  return relax::tuple_info(fn.context(), std::move(fields));
}

}  // namespace

std::vector<const ast::Expr*> info_arguments(const ast::Expr& e) {
  if (!e.is(AstKind::kCall) && !e.is(AstKind::kSubscript)) return {};
  return {e.items.begin() + 1, e.items.end()};
}

bool is_wildcard(const ast::Expr& e) {
  return e.is(AstKind::kNone) || e.is(AstKind::kEllipsis) || (e.is(AstKind::kName) && e.text == "_");
}

Result<relax::Info> read_info(FunctionParts& fn, const ast::Expr& e) {
  if (e.is(AstKind::kNone)) return relax::tuple_info(fn.context(), {});  // `-> None`
  if (e.is(AstKind::kString)) {
    const ast::Expr* quoted = parse_quoted(fn.source, fn.scope.tree, {e.place.begin + 1, e.place.length - 2});
    if (quoted == nullptr) return fn.source.diag().failed();
    if (!quoted->is(AstKind::kString)) return read_info(fn, *quoted);
  }
  const ast::Expr& head = e.is(AstKind::kCall) || e.is(AstKind::kSubscript) ? *e.items[0] : e;
  std::string path = fn.names.path_of(head);
  if (path == "R.Tensor" || path == "Tensor") return read_tensor_info(fn, e);
  if (path == "R.Shape" || path == "Shape") return read_shape_info(fn, e);
  if (path == "R.Prim" || path == "R.PrimValue") return read_prim_info(fn, e);
  if (path == "R.Tuple" || path == "Tuple") return read_tuple_info(fn, e);
  if (path == "R.Callable" || path == "Callable") return read_callable_info(fn, e);
  if (path == "R.Object" || path == "Object" || path == "R.Any") return relax::object_info(fn.context());
  if (std::optional<DType> scalar = path.rfind("T.", 0) == 0 ? parse_dtype(path.substr(2)) : std::nullopt;
      scalar && e.is(AstKind::kAttribute))  // T.int64, as TVM 0.27 prints R.Prim("int64")
    return relax::prim_info(fn.context(), *scalar == DType::i(64) ? DType::index() : *scalar);
  if (const ast::Expr& of = without_type(e); &of != &e) {  // x.struct_info, x.ty: the type of x
    RELAXC_TRY(Term known, eval(fn, of));
    if (known.kind == Term::kValue) return known.value->info;
  }
  Failure failure = fn.source.error(e.place, Kind::ill_formed,
                                    "expected a type such as R.Tensor((\"n\", 4), \"float32\"), found {}", describe(e));
  if (auto near = nearest_name(path, {"R.Tensor", "R.Shape", "R.Prim", "R.Tuple", "R.Callable", "R.Any"}))
    fn.source.hint("did you mean {}?", *near);
  return failure;
}

Result<std::vector<relax::Info>> read_infos(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.source.diag();
  std::vector<Info> infos;
  bool ok = true;
  for (const ast::Expr* item : e.is_sequence() ? e.items : std::vector<const ast::Expr*>{&e}) {
    Result<Info> read = read_info(fn, *item);
    ok = ok && read;
    if (read) infos.push_back(*read);
  }
  if (!ok) return diag.failed();
  return infos;
}

Result<relax::Info> read_info_by(FunctionParts& fn, DimPattern::Kind kind, const ast::Expr& e,
                                 std::vector<arith::Var>& binds) {
  DimPattern::Reading reading(fn.dims.pattern(), kind, &binds);
  return read_info(fn, e);
}

Result<std::vector<relax::Info>> read_fresh_infos(FunctionParts& fn, const ast::Expr& e,
                                                  std::vector<arith::Var>& binds) {
  DimPattern::Reading reading(fn.dims.pattern(), DimPattern::kFresh, &binds);
  return read_infos(fn, e);
}

bool is_type(FunctionParts& fn, const ast::Expr& e) {
  const ast::Expr& head = e.is(AstKind::kCall) || e.is(AstKind::kSubscript) ? *e.items[0] : e;
  std::string path = fn.names.path_of(head);
  return std::find(std::begin(kTypes), std::end(kTypes), path) != std::end(kTypes);
}

bool is_empty_tuple(FunctionParts& fn, const ast::Expr& e) {
  bool call = e.is(AstKind::kCall) && e.items.size() == 1;
  return fn.names.path_of(call ? *e.items[0] : e) == "R.Tuple";
}

}  // namespace relaxc::frontend
