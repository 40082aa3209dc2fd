// operators.cpp: reads calls of operators of the table.
//
// Positional arguments fill the operator's operands, then its attributes in order; named ones may be either. The
// conversion of a term depends on the operator: a number beside tensors becomes a constant of their dtype, a tuple of
// dims a shape, and a tuple of tensors for a variadic operator these tensors.
#include "frontends/relax/function/operators.h"

#include <algorithm>

#include "compiler/relax/attr_text.h"
#include "compiler/relax/name_dims.h"
#include "compiler/support/suggest.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/scalars/scalar_calls.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;
using relax::Value;

namespace {

struct OldName {
  std::string_view name, now;
};
constexpr OldName kOldNames[] = {{"dot", "matmul"},         {"transpose", "permute_dims"}, {"cast", "astype"},
                                 {"sub", "subtract"},       {"mul", "multiply"},           {"div", "divide"},
                                 {"neg", "negative"},       {"concatenate", "concat"},     {"pow", "power"},
                                 {"nn.sigmoid", "sigmoid"}, {"nn.tanh", "tanh"},           {"wrap_param", "astype"}};

/// TVM's names of parameters that have other names in relaxc.
constexpr OldName kParameters[] = {{"x1", "a"},
                                   {"x2", "b"},
                                   {"x1", "x"},
                                   {"x2", "y"},
                                   {"data", "x"},
                                   {"a", "x"},
                                   {"lhs", "a"},
                                   {"rhs", "b"},
                                   {"weight", "gamma"},
                                   {"operands", "tensors"},
                                   {"subscripts", "equation"}};

std::string_view own_parameter(const relax::OpDef& def, std::string_view name) {
  auto known = [&](std::string_view wanted) {
    auto is = [&](const auto& row) { return row.name == wanted; };
    return std::any_of(def.operands.begin(), def.operands.end(), is) ||
           std::any_of(def.attrs.begin(), def.attrs.end(), is);
  };
  if (known(name)) return name;
  for (const OldName& row : kParameters)
    if (row.name == name && known(row.now)) return row.now;
  return name;
}

/// Returns the operands as values. Literals get the dtype of the first tensor; so do dims if the op is elementwise.
Result<std::vector<relax::Value*>> operand_values(FunctionParts& fn, const relax::OpDef& def,
                                                  const std::vector<Argument>& operands) {
  Diagnostics& diag = fn.source.diag();
  bool elementwise = def.operands.size() == 2 && def.operands[0].name == "a" && def.operands[1].name == "b";
  std::optional<DType> dtype;
  for (const Argument& operand : operands) {
    if (operand.term.kind == Term::kPoison) return diag.failed();
    if (operand.term.kind != Term::kValue || dtype) continue;
    if (const auto* tensor = operand.term.value->info->as<relax::TensorInfo>()) dtype = tensor->dtype;
  }
  std::vector<Value*> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Argument& operand = operands[i];
    const Term& term = operand.term;
    bool literal = term.kind == Term::kScalar && term.scalar.expr.dtype() != DType::boolean() &&
                   (term.scalar.literal == Scalar::kInteger || term.scalar.literal == Scalar::kReal ||
                    term.scalar.expr.as<arith::FloatImm>() != nullptr);
    const bool index = i < def.operands.size() && def.operands[i].name == "indices";
    if (literal && dtype) {
      RELAXC_TRY(Value * value, number(fn, term.scalar, index ? DType::i(64) : *dtype, operand.place));
      values.push_back(value);
      continue;
    }
    RELAXC_TRY(Value * value, as_value(fn, with_dims(term), operand.place));
    if (value != nullptr) pin(fn, *value);
    const auto* prim = value == nullptr ? nullptr : value->info->as<relax::PrimInfo>();
    // A scalar becomes a tensor of rank 0 if there are tensors beside it; a dim also takes their dtype.
    if (prim != nullptr && prim->value && prim->dtype.is_index() && dtype && (elementwise || index)) {
      RELAXC_TRY(value, scalar_tensor(fn, prim->value, index ? DType::i(64) : *dtype, operand.place));
    } else if (prim != nullptr && prim->value && !prim->dtype.is_index() && dtype) {
      RELAXC_TRY(value, fn.graph.at(operand.place).call("prim_to_tensor", {value}));
    }
    values.push_back(value);
  }
  return values;
}

/// Returns the dtype in which TVM compares tensors of two dtypes: that of the float, else the wider one.
std::optional<DType> compared_as(DType a, DType b) {
  if (a.is_bool() || (a.is_integer() && b.is_float())) return b;
  if (b.is_bool() || (a.is_float() && b.is_integer())) return a;
  if (a.code != b.code) return std::nullopt;
  return a.bits < b.bits ? b : a;
}

/// Casts the two tensors of a comparison to one dtype, where they have two.
Status unify_compared(FunctionParts& fn, const relax::OpDef& def, std::vector<Value*>& values, Place place) {
  constexpr std::string_view kComparisons[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
  const bool compares =
      std::find(std::begin(kComparisons), std::end(kComparisons), def.name.text()) != std::end(kComparisons);
  if (!compares || values.size() != 2 || values[0] == nullptr || values[1] == nullptr) return Done{};
  const auto *a = values[0]->info->as<relax::TensorInfo>(), *b = values[1]->info->as<relax::TensorInfo>();
  if (a == nullptr || b == nullptr || !a->dtype || !b->dtype || a->dtype == b->dtype) return Done{};
  std::optional<DType> dtype = compared_as(*a->dtype, *b->dtype);
  if (!dtype) return Done{};  // the operator reports it
  Value*& changed = *a->dtype == *dtype ? values[1] : values[0];
  RELAXC_TRY(changed, fn.graph.at(place).call("astype", {changed}, {{"dtype", *dtype}}));
  return Done{};
}

/// Returns the name under which ScalarReader::binary knows the operator; empty if it does not. `mod` has the sign of
/// its first operand, of tensors and of scalars; Python's % of integers rounds as floor_mod does.
std::string_view scalar_operator(std::string_view name, bool of_floats) {
  if (name == "maximum") return "max";
  if (name == "minimum") return "min";
  if (name == "mod") return "mod";
  if (name == "floor_mod") return of_floats ? "" : "%";
  const std::string_view infix = infix_text(name);
  return infix == "and" || infix == "or" ? "" : infix;
}

/// Returns the scalar that an operator gives of one scalar or two, as R.add(n, 1) is n + 1; nothing if it is not called
/// so.
std::optional<Result<Term>> of_scalars(FunctionParts& fn, const relax::OpDef& def,
                                       const std::vector<Argument>& operands, const relax::Attrs& attrs, Place place) {
  if (operands.size() == 1) {
    std::optional<Scalar> x = as_scalar(operands[0].term);
    if (!x || x->literal == Scalar::kInteger || x->literal == Scalar::kReal) return std::nullopt;
    if (def.name.text() == "astype") return Term::of(Scalar{fn.context().cast(attrs.dtype("dtype"), x->expr)});
    std::optional<Scalar> made = ScalarCalls::of_one(def.name.text(), *x);
    return made ? std::optional<Result<Term>>(Term::of(*made)) : std::nullopt;
  }
  if (operands.size() != 2) return std::nullopt;
  std::optional<Scalar> a = as_scalar(operands[0].term), b = as_scalar(operands[1].term);
  if (!a || !b) return std::nullopt;
  const bool of_floats = a->expr.dtype().is_float() || b->expr.dtype().is_float();
  const std::string_view op = scalar_operator(def.name.text(), of_floats);
  if (op.empty()) return std::nullopt;
  Result<Scalar> made = fn.dims.binary(op, *a, *b, place);
  return made ? Result<Term>(Term::of(*made)) : Result<Term>(fn.source.diag().failed());
}

/// Sorts the arguments of one call into operands and attributes.
class OperatorCall {
 public:
  OperatorCall(FunctionParts& fn, const std::string& name, const ast::Expr& e) : fn_(fn), name_(name), e_(e) {}

  Result<Term> run() {
    Result<const relax::OpDef*> found = find_operator(fn_, name_, e_.items[0]->place);
    bool read = read_arguments(bool(found));
    if (!found || !read) return fn_.source.diag().failed();
    def_ = *found;
    variadic_ = !def_->operands.empty() && def_->operands.back().arity == relax::OperandDef::kVariadic;
    fixed_ = def_->operands.size() - (variadic_ ? 1 : 0);
    size_t next = take_operands();
    RELAXC_DO(take_attributes(next));
    for (const Named& argument : named_) RELAXC_DO(take_named(argument));
    return apply(fn_, *def_, std::move(operands_), std::move(attrs_), e_.place);
  }

 private:
  struct Named {
    const ast::Keyword* keyword;
    Term term;
  };

  bool read_arguments(bool known);
  size_t take_operands();
  size_t take_group(size_t next);
  void take_fields(const Argument& argument);
  Status take_attributes(size_t next);
  Status take_named(const Named& argument);
  Status take_operand(size_t position, const Named& argument);
  Status take_attribute(const std::string& own, const Named& argument);
  Failure unknown(const ast::Keyword& keyword) const;

  FunctionParts& fn_;
  const std::string& name_;
  const ast::Expr& e_;
  const relax::OpDef* def_ = nullptr;
  bool variadic_ = false;  ///< the last operand is a list of any length
  size_t fixed_ = 0;       ///< number of operands before that list
  std::vector<Argument> positional_;
  std::vector<Named> named_;
  std::vector<Argument> operands_;
  relax::Attrs attrs_;
};

/// `known`: whether the operator is known; if it is not, arguments that may be types are not evaluated.
bool OperatorCall::read_arguments(bool known) {
  bool ok = true;
  auto read = [&](const ast::Expr& e) {
    Result<Term> term = known || !is_type(fn_, e) ? eval(fn_, e) : Result<Term>(Term());
    ok = ok && term;
    return term ? *term : Term();
  };
  for (size_t i = 1; i < e_.items.size(); ++i) positional_.push_back({read(*e_.items[i]), e_.items[i]->place});
  for (const ast::Keyword& keyword : e_.keywords) named_.push_back({&keyword, read(*keyword.value)});
  return ok;
}

/// Takes positional arguments that are operands; returns the number of arguments taken.
size_t OperatorCall::take_operands() {
  // An optional operand cannot be a string, so a string in its place is an attribute.
  auto is_attribute = [&](size_t position) {
    return def_->operands[position].arity == relax::OperandDef::kOptional &&
           positional_[position].term.kind == Term::kString;
  };
  size_t next = 0;
  for (; next < positional_.size() && next < fixed_ && !is_attribute(next); ++next)
    operands_.push_back(positional_[next]);
  return variadic_ && next == fixed_ && next < positional_.size() ? take_group(next) : next;
}

/// Takes the list of operands at `next`: a tuple's items, or values one by one; returns the position after it.
size_t OperatorCall::take_group(size_t next) {
  const Term& term = positional_[next].term;
  bool group = term.kind == Term::kSequence && !(term.is_dims() && !term.items.empty());
  if (group) {
    for (const Term& item : term.items) operands_.push_back({item, positional_[next].place});
    return next + 1;
  }
  for (; next < positional_.size() && positional_[next].term.kind == Term::kValue; ++next)
    take_fields(positional_[next]);
  return next;
}

/// Adds a value to the list of operands; a tuple adds its fields.
void OperatorCall::take_fields(const Argument& argument) {
  const auto* tuple = argument.term.value->info->as<relax::TupleInfo>();
  if (tuple == nullptr) return operands_.push_back(argument);
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    Result<Value*> field = fn_.graph.at(argument.place).tuple_get(argument.term.value, static_cast<int64_t>(i));
    operands_.push_back({field ? Term::of(*field) : Term(), argument.place});
  }
}

/// Takes positional arguments from `next` on as attributes.
Status OperatorCall::take_attributes(size_t next) {
  for (size_t attribute = 0; next < positional_.size(); ++next, ++attribute) {
    if (attribute >= def_->attrs.size())
      return fn_.source.error(positional_[next].place, Kind::wrong_arity, "R.{} takes {} arguments at most, found {}",
                              name_, def_->operands.size() + def_->attrs.size(), positional_.size());
    const relax::AttrDef& attr = def_->attrs[attribute];
    RELAXC_TRY(relax::AttrValue value, attribute_value(fn_.source, positional_[next].term, attr.type,
                                                       std::string(attr.name), positional_[next].place));
    attrs_.set(std::string(attr.name), std::move(value));
  }
  return Done{};
}

Status OperatorCall::take_named(const Named& argument) {
  const auto& [keyword, term] = argument;
  std::string own(own_parameter(*def_, keyword->name));
  for (size_t i = 0; i < def_->operands.size(); ++i) {
    if (def_->operands[i].name != own) continue;
    bool group = def_->operands[i].arity == relax::OperandDef::kVariadic && term.kind == Term::kSequence &&
                 operands_.size() == fixed_;
    bool fields = def_->operands[i].arity == relax::OperandDef::kVariadic && term.kind == Term::kValue &&
                  operands_.size() == fixed_;
    if (fields) return take_fields({term, keyword->value->place}), Done{};
    if (!group) return take_operand(i, argument);
    for (const Term& item : term.items) operands_.push_back({item, keyword->value->place});
    return Done{};
  }
  return take_attribute(own, argument);
}

Status OperatorCall::take_operand(size_t position, const Named& argument) {
  const auto& [keyword, term] = argument;
  while (operands_.size() <= position) operands_.push_back({Term::of(Term::kNone), keyword->place});
  if (operands_[position].term.kind != Term::kNone)
    return fn_.source.error(keyword->place, Kind::redefinition, "operand '{}' is given twice", keyword->name);
  operands_[position] = {term, keyword->value->place};
  return Done{};
}

Status OperatorCall::take_attribute(const std::string& own, const Named& argument) {
  const auto& [keyword, term] = argument;
  auto attr =
      std::find_if(def_->attrs.begin(), def_->attrs.end(), [&](const relax::AttrDef& a) { return a.name == own; });
  if (attr == def_->attrs.end()) return unknown(*keyword);
  if (attrs_.has(own))
    return fn_.source.error(keyword->place, Kind::redefinition, "attribute '{}' is given twice", keyword->name);
  if (term.kind == Term::kNone) return Done{};
  RELAXC_TRY(relax::AttrValue value, attribute_value(fn_.source, term, attr->type, own, keyword->value->place));
  attrs_.set(own, std::move(value));
  return Done{};
}

Failure OperatorCall::unknown(const ast::Keyword& keyword) const {
  std::vector<std::string> known;
  for (const relax::AttrDef& a : def_->attrs) known.emplace_back(a.name);
  for (const relax::OperandDef& o : def_->operands) known.emplace_back(o.name);
  Failure failure =
      fn_.source.error(keyword.place, Kind::invalid_attribute, "R.{} has no attribute '{}'", name_, keyword.name);
  if (auto near = nearest_name(keyword.name, known)) fn_.source.hint("did you mean '{}'?", *near);
  return failure;
}

}  // namespace

Result<const relax::OpDef*> find_operator(FunctionParts& fn, const std::string& name, Place place) {
  if (const relax::OpDef* def = fn.scope.table.find(name)) return def;
  for (const OldName& old : kOldNames)
    if (old.name == name)
      if (const relax::OpDef* def = fn.scope.table.find(old.now)) return def;
  std::vector<std::string> names = special_form_names();
  for (const relax::OpDef* def : fn.scope.table.all()) names.emplace_back(def->name.text());
  for (std::string& tvm : tvm_operator_names()) names.push_back(std::move(tvm));
  Failure failure = fn.source.error(place, Kind::unknown_operator, "there is no operator R.{}", name);
  if (auto near = nearest_path(name, names)) fn.source.hint("did you mean R.{}?", *near);
  return failure;
}

Result<Term> operator_call(FunctionParts& fn, const std::string& name, const ast::Expr& e) {
  bool known_to_tvm = false;
  Result<Term> made = tvm_operator(fn, name, e, known_to_tvm);
  return known_to_tvm ? std::move(made) : OperatorCall(fn, name, e).run();
}

Result<Term> apply(FunctionParts& fn, const relax::OpDef& def, std::vector<Argument> operands, relax::Attrs attrs,
                   Place place) {
  if (std::optional<Result<Term>> scalar = of_scalars(fn, def, operands, attrs, place)) return std::move(*scalar);
  RELAXC_TRY(std::vector<Value*> values, operand_values(fn, def, operands));
  RELAXC_DO(unify_compared(fn, def, values, place));
  relax::GraphBuilder& builder = fn.graph.at(place);
  relax::name_large_dims(builder, values);
  RELAXC_TRY(std::vector<Value*> results, builder.call_many(def.name, std::move(values), std::move(attrs)));
  if (results.size() == 1) return Term::of(results[0]);
  std::vector<Term> terms;
  for (Value* result : results) terms.push_back(Term::of(result));
  return Term::sequence(std::move(terms));
}

Term with_dims(const Term& term) {
  if (term.kind != Term::kSequence || term.items.empty()) return term;
  std::vector<Term> dims;
  for (const Term& item : term.items) {
    const auto* prim = item.kind == Term::kValue ? item.value->info->as<relax::PrimInfo>() : nullptr;
    bool dim = prim != nullptr && prim->value && prim->dtype.is_index();
    if (!dim && item.kind != Term::kScalar) return term;
    dims.push_back(dim ? Term::of(Scalar{prim->value}) : item);
  }
  return Term::sequence(std::move(dims));
}

}  // namespace relaxc::frontend
