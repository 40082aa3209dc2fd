// prim_loop.cpp: loops.
//
// A step is arithmetic: the loop counts its iterations, and the name in the text stands for begin + count * step.
#include <algorithm>

#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"
#include "frontends/relax/suggest.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

struct LoopFunction {
  std::string_view name;
  tir::LoopKind kind;
};
constexpr LoopFunction kLoopFunctions[] = {
    {"range", tir::LoopKind::kSerial},        {"T.serial", tir::LoopKind::kSerial},
    {"T.parallel", tir::LoopKind::kParallel}, {"T.vectorized", tir::LoopKind::kVectorized},
    {"T.unroll", tir::LoopKind::kUnrolled},   {"T.unrolled", tir::LoopKind::kUnrolled},
    {"T.grid", tir::LoopKind::kSerial},       {"T.range", tir::LoopKind::kSerial},
};

const LoopFunction* find_loop(const std::string& callee) {
  for (const LoopFunction& function : kLoopFunctions)
    if (function.name == callee) return &function;
  return nullptr;
}

}  // namespace

bool is_loop(const std::string& callee) {
  return find_loop(callee) != nullptr || callee == "T.thread_binding";
}

Status PrimFuncReader::loop(const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out) {
  RELAXC_TRY(tir::Stmt made, nest(iterator, target, body));
  out.back().stmts.push_back(made);
  return Done{};
}

/// The ranges of a loop's variables: of T.grid one an argument, else (extent) or (begin, end, step).
Result<std::vector<PrimFuncReader::Extent>> PrimFuncReader::extents(const ast::Expr& iterator,
                                                                    const std::string& callee) {
  Diagnostics& diag = source_.diag();
  std::vector<Extent> out;
  bool ok = true;
  auto read_index = [&](const ast::Expr& e) {
    Result<arith::Expr> value = index(e);
    ok = ok && value;
    return value ? *value : context_.index(0);
  };
  if (callee == "T.grid") {
    for (size_t i = 1; i < iterator.items.size(); ++i) {
      const ast::Expr& item = *iterator.items[i];
      tir::BufferRef buffer = item.is(AstKind::kStarred) ? described(item, "shape") : nullptr;
      std::vector<arith::Expr> dims = buffer != nullptr ? buffer->shape : std::vector{read_index(item)};
      for (arith::Expr dim : dims) out.push_back({context_.index(0), dim});
    }
    if (out.empty()) return source_.error(iterator.place, Kind::wrong_arity, "T.grid needs an extent");
    if (!ok) return diag.failed();
    return out;
  }
  std::vector<const ast::Expr*> given(iterator.items.begin() + 1, iterator.items.end());
  auto named = [&](const char* name, size_t position) -> const ast::Expr* {
    const ast::Keyword* keyword = iterator.keyword(name);
    return keyword != nullptr ? keyword->value : given.size() > position ? given[position] : nullptr;
  };
  const ast::Expr *first = named("start", 0), *end = named("stop", 1), *step = named("step", 2);
  if (first == nullptr || given.size() > 3)
    return source_.error(iterator.place, Kind::wrong_arity, "{} takes an extent, or a begin and an end", callee);
  Extent range{context_.index(0), read_index(*first)};
  if (end != nullptr) range = {range.extent, arith::simplify(read_index(*end) - range.extent)};
  if (step != nullptr && !step->is(AstKind::kNone)) {
    RELAXC_TRY(range.step, loop_step(*step));
  }
  if (!ok) return diag.failed();
  return std::vector{range};
}

Result<int64_t> PrimFuncReader::loop_step(const ast::Expr& e) {
  RELAXC_TRY(arith::Expr step, index(e));
  if (step.constant() != nullptr && *step.constant() != 0 && *step.constant() > -(int64_t{1} << 31) &&
      *step.constant() < int64_t{1} << 31)
    return *step.constant();
  return source_.error(e.place, Kind::unsupported, "a step is a constant other than 0");
}

/// What schedules are told by integers is kept; lists and texts are for other compilers' schedules and are dropped.
Result<std::map<std::string, int64_t>> PrimFuncReader::annotations(const ast::Expr* dict) {
  std::map<std::string, int64_t> out;
  if (dict == nullptr || dict->is(AstKind::kNone)) return out;
  if (!dict->is(AstKind::kDict)) return source_.error(dict->place, Kind::invalid_value, "annotations are a dict");
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    RELAXC_TRY(std::string key, string_value(source_, *dict->items[i], "an annotation's name"));
    const ast::Expr& value = *dict->items[i + 1];
    if (value.is(AstKind::kString) || value.is_sequence() || value.is(AstKind::kDict) || value.is(AstKind::kNone))
      continue;
    if (value.is(AstKind::kTrue) || value.is(AstKind::kFalse)) {
      out[key] = value.is(AstKind::kTrue);
      continue;
    }
    RELAXC_TRY(Scalar number, read(value));
    if (number.expr.constant() != nullptr) out[key] = *number.expr.constant();
  }
  return out;
}

/// One loop, or the nest of a T.grid.
Result<tir::Stmt> PrimFuncReader::nest(const ast::Expr& iterator, const ast::Expr& target, const Body& body) {
  Diagnostics& diag = source_.diag();
  std::string callee = callee_of(&iterator);
  const LoopFunction* found = find_loop(callee);
  if (callee == "T.thread_binding")
    return source_.error(iterator.place, Kind::unsupported, "thread bindings are for GPUs; a CPU has T.parallel");
  if (found == nullptr) {
    Failure failure = source_.error(iterator.place, Kind::ill_formed,
                                    "expected a loop such as T.grid(n, m), T.serial(n) or range(n)");
    if (auto near = nearest_name(callee, {"T.grid", "T.serial", "T.parallel", "T.vectorized", "T.unroll", "range"}))
      source_.hint("did you mean {}?", *near);
    return failure;
  }
  RELAXC_TRY(std::vector<Extent> ranges, extents(iterator, callee));
  std::vector<const ast::Expr*> targets = targets_of(target);
  if (targets.size() != ranges.size())
    return source_.error(target.place, Kind::wrong_arity, "{} loop variables for {} extents", targets.size(),
                         ranges.size());
  constexpr size_t kMostLoops = 64;  // walks over TIR recurse into loops
  if (loop_vars_.size() + ranges.size() > kMostLoops)
    return source_.error(iterator.place, Kind::unsupported, "more than {} loops inside of each other", kMostLoops);
  const ast::Keyword* keyword = iterator.keyword("annotations");
  auto notes = annotations(keyword != nullptr ? keyword->value : nullptr);
  for (const ast::Expr* item : targets)
    if (!item->is(AstKind::kName))
      return source_.error(item->place, Kind::syntax, "expected a name for the loop variable");

  names_.push();
  std::vector<arith::Var> vars;
  for (size_t i = 0; i < targets.size(); ++i) {
    Extent& range = ranges[i];
    arith::Var var = context_.var(targets[i]->text);
    arith::Expr shown = var;
    if (range.step != 1) {
      arith::Expr begin = range.min, distance = range.step > 0 ? range.extent : arith::simplify(-range.extent);
      range = {context_.index(0), arith::simplify(arith::ceildiv(distance, std::abs(range.step))), range.step};
      shown = begin + var * range.step;
    }
    note_range(var, range.min, range.extent);
    loop_ranges_[var->id] = {range.min, range.extent};
    bind(targets[i]->text, {.kind = PrimName::kScalar, .scalar = shown, .loop_level = axis_blocks_ + 1},
         targets[i]->place);
    vars.push_back(var);
    loop_vars_.push_back(shown);
  }
  ++loop_depth_;
  Result<tir::Stmt> inner = suite(body);
  --loop_depth_;
  names_.pop();
  loop_vars_.resize(loop_vars_.size() - vars.size());
  if (!inner || !notes) return diag.failed();
  tir::Stmt made = *inner;
  for (size_t i = vars.size(); i-- > 0;) {
    made = builder_.loop(vars[i], ranges[i].min, ranges[i].extent, made, found->kind);
    if (i != 0 || notes->empty()) continue;
    tir::For annotated = *made.as<tir::For>();
    annotated.annotations = *notes;
    made = tir::Stmt(context_.arena().make<tir::For>(std::move(annotated)));
  }
  return made;
}

}  // namespace relaxc::frontend
