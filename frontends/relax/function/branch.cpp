// branch.cpp: reads `if`, and determines its results.
//
// Python's `if` has no result; names that its branches bind stay valid after it. The results here are the names that
// both branches bind and that later text reads, or that both bind last. If the two differ in shape, the differing dims
// become symbols that the `if` binds; `name: R.Tensor((k,), …) = other` as the last statements of both branches names
// such symbols, and the printer prints it so.
//
// A result is a value of any kind: tensors, shapes, scalars, tuples of them. Its info is the join of the branches'
// infos; a number that differs becomes a symbol that the `if` binds, and so does one that depends on a symbol of the
// branches, even if both are equal.
#include <algorithm>

#include "compiler/relax/callable.h"
#include "compiler/relax/known.h"
#include "frontends/relax/function/closures.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/statements.h"
#include "frontends/relax/function/values.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;
using relax::Info;
using relax::Value;

namespace {

/// Returns whether no value can have both types, apart from sizes; `why` receives what differs.
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

/// Returns whether the last statement of `body` binds `name`.
bool binds_last(const std::vector<const ast::Stmt*>& body, const std::string& name) {
  if (body.empty() || body.back()->target == nullptr) return false;
  const ast::Expr& target = *body.back()->target;
  if (!target.is_sequence()) return target.is(AstKind::kName) && target.text == name;
  return std::any_of(target.items.begin(), target.items.end(), [&](const ast::Expr* e) { return e->text == name; });
}

/// Returns whether `info` is the type of a tensor or a shape that says at most its rank and dtype.
bool lacks_dims(Info info) {
  if (const auto* tensor = info->as<relax::TensorInfo>()) return !tensor->shape;
  const auto* shape = info->as<relax::ShapeInfo>();
  return shape != nullptr && !shape->dims;
}

/// Reads one `if` statement with its branches.
class BranchReader {
 public:
  BranchReader(FunctionParts& fn, const ast::Stmt& stmt) : fn_(fn), stmt_(stmt), may_return_(fn.results.may_return()) {}

  Status run();

 private:
  /// The state of one branch after it was read.
  struct Side {
    relax::Region* region = nullptr;
    Names::Frame frame;
    std::vector<std::string> assigned;               ///< names in order of first assignment
    std::map<std::string, const ast::Stmt*> labels;  ///< trailing `name[: annotation] = other`
    std::vector<Value*> returned;
    bool returns = false;
    bool ok = false;
  };

  Value* condition();
  void read_side(Side& side, const Body& body);
  size_t read_labels(Side& side, const Body& body) const;
  Status join_returned();
  Status join_names();
  std::vector<std::string> joined_names() const;
  Status join_name(const std::string& name);
  void hide_names();
  void poison(const std::vector<std::string>& names);
  Result<Value*> value_in(const Side& side, const Term& term);
  Result<Info> joined_info(const std::string& name, Info a, Info b);
  Result<Info> completed(Info said, Info a, Info b, const std::string& name);
  Status check_joined(Info a, Info b, const std::string& name) const;
  Result<Info> join_infos(Info a, Info b, const std::string& name);
  arith::Expr join_numbers(arith::Expr x, arith::Expr y, bool equal, const std::string& name);

  /// A symbol `made` that the `if` binds: it is `a` in one branch and `b` in the other.
  struct Joined {
    arith::Expr a, b, made;
  };

  FunctionParts& fn_;
  const ast::Stmt& stmt_;
  const bool may_return_;
  relax::Op* op_ = nullptr;
  Side then_, else_;
  std::vector<Joined> joined_;
};

Status BranchReader::run() {
  Value* test = condition();
  // Read the branches even if the condition was refused, since their errors do not depend on it.
  bool decided = test != nullptr;
  if (!decided) test = fn_.graph.at(stmt_.place).prim(fn_.context().boolean(true));
  op_ = fn_.graph.at(stmt_.place).append(relax::OpKind::kIf, {test});
  then_.region = fn_.function.make_region(op_);
  read_side(then_, stmt_.body);
  else_.region = fn_.function.make_region(op_);
  read_side(else_, stmt_.orelse);
  if (!then_.ok || !else_.ok) {
    poison(then_.assigned);
    poison(else_.assigned);
    return fn_.source.diag().failed();
  }
  if (then_.returns != else_.returns || (then_.returns && !may_return_))
    return fn_.source.error(stmt_.place, Kind::unsupported,
                            "either both branches of a function's last 'if' return, or none does");
  RELAXC_DO(then_.returns ? join_returned() : join_names());
  if (!decided) return fn_.diag().failed();
  return Done{};
}

/// Reads the condition; returns null after an error. A tensor of one element counts as that element, as TVM has it.
relax::Value* BranchReader::condition() {
  Value* test = operand_value(fn_, *stmt_.value);
  if (test == nullptr) return nullptr;
  const auto* prim = test->info->as<relax::PrimInfo>();
  const auto* tensor = test->info->as<relax::TensorInfo>();
  bool scalar =
      prim ? prim->dtype.is_bool() : tensor && (!tensor->dtype || tensor->dtype->is_bool()) && tensor->ndim <= 0;
  if (scalar) return test;
  const bool single =
      tensor != nullptr && tensor->dtype && tensor->dtype->is_bool() && tensor->shape &&
      std::all_of(tensor->shape->begin(), tensor->shape->end(), [](arith::Expr dim) { return dim.is_constant(1); });
  if (single) {
    relax::GraphBuilder& build = fn_.graph.at(stmt_.value->place);
    Result<relax::Value*> element = build.call("reshape", {test, build.shape({})});
    return element ? *element : nullptr;
  }
  (void)fn_.source.error(stmt_.value->place, Kind::dtype_mismatch, "a condition must be a bool, found {}",
                         relax::to_string(test->info));
  return nullptr;
}

void BranchReader::read_side(Side& side, const Body& body) {
  GraphCursor::Inside inside(fn_.graph, side.region);
  Results::Into into(fn_.results, &side.returned);
  Names::Branch names(fn_.names, side.assigned);
  size_t labels = read_labels(side, body);
  side.ok = bool(suite(fn_, {body.begin(), body.begin() + static_cast<int64_t>(labels)}));
  for (size_t i = labels; i < body.size(); ++i) {
    Result<Term> term = eval(fn_, *body[i]->value);
    if (term) term = named_function(fn_, *term, body[i]->value->place);
    side.ok = side.ok && term;
    fn_.names.assign(body[i]->target->text, term ? *term : Term(), body[i]->target->place);
  }
  side.frame = names.leave();
  side.returns = fn_.results.returned();
}

/// Finds the trailing `name = other` statements, which name results; returns the index of the first.
size_t BranchReader::read_labels(Side& side, const Body& body) const {
  size_t labels = body.size();
  for (; labels > 0; --labels) {  // from the last to the first
    const ast::Stmt& stmt = *body[labels - 1];
    bool label = stmt.kind == StmtKind::kAssign && stmt.value != nullptr && stmt.target->is(AstKind::kName) &&
                 stmt.value->is(AstKind::kName);
    if (!label) break;
    side.labels[stmt.target->text] = &stmt;
  }
  return labels;
}

/// If both branches return, the results of the `if` are those of the function.
Status BranchReader::join_returned() {
  const size_t count = then_.returned.size();
  if (count != else_.returned.size())
    return fn_.source.error(stmt_.place, Kind::wrong_arity, "one branch returns {} values, the other {}", count,
                            else_.returned.size());
  std::vector<Value*> values;
  for (size_t i = 0; i < count; ++i) {
    Value *x = then_.returned[i], *y = else_.returned[i];
    std::string name = count == 1 ? "result" : "result_" + std::to_string(i);
    RELAXC_TRY(Info info, join_infos(x->info, y->info, name));
    then_.region->yield->add_operand(x);
    else_.region->yield->add_operand(y);
    values.push_back(fn_.function.make_result(op_, name, info));
  }
  fn_.results.give(std::move(values));
  return Done{};
}

Status BranchReader::join_names() {
  std::vector<std::string> names = joined_names();
  hide_names();
  for (const std::string& name : names) {
    if (join_name(name)) continue;
    poison(names);
    return fn_.source.diag().failed();
  }
  return Done{};
}

std::vector<std::string> BranchReader::joined_names() const {
  std::vector<std::string> names;
  for (const std::string& name : then_.assigned) {
    if (else_.frame.count(name) == 0 || then_.frame.count(name) == 0) continue;
    bool labelled = then_.labels.count(name) != 0 && else_.labels.count(name) != 0;
    bool wanted =
        fn_.names.is_read_later(name) || labelled || (binds_last(stmt_.body, name) && binds_last(stmt_.orelse, name));
    if (wanted && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Status BranchReader::join_name(const std::string& name) {
  const Term &left = then_.frame.find(name)->second.value, &right = else_.frame.find(name)->second.value;
  if (left.kind == Term::kPoison || right.kind == Term::kPoison) return fn_.source.diag().failed();
  if (left.kind == Term::kScalar && left.scalar.expr.as<arith::VarNode>()) return Done{};  // only one branch's symbol
  RELAXC_TRY(Value * x, value_in(then_, left));
  RELAXC_TRY(Value * y, value_in(else_, right));
  if (x == nullptr || y == nullptr)
    return fn_.source.error(stmt_.place, Kind::invalid_value, "'{}' must be a value in both branches, found None",
                            name);
  then_.region->yield->add_operand(x);
  else_.region->yield->add_operand(y);
  RELAXC_TRY(Info info, joined_info(name, x->info, y->info));
  Value* result = fn_.function.make_result(op_, name, info);
  fn_.names.assign(name, Term::of(result), stmt_.place);
  return Done{};
}

/// Hides names that a branch binds, so that only joined ones can be used after the `if`.
void BranchReader::hide_names() {
  for (const Side* side : {&then_, &else_})
    for (const std::string& name : side->assigned)
      if (auto bound = side->frame.find(name); bound != side->frame.end())
        fn_.names.hide(name, bound->second.place,
                       "it is bound in one branch; bind it in both to use it after the 'if'");
}

void BranchReader::poison(const std::vector<std::string>& names) {
  for (const std::string& name : names) fn_.names.bind(name, {}, stmt_.place);
}

/// Returns a term as a value of the branch that it comes from.
Result<relax::Value*> BranchReader::value_in(const Side& side, const Term& term) {
  if (term.kind == Term::kValue) return term.value;
  GraphCursor::Inside inside(fn_.graph, side.region);
  return as_value(fn_, term, stmt_.place);
}

/// Returns the type of a result: as its labels declare it, with new symbols that the `if` binds, or else the join. TVM
/// declares a rank where the branches differ in dims; these are those of the join.
Result<relax::Info> BranchReader::joined_info(const std::string& name, Info a, Info b) {
  auto label = then_.labels.find(name), other = else_.labels.find(name);
  bool declared = label != then_.labels.end() && other != else_.labels.end() && label->second->annotation != nullptr;
  if (!declared) return join_infos(a, b, name);
  RELAXC_DO(check_joined(a, b, name));
  RELAXC_TRY(Info said, read_info_by(fn_, DimPattern::kFresh, *label->second->annotation, op_->binds));
  return completed(said, a, b, name);
}

/// Returns `said` with the join of `a` and `b` in the place of fields of which it has no dims.
Result<relax::Info> BranchReader::completed(Info said, Info a, Info b, const std::string& name) {
  const auto *tuple = said->as<relax::TupleInfo>(), *left = a->as<relax::TupleInfo>(),
             *right = b->as<relax::TupleInfo>();
  if (tuple != nullptr && left != nullptr && right != nullptr && tuple->fields.size() == left->fields.size() &&
      tuple->fields.size() == right->fields.size()) {
    std::vector<Info> fields;
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      RELAXC_TRY(Info field, completed(tuple->fields[i], left->fields[i], right->fields[i], name));
      fields.push_back(field);
    }
    return relax::tuple_info(fn_.context(), std::move(fields));
  }
  if (!lacks_dims(said) || said->kind != a->kind || said->kind != b->kind) return said;
  RELAXC_TRY(Info joined, join_infos(a, b, name));
  return relax::subsumes(said, joined) ? joined : said;
}

Status BranchReader::check_joined(Info a, Info b, const std::string& name) const {
  if (relax::joined_callable(fn_.context(), a, b) != nullptr) return Done{};
  Kind why = Kind::dtype_mismatch;
  if (!lost(a, b, why)) return Done{};
  return fn_.source.error(stmt_.place, why, "the branches give '{}' as {} and as {}", name, relax::to_string(a),
                          relax::to_string(b));
}

/// Returns a type that covers both `a` and `b`, with symbols for dims that differ.
Result<relax::Info> BranchReader::join_infos(Info a, Info b, const std::string& name) {
  if (Info callable = relax::joined_callable(fn_.context(), a, b)) return callable;
  RELAXC_DO(check_joined(a, b, name));
  std::unordered_set<arith::Expr> inner;
  for (const relax::Region* region : op_->regions)
    for (const relax::Op* inside : relax::ops_of(*region, true))
      inner.insert(inside->binds.begin(), inside->binds.end());
  size_t count = 0;
  arith::Facts room;
  const arith::Facts& facts = relax::known_facts(fn_.graph.region(), nullptr, room);
  return relax::join(fn_.context(), a, b, [&](arith::Expr x, arith::Expr y) -> arith::Expr {
    std::string symbol = name + "_" + std::to_string(count++);
    std::vector<arith::Var> vars = arith::free_vars(x);
    bool outside = std::none_of(vars.begin(), vars.end(), [&](arith::Var v) { return inner.count(v) != 0; });
    bool equal = x == y || (x.dtype().is_index() && arith::prove_equal(x, y, facts));
    return equal && outside ? x : join_numbers(x, y, equal, symbol);
  });
}

/// Returns a symbol that is `x` in one branch and `y` in the other; `equal`: they are equal, but not known outside.
arith::Expr BranchReader::join_numbers(arith::Expr x, arith::Expr y, bool equal, const std::string& name) {
  for (const Joined& earlier : joined_)
    if (earlier.a == x && earlier.b == y) return earlier.made;
  const auto* own = equal ? x.as<arith::VarNode>() : nullptr;
  arith::Var made = fn_.context().var(own != nullptr ? own->name : name, x.dtype());
  op_->binds.push_back(made);
  joined_.push_back({x, y, made});
  // A declared symbol that both branches bind stands for the symbol of the `if` from here on.
  auto* known = own == nullptr ? nullptr : fn_.names.find_own(own->name);
  if (known != nullptr && known->value.kind == Term::kScalar && known->value.scalar.expr == x)
    fn_.names.bind(own->name, Term::of(Scalar{made}), stmt_.place);
  return made;
}

}  // namespace

Status branch(FunctionParts& fn, const ast::Stmt& stmt) {
  return BranchReader(fn, stmt).run();
}

}  // namespace relaxc::frontend
