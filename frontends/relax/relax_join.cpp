// relax_join.cpp: what follows an `if` sees of its branches.
//
// A result is a value of any kind: tensors, shapes, scalars, tuples of them. Its info is the join of what the branches
// give; a number in which they differ becomes a symbol that the `if` binds, and so does one that speaks of a symbol
// that exists inside the branches only, even where both say the same.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Whether no value can be of both infos, sizes aside.
bool lost(relax::Info a, relax::Info b, Kind& why) {
  why = Kind::dtype_mismatch;
  if (a->kind != b->kind) return true;
  if (const auto* x = a->as<relax::TensorInfo>()) {
    const auto* y = b->as<relax::TensorInfo>();
    if (x->dtype != y->dtype) return true;
    why = Kind::rank_mismatch;
    return x->ndim != y->ndim;
  }
  if (const auto* x = a->as<relax::ShapeInfo>()) {
    why = Kind::rank_mismatch;
    return x->ndim != b->as<relax::ShapeInfo>()->ndim;
  }
  if (const auto* x = a->as<relax::PrimInfo>()) return x->dtype != b->as<relax::PrimInfo>()->dtype;
  if (const auto* x = a->as<relax::TupleInfo>()) {
    const std::vector<relax::Info>& fields = b->as<relax::TupleInfo>()->fields;
    why = Kind::wrong_arity;
    if (x->fields.size() != fields.size()) return true;
    for (size_t i = 0; i < fields.size(); ++i)
      if (lost(x->fields[i], fields[i], why)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> RelaxFunctionReader::joined_names(const Branch& a, const Branch& b, const Body& then_body,
                                                           const Body& else_body) {
  auto last = [](const Body& body, const std::string& name) {
    if (body.empty() || body.back()->target == nullptr) return false;
    const ast::Expr& target = *body.back()->target;
    if (!target.is_sequence()) return target.is(AstKind::kName) && target.text == name;
    return std::any_of(target.items.begin(), target.items.end(), [&](const ast::Expr* e) { return e->text == name; });
  };
  std::vector<std::string> names;
  for (const std::string& name : a.assigned) {
    if (b.frame.count(name) == 0 || a.frame.count(name) == 0) continue;
    bool used = std::any_of(used_later_.begin(), used_later_.end(), [&](const auto& set) { return set.count(name); });
    bool labelled = a.labels.count(name) != 0 && b.labels.count(name) != 0;
    bool wanted = used || labelled || (last(then_body, name) && last(else_body, name));
    if (wanted && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// A term as a value of the branch that it comes from.
Result<relax::Value*> RelaxFunctionReader::value_in(const Branch& branch, const Term& term, Place place) {
  if (term.kind == Term::kValue) return term.value;
  relax::Region* outer_region = std::exchange(region_, branch.region);
  relax::Block* outer_block = std::exchange(block_, nullptr);
  builder_.reset();
  Result<Value*> made = as_value(term, place);
  region_ = outer_region;
  block_ = outer_block;
  builder_.reset();
  return made;
}

Status RelaxFunctionReader::join(relax::Op* op, Branch& a, Branch& b, const std::vector<std::string>& names,
                                 Place place) {
  Diagnostics& diag = source_.diag();
  for (const std::string& name : names) {
    Term *left = &a.frame.find(name)->second.value, *right = &b.frame.find(name)->second.value;
    if (left->kind == Term::kPoison || right->kind == Term::kPoison) return diag.failed();
    if (left->kind == Term::kScalar && left->scalar.expr.as<arith::VarNode>()) continue;  // a symbol of one branch
    RELAXC_TRY(Value * x, value_in(a, *left, place));
    RELAXC_TRY(Value * y, value_in(b, *right, place));
    if (x == nullptr || y == nullptr)
      return source_.error(place, Kind::invalid_value, "'{}' must be a value in both branches, found None", name);
    a.region->yield->add_operand(x);
    b.region->yield->add_operand(y);
    auto label = a.labels.find(name), other = b.labels.find(name);
    bool declared = label != a.labels.end() && other != b.labels.end() && label->second->annotation != nullptr;
    Info info = nullptr;
    if (declared) {
      RELAXC_DO(check_joined(x->info, y->info, name, place));
      RELAXC_TRY(info, label_info(op, *label->second));
    } else {
      RELAXC_TRY(info, join_infos(*op, x->info, y->info, name, place));
    }
    Value* result = function_.make_result(op, name, info);
    if (assigned_ != nullptr) assigned_->push_back(name);
    hidden_.erase(name);
    names_.bind(name, Term::of(result), place);
  }
  return Done{};
}

/// The declared info of an `if`'s result, whose new symbols the `if` binds.
Result<relax::Info> RelaxFunctionReader::label_info(relax::Op* op, const ast::Stmt& label) {
  pattern_ = Pattern::kFresh;
  binding_ = &op->binds;
  Result<Info> declared = info(*label.annotation);
  pattern_ = Pattern::kUse;
  binding_ = nullptr;
  return declared;
}

Status RelaxFunctionReader::check_joined(Info a, Info b, const std::string& name, Place place) {
  if (relax::joined_callable(context_, a, b) != nullptr) return Done{};
  Kind why = Kind::dtype_mismatch;
  if (!lost(a, b, why)) return Done{};
  Failure failure = source_.error(place, why, "the branches give '{}' as {} and as {}", name, relax::to_string(a),
                                  relax::to_string(b));
  if ((a->kind == relax::InfoKind::kObject) != (b->kind == relax::InfoKind::kObject))
    source_.hint("a handle and what it may point to are no common value: R.match_cast the R.Any in its branch");
  return failure;
}

/// What holds of a value that is either one or the other.
Result<relax::Info> RelaxFunctionReader::join_infos(relax::Op& op, Info a, Info b, const std::string& name,
                                                    Place place) {
  Diagnostics& diag = source_.diag();
  if (Info callable = relax::joined_callable(context_, a, b)) return callable;
  RELAXC_DO(check_joined(a, b, name, place));
  std::unordered_set<arith::Expr> inner;
  for (const relax::Region* region : op.regions)
    for (const relax::Op* inside : relax::ops_of(*region, true))
      inner.insert(inside->binds.begin(), inside->binds.end());
  size_t count = 0;
  return relax::join(context_, a, b, [&](arith::Expr x, arith::Expr y) -> arith::Expr {
    ++count;
    std::vector<arith::Var> vars = arith::free_vars(x);
    bool outside = std::none_of(vars.begin(), vars.end(), [&](arith::Var v) { return inner.count(v) != 0; });
    bool equal = x == y || (x.dtype().is_index() && arith::prove_equal(x, y, function_.facts));
    if (equal && outside) return x;
    for (const Joined& earlier : joined_)
      if (earlier.op == &op && earlier.a == x && earlier.b == y) return earlier.made;
    const auto* own = equal ? x.as<arith::VarNode>() : nullptr;
    arith::Var made = context_.var(own != nullptr ? own->name : name + "_" + std::to_string(count - 1), x.dtype());
    op.binds.push_back(made);
    joined_.push_back({&op, x, y, made});
    // A declared symbol that both branches bind is what the `if` gives it from here on.
    auto* known = own == nullptr ? nullptr : names_.find(own->name);
    if (known != nullptr && known->value.kind == Term::kScalar && known->value.scalar.expr == x)
      names_.bind(own->name, Term::of(Scalar{made}), place);
    return made;
  });
}

}  // namespace relaxc::frontend
