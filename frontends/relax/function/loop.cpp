// loop.cpp: reads loops.
//
// A loop is `with R.loop(trip_count, condition=c, carried=(a, b), ty_args=(…)) as (i, x, y):`, and its body ends
// with `r, s, t = R.carry(x1, y1, condition=c1, scan=(z,), out_ty=(…))`, which binds the loop's results for what
// follows, as R.output does for a dataflow block. Symbols that the struct infos name for the first time are bound by
// the loop.
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/infos.h"
#include "frontends/relax/function/statements.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/name_uses.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;
using relax::Info;
using relax::Value;

namespace {

/// Returns whether a value is a bool scalar, or with `boolean` false a counter; null counts as either.
bool is_scalar(const relax::Value* value, bool boolean) {
  if (value == nullptr) return true;
  auto fits = [&](DType dtype) { return boolean ? dtype.is_bool() : dtype.is_index() || dtype == DType::i(64); };
  if (const auto* prim = value->info->as<relax::PrimInfo>()) return fits(prim->dtype);
  const auto* tensor = value->info->as<relax::TensorInfo>();
  return tensor != nullptr && tensor->ndim == 0 && tensor->dtype && fits(*tensor->dtype);
}

/// Reads one loop, its head first.
class LoopReader {
 public:
  LoopReader(FunctionParts& fn, const ast::Stmt& stmt)
      : fn_(fn), stmt_(stmt), head_(*stmt.with.front().value), end_(stmt.body.empty() ? nullptr : stmt.body.back()) {}

  Status run() {
    RELAXC_DO(read_form());
    RELAXC_DO(read_operands());
    RELAXC_DO(check_names());
    op_ = fn_.graph.at(stmt_.place).append(relax::OpKind::kLoop, operands_);
    region_ = fn_.function.make_region(op_);
    if (Status read = read_inside(); !read) return read;
    RELAXC_TRY(std::vector<Info> infos, result_infos());
    return bind_results(infos);
  }

 private:
  Status read_form();
  Status read_operands();
  Status optional_operand(const ast::Expr* e);
  Status check_names() const;
  Status read_inside();
  Status make_arguments();
  bool read_body();
  bool read_statements();
  bool read_yields(const std::vector<Value*>& next);
  Result<Value*> going_on();
  Result<std::vector<Info>> result_infos();
  Result<Info> scan_info(const Value& yielded);
  Status bind_results(const std::vector<Info>& infos);
  size_t carried() const { return initial_.size(); }

  FunctionParts& fn_;
  const ast::Stmt& stmt_;
  const ast::Expr& head_;                     ///< R.loop(…)
  const ast::Stmt* end_;                      ///< … = R.carry(…)
  std::vector<const ast::Expr*> loop_names_;  ///< names of the iteration and of carried values
  std::vector<Value*> operands_, initial_;
  relax::Op* op_ = nullptr;
  relax::Region* region_ = nullptr;
};

/// Checks the form of head and end, and reads the names.
Status LoopReader::read_form() {
  const ast::Expr* target = stmt_.with.front().target;
  bool ends = end_ != nullptr && (end_->kind == StmtKind::kAssign || end_->kind == StmtKind::kExpr) && end_->value &&
              end_->value->is(AstKind::kCall) && fn_.names.path_of(*end_->value->items[0]) == "R.carry";
  if (!ends) return fn_.source.error(stmt_.place, Kind::ill_formed, "the body of R.loop ends with '… = R.carry(…)'");
  if (target == nullptr)
    return fn_.source.error(head_.place, Kind::ill_formed, "expected 'with R.loop(…) as (i, x, …):'");
  loop_names_ = target->is_sequence() ? target->items : std::vector<const ast::Expr*>{target};
  if (head_.items.size() > 2) return fn_.source.error(head_.place, Kind::wrong_arity, "R.loop takes one trip count");
  return Done{};
}

/// Reads the trip count, the condition, and the initial carried values.
Status LoopReader::read_operands() {
  const ast::Keyword *condition = head_.keyword("condition"), *carried = head_.keyword("carried");
  RELAXC_DO(optional_operand(head_.items.size() == 2 ? head_.items[1] : nullptr));
  RELAXC_DO(optional_operand(condition == nullptr ? nullptr : condition->value));
  if (!is_scalar(operands_[0], false))
    return fn_.source.error(head_.place, Kind::dtype_mismatch, "the trip count of a loop is an int64 scalar, found {}",
                            relax::to_string(operands_[0]->info));
  if (!is_scalar(operands_[1], true))
    return fn_.source.error(head_.place, Kind::dtype_mismatch, "the condition of a loop is a bool scalar, found {}",
                            relax::to_string(operands_[1]->info));
  if (carried == nullptr) return Done{};
  RELAXC_TRY(initial_, call_arguments(fn_, *carried->value));
  operands_.insert(operands_.end(), initial_.begin(), initial_.end());
  return Done{};
}

Status LoopReader::optional_operand(const ast::Expr* e) {
  if (e == nullptr || e->is(AstKind::kNone)) return operands_.push_back(nullptr), Done{};
  RELAXC_TRY(Term term, eval(fn_, *e));
  RELAXC_TRY(Value * value, as_value(fn_, term, e->place));
  operands_.push_back(value);
  return Done{};
}

Status LoopReader::check_names() const {
  if (loop_names_.size() != carried() + 1)
    return fn_.source.error(stmt_.with.front().target->place, Kind::wrong_arity,
                            "expected {} names: the iteration and what is carried", carried() + 1);
  for (const ast::Expr* name : loop_names_)
    if (!name->is(AstKind::kName)) return fn_.source.error(name->place, Kind::syntax, "expected a name");
  return Done{};
}

/// Reads the body in the scope of the loop's own names.
Status LoopReader::read_inside() {
  Names::Inner names(fn_.names);
  RELAXC_DO(make_arguments());
  if (read_body()) return Done{};
  names.leave();
  fn_.names.poison(end_->target);
  return fn_.source.diag().failed();
}

/// Binds the body's names: the iteration, and the carried values with the types that the head declares.
Status LoopReader::make_arguments() {
  std::vector<Info> infos;
  for (Value* value : initial_) infos.push_back(value->info);
  arith::Var iteration = fn_.context().var(loop_names_[0]->text);
  op_->binds.push_back(iteration);
  if (const ast::Keyword* given = result_types(head_)) {
    RELAXC_TRY(infos, read_fresh_infos(fn_, *given->value, op_->binds));
    if (infos.size() != carried())
      return fn_.source.error(given->place, Kind::wrong_arity, "{} struct infos for {} carried values", infos.size(),
                              carried());
  }
  auto argument = [&](const ast::Expr& name, Info info) {
    Value* made = fn_.function.make_argument(region_, name.text, info);
    fn_.names.bind(name.text, Term::of(made), name.place);
  };
  argument(*loop_names_[0], relax::prim_info(fn_.context(), DType::index(), iteration));
  for (size_t i = 0; i < infos.size(); ++i) argument(*loop_names_[i + 1], infos[i]);
  return Done{};
}

/// Reads the statements and the values of R.carry; returns false after an error.
bool LoopReader::read_body() {
  GraphCursor::Inside inside(fn_.graph, region_);
  Results::Into nothing_returned(fn_.results, nullptr);
  bool ok = read_statements();
  Result<std::vector<Value*>> next = call_arguments(fn_, *end_->value);
  if (!ok || !next) return false;
  if (next->size() == carried()) return read_yields(*next);
  (void)fn_.source.error(end_->value->place, Kind::wrong_arity, "R.carry carries {} values, the loop {}", next->size(),
                         carried());
  return false;
}

/// Reads the statements before R.carry, which reads names that they bind.
bool LoopReader::read_statements() {
  Names::Later later(fn_.names, names_used({end_}));
  return bool(suite(fn_, {stmt_.body.begin(), stmt_.body.end() - 1}));
}

bool LoopReader::read_yields(const std::vector<Value*>& next) {
  Result<Value*> condition = going_on();
  region_->yield->add_operand(condition ? *condition : nullptr);
  for (Value* value : next) region_->yield->add_operand(value);
  const ast::Keyword* scan = end_->value->keyword("scan");
  if (scan == nullptr) return bool(condition);
  Result<std::vector<Value*>> scanned = call_arguments(fn_, *scan->value);
  if (!condition || !scanned) return false;
  for (Value* value : *scanned) region_->yield->add_operand(value);
  return true;
}

/// Returns the condition for another iteration; null if there is none, so the loop goes on.
Result<relax::Value*> LoopReader::going_on() {
  const ast::Keyword* again = end_->value->keyword("condition");
  if (again == nullptr || again->value->is(AstKind::kNone)) return static_cast<Value*>(nullptr);
  Value* value = operand_value(fn_, *again->value);
  if (value == nullptr) return fn_.source.diag().failed();
  if (is_scalar(value, true)) return value;
  return fn_.source.error(again->value->place, Kind::dtype_mismatch,
                          "the condition of a loop is a bool scalar, found {}", relax::to_string(value->info));
}

/// Returns the types of carried values, and of scan outputs with a new leading dim; or those that R.carry declares.
Result<std::vector<relax::Info>> LoopReader::result_infos() {
  const std::vector<Value*>& yielded = region_->results();
  size_t bound_before = op_->binds.size();
  std::vector<Info> infos;
  for (size_t i = 0; i < carried(); ++i) infos.push_back(region_->arguments[i + 1]->info);
  for (size_t i = carried() + 1; i < yielded.size(); ++i) {
    RELAXC_TRY(Info info, scan_info(*yielded[i]));
    infos.push_back(info);
  }
  const ast::Keyword* declared = result_types(*end_->value);
  if (declared == nullptr) return infos;
  op_->binds.resize(bound_before);  // the declaration names its own symbols
  RELAXC_TRY(std::vector<Info> read, read_fresh_infos(fn_, *declared->value, op_->binds));
  if (read.size() != infos.size())
    return fn_.source.error(declared->place, Kind::wrong_arity, "{} struct infos for {} results", read.size(),
                            infos.size());
  return read;
}

Result<relax::Info> LoopReader::scan_info(const Value& yielded) {
  arith::Context& context = fn_.context();
  const auto* tensor = yielded.info->as<relax::TensorInfo>();
  if (tensor == nullptr || !tensor->shape)
    return fn_.source.error(end_->value->place, Kind::shape_mismatch,
                            "a scan output is a tensor of known shape, found {}", relax::to_string(yielded.info));
  std::vector<arith::Expr> dims = *tensor->shape;
  const auto* trips = op_->operand(0) == nullptr ? nullptr : op_->operand(0)->info->as<relax::PrimInfo>();
  bool exact = trips != nullptr && trips->value && region_->results()[0] == nullptr && op_->operand(1) == nullptr;
  arith::Expr count = exact ? arith::max(trips->value, context.index(0)) : arith::Expr();
  if (!exact) {
    arith::Var var = context.var("trips");
    op_->binds.push_back(var);
    count = var;
  }
  dims.insert(dims.begin(), count);
  return relax::tensor_info(context, std::move(dims), tensor->dtype);
}

Status LoopReader::bind_results(const std::vector<Info>& infos) {
  std::vector<const ast::Expr*> targets;
  if (end_->target != nullptr)
    targets = end_->target->is_sequence() ? end_->target->items : std::vector<const ast::Expr*>{end_->target};
  if (targets.size() != infos.size())
    return fn_.source.error(end_->place, Kind::wrong_arity, "{} names for {} results of the loop", targets.size(),
                            infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    if (!targets[i]->is(AstKind::kName))
      return fn_.source.error(targets[i]->place, Kind::unsupported, "values are bound to names, found {}",
                              describe(*targets[i]));
    fn_.names.assign(targets[i]->text, Term::of(fn_.function.make_result(op_, {}, infos[i])), targets[i]->place);
  }
  return Done{};
}

}  // namespace

Status loop(FunctionParts& fn, const ast::Stmt& stmt) {
  return LoopReader(fn, stmt).run();
}

}  // namespace relaxc::frontend
