// value_types.cpp: what types are known of values.
#include "frontends/relay/text/value_types.h"

namespace relaxc::relay {

using ast::ExprKind;

Type* ValueTypes::of(Expr value) {
  if (auto known = of_.find(value); known != of_.end()) return known->second;
  Type* made = nullptr;
  if (value->is(ExprKind::kName)) {
    auto known = of_names_.find(value->text);
    if (known != of_names_.end()) return known->second;
  } else if (value->is(ExprKind::kTuple)) {
    std::vector<Type*> parts;
    for (Expr item : value->items) parts.push_back(of(item));
    made = types_.compound(Type::kTuple, std::move(parts));
  } else if (value->is(ExprKind::kSubscript) && value->items[1]->is(ExprKind::kInt)) {
    Type* tuple = types_.resolved(of(value->items[0]));
    const std::string& digits = value->items[1]->text;
    const size_t index = digits.size() < 9 ? std::stoul(digits) : tuple->parts.size();
    if (tuple->kind == Type::kTuple && index < tuple->parts.size()) made = tuple->parts[index];
  }
  return of_[value] = made == nullptr ? types_.variable(true) : made;
}

Expr ValueTypes::set(Expr value, Type* type) {
  if (inferred_) of_[value] = type;
  return value;
}

void ValueTypes::set_name(const std::string& name, Type* type) {
  if (inferred_) of_names_[name] = type;
}

std::pair<ast::Expr*, std::string> ValueTypes::operator_of(Expr value) const {
  auto found = operators_.find(value);
  return found == operators_.end() ? std::pair<ast::Expr*, std::string>() : found->second;
}

void ValueTypes::start_function(TypeNames parameters) {
  parameters_ = std::move(parameters);
  operators_.clear();
  holes_.clear();
}

bool ValueTypes::fill_holes() {
  bool ok = true;
  for (size_t i = 0; i < holes_.size() && ok; ++i) ok = holes_[i]();
  holes_.clear();
  return ok;
}

}  // namespace relaxc::relay
