// relax_region.cpp: branches and loops.
//
// Python's `if` has no result; its branches bind names that live on. A branch's results here are the names that both
// branches bind and that something after reads, or that both bind last. Where the two differ in shape, the differing
// dims become symbols that the `if` binds; `name: R.Tensor((k,), …) = other` as the last statements of both branches
// names such symbols, and the printer writes it so.
//
// A loop is `with R.loop(trip_count, condition=c, carried=(a, b), ty_args=(…)) as (i, x, y):`, and its body ends
// with `r, s, t = R.carry(x1, y1, condition=c1, scan=(z,), out_ty=(…))`, which binds the loop's results for what
// follows, as R.output does for a dataflow block. Symbols that the struct infos name for the first time are bound by
// the loop.
#include <algorithm>

#include "frontends/relax/literals.h"
#include "frontends/relax/relax_function.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

Status RelaxFunctionReader::branch(const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  bool may_return = may_return_ && return_into_ != nullptr;
  Value* test = operand_value(*stmt.value);
  if (test != nullptr) {
    const auto* prim = test->info->as<relax::PrimInfo>();
    const auto* tensor = test->info->as<relax::TensorInfo>();
    bool scalar =
        prim ? prim->dtype.is_bool() : tensor && (!tensor->dtype || tensor->dtype->is_bool()) && tensor->ndim <= 0;
    if (!scalar) {
      (void)source_.error(stmt.value->place, Kind::dtype_mismatch, "a condition must be a bool, found {}",
                          relax::to_string(test->info));
      test = nullptr;
    }
  }
  if (test == nullptr) {
    // The branches have errors of their own; read them into nothing.
    for (const Body* body : {&stmt.body, &stmt.orelse})
      for (const ast::Stmt* inner : *body) poison(inner->target);
    return diag.failed();
  }
  relax::Op* op = at(stmt.place).append(relax::OpKind::kIf, {test});
  std::vector<Value*>* return_into = return_into_;
  Branch then_branch = read_branch(function_.make_region(op), stmt.body);
  Branch else_branch = read_branch(function_.make_region(op), stmt.orelse);
  return_into_ = return_into;
  if (!then_branch.ok || !else_branch.ok) {
    for (const Branch* side : {&then_branch, &else_branch})
      for (const std::string& name : side->assigned) names_.bind(name, {}, stmt.place);
    return diag.failed();
  }
  if (then_branch.returns != else_branch.returns || (then_branch.returns && !may_return))
    return source_.error(stmt.place, Kind::unsupported,
                         "either both branches of a function's last 'if' return, or none does");
  if (then_branch.returns) {
    if (then_branch.returned.size() != else_branch.returned.size())
      return source_.error(stmt.place, Kind::wrong_arity, "one branch returns {} values, the other {}",
                           then_branch.returned.size(), else_branch.returned.size());
    for (size_t i = 0; i < then_branch.returned.size(); ++i) {
      Value *x = then_branch.returned[i], *y = else_branch.returned[i];
      std::string name = then_branch.returned.size() == 1 ? "result" : "result_" + std::to_string(i);
      RELAXC_TRY(Info info, join_infos(*op, x->info, y->info, name, stmt.place));
      then_branch.region->yield->add_operand(x);
      else_branch.region->yield->add_operand(y);
      return_into->push_back(function_.make_result(op, name, info));
    }
    returned_ = true;
    return Done{};
  }
  std::vector<std::string> names = joined_names(then_branch, else_branch, stmt.body, stmt.orelse);
  for (const Branch* side : {&then_branch, &else_branch})
    for (const std::string& name : side->assigned)
      if (auto bound = side->frame.find(name); bound != side->frame.end())
        hidden_[name] = {bound->second.place, "it is bound in one branch; bind it in both to use it after the 'if'"};
  if (join(op, then_branch, else_branch, names, stmt.place)) return Done{};
  for (const std::string& name : names) names_.bind(name, {}, stmt.place);
  return diag.failed();
}

RelaxFunctionReader::Branch RelaxFunctionReader::read_branch(relax::Region* region, const Body& body) {
  Branch made;
  made.region = region;
  relax::Region* outer_region = region_;
  relax::Block* outer_block = block_;
  std::vector<std::string>* outer_assigned = assigned_;
  region_ = region;
  block_ = nullptr;
  builder_.reset();
  assigned_ = &made.assigned;
  return_into_ = &made.returned;
  bool outer_returned = returned_;
  returned_ = false;

  // The trailing `name = other` statements name results; the last of them first.
  size_t labels = body.size();
  while (labels > 0) {
    const ast::Stmt& stmt = *body[labels - 1];
    bool label = stmt.kind == StmtKind::kAssign && stmt.value != nullptr && stmt.target->is(AstKind::kName) &&
                 stmt.value->is(AstKind::kName);
    if (!label) break;
    made.labels[stmt.target->text] = &stmt;
    --labels;
  }
  std::unordered_set<arith::Expr> unbound = unbound_;  // what a branch binds has a value in the branch
  names_.push();
  made.ok = bool(suite({body.begin(), body.begin() + static_cast<int64_t>(labels)}));
  for (size_t i = labels; i < body.size(); ++i) {
    Result<Term> term = eval(*body[i]->value);
    if (term) term = named_function(*term, body[i]->value->place);
    made.ok = made.ok && term;
    bind(*body[i]->target, term ? *term : Term());
  }
  made.frame = names_.pop();
  unbound_ = std::move(unbound);
  made.returns = returned_;
  returned_ = outer_returned;
  region_ = outer_region;
  block_ = outer_block;
  builder_.reset();
  assigned_ = outer_assigned;
  return made;
}

Status RelaxFunctionReader::loop(const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& head = *stmt.with.front().value;
  const ast::Expr* target = stmt.with.front().target;
  const ast::Stmt* end = stmt.body.empty() ? nullptr : stmt.body.back();
  bool ends = end != nullptr && (end->kind == StmtKind::kAssign || end->kind == StmtKind::kExpr) && end->value &&
              end->value->is(AstKind::kCall) && path_of(*end->value->items[0]) == "R.carry";
  if (!ends) return source_.error(stmt.place, Kind::ill_formed, "the body of R.loop ends with '… = R.carry(…)'");
  if (target == nullptr) return source_.error(head.place, Kind::ill_formed, "expected 'with R.loop(…) as (i, x, …):'");
  std::vector<const ast::Expr*> names = target->is_sequence() ? target->items : std::vector<const ast::Expr*>{target};
  if (head.items.size() > 2) return source_.error(head.place, Kind::wrong_arity, "R.loop takes one trip count");

  std::vector<Value*> operands;
  auto optional_operand = [&](const ast::Expr* e) -> Status {
    if (e == nullptr || e->is(AstKind::kNone)) return operands.push_back(nullptr), Done{};
    RELAXC_TRY(Term term, eval(*e));
    RELAXC_TRY(Value * value, as_value(term, e->place));
    operands.push_back(value);
    return Done{};
  };
  const ast::Keyword *condition = head.keyword("condition"), *carried = head.keyword("carried"),
                     *infos = result_types(head);
  RELAXC_DO(optional_operand(head.items.size() == 2 ? head.items[1] : nullptr));
  RELAXC_DO(optional_operand(condition == nullptr ? nullptr : condition->value));
  auto is_scalar = [](const Value* value, bool boolean) {
    if (value == nullptr) return true;
    auto fits = [&](DType dtype) { return boolean ? dtype.is_bool() : dtype.is_index() || dtype == DType::i(64); };
    if (const auto* prim = value->info->as<relax::PrimInfo>()) return fits(prim->dtype);
    const auto* tensor = value->info->as<relax::TensorInfo>();
    return tensor != nullptr && tensor->ndim == 0 && tensor->dtype && fits(*tensor->dtype);
  };
  if (!is_scalar(operands[0], false))
    return source_.error(head.place, Kind::dtype_mismatch, "the trip count of a loop is an int64 scalar, found {}",
                         relax::to_string(operands[0]->info));
  if (!is_scalar(operands[1], true))
    return source_.error(head.place, Kind::dtype_mismatch, "the condition of a loop is a bool scalar, found {}",
                         relax::to_string(operands[1]->info));
  std::vector<Value*> initial;
  if (carried != nullptr) {
    RELAXC_TRY(initial, call_arguments(*carried->value));
    operands.insert(operands.end(), initial.begin(), initial.end());
  }
  if (names.size() != initial.size() + 1)
    return source_.error(target->place, Kind::wrong_arity, "expected {} names: the iteration and what is carried",
                         initial.size() + 1);
  for (const ast::Expr* name : names)
    if (!name->is(AstKind::kName)) return source_.error(name->place, Kind::syntax, "expected a name");

  relax::Op* op = at(stmt.place).append(relax::OpKind::kLoop, operands);
  relax::Region* region = function_.make_region(op);
  std::vector<Info> argument_infos;
  for (Value* value : initial) argument_infos.push_back(value->info);
  arith::Var iteration = context_.var(names[0]->text);
  op->binds.push_back(iteration);
  names_.push();
  if (infos != nullptr) {
    pattern_ = Pattern::kFresh;
    binding_ = &op->binds;
    Result<std::vector<Info>> declared = info_list(*infos->value);
    pattern_ = Pattern::kUse;
    binding_ = nullptr;
    if (!declared || declared->size() != initial.size()) {
      names_.pop();
      if (!declared) return diag.failed();
      return source_.error(infos->place, Kind::wrong_arity, "{} struct infos for {} carried values", declared->size(),
                           initial.size());
    }
    argument_infos = *declared;
  }
  auto argument = [&](const ast::Expr& name, Info info) {
    names_.bind(name.text, Term::of(function_.make_argument(region, name.text, info)), name.place);
  };
  argument(*names[0], relax::prim_info(context_, DType::index(), iteration));
  for (size_t i = 0; i < initial.size(); ++i) argument(*names[i + 1], argument_infos[i]);

  relax::Region* outer_region = region_;
  relax::Block* outer_block = block_;
  std::vector<Value*>* outer_return = return_into_;
  region_ = region;
  block_ = nullptr;
  builder_.reset();
  return_into_ = nullptr;
  bool ok = bool(suite({stmt.body.begin(), stmt.body.end() - 1}));
  Result<std::vector<Value*>> next = call_arguments(*end->value);
  ok = ok && next;
  std::vector<Value*> results;
  if (ok && next->size() != initial.size()) {
    (void)source_.error(end->value->place, Kind::wrong_arity, "R.carry carries {} values, the loop {}", next->size(),
                        initial.size());
    ok = false;
  }
  if (ok) {
    const ast::Keyword *again = end->value->keyword("condition"), *scan = end->value->keyword("scan");
    Value* goes_on = nullptr;
    if (again != nullptr && !again->value->is(AstKind::kNone)) {
      goes_on = operand_value(*again->value);
      ok = goes_on != nullptr;
      if (ok && !is_scalar(goes_on, true)) {
        (void)source_.error(again->value->place, Kind::dtype_mismatch,
                            "the condition of a loop is a bool scalar, found {}", relax::to_string(goes_on->info));
        ok = false;
      }
    }
    region->yield->add_operand(goes_on);
    for (Value* value : *next) region->yield->add_operand(value);
    if (scan != nullptr) {
      Result<std::vector<Value*>> scanned = call_arguments(*scan->value);
      ok = ok && scanned;
      if (scanned)
        for (Value* value : *scanned) region->yield->add_operand(value);
    }
  }
  region_ = outer_region;
  block_ = outer_block;
  builder_.reset();
  return_into_ = outer_return;
  names_.pop();
  if (!ok) {
    poison(end->target);
    return diag.failed();
  }
  return loop_end(op, *end);
}

/// The results of a loop: what it carries, and its scan outputs with a new leading dim.
Status RelaxFunctionReader::loop_end(relax::Op* op, const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  const relax::Region& region = *op->regions[0];
  const std::vector<Value*>& yielded = region.results();
  size_t carried = region.arguments.size() - 1, bound_before = op->binds.size();
  std::vector<Info> infos;
  for (size_t i = 0; i < carried; ++i) infos.push_back(region.arguments[i + 1]->info);
  for (size_t i = carried + 1; i < yielded.size(); ++i) {
    const auto* tensor = yielded[i]->info->as<relax::TensorInfo>();
    if (tensor == nullptr || !tensor->shape)
      return source_.error(stmt.value->place, Kind::shape_mismatch,
                           "a scan output is a tensor of known shape, found {}", relax::to_string(yielded[i]->info));
    std::vector<arith::Expr> dims = *tensor->shape;
    const auto* trips = op->operand(0) == nullptr ? nullptr : op->operand(0)->info->as<relax::PrimInfo>();
    bool exact = trips != nullptr && trips->value && yielded[0] == nullptr && op->operand(1) == nullptr;
    arith::Expr count = exact ? arith::max(trips->value, context_.index(0)) : arith::Expr();
    if (!exact) {
      arith::Var var = context_.var("trips");
      op->binds.push_back(var);
      count = var;
    }
    dims.insert(dims.begin(), count);
    infos.push_back(relax::tensor_info(context_, std::move(dims), tensor->dtype));
  }
  if (const ast::Keyword* declared = result_types(*stmt.value)) {
    op->binds.resize(bound_before);  // the text names them itself
    pattern_ = Pattern::kFresh;
    binding_ = &op->binds;
    Result<std::vector<Info>> read = info_list(*declared->value);
    pattern_ = Pattern::kUse;
    binding_ = nullptr;
    if (!read) return diag.failed();
    if (read->size() != infos.size())
      return source_.error(declared->place, Kind::wrong_arity, "{} struct infos for {} results", read->size(),
                           infos.size());
    infos = *read;
  }
  std::vector<const ast::Expr*> targets;
  if (stmt.target != nullptr)
    targets = stmt.target->is_sequence() ? stmt.target->items : std::vector<const ast::Expr*>{stmt.target};
  if (targets.size() != infos.size())
    return source_.error(stmt.place, Kind::wrong_arity, "{} names for {} results of the loop", targets.size(),
                         infos.size());
  for (size_t i = 0; i < infos.size(); ++i) bind(*targets[i], Term::of(function_.make_result(op, {}, infos[i])));
  return Done{};
}

}  // namespace relaxc::frontend
