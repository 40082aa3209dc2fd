// relax_join.cpp: what follows an `if` sees of its branches.
//
// A result is a value of any kind: tensors, shapes, scalars, tuples of them. Its info is the join of what the branches
// give; a number in which they differ becomes a symbol that the `if` binds, and so does one that speaks of a symbol
// that exists inside the branches only, even where both say the same.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "compiler/relax/known.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// Whether no value can be of both infos, sizes aside.
bool lost(relax::Info a, relax::Info b, Kind& why) {
  why = Kind::dtype_mismatch;
  if (a->kind == relax::InfoKind::kObject || b->kind == relax::InfoKind::kObject) return false;
  if (a->kind != b->kind) return true;
  auto ranks_differ = [&](const auto& x, const auto& y) {
    why = Kind::rank_mismatch;
    return x.ndim >= 0 && y.ndim >= 0 && x.ndim != y.ndim;
  };
  if (const auto* x = a->as<relax::TensorInfo>()) {
    const auto* y = b->as<relax::TensorInfo>();
    if (x->dtype && y->dtype && x->dtype != y->dtype) return true;
    return ranks_differ(*x, *y);
  }
  if (const auto* x = a->as<relax::ShapeInfo>()) return ranks_differ(*x, *b->as<relax::ShapeInfo>());
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
  return source_.error(place, why, "the branches give '{}' as {} and as {}", name, relax::to_string(a),
                       relax::to_string(b));
}

/// Whether `value` is a result that the branches of an `if` know more of than the `if` does, and nobody has used it: a
/// cast of it may as well stand in both branches.
bool RelaxFunctionReader::may_cast_in_branches(const Value& value) const {
  const relax::Op* op = value.op;
  if (op == nullptr || op->kind != relax::OpKind::kIf || op->block->parent != region_) return false;
  // The branch around it may give it on.
  bool given_on = value.uses().size() == 1 && value.uses()[0].user == region_->yield;
  if (!value.unused() && !given_on) return false;
  const auto* tensor = value.info->as<relax::TensorInfo>();
  const auto* shape = value.info->as<relax::ShapeInfo>();
  return value.info->kind == relax::InfoKind::kObject || (tensor && !(tensor->shape && tensor->dtype)) ||
         (shape && !shape->dims);
}

/// A handle and a tensor have no common form in memory. What the `if` gives is cast to is the same in both branches,
/// so the casts move there: the handle is opened in its branch, and the tensor is checked in its own.
Result<relax::Value*> RelaxFunctionReader::cast_in_branches(Value* value, Info wanted,
                                                            const std::vector<arith::Var>& binds, Place place) {
  relax::Op& op = *value->op;
  for (relax::Region* side : op.regions) {
    arith::Substitution own;
    std::vector<arith::Var> bound;
    for (arith::Var var : binds) {
      bound.push_back(context_.var(var.name(), var.dtype()));
      function_.facts.bound(bound.back(), function_.facts.range_of(var));
      own[var] = bound.back();
    }
    relax::Region* outer_region = std::exchange(region_, side);
    relax::Block* outer_block = std::exchange(block_, nullptr);
    builder_.reset();
    Result<Value*> cast =
        cast_to(side->results()[value->index], relax::substitute(context_, wanted, own), std::move(bound), place);
    region_ = outer_region;
    block_ = outer_block;
    builder_.reset();
    RELAXC_TRY(Value * seen, std::move(cast));
    side->yield->set_operand(value->index, seen);
  }
  op.binds.insert(op.binds.end(), binds.begin(), binds.end());
  value->info = wanted;
  return value;
}

/// A result of an `if` that is a handle here and a value there, and that no cast has settled.
Status RelaxFunctionReader::check_open_results() {
  Diagnostics& diag = source_.diag();
  bool ok = true;
  for (const relax::Op* op : relax::ops_of(function_.body(), true)) {
    if (op->kind != relax::OpKind::kIf) continue;
    for (const Value* result : op->results) {
      Info a = op->regions[0]->results()[result->index]->info, b = op->regions[1]->results()[result->index]->info;
      if (result->info->kind != relax::InfoKind::kObject || a->kind == b->kind) continue;
      diag.error(op->location, Kind::unsupported, "the branches give '{}' as {} and as {}", result->name,
                 relax::to_string(a), relax::to_string(b));
      diag.note(nullptr,
                "a handle and what it may point to have no common form in memory: R.match_cast '{}' to what it "
                "is, first thing after the 'if'",
                result->name);
      ok = false;
    }
  }
  if (!ok) return diag.failed();
  return Done{};
}

/// What holds of a value that is either one or the other.
Result<relax::Info> RelaxFunctionReader::join_infos(relax::Op& op, Info a, Info b, const std::string& name,
                                                    Place place) {
  if (Info callable = relax::joined_callable(context_, a, b)) return callable;
  RELAXC_DO(check_joined(a, b, name, place));
  std::unordered_set<arith::Expr> inner;
  for (const relax::Region* region : op.regions)
    for (const relax::Op* inside : relax::ops_of(*region, true))
      inner.insert(inside->binds.begin(), inside->binds.end());
  size_t count = 0;
  arith::Facts room;
  const arith::Facts& facts = relax::known_facts(*region_, nullptr, room);
  return relax::join(context_, a, b, [&](arith::Expr x, arith::Expr y) -> arith::Expr {
    ++count;
    std::vector<arith::Var> vars = arith::free_vars(x);
    bool outside = std::none_of(vars.begin(), vars.end(), [&](arith::Var v) { return inner.count(v) != 0; });
    bool equal = x == y || (x.dtype().is_index() && arith::prove_equal(x, y, facts));
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
