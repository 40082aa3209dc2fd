// prim_block.cpp: loops, blocks and the axes of blocks.
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
    {"T.grid", tir::LoopKind::kSerial},
};

std::string callee_of(const ast::Expr& e) {
  return e.is(AstKind::kCall) ? dotted_path(*e.items[0]).value_or("") : std::string();
}

bool is_block(const std::string& callee) {
  return callee == "T.block" || callee == "T.sblock";
}

}  // namespace

Status PrimFuncReader::loop(const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out) {
  Diagnostics& diag = source_.diag();
  RELAXC_TRY(tir::Stmt made, nest(iterator, target, body));
  out.back().stmts.push_back(made);
  return Done{};
}

/// One loop, or the nest of a T.grid.
Result<tir::Stmt> PrimFuncReader::nest(const ast::Expr& iterator, const ast::Expr& target, const Body& body) {
  Diagnostics& diag = source_.diag();
  std::string callee = callee_of(iterator);
  const LoopFunction* found = nullptr;
  for (const LoopFunction& function : kLoopFunctions)
    if (function.name == callee) found = &function;
  if (callee == "T.thread_binding")
    return source_.error(iterator.place, Kind::unsupported, "thread bindings are for GPUs; a CPU has T.parallel");
  if (found == nullptr) {
    Failure failure = source_.error(iterator.place, Kind::ill_formed,
                                    "expected a loop such as T.grid(n, m), T.serial(n) or range(n)");
    if (auto near = nearest_name(callee, {"T.grid", "T.serial", "T.parallel", "T.vectorized", "T.unroll", "range"}))
      source_.hint("did you mean {}?", *near);
    return failure;
  }
  bool grid = callee == "T.grid";
  std::vector<const ast::Expr*> targets = targets_of(target);
  std::vector<const ast::Expr*> arguments(iterator.items.begin() + 1, iterator.items.end());
  std::vector<arith::Expr> mins, extents;
  bool ok = true;
  auto read_index = [&](const ast::Expr& e) {
    Result<arith::Expr> value = index(e);
    ok = ok && value;
    return value ? *value : context_.index(0);
  };
  if (grid) {
    for (const ast::Expr* argument : arguments) {
      mins.push_back(context_.index(0));
      extents.push_back(read_index(*argument));
    }
  } else if (arguments.size() == 1 || arguments.size() == 2) {
    arith::Expr first = read_index(*arguments[0]);
    mins.push_back(arguments.size() == 2 ? first : context_.index(0));
    extents.push_back(arguments.size() == 2 ? arith::simplify(read_index(*arguments[1]) - first) : first);
  } else {
    return source_.error(iterator.place, Kind::wrong_arity, "{} takes an extent, or a begin and an end", callee);
  }
  if (targets.size() != extents.size())
    return source_.error(target.place, Kind::wrong_arity, "{} loop variables for {} extents", targets.size(),
                         extents.size());
  if (targets.empty()) return source_.error(iterator.place, Kind::wrong_arity, "T.grid needs an extent");
  std::map<std::string, int64_t> annotations;
  if (const ast::Keyword* keyword = iterator.keyword("annotations"); keyword && keyword->value->is(AstKind::kDict)) {
    const std::vector<const ast::Expr*>& entries = keyword->value->items;
    for (size_t i = 0; i + 1 < entries.size(); i += 2) {
      RELAXC_TRY(std::string key, string_value(source_, *entries[i], "an annotation's name"));
      RELAXC_TRY(arith::Expr value, index(*entries[i + 1]));
      if (value.constant() == nullptr)
        return source_.error(entries[i + 1]->place, Kind::invalid_value, "an annotation's value is an integer");
      annotations[key] = *value.constant();
    }
  }

  names_.push();
  std::vector<arith::Var> vars;
  for (const ast::Expr* item : targets) {
    if (!item->is(AstKind::kName)) {
      names_.pop();
      return source_.error(item->place, Kind::syntax, "expected a name for the loop variable");
    }
    size_t i = vars.size();
    vars.push_back(context_.var(item->text));
    loop_ranges_[vars.back()->id] = {mins[i], extents[i]};
    bind(item->text, {PrimName::kScalar, vars.back()}, item->place);
  }
  ++loop_depth_;
  Result<tir::Stmt> inner = suite(body);
  --loop_depth_;
  names_.pop();
  if (!ok || !inner) return diag.failed();
  tir::Stmt made = *inner;
  for (size_t i = vars.size(); i-- > 0;) {
    made = builder_.loop(vars[i], mins[i], extents[i], made, found->kind);
    if (i != 0 || annotations.empty()) continue;
    tir::For annotated = *made.as<tir::For>();
    annotated.annotations = annotations;
    made = tir::Stmt(context_.arena().make<tir::For>(std::move(annotated)));
  }
  return made;
}

Status PrimFuncReader::with(const ast::Stmt& stmt, Suite& out) {
  Diagnostics& diag = source_.diag();
  const ast::WithItem& item = stmt.with.front();
  std::string callee = callee_of(*item.value);
  if (stmt.with.size() == 1 && is_block(callee)) return block(stmt, *item.value, out);
  if (callee == "T.init" && stmt.with.size() == 1) {
    if (block_ == nullptr) return source_.error(stmt.place, Kind::ill_formed, "T.init belongs inside a block");
    if (block_->init) return source_.error(stmt.place, Kind::redefinition, "this block has two T.init");
    tir::Block* outer = block_;
    RELAXC_TRY(tir::Stmt init, suite(stmt.body));
    outer->init = init;
    return Done{};
  }
  for (const LoopFunction& function : kLoopFunctions) {
    if (function.name != callee || item.target == nullptr || stmt.with.size() != 1) continue;
    return loop(*item.value, *item.target, stmt.body, out);  // 2021: `with T.grid(n) as i:`
  }
  Failure failure = source_.error(item.value->place, Kind::unsupported,
                                  "'with' opens a block (T.block) or an initialisation (T.init) here");
  return failure;
}

Status PrimFuncReader::block(const ast::Stmt& stmt, const ast::Expr& head, Suite& out) {
  Diagnostics& diag = source_.diag();
  tir::Block made;
  made.location = source_.at(head.place);
  if (head.items.size() > 1) {
    RELAXC_TRY(made.name, string_value(source_, *head.items[1], "the block's name"));
  }
  tir::Block* outer = block_;
  size_t outer_loops = loop_depth_;
  block_ = &made;
  loop_depth_ = 0;
  Result<tir::Stmt> body = suite(stmt.body);
  block_ = outer;
  loop_depth_ = outer_loops;
  if (!body) return diag.failed();
  bool root = made.name == "root" && made.iters.empty() && !made.init && !made.predicate;
  made.body = *body;
  out.back().stmts.push_back(root ? made.body : builder_.block(std::move(made)));
  return Done{};
}

Status PrimFuncReader::add_axis(tir::IterKind kind, arith::Expr min, arith::Expr extent, arith::Expr binding,
                                const ast::Expr& target) {
  if (!target.is(AstKind::kName)) return source_.error(target.place, Kind::syntax, "expected a name for the axis");
  arith::Var var = context_.var(target.text);
  block_->iters.push_back({var, min, extent, kind, binding});
  bind(target.text, {PrimName::kScalar, var}, target.place);
  return Done{};
}

/// `vi = T.axis.spatial(128, i)`, `vi, vj = T.axis.remap("SR", [i, j])`, T.axis.S and R, extents (begin, end).
Status PrimFuncReader::axes(const std::string& callee, const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  if (block_ == nullptr) return source_.error(stmt.place, Kind::ill_formed, "an axis belongs inside a block");
  std::string kind = callee.substr(std::string_view("T.axis.").size());
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target);
  if (kind == "remap") return remap(stmt, targets);
  bool spatial = kind == "spatial" || kind == "S", reduce = kind == "reduce" || kind == "R";
  if (!spatial && !reduce)
    return source_.error(stmt.value->items[0]->place, Kind::unsupported,
                         "an axis is spatial, reduce or a remap of both, found '{}'", kind);
  if (targets.size() != 1 || stmt.value->items.size() != 3)
    return source_.error(stmt.place, Kind::wrong_arity, "expected one name and two arguments: extent and value");
  const ast::Expr& range = *stmt.value->items[1];
  arith::Expr min = context_.index(0), extent;
  if (range.is_sequence()) {
    if (range.items.size() != 2)
      return source_.error(range.place, Kind::wrong_arity, "an axis runs from a begin to an end");
    RELAXC_TRY(min, index(*range.items[0]));
    RELAXC_TRY(arith::Expr end, index(*range.items[1]));
    extent = arith::simplify(end - min);
  } else {
    RELAXC_TRY(extent, index(range));
  }
  RELAXC_TRY(arith::Expr binding, index(*stmt.value->items[2]));
  return add_axis(spatial ? tir::IterKind::kSpatial : tir::IterKind::kReduce, min, extent, binding, *targets[0]);
}

/// The axes' ranges are those of the loops that they are bound to.
Status PrimFuncReader::remap(const ast::Stmt& stmt, const std::vector<const ast::Expr*>& targets) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& call = *stmt.value;
  if (call.items.size() != 3 || !call.items[1]->is(AstKind::kString) || !call.items[2]->is_sequence())
    return source_.error(call.place, Kind::ill_formed, "expected T.axis.remap(\"SR\", [i, j])");
  const std::string& kinds = call.items[1]->text;
  const std::vector<const ast::Expr*>& loops = call.items[2]->items;
  if (kinds.size() != loops.size() || targets.size() != loops.size())
    return source_.error(call.place, Kind::wrong_arity, "{} names, {} kinds and {} loops in one remap", targets.size(),
                         kinds.size(), loops.size());
  bool ok = true;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (kinds[i] != 'S' && kinds[i] != 'R')
      return source_.error(call.items[1]->place, Kind::invalid_value, "an axis is S or R, found '{}'", kinds[i]);
    Result<arith::Expr> binding = index(*loops[i]);
    ok = ok && binding;
    if (!binding) continue;
    auto range = loop_ranges_.find((*binding)->id);
    if (range == loop_ranges_.end())
      return source_.error(loops[i]->place, Kind::invalid_value, "a remap wants loop variables; use T.axis.spatial");
    tir::IterKind kind = kinds[i] == 'S' ? tir::IterKind::kSpatial : tir::IterKind::kReduce;
    RELAXC_DO(add_axis(kind, range->second.begin, range->second.extent, *binding, *targets[i]));
  }
  if (!ok) return diag.failed();
  return Done{};
}

/// T.reads, T.writes, T.where and T.block_attr of the block around.
Status PrimFuncReader::block_clause(const std::string& callee, const ast::Expr& call, bool& done) {
  Diagnostics& diag = source_.diag();
  bool attributes = callee == "T.block_attr" || callee == "T.sblock_attr";
  if (callee != "T.reads" && callee != "T.writes" && callee != "T.where" && !attributes) return Done{};
  done = true;
  if (block_ == nullptr) return source_.error(call.place, Kind::ill_formed, "{} belongs inside a block", callee);
  if (callee == "T.reads") return regions(call, block_->reads);
  if (callee == "T.writes") return regions(call, block_->writes);
  if (call.items.size() != 2) return source_.error(call.place, Kind::wrong_arity, "{} takes one argument", callee);
  if (callee == "T.where") {
    RELAXC_TRY(block_->predicate, condition(*call.items[1]));
    return Done{};
  }
  if (!call.items[1]->is(AstKind::kDict))
    return source_.error(call.items[1]->place, Kind::invalid_value, "{} takes a dict", callee);
  const std::vector<const ast::Expr*>& entries = call.items[1]->items;
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    RELAXC_TRY(std::string key, string_value(source_, *entries[i], "an attribute's name"));
    RELAXC_TRY(arith::Expr value, index(*entries[i + 1]));
    if (value.constant() == nullptr)
      return source_.error(entries[i + 1]->place, Kind::invalid_value, "a block's attribute is an integer");
    block_->annotations[key] = *value.constant();
  }
  return Done{};
}

Status PrimFuncReader::regions(const ast::Expr& call, std::vector<tir::BufferRegion>& out) {
  Diagnostics& diag = source_.diag();
  std::vector<const ast::Expr*> items(call.items.begin() + 1, call.items.end());
  if (items.size() == 1 && items[0]->is(AstKind::kList)) items = items[0]->items;
  for (const ast::Expr* item : items) {
    bool whole = item->is(AstKind::kName);
    if (!whole && !item->is(AstKind::kSubscript))
      return source_.error(item->place, Kind::invalid_value, "expected a buffer or a part of one, as in A[i, 0:8]");
    tir::BufferRegion region;
    RELAXC_TRY(region.buffer, find_buffer(whole ? *item : *item->items[0]));
    std::vector<const ast::Expr*> parts;
    if (!whole) parts.assign(item->items.begin() + 1, item->items.end());
    if (parts.size() == 1 && parts[0]->is(AstKind::kTuple)) parts = parts[0]->items;
    if (!whole && parts.size() != region.buffer->shape.size())
      return source_.error(item->place, Kind::rank_mismatch, "'{}' has {} dims, found {} subscripts",
                           region.buffer->name, region.buffer->shape.size(), parts.size());
    for (size_t i = 0; i < region.buffer->shape.size(); ++i) {
      arith::Expr begin = context_.index(0), end = region.buffer->shape[i];
      if (whole) {
        region.spans.push_back({begin, end});
      } else if (parts[i]->is(AstKind::kSlice)) {
        if (parts[i]->items[0] != nullptr) {
          RELAXC_TRY(begin, index(*parts[i]->items[0]));
        }
        if (parts[i]->items[1] != nullptr) {
          RELAXC_TRY(end, index(*parts[i]->items[1]));
        }
        region.spans.push_back({begin, arith::simplify(end - begin)});
      } else {
        RELAXC_TRY(begin, index(*parts[i]));
        region.spans.push_back({begin, context_.index(1)});
      }
    }
    out.push_back(std::move(region));
  }
  return Done{};
}

}  // namespace relaxc::frontend
