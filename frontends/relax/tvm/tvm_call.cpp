// tvm_call.cpp: reads the arguments of TVM's operators by name.
#include "frontends/relax/tvm/tvm_call.h"

#include <algorithm>
#include <array>

#include "compiler/relax/name_dims.h"
#include "compiler/support/suggest.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

namespace {

/// A parameter "data:x=1": its name in the text, its name in relaxc's rows, and its default.
struct Parameter {
  std::string written, asked;
  std::string_view fallback;
};

std::vector<Parameter> split_parameters(std::string_view params) {
  std::vector<Parameter> list;
  while (!params.empty()) {
    size_t comma = params.find(", ");
    std::string_view one = params.substr(0, comma);
    params.remove_prefix(comma == std::string_view::npos ? params.size() : comma + 2);
    size_t equal = std::min(one.find('='), one.size());
    std::string_view name = one.substr(0, equal), fallback = one.substr(std::min(equal + 1, one.size()));
    size_t colon = name.find(':');
    std::string_view asked = colon == std::string_view::npos ? name : name.substr(colon + 1);
    list.push_back({std::string(name.substr(0, colon)), std::string(asked), fallback});
  }
  return list;
}

/// Returns a row's default as an expression: an integer, a float, True, False or a string.
ast::Expr written_default(std::string_view text, Place place) {
  using AstKind = ast::ExprKind;
  bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  bool real = !digits && !text.empty() && text.find_first_not_of("0123456789.e-") == std::string_view::npos;
  AstKind kind = text == "True"    ? AstKind::kTrue
                 : text == "False" ? AstKind::kFalse
                 : digits          ? AstKind::kInt
                 : real            ? AstKind::kFloat
                                   : AstKind::kString;
  return {kind, place, std::string(text), {}, {}, 1};
}

std::array<std::span<const TvmOperator>, 7> all_rows() {
  return {tvm_tensor_operators(), tvm_part_operators(),   tvm_statistics_operators(), tvm_nn_operators(),
          tvm_image_operators(),  tvm_vision_operators(), tvm_gradient_operators()};
}

/// Whether an argument that `params` has by its position is given by its name too.
bool gives_twice(const ast::Expr& e, std::string_view params) {
  std::vector<Parameter> known = split_parameters(params);
  for (size_t i = 0; i + 1 < e.items.size() && i < known.size(); ++i)
    if (e.keyword(known[i].written) != nullptr) return true;
  return false;
}

}  // namespace

const TvmOperator* find_tvm_operator(std::string_view name) {
  for (std::span<const TvmOperator> rows : all_rows())
    for (const TvmOperator& row : rows)
      if (row.name == name) return &row;
  return nullptr;
}

std::vector<std::string> tvm_operator_names() {
  std::vector<std::string> names;
  for (std::span<const TvmOperator> rows : all_rows())
    for (const TvmOperator& row : rows) names.emplace_back(row.name);
  return names;
}

Result<Term> tvm_operator(FunctionParts& fn, const std::string& name, const ast::Expr& e, bool& known) {
  const TvmOperator* row = find_tvm_operator(name);
  known = row != nullptr && (row->own.empty() || e.keyword(row->own) == nullptr || e.items.size() < 3);
  if (!known) return Term();
  TvmCall call(fn, name, e);
  RELAXC_DO(call.bind(!row->older.empty() && gives_twice(e, row->params) ? row->older : row->params));
  return row->read(call);
}

Status TvmCall::bind(std::string_view params) {
  std::vector<Parameter> known = split_parameters(params);
  bool ok = true;
  if (e_.items.size() - 1 > known.size())
    return fn_.source.error(e_.items[known.size() + 1]->place, Kind::wrong_arity,
                            "{} takes {} arguments at most, found {}", spelled, known.size(), e_.items.size() - 1);
  for (size_t i = 1; i < e_.items.size(); ++i) ok &= bool(add(known[i - 1].asked, *e_.items[i]));
  for (const ast::Keyword& keyword : e_.keywords) {
    // x is another name for an operator's first tensor.
    bool first = keyword.name == "x" && given_.count(known[0].asked) == 0;
    auto is = [&](const Parameter& parameter) { return parameter.written == keyword.name; };
    auto parameter = first ? known.begin() : std::find_if(known.begin(), known.end(), is);
    if (parameter != known.end()) {
      ok &= bool(add(parameter->asked, *keyword.value));
      continue;
    }
    ok = false;
    (void)fn_.source.error(keyword.place, Kind::invalid_attribute, "{} has no argument '{}'", spelled, keyword.name);
    std::vector<std::string> names;
    for (const Parameter& one : known) names.push_back(one.written);
    if (auto near = nearest_name(keyword.name, names)) fn_.source.hint("did you mean '{}'?", *near);
  }
  if (!ok) return diag.failed();
  return add_defaults(params);
}

Status TvmCall::add_defaults(std::string_view params) {
  for (const Parameter& parameter : split_parameters(params)) {
    if (parameter.fallback.empty() || given_.count(parameter.asked) != 0) continue;
    bool negative = parameter.fallback[0] == '-';
    ast::Expr number = written_default(parameter.fallback.substr(negative ? 1 : 0), e_.place);
    ast::Expr minus{ast::ExprKind::kUnary, e_.place, "-", {&number}, {}, 2};
    RELAXC_DO(add(parameter.asked, negative ? minus : number));
  }
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

/// Returns an argument that is a literal, or a scalar value that is known; else nullopt.
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
  if (argument == nullptr) return error(param, Kind::wrong_arity, "{} needs '{}'", spelled, param);
  RELAXC_TRY(Value * given, as_value(fn_, argument->term, argument->place));
  std::vector<Value*> list = {given};
  relax::name_large_dims(build(), list);
  return list.front();
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
  relax::name_large_dims(build(), list);
  return list;
}

Result<relax::Value*> TvmCall::tensor(std::string_view param) {
  RELAXC_TRY(Value * made, value(param));
  const auto* info = made->info->as<relax::TensorInfo>();
  if (info != nullptr && info->shape && info->dtype) return made;
  return error(param, info == nullptr ? Kind::dtype_mismatch : Kind::shape_mismatch,
               "'{}' of {} must be a tensor of known shape and dtype, found {}", param, spelled,
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
  return error(param, Kind::invalid_attribute, "'{}' of {} must be an integer, known when compiling", param, spelled);
}

Result<double> TvmCall::real(std::string_view param, double fallback) {
  if (!has(param)) return fallback;
  std::optional<Scalar> number = scalar(param);
  if (number && number->expr.constant() != nullptr) return static_cast<double>(*number->expr.constant());
  if (number && number->expr.as<arith::FloatImm>() != nullptr) return number->expr.as<arith::FloatImm>()->value;
  return error(param, Kind::invalid_attribute, "'{}' of {} must be a number, known when compiling", param, spelled);
}

Result<bool> TvmCall::flag(std::string_view param, bool fallback) {
  RELAXC_TRY(int64_t number, integer(param, fallback ? 1 : 0));
  return number != 0;
}

Result<std::string> TvmCall::text(std::string_view param, std::string fallback) {
  if (!has(param)) return fallback;
  if (find(param)->term.kind == Term::kString) return find(param)->term.text;
  return error(param, Kind::invalid_attribute, "'{}' of {} must be a string", param, spelled);
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
  if (!number) return error(param, Kind::invalid_value, "'{}' of {} must be an integer or a dim", param, spelled);
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
      return error(param, Kind::invalid_attribute, "'{}' of {} must be integers, known when compiling", param, spelled);
    numbers.push_back(*item.constant());
  }
  return numbers;
}

Result<std::vector<double>> TvmCall::reals(std::string_view param, std::vector<double> fallback) {
  if (!has(param)) return fallback;
  std::vector<double> numbers;
  if (is_sequence(param))
    for (const Term& item : find(param)->term.items) {
      const Expr one = item.kind == Term::kScalar ? item.scalar.expr : Expr();
      if (one && one.constant() != nullptr) numbers.push_back(static_cast<double>(*one.constant()));
      if (one && one.as<arith::FloatImm>() != nullptr) numbers.push_back(one.as<arith::FloatImm>()->value);
    }
  if (is_sequence(param) && numbers.size() == find(param)->term.items.size()) return numbers;
  return error(param, Kind::invalid_attribute, "'{}' of {} must be numbers, known when compiling", param, spelled);
}

Result<std::vector<TvmCall::Ints>> TvmCall::int_lists(std::string_view param) {
  std::vector<Ints> lists;
  if (!is_sequence(param)) return error(param, Kind::invalid_attribute, "{} needs lists in '{}'", spelled, param);
  for (const Term& item : find(param)->term.items) {
    Ints& list = lists.emplace_back();
    if (!item.is_dims())
      return error(param, Kind::invalid_attribute, "'{}' of {} is lists of integers", param, spelled);
    for (const Term& number : item.items) {
      const int64_t* known = number.scalar.expr.constant();
      if (known == nullptr)
        return error(param, Kind::invalid_attribute, "'{}' of {} must be integers, known when compiling", param,
                     spelled);
      list.push_back(*known);
    }
  }
  return lists;
}

Result<std::vector<arith::Expr>> TvmCall::dims(std::string_view param) {
  if (!has(param)) return error(param, Kind::wrong_arity, "{} needs '{}'", spelled, param);
  return fn_.dims.list_of(find(param)->term, find(param)->place);
}

Result<relax::Value*> TvmCall::shape(std::string_view param) {
  if (is_shape(param)) return value(param);
  RELAXC_TRY(std::vector<Expr> list, dims(param));
  return build().shape(std::move(list));
}

/// Returns the values of one operand: null if an optional one is absent, any number for a variadic one.
Result<std::vector<relax::Value*>> TvmCall::own_operand(const relax::OperandDef& operand) {
  if (operand.arity == relax::OperandDef::kVariadic) return values(operand.name);
  if (!has(operand.name) && operand.arity == relax::OperandDef::kOptional) return std::vector<Value*>{nullptr};
  bool dims = is_sequence(operand.name) && find(operand.name)->term.is_dims();
  RELAXC_TRY(Value * made, dims ? shape(operand.name) : value(operand.name));
  return std::vector<Value*>{made};
}

Result<Term> TvmCall::own() {
  const relax::OpDef* def = fn_.scope.table.find(name);
  RELAXC_CHECK(def != nullptr, "relaxc has no operator " + name);
  std::vector<Value*> operands;
  for (const relax::OperandDef& operand : def->operands) {
    RELAXC_TRY(std::vector<Value*> group, own_operand(operand));
    operands.insert(operands.end(), group.begin(), group.end());
  }
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  relax::Attrs attrs;
  for (const relax::AttrDef& attr : def->attrs) {
    const Argument* given = find(attr.name);
    if (given == nullptr) continue;
    RELAXC_TRY(relax::AttrValue value,
               attribute_value(fn_.source, given->term, attr.type, std::string(attr.name), given->place));
    attrs.set(std::string(attr.name), std::move(value));
  }
  RELAXC_TRY(std::vector<Value*> results, build().call_many(def->name, std::move(operands), std::move(attrs)));
  if (results.size() == 1) return Term::of(results[0]);
  std::vector<Term> terms;
  for (Value* result : results) terms.push_back(Term::of(result));
  return Term::sequence(std::move(terms));
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
