// loop.cpp: reads loops.
//
// A loop with a step counts its iterations, and the name in the text stands for begin + count * step.
#include "frontends/relax/prim/statements.h"

#include "compiler/support/suggest.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

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

struct Extent {
  arith::Expr min, extent;
  int64_t step = 1;
  bool is_long = false;  ///< int64 in the text
};

Result<int64_t> loop_step(PrimParts& fn, const ast::Expr& e) {
  RELAXC_TRY(arith::Expr step, fn.scalars.index(e));
  if (step.constant() != nullptr && *step.constant() != 0 && *step.constant() > -(int64_t{1} << 31) &&
      *step.constant() < int64_t{1} << 31)
    return *step.constant();
  return fn.source.error(e.place, Kind::unsupported, "a step is a constant other than 0");
}

/// Returns the ranges of a loop's variables: one per argument of T.grid, else (extent) or (begin, end, step).
Result<std::vector<Extent>> loop_extents(PrimParts& fn, const ast::Expr& iterator, const std::string& callee) {
  Diagnostics& diag = fn.source.diag();
  std::vector<Extent> out;
  bool ok = true;
  auto read_index = [&](const ast::Expr& e) {
    Result<arith::Expr> value = fn.scalars.index(e);
    ok = ok && value;
    return value ? *value : fn.context().index(0);
  };
  if (callee == "T.grid") {
    for (size_t i = 1; i < iterator.items.size(); ++i) {
      const ast::Expr& item = *iterator.items[i];
      tir::BufferRef buffer = item.is(AstKind::kStarred) ? fn.names.described(item, "shape") : nullptr;
      std::vector<arith::Expr> dims = buffer != nullptr ? buffer->shape : std::vector{read_index(item)};
      for (arith::Expr dim : dims) out.push_back({fn.context().index(0), dim, 1, fn.names.says_long(item)});
    }
    if (out.empty()) return fn.source.error(iterator.place, Kind::wrong_arity, "T.grid needs an extent");
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
    return fn.source.error(iterator.place, Kind::wrong_arity, "{} takes an extent, or a start and an end", callee);
  Extent range{fn.context().index(0), read_index(*first)};
  if (end != nullptr) range = {range.extent, arith::simplify(read_index(*end) - range.extent)};
  range.is_long = fn.names.says_long(end != nullptr ? *end : *first);
  if (step != nullptr && !step->is(AstKind::kNone)) {
    RELAXC_TRY(range.step, loop_step(fn, *step));
  }
  if (!ok) return diag.failed();
  return std::vector{range};
}

/// Returns the kind of a loop; reports a call that is no loop.
Result<tir::LoopKind> loop_kind(PrimParts& fn, const ast::Expr& iterator, const std::string& callee) {
  if (callee == "T.thread_binding")
    return fn.source.error(iterator.place, Kind::unsupported, "thread bindings are for GPUs; a CPU has T.parallel");
  if (const LoopFunction* found = find_loop(callee)) return found->kind;
  Failure failure = fn.source.error(iterator.place, Kind::ill_formed,
                                    "expected a loop such as T.grid(n, m), T.serial(n) or range(n)");
  if (auto near = nearest_name(callee, {"T.grid", "T.serial", "T.parallel", "T.vectorized", "T.unroll", "range"}))
    fn.source.hint("did you mean {}?", *near);
  return failure;
}

/// A name in the head of a loop. It stands for one loop, or for all that no other name takes: `*rest` does, and so does
/// a single name, as in `for axes in T.grid(*A.shape)`.
struct LoopName {
  const ast::Expr* name = nullptr;
  size_t loops = 1;
  bool group = false;
};

/// One loop, or the nest of a T.grid.
struct Nest {
  tir::LoopKind kind = tir::LoopKind::kSerial;
  std::vector<Extent> ranges;
  std::vector<LoopName> names;
  std::vector<arith::Var> vars;
  std::vector<arith::Expr> shown;  ///< values of the names
};

/// Says which loops each name of the head stands for.
Status name_loops(PrimParts& fn, const ast::Expr& target, Nest& nest) {
  std::vector<const ast::Expr*> targets = targets_of(target);
  const size_t loops = nest.ranges.size();
  const bool one = targets.size() == 1 && loops > 1;
  size_t groups = 0;
  for (const ast::Expr* name : targets) {
    const bool starred = name->is(AstKind::kStarred);
    const bool group = (starred || one) && ++groups == 1 && targets.size() - 1 <= loops;
    nest.names.push_back({starred ? name->items[0] : name, group ? loops - (targets.size() - 1) : 1, group});
    if (!nest.names.back().name->is(AstKind::kName))
      return fn.source.error(name->place, Kind::syntax, "expected a name for the loop variable");
  }
  if (groups == 1 || (groups == 0 && targets.size() == loops)) return Done{};
  return fn.source.error(target.place, Kind::wrong_arity, "{} loop variables for {} extents", targets.size(), loops);
}

Result<Nest> nest_head(PrimParts& fn, const ast::Expr& iterator, const ast::Expr& target) {
  constexpr size_t kMostLoops = 64;  // walks over TIR recurse into loops
  std::string callee = callee_of(&iterator);
  Nest nest;
  RELAXC_TRY(nest.kind, loop_kind(fn, iterator, callee));
  RELAXC_TRY(nest.ranges, loop_extents(fn, iterator, callee));
  RELAXC_DO(name_loops(fn, target, nest));
  if (fn.loops.variables().size() + nest.ranges.size() > kMostLoops)
    return fn.source.error(iterator.place, Kind::unsupported, "more than {} loops inside of each other", kMostLoops);
  return nest;
}

/// Makes the variable of the next loop; returns the value of its name, which with a step is begin + variable * step.
arith::Expr add_variable(PrimParts& fn, Nest& nest, const std::string& name) {
  Extent& range = nest.ranges[nest.vars.size()];
  arith::Var var = fn.context().var(name);
  arith::Expr shown = var;
  if (range.step != 1) {
    arith::Expr begin = range.min, distance = range.step > 0 ? range.extent : arith::simplify(-range.extent);
    range = {fn.context().index(0), arith::simplify(arith::ceildiv(distance, std::abs(range.step))), range.step,
             range.is_long};
    shown = begin + var * range.step;
  }
  if (range.is_long) fn.names.note_long(var);
  fn.ranges.note_loop(var, range.min, range.extent);
  fn.loops.set_range(var, {range.min, range.extent});
  nest.vars.push_back(var);
  nest.shown.push_back(shown);
  return shown;
}

/// Binds the names of the loops.
void bind_variables(PrimParts& fn, Nest& nest) {
  for (const LoopName& written : nest.names) {
    const std::string& text = written.name->text;
    PrimName name;
    name.kind = written.group ? PrimName::kLoops : PrimName::kScalar;
    name.loop_level = fn.blocks.with_axes() + 1;
    for (size_t i = 0; i < written.loops; ++i)
      name.loops.push_back(add_variable(fn, nest, written.group ? fmt::format("{}_{}", text, i) : text));
    if (!written.group) name.scalar = name.loops[0], name.loops.clear();
    fn.names.bind(text, name, written.name->place);
  }
}

tir::Stmt make_nest(PrimParts& fn, const Nest& nest, tir::Stmt body, const std::map<std::string, int64_t>& notes) {
  tir::Stmt made = body;
  for (size_t i = nest.vars.size(); i-- > 0;)
    made = fn.builder.loop(nest.vars[i], nest.ranges[i].min, nest.ranges[i].extent, made, nest.kind);
  if (notes.empty() || nest.vars.empty()) return made;
  tir::For annotated = *made.as<tir::For>();
  annotated.annotations = notes;
  return tir::Stmt(fn.context().arena().make<tir::For>(std::move(annotated)));
}

/// Reads the body of a loop whose head was refused, to report the body's own errors.
Failure read_for_errors(PrimParts& fn, const ast::Expr& target, const Body& body) {
  PrimNames::Inner names(fn.names);
  fn.names.poison(&target);
  Loops::Inside inside(fn.loops, {});
  (void)prim_suite(fn, body);
  return fn.diag().failed();
}

}  // namespace

bool is_loop(const std::string& callee) {
  return find_loop(callee) != nullptr || callee == "T.thread_binding";
}

Status loop_statement(PrimParts& fn, const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out) {
  Result<Nest> head = nest_head(fn, iterator, target);
  if (!head) return read_for_errors(fn, target, body);
  Nest& nest = *head;
  const ast::Keyword* keyword = iterator.keyword("annotations");
  Result<std::map<std::string, int64_t>> notes = loop_annotations(fn, keyword != nullptr ? keyword->value : nullptr);
  PrimNames::Inner names(fn.names);
  bind_variables(fn, nest);
  Loops::Inside inside(fn.loops, nest.shown);
  Result<tir::Stmt> inner = prim_suite(fn, body);
  if (!inner || !notes) return fn.diag().failed();
  out.add(make_nest(fn, nest, *inner, *notes));
  return Done{};
}

Result<std::map<std::string, int64_t>> loop_annotations(PrimParts& fn, const ast::Expr* dict) {
  std::map<std::string, int64_t> out;
  if (dict == nullptr || dict->is(AstKind::kNone)) return out;
  if (!dict->is(AstKind::kDict)) return fn.source.error(dict->place, Kind::invalid_value, "annotations are a dict");
  for (size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    RELAXC_TRY(std::string key, string_value(fn.source, *dict->items[i], "an annotation's name"));
    const ast::Expr& value = *dict->items[i + 1];
    if (value.is(AstKind::kString) || value.is_sequence() || value.is(AstKind::kDict) || value.is(AstKind::kNone))
      continue;
    if (value.is(AstKind::kTrue) || value.is(AstKind::kFalse)) {
      out[key] = value.is(AstKind::kTrue);
      continue;
    }
    RELAXC_TRY(Scalar number, fn.scalars.read(value));
    if (number.expr.constant() != nullptr) out[key] = *number.expr.constant();
  }
  return out;
}

}  // namespace relaxc::frontend
