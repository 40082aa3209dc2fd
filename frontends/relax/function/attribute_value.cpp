// attribute_value.cpp: converts terms to attributes of operators.
#include "compiler/relax/attr_text.h"
#include "frontends/relax/function/operators.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

namespace {

/// Returns a number as an attribute; R.prim_value(False) is one as well.
std::optional<relax::AttrValue> as_number(const Term& given) {
  Term term = given;
  if (const auto* prim = term.kind == Term::kValue ? term.value->info->as<relax::PrimInfo>() : nullptr)
    if (prim->value) term = Term::of(Scalar{prim->value});
  if (term.kind != Term::kScalar) return std::nullopt;
  if (const auto* real = term.scalar.expr.as<arith::FloatImm>()) return relax::AttrValue(real->value);
  if (term.scalar.expr.constant() == nullptr) return std::nullopt;
  if (term.scalar.expr.dtype().is_bool()) return relax::AttrValue(*term.scalar.expr.constant() != 0);
  return relax::AttrValue(*term.scalar.expr.constant());
}

/// Returns a list of integers, floats or strings as an attribute; nullopt for any other list.
std::optional<relax::AttrValue> as_list(const std::vector<Term>& items, relax::AttrType type) {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  for (const Term& item : items) {
    std::optional<relax::AttrValue> number = as_number(item);
    if (item.kind == Term::kString) strings.push_back(item.text);
    if (!number) continue;
    if (const auto* integer = std::get_if<int64_t>(&*number)) {
      ints.push_back(*integer);
      floats.push_back(static_cast<double>(*integer));
    }
    if (const auto* real = std::get_if<double>(&*number)) floats.push_back(*real);
  }
  if (strings.size() == items.size() && !strings.empty()) return relax::AttrValue(strings);
  if (ints.size() == items.size() && type != relax::AttrType::kFloats) {
    if (ints.empty() && type == relax::AttrType::kStrings) return relax::AttrValue(strings);
    return relax::AttrValue(ints);
  }
  if (floats.size() == items.size()) return relax::AttrValue(floats);
  return std::nullopt;
}

}  // namespace

Result<relax::AttrValue> attribute_value(SourceText& source, const Term& term, relax::AttrType type,
                                         const std::string& name, Place place) {
  if (term.kind == Term::kString) {
    if (type == relax::AttrType::kDType) {
      if (std::optional<DType> dtype = parse_dtype(term.text)) return relax::AttrValue(*dtype);
      Failure failure = source.error(place, Kind::invalid_value, "\"{}\" is not a dtype", term.text);
      if (auto near = nearest_dtype(term.text)) source.hint("did you mean \"{}\"?", *near);
      return failure;
    }
    if (name == "out_dtype" && term.text == "void") return relax::AttrValue(std::string());  // TVM's way to print none
    return relax::AttrValue(term.text);
  }
  std::optional<relax::AttrValue> read = term.kind == Term::kSequence ? as_list(term.items, type) : as_number(term);
  if (read) return *read;
  return source.error(place, Kind::invalid_attribute, "attribute '{}' must be {}, known when compiling", name,
                      relax::attr_type_name(type));
}

}  // namespace relaxc::frontend
