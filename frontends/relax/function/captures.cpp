// captures.cpp: captures names and symbols of the enclosing function.
#include "frontends/relax/function/captures.h"

#include <algorithm>

#include "compiler/relax/callable.h"
#include "frontends/relax/function/parts.h"

namespace relaxc::frontend {

using relax::Info;
using relax::Value;

namespace {

bool contains(const std::vector<arith::Var>& list, arith::Var wanted) {
  return std::any_of(list.begin(), list.end(), [&](arith::Var var) { return var == wanted; });
}

/// Returns whether a value of type `info` determines `symbol`, because it is a dim or value on its own.
bool gives(Info info, arith::Var symbol) {
  auto bare = [&](const std::vector<arith::Expr>& dims) {
    return std::any_of(dims.begin(), dims.end(), [&](arith::Expr dim) { return dim == symbol; });
  };
  if (const auto* tensor = info->as<relax::TensorInfo>()) return tensor->shape && bare(*tensor->shape);
  if (const auto* shape = info->as<relax::ShapeInfo>()) return shape->dims && bare(*shape->dims);
  if (const auto* prim = info->as<relax::PrimInfo>()) return prim->value && prim->value == symbol;
  const auto* tuple = info->as<relax::TupleInfo>();
  return tuple != nullptr &&
         std::any_of(tuple->fields.begin(), tuple->fields.end(), [&](Info field) { return gives(field, symbol); });
}

}  // namespace

size_t Captures::own_parameters() const {
  return inner_.definition.params.size();
}

bool Captures::shares(arith::Var symbol) const {
  return contains(symbols_, symbol);
}

arith::Substitution Captures::shared() const {
  arith::Substitution shared;
  for (arith::Var var : symbols_) shared.emplace(var, var);
  return shared;
}

std::optional<Captures::Found> Captures::find(const std::string& name) {
  const Names::Binding* outer = outer_.names.find(name);
  if (outer == nullptr) return std::nullopt;
  Place place = outer->place;
  return Found{import(outer->value, name, place), place};
}

/// Returns the term that a name of the enclosing function has in this one; captures it if it is a value.
Term Captures::import(const Term& outer, const std::string& name, Place place) {
  if (outer.kind == Term::kSequence) {
    Term mine = outer;
    for (size_t i = 0; i < mine.items.size(); ++i)
      mine.items[i] = import(outer.items[i], name + "_" + std::to_string(i), place);
    return mine;
  }
  if (outer.kind == Term::kScalar) {
    if (outer_.names.has_no_value(outer.scalar.expr)) {  // declared in the outer function, gets its value here
      arith::Var var = inner_.context().var(name);
      inner_.names.take_away_value(var);
      return Term::of(Scalar{var});
    }
    import_symbols(arith::free_vars(outer.scalar.expr));
    return outer;
  }
  Value* value = outer.kind == Term::kValue ? outer.value : nullptr;
  if (outer.kind == Term::kSelf) {
    Result<Value*> closure = outer_.captures->self_closure(place);
    if (!closure) return {};
    value = *closure;
  }
  if (value == nullptr) return outer;
  import_symbols(relax::symbols_of(value->info));
  captured_.push_back(value);
  return Term::of(inner_.function.make_argument(&inner_.function.body(), name, value->info));
}

void Captures::import_symbols(const std::vector<arith::Var>& symbols) {
  for (arith::Var var : symbols) {
    if (shares(var)) continue;
    symbols_.push_back(var);
    inner_.function.facts.bound(var, outer_.function.facts.range_of(var));
    inner_.function.facts.multiple(var, outer_.function.facts.multiple_of(var));
  }
}

std::vector<Value*> Captures::finish() {
  relax::Function& function = inner_.function;
  relax::Region& body = function.body();
  std::vector<arith::Expr> alone;
  for (arith::Var var : symbols_) {
    bool given = std::any_of(body.arguments.begin() + static_cast<int64_t>(own_parameters()), body.arguments.end(),
                             [&](const Value* argument) { return gives(argument->info, var); });
    if (!given) alone.push_back(var);
  }
  if (!alone.empty()) {
    function.make_argument(&body, "dims", relax::shape_info(inner_.context(), alone));
    captured_.push_back(outer_.graph.at(inner_.definition.name_place).shape(alone));
  }
  for (relax::Op* op : self_closures_)
    for (size_t i = own_parameters(); i < body.arguments.size(); ++i) op->add_operand(body.arguments[i]);
  for (arith::Var var : symbols_)
    if (!contains(function.symbols, var)) function.symbols.push_back(var);
  return captured_;
}

Result<Value*> Captures::self_closure(Place place) {
  RELAXC_TRY(std::vector<Info> results, inner_.results.needed(place));
  for (Info& declared : results) declared = relax::with_named_dims(inner_.context(), declared);
  size_t captured = inner_.function.body().arguments.size() - own_parameters();
  Info type = relax::callable_type(inner_.function, std::move(results), captured, shared());
  relax::Op* op = inner_.graph.at(place).append(relax::OpKind::kMakeClosure, {});
  op->callee = inner_.function.name;
  self_closures_.push_back(op);
  return inner_.function.make_result(op, inner_.definition.text, type);
}

}  // namespace relaxc::frontend
