// tvm_call.cpp: the arguments of an operator of TVM by name.
#include "frontends/relax/tvm/tvm_call.h"

#include <algorithm>
#include <array>

#include "compiler/support/suggest.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

namespace {

std::vector<std::string> split_names(std::string_view params) {
  std::vector<std::string> names;
  while (!params.empty()) {
    size_t comma = params.find(", ");
    names.emplace_back(params.substr(0, comma));
    params.remove_prefix(comma == std::string_view::npos ? params.size() : comma + 2);
  }
  return names;
}

std::array<std::span<const TvmOperator>, 5> all_rows() {
  return {tvm_tensor_operators(), tvm_part_operators(), tvm_statistics_operators(), tvm_nn_operators(),
          tvm_image_operators()};
}

const TvmOperator* find_row(std::string_view name) {
  for (std::span<const TvmOperator> rows : all_rows())
    for (const TvmOperator& row : rows)
      if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

std::vector<std::string> tvm_operator_names() {
  std::vector<std::string> names;
  for (std::span<const TvmOperator> rows : all_rows())
    for (const TvmOperator& row : rows) names.emplace_back(row.name);
  return names;
}

Result<Term> tvm_operator(FunctionParts& fn, const std::string& name, const ast::Expr& e, bool& known) {
  const TvmOperator* row = find_row(name);
  known = row != nullptr && (row->own.empty() || e.keyword(row->own) == nullptr || e.items.size() < 3);
  if (!known) return Term();
  TvmCall call(fn, name, e);
  RELAXC_DO(call.bind(row->params));
  return row->read(call);
}

Status TvmCall::bind(std::string_view params) {
  std::vector<std::string> names = split_names(params);
  bool ok = true;
  if (e_.items.size() - 1 > names.size())
    return fn_.source.error(e_.items[names.size() + 1]->place, Kind::wrong_arity,
                            "R.{} takes {} arguments at most, found {}", name, names.size(), e_.items.size() - 1);
  for (size_t i = 1; i < e_.items.size(); ++i) ok &= bool(add(names[i - 1], *e_.items[i]));
  for (const ast::Keyword& keyword : e_.keywords) {
    // relaxc calls an operator's only tensor x.
    bool first = keyword.name == "x" && given_.count(names[0]) == 0;
    if (first || std::find(names.begin(), names.end(), keyword.name) != names.end()) {
      ok &= bool(add(first ? names[0] : keyword.name, *keyword.value));
      continue;
    }
    ok = false;
    (void)fn_.source.error(keyword.place, Kind::invalid_attribute, "R.{} has no argument '{}'", name, keyword.name);
    if (auto near = nearest_name(keyword.name, names)) fn_.source.hint("did you mean '{}'?", *near);
  }
  if (!ok) return diag.failed();
  return Done{};
}

Status TvmCall::add(const std::string& param, const ast::Expr& value) {
  RELAXC_TRY(Term term, eval(fn_, value));
  if (term.kind == Term::kPoison) return diag.failed();
  if (!given_.emplace(param, Argument{with_dims(term), value.place}).second)
    return fn_.source.error(value.place, Kind::redefinition, "'{}' is given twice", param);
  return Done{};
}

const Argument* TvmCall::find(std::string_view param) const {
  auto at = given_.find(param);
  return at == given_.end() || at->second.term.kind == Term::kNone ? nullptr : &at->second;
}

bool TvmCall::is_value(std::string_view param) const {
  return has(param) && find(param)->term.kind == Term::kValue;
}

bool TvmCall::is_shape(std::string_view param) const {
  return is_value(param) && find(param)->term.value->info->as<relax::ShapeInfo>() != nullptr;
}

bool TvmCall::is_number(std::string_view param) const {
  return scalar(param).has_value();
}

bool TvmCall::is_real(std::string_view param) const {
  std::optional<Scalar> number = scalar(param);
  return number && number->expr.as<arith::FloatImm>() != nullptr;
}

bool TvmCall::is_sequence(std::string_view param) const {
  return has(param) && find(param)->term.kind == Term::kSequence;
}

bool TvmCall::expects_tuple() const {
  if (fn_.hint == nullptr) return false;
  const ast::Expr& hint = *fn_.hint;
  bool applied = hint.is(ast::ExprKind::kCall) || hint.is(ast::ExprKind::kSubscript);
  return dotted_path(applied ? *hint.items[0] : hint) == "R.Tuple";
}

std::optional<DType> TvmCall::expected_dtype() const {
  if (fn_.hint == nullptr) return std::nullopt;
  const ast::Expr* written = fn_.hint->items.size() > 2 ? fn_.hint->items[2] : nullptr;
  if (const ast::Keyword* keyword = fn_.hint->keyword("dtype")) written = keyword->value;
  if (written == nullptr || !written->is(ast::ExprKind::kString)) return std::nullopt;
  return parse_dtype(written->text);
}

/// A number that is written, or that a scalar value is known to be.
std::optional<Scalar> TvmCall::scalar(std::string_view param) const {
  const Argument* argument = find(param);
  if (argument == nullptr) return std::nullopt;
  if (argument->term.kind == Term::kScalar) return argument->term.scalar;
  const auto* prim = argument->term.kind == Term::kValue ? argument->term.value->info->as<relax::PrimInfo>() : nullptr;
  if (prim == nullptr || !prim->value) return std::nullopt;
  Scalar known{prim->value};
  if (prim->value.constant() != nullptr && !prim->dtype.is_bool()) known.literal = Scalar::kInteger;
  if (prim->value.as<arith::FloatImm>() != nullptr) known.literal = Scalar::kReal;
  return known;
}

Result<relax::Value*> TvmCall::value(std::string_view param) {
  const Argument* argument = find(param);
  if (argument == nullptr) return error(param, Kind::wrong_arity, "R.{} needs '{}'", name, param);
  return as_value(fn_, argument->term, argument->place);
}

Result<std::vector<relax::Value*>> TvmCall::values(std::string_view param) {
  std::vector<Value*> list;
  if (!is_sequence(param)) {
    RELAXC_TRY(Value * only, value(param));
    const auto* tuple = only->info->as<relax::TupleInfo>();
    if (tuple == nullptr) return std::vector<Value*>{only};
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      RELAXC_TRY(Value * field, build().tuple_get(only, static_cast<int64_t>(i)));
      list.push_back(field);
    }
    return list;
  }
  for (const Term& item : find(param)->term.items) {
    RELAXC_TRY(Value * field, as_value(fn_, item, find(param)->place));
    if (field == nullptr) return error(param, Kind::invalid_value, "None cannot be in '{}'", param);
    list.push_back(field);
  }
  return list;
}

Result<relax::Value*> TvmCall::tensor(std::string_view param) {
  RELAXC_TRY(Value * made, value(param));
  const auto* info = made->info->as<relax::TensorInfo>();
  if (info != nullptr && info->shape && info->dtype) return made;
  return error(param, info == nullptr ? Kind::dtype_mismatch : Kind::shape_mismatch,
               "'{}' of R.{} must be a tensor of known shape and dtype, found {}", param, name,
               relax::to_string(made->info));
}

Result<relax::Value*> TvmCall::element(std::string_view param, DType dtype) {
  std::optional<Scalar> number = scalar(param);
  if (!number) return tensor(param);
  if (number->expr.dtype().is_index() && number->expr.constant() == nullptr)
    return scalar_tensor(fn_, number->expr, dtype, e_.place);
  // TVM prints attributes that are numbers with a dtype of their own, as in T.float64(0.5).
  if (number->expr.as<arith::FloatImm>() != nullptr) number->literal = Scalar::kReal;
  return frontend::number(fn_, *number, dtype, find(param)->place);
}

Result<int64_t> TvmCall::integer(std::string_view param, int64_t fallback) {
  if (!has(param)) return fallback;
  std::optional<Scalar> number = scalar(param);
  if (number && number->expr.constant() != nullptr) return *number->expr.constant();
  return error(param, Kind::invalid_attribute, "'{}' of R.{} must be an integer, known when compiling", param, name);
}

Result<double> TvmCall::real(std::string_view param, double fallback) {
  if (!has(param)) return fallback;
  std::optional<Scalar> number = scalar(param);
  if (number && number->expr.constant() != nullptr) return static_cast<double>(*number->expr.constant());
  if (number && number->expr.as<arith::FloatImm>() != nullptr) return number->expr.as<arith::FloatImm>()->value;
  return error(param, Kind::invalid_attribute, "'{}' of R.{} must be a number, known when compiling", param, name);
}

Result<bool> TvmCall::flag(std::string_view param, bool fallback) {
  RELAXC_TRY(int64_t number, integer(param, fallback ? 1 : 0));
  return number != 0;
}

Result<std::string> TvmCall::text(std::string_view param, std::string fallback) {
  if (!has(param)) return fallback;
  if (find(param)->term.kind == Term::kString) return find(param)->term.text;
  return error(param, Kind::invalid_attribute, "'{}' of R.{} must be a string", param, name);
}

Result<DType> TvmCall::dtype(std::string_view param, DType fallback) {
  RELAXC_TRY(std::string written, text(param, ""));
  if (written.empty() || written == "void") return fallback;
  if (std::optional<DType> known = parse_dtype(written)) return *known;
  return error(param, Kind::invalid_value, "\"{}\" is not a dtype", written);
}

Result<arith::Expr> TvmCall::index(std::string_view param, Expr fallback) {
  if (!has(param)) return fallback;
  std::optional<Scalar> number = scalar(param);
  if (!number) return error(param, Kind::invalid_value, "'{}' of R.{} must be an integer or a dim", param, name);
  return fn_.dims.adapt(*number, DType::index(), find(param)->place);
}

Result<std::vector<int64_t>> TvmCall::ints(std::string_view param, Ints fallback) {
  if (!has(param)) return fallback;
  if (is_number(param)) {
    RELAXC_TRY(int64_t one, integer(param, 0));
    return Ints{one};
  }
  RELAXC_TRY(std::vector<Expr> list, dims(param));
  Ints numbers;
  for (Expr item : list) {
    if (item.constant() == nullptr)
      return error(param, Kind::invalid_attribute, "'{}' of R.{} must be integers, known when compiling", param, name);
    numbers.push_back(*item.constant());
  }
  return numbers;
}

Result<std::vector<arith::Expr>> TvmCall::dims(std::string_view param) {
  if (!has(param)) return error(param, Kind::wrong_arity, "R.{} needs '{}'", name, param);
  return fn_.dims.list_of(find(param)->term, find(param)->place);
}

Result<relax::Value*> TvmCall::shape(std::string_view param) {
  if (is_shape(param)) return value(param);
  RELAXC_TRY(std::vector<Expr> list, dims(param));
  return build().shape(std::move(list));
}

relax::OpName TvmCall::own_name() const {
  std::optional<relax::OpName> own = relax::OpName::find(name);
  RELAXC_CHECK(own.has_value(), "relaxc has no operator " + name);
  return *own;
}

Result<relax::Value*> TvmCall::op(relax::OpName op, std::vector<Value*> operands, relax::Attrs attrs) {
  return build().call(op, std::move(operands), std::move(attrs));
}

Result<Term> TvmCall::term(Result<Value*> made) {
  if (!made) return diag.failed();
  return Term::of(*made);
}

Result<relax::Value*> TvmCall::cast(Value* x, DType dtype) {
  return x->dtype() == dtype ? Result<Value*>(x) : op("astype", {x}, {{"dtype", dtype}});
}

Result<relax::Value*> TvmCall::reshape(Value* x, std::vector<Expr> dims) {
  return op("reshape", {x, build().shape(std::move(dims))});
}

Result<relax::Value*> TvmCall::permute(Value* x, Ints axes) {
  return std::is_sorted(axes.begin(), axes.end()) ? Result<Value*>(x) : op("permute_dims", {x}, {{"axes", axes}});
}

}  // namespace relaxc::frontend
