// relax_operator.cpp: calls of operators of the table.
//
// Positional arguments fill the operator's operands, then its attributes in their order; named ones may be either. What
// a term becomes depends on what it meets: a number beside tensors is a constant of their dtype, a tuple of dims is a
// shape, a tuple of tensors where the operator takes any number of them is those tensors.
#include <algorithm>

#include "compiler/relax/attr_text.h"
#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

struct OldName {
  std::string_view name, now;
};
constexpr OldName kOldNames[] = {{"dot", "matmul"},         {"transpose", "permute_dims"}, {"cast", "astype"},
                                 {"sub", "subtract"},       {"mul", "multiply"},           {"div", "divide"},
                                 {"neg", "negative"},       {"concatenate", "concat"},     {"pow", "power"},
                                 {"nn.sigmoid", "sigmoid"}, {"nn.tanh", "tanh"},           {"wrap_param", "astype"}};

/// What TVM calls a parameter that relaxc calls otherwise.
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

}  // namespace

Result<const relax::OpDef*> RelaxFunctionReader::find_operator(const std::string& name, Place place) {
  if (const relax::OpDef* def = scope_.table.find(name)) return def;
  for (const OldName& old : kOldNames)
    if (old.name == name)
      if (const relax::OpDef* def = scope_.table.find(old.now)) return def;
  std::vector<std::string> names;
  for (const relax::OpDef* def : scope_.table.all()) names.emplace_back(def->name.text());
  Failure failure = source_.error(place, Kind::unknown_operator, "there is no operator R.{}", name);
  if (auto near = nearest_name(name, names)) source_.hint("did you mean R.{}?", *near);
  return failure;
}

Result<Term> RelaxFunctionReader::operator_call(const std::string& name, const ast::Expr& e) {
  Diagnostics& diag = source_.diag();
  bool known_to_tvm = false;
  Result<Term> made = tvm_operator(name, e, known_to_tvm);
  if (known_to_tvm) return made;
  Result<const relax::OpDef*> found = find_operator(name, e.items[0]->place);
  std::vector<Argument> positional;
  bool ok = bool(found);
  for (size_t i = 1; i < e.items.size(); ++i) {
    Result<Term> term = eval(*e.items[i]);
    ok = ok && term;
    positional.push_back({term ? *term : Term(), e.items[i]->place});
  }
  std::vector<std::pair<const ast::Keyword*, Term>> named;
  for (const ast::Keyword& keyword : e.keywords) {
    Result<Term> term = eval(*keyword.value);
    ok = ok && term;
    named.emplace_back(&keyword, term ? *term : Term());
  }
  if (!ok) return diag.failed();
  const relax::OpDef& def = **found;
  bool variadic = !def.operands.empty() && def.operands.back().arity == relax::OperandDef::kVariadic;
  size_t fixed = def.operands.size() - (variadic ? 1 : 0);

  std::vector<Argument> operands;
  size_t next = 0;
  // An optional operand is not a string, a bool or a list of names: what looks like an attribute is one.
  auto is_attribute = [&](const Argument& argument, size_t position) {
    return def.operands[position].arity == relax::OperandDef::kOptional && argument.term.kind == Term::kString;
  };
  for (; next < positional.size() && next < fixed && !is_attribute(positional[next], next); ++next)
    operands.push_back(positional[next]);
  if (variadic && next == fixed && next < positional.size()) {
    const Term& term = positional[next].term;
    bool group = term.kind == Term::kSequence && !(term.is_dims() && !term.items.empty());
    if (group) {
      for (const Term& item : term.items) operands.push_back({item, positional[next].place});
      ++next;
    } else {
      for (; next < positional.size() && positional[next].term.kind == Term::kValue; ++next)
        operands.push_back(positional[next]);
    }
  }
  relax::Attrs attrs;
  size_t attribute = 0;
  for (; next < positional.size(); ++next, ++attribute) {
    if (attribute >= def.attrs.size())
      return source_.error(positional[next].place, Kind::wrong_arity, "R.{} takes {} arguments at most, found {}", name,
                           def.operands.size() + def.attrs.size(), positional.size());
    const relax::AttrDef& attr = def.attrs[attribute];
    RELAXC_TRY(relax::AttrValue value,
               attribute_value(positional[next].term, attr.type, std::string(attr.name), positional[next].place));
    attrs.set(std::string(attr.name), std::move(value));
  }
  for (auto& [keyword, term] : named) {
    std::string own(own_parameter(def, keyword->name));
    auto operand = std::find_if(def.operands.begin(), def.operands.end(),
                                [&](const relax::OperandDef& o) { return o.name == own; });
    if (operand != def.operands.end() && operand->arity == relax::OperandDef::kVariadic &&
        term.kind == Term::kSequence && operands.size() == fixed) {
      for (const Term& item : term.items) operands.push_back({item, keyword->value->place});
      continue;
    }
    if (operand != def.operands.end()) {
      size_t position = static_cast<size_t>(operand - def.operands.begin());
      while (operands.size() <= position) operands.push_back({Term::of(Term::kNone), keyword->place});
      if (operands[position].term.kind != Term::kNone)
        return source_.error(keyword->place, Kind::redefinition, "operand '{}' is given twice", keyword->name);
      operands[position] = {term, keyword->value->place};
      continue;
    }
    auto attr =
        std::find_if(def.attrs.begin(), def.attrs.end(), [&](const relax::AttrDef& a) { return a.name == own; });
    if (attr == def.attrs.end()) {
      std::vector<std::string> known;
      for (const relax::AttrDef& a : def.attrs) known.emplace_back(a.name);
      for (const relax::OperandDef& o : def.operands) known.emplace_back(o.name);
      Failure failure =
          source_.error(keyword->place, Kind::invalid_attribute, "R.{} has no attribute '{}'", name, keyword->name);
      if (auto near = nearest_name(keyword->name, known)) source_.hint("did you mean '{}'?", *near);
      return failure;
    }
    if (attrs.has(own))
      return source_.error(keyword->place, Kind::redefinition, "attribute '{}' is given twice", keyword->name);
    if (term.kind == Term::kNone) continue;
    RELAXC_TRY(relax::AttrValue value, attribute_value(term, attr->type, own, keyword->value->place));
    attrs.set(own, std::move(value));
  }
  return apply(def, std::move(operands), std::move(attrs), e.place);
}

Result<Term> RelaxFunctionReader::apply(const relax::OpDef& def, std::vector<Argument> operands, relax::Attrs attrs,
                                        Place place) {
  bool elementwise = def.operands.size() == 2 && def.operands[0].name == "a" && def.operands[1].name == "b";
  RELAXC_TRY(std::vector<Value*> values, operand_values(operands, elementwise));
  relax::GraphBuilder& builder = at(place);
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

/// Numbers beside tensors take the dtype of the first tensor, and dims too where the operator works element by element.
Result<std::vector<relax::Value*>> RelaxFunctionReader::operand_values(const std::vector<Argument>& operands,
                                                                       bool elementwise) {
  Diagnostics& diag = source_.diag();
  std::optional<DType> dtype;
  for (const Argument& operand : operands) {
    if (operand.term.kind == Term::kPoison) return diag.failed();
    if (operand.term.kind != Term::kValue || dtype) continue;
    if (const auto* tensor = operand.term.value->info->as<relax::TensorInfo>()) dtype = tensor->dtype;
  }
  std::vector<Value*> values;
  for (const Argument& operand : operands) {
    const Term& term = operand.term;
    bool literal = term.kind == Term::kScalar && term.scalar.expr.dtype() != DType::boolean() &&
                   (term.scalar.literal == Scalar::kInteger || term.scalar.literal == Scalar::kReal ||
                    term.scalar.expr.as<arith::FloatImm>() != nullptr);
    if (literal && dtype) {
      RELAXC_TRY(Value * value, number(term.scalar, *dtype, operand.place));
      values.push_back(value);
      continue;
    }
    RELAXC_TRY(Value * value, as_value(with_dims(term), operand.place));
    if (value != nullptr) pin(*value);
    const auto* prim = value == nullptr ? nullptr : value->info->as<relax::PrimInfo>();
    // A scalar of the host beside tensors is one of them, of rank 0; a dim takes their dtype.
    if (prim != nullptr && prim->value && prim->dtype.is_index() && dtype && elementwise) {
      RELAXC_TRY(value, scalar_tensor(prim->value, *dtype, operand.place));
    } else if (prim != nullptr && prim->value && !prim->dtype.is_index() && dtype) {
      RELAXC_TRY(value, at(operand.place).call("prim_to_tensor", {value}));
    }
    values.push_back(value);
  }
  return values;
}

/// A term as an attribute. `type` guides what a tuple or a string is; the table converts the rest and complains.
Result<relax::AttrValue> RelaxFunctionReader::attribute_value(const Term& term, relax::AttrType type,
                                                              const std::string& name, Place place) {
  if (term.kind == Term::kString) {
    if (type == relax::AttrType::kDType) {
      if (std::optional<DType> dtype = parse_dtype(term.text)) return relax::AttrValue(*dtype);
      return source_.error(place, Kind::invalid_value, "\"{}\" is not a dtype", term.text);
    }
    if (name == "out_dtype" && term.text == "void") return relax::AttrValue(std::string());  // as TVM prints none
    return relax::AttrValue(term.text);
  }
  auto as_number = [](const Term& t) -> std::optional<relax::AttrValue> {
    if (t.kind != Term::kScalar) return std::nullopt;
    if (const auto* real = t.scalar.expr.as<arith::FloatImm>()) return relax::AttrValue(real->value);
    if (t.scalar.expr.constant() == nullptr) return std::nullopt;
    if (t.scalar.expr.dtype().is_bool()) return relax::AttrValue(*t.scalar.expr.constant() != 0);
    return relax::AttrValue(*t.scalar.expr.constant());
  };
  if (std::optional<relax::AttrValue> number = as_number(term)) return *number;
  if (term.kind == Term::kSequence) {
    std::vector<int64_t> ints;
    std::vector<double> floats;
    std::vector<std::string> strings;
    for (const Term& item : term.items) {
      std::optional<relax::AttrValue> number = as_number(item);
      if (item.kind == Term::kString) strings.push_back(item.text);
      if (!number) continue;
      if (const auto* integer = std::get_if<int64_t>(&*number)) {
        ints.push_back(*integer);
        floats.push_back(static_cast<double>(*integer));
      }
      if (const auto* real = std::get_if<double>(&*number)) floats.push_back(*real);
    }
    if (strings.size() == term.items.size() && !strings.empty()) return relax::AttrValue(strings);
    bool all_ints = ints.size() == term.items.size();
    if (all_ints && type != relax::AttrType::kFloats) {
      if (ints.empty() && type == relax::AttrType::kStrings) return relax::AttrValue(strings);
      return relax::AttrValue(ints);
    }
    if (floats.size() == term.items.size()) return relax::AttrValue(floats);
  }
  return source_.error(place, Kind::invalid_attribute, "attribute '{}' must be {}, known when compiling", name,
                       relax::attr_type_name(type));
}

}  // namespace relaxc::frontend
