// copy_rows.cpp: gives copies that put a border around a tensor loops over whole rows.
//
// The problem: a padding is defined by a choice for each element, between the border and an operand at subscripts that
// are held within it. LLVM takes the choice out of the loops where result and operand cannot alias, but memory planning
// lets the result overlap the operand (mark_overlaps): then it copies bytes one by one. A padding of visual wake words
// took 2,096 bytes of code on a Cortex-M0+, and takes 552.
//
// The method: each part of the condition depends on one loop. That loop is divided where the part changes, so that a
// part of its iterations stores the border and the others the operand, without a choice. Inner loops that go through
// contiguous memory become one: a row of an image is filled or copied as a whole, which backends do by memcpy.
//
// Most kernels go upwards through their operand and their result, so a result that overlaps begins before its operand,
// and a chain of them would move to lower and lower addresses. Copies that make a tensor larger go downwards in place
// of that: the larger result then begins after its operand, and a convolution that takes the border away again returns
// to where the chain began.
#include <algorithm>

#include "compiler/analysis/overlaps.h"
#include "compiler/arith/simplify.h"
#include "compiler/arith/walks.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::Var;
using tir::Stmt;

/// A nest of serial loops around a block of independent points, which it may run in any order.
struct FreeNest {
  std::vector<const tir::For*> loops;  ///< outermost first
  const tir::Block* block = nullptr;
};

std::optional<FreeNest> free_nest(const tir::PrimFunc& kernel) {
  FreeNest nest;
  Stmt s = kernel.body;
  for (const auto* loop = s.as<tir::For>(); loop != nullptr; loop = s.as<tir::For>()) {
    if (loop->loop_kind != tir::LoopKind::kSerial) return {};
    nest.loops.push_back(loop);
    s = loop->body;
  }
  nest.block = s.as<tir::Block>();
  if (nest.block == nullptr || nest.block->init || nest.block->predicate || nest.loops.size() < 2) return {};
  if (nest.block->body.as<tir::Store>() == nullptr) return {};
  for (const tir::IterVar& axis : nest.block->iters)
    if (axis.iter_kind != tir::IterKind::kSpatial) return {};
  return nest;
}

/// Whether the result is larger than every operand.
bool makes_larger(const tir::PrimFunc& kernel) {
  const std::optional<size_t> result = kernel.result();
  if (!result) return false;
  const std::optional<int64_t> made = analysis::known_bytes(*kernel.params[*result].buffer);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const tir::BufferRef buffer = kernel.params[i].buffer;
    const std::optional<int64_t> bytes = buffer == nullptr ? std::nullopt : analysis::known_bytes(*buffer);
    if (!bytes || (i != *result && *bytes >= made)) return false;
  }
  return true;
}

/// Returns the nest with its outermost loop of several iterations run downwards. For all of them LLVM made up to four
/// times the code of a padding, of which it then unrolled or peeled more.
Stmt downwards(arith::Context& context, const FreeNest& nest) {
  const auto& loops = nest.loops;
  const auto outermost =
      std::find_if(loops.begin(), loops.end(), [](const tir::For* loop) { return !loop->extent.is_constant(1); });
  Stmt s = loops.back()->body;
  for (auto at = loops.rbegin(); at != loops.rend(); ++at) {
    tir::For loop = **at;
    if (outermost != loops.end() && *at == *outermost)
      s = tir::substitute(context, s, {{loop.var, loop.min * 2 + loop.extent - 1 - loop.var}});
    loop.body = s;
    s = Stmt(context.arena().make<tir::For>(std::move(loop)));
  }
  return s;
}

/// A choice between two values whose condition is a conjunction of conditions on one loop each, as rows.
class Rows {
 public:
  Rows(arith::Context& context, const FreeNest& nest, bool is_downwards)
      : build_(context), is_downwards_(is_downwards) {
    for (const tir::IterVar& axis : nest.block->iters) axes_[axis.var] = axis.binding;
    store_ = nest.block->body.as<tir::Store>();
    for (const tir::For* loop : nest.loops) loops_.push_back({loop});
  }

  bool read() {
    const auto* choice = store_->value.as<arith::Select>();
    if (choice == nullptr) return false;
    for (Loop& loop : loops_) {
      const int64_t *min = loop.source->min.constant(), *extent = loop.source->extent.constant();
      if (min == nullptr || extent == nullptr || *extent < 1 || *extent > kMostIterations) return false;
      loop.all = loop.inside = {*min, *min + *extent};
    }
    return divide(arith::substitute(choice->condition, axes_));
  }

  Stmt made() {
    Stmt s = loops_from(0, true, axes_, {});
    for (const auto& [buffer, flat] : flat_) s = build_.view(flat, buffer, build_.index(0), s);
    return s;
  }

 private:
  static constexpr int64_t kMostIterations = 4096;  ///< whose conditions are asked for one by one

  struct Iterations {
    int64_t begin = 0, end = 0;
    int64_t count() const { return end - begin; }
  };

  struct Loop {
    const tir::For* source;
    Iterations all = {}, inside = {};  ///< inside: those in which the condition holds
    bool is_divided() const { return inside.count() != all.count(); }
  };

  /// Divides loops by the parts of `condition`; returns whether that was possible.
  bool divide(Expr condition) {
    for (Expr one : arith::conjuncts(condition)) {
      const std::vector<Var> vars = arith::free_vars(one);
      auto loop = std::find_if(loops_.begin(), loops_.end(),
                               [&](const Loop& l) { return vars.size() == 1 && l.source->var == vars[0]; });
      if (loop == loops_.end() || !divide_loop(*loop, one)) return false;
    }
    return true;
  }

  /// Restricts the iterations of the loop to those in which the condition holds, if they follow each other.
  static bool divide_loop(Loop& loop, Expr condition) {
    Iterations holds{loop.all.end, loop.all.end};
    for (int64_t i = loop.all.begin; i < loop.all.end; ++i) {
      const std::optional<int64_t> value = arith::evaluate(condition, [&](Var) { return i; });
      if (!value) return false;
      if (*value == 0) continue;
      if (holds.count() == 0) holds = {i, i};
      if (holds.end != i) return false;
      ++holds.end;
    }
    loop.inside = {std::max(loop.inside.begin, holds.begin), std::min(loop.inside.end, holds.end)};
    return loop.inside.count() > 0;
  }

  /// Returns the loops from `depth` on; `values` has those of axes and of variables of the source's loops around them.
  Stmt loops_from(size_t depth, bool inside, const arith::Substitution& values, const arith::Facts& facts) {
    if (depth == loops_.size()) return store(inside, values, facts);
    const Loop& loop = loops_[depth];
    std::vector<Stmt> parts;
    const auto add = [&](Iterations part, bool is_inside) {
      if (part.count() > 0) parts.push_back(part_of(depth, part, is_inside, values, facts));
    };
    if (!inside || !loop.is_divided()) return add(loop.all, inside), parts[0];
    add({loop.all.begin, loop.inside.begin}, false);
    add(loop.inside, true);
    add({loop.inside.end, loop.all.end}, false);
    if (depth == downwards_depth()) std::reverse(parts.begin(), parts.end());
    return build_.seq(std::move(parts));
  }

  Stmt part_of(size_t depth, Iterations part, bool inside, const arith::Substitution& values,
               const arith::Facts& facts) {
    if (std::optional<Stmt> row = row_of(depth, part, inside, values, facts)) return *row;
    const Var var = build_.context().var(loops_[depth].source->var.name());
    arith::Facts known = facts;
    known.bound(var, {part.begin, part.end - 1});
    arith::Substitution inner = values;
    inner[loops_[depth].source->var] =
        depth == downwards_depth() ? build_.index(part.begin + part.end - 1) - var : Expr(var);
    return build_.loop(var, build_.index(part.begin), build_.index(part.count()),
                       loops_from(depth + 1, inside, inner, known));
  }

  /// Returns one loop for the part and all loops inside, if they go through contiguous memory without a choice.
  std::optional<Stmt> row_of(size_t depth, Iterations part, bool inside, const arith::Substitution& values,
                             const arith::Facts& facts) {
    if (depth == downwards_depth()) return {};
    arith::Facts known = facts;
    std::vector<Step> steps;
    int64_t count = 1;
    for (size_t i = loops_.size(); i-- > depth;) {
      if (i > depth && inside && loops_[i].is_divided()) return {};
      const Iterations run = i == depth ? part : loops_[i].all;
      known.bound(loops_[i].source->var, {run.begin, run.end - 1});
      steps.push_back({loops_[i].source->var, count});
      count *= run.count();
    }
    const tir::Store& made = *store(inside, values, known).as<tir::Store>();
    if (!is_row(made, steps)) return {};
    const Var var = build_.context().var(loops_.back().source->var.name());
    arith::Substitution inner = values;
    for (size_t i = loops_.size(); i-- > depth;) {
      const Iterations run = i == depth ? part : loops_[i].all;
      Expr index = arith::floordiv(var, build_.index(steps[loops_.size() - 1 - i].elements));
      if (i > depth) index = arith::floormod(index, build_.index(run.count()));
      inner[loops_[i].source->var] = index + run.begin;
    }
    arith::Facts whole = facts;
    whole.bound(var, {0, count - 1});
    return build_.loop(var, build_.index(0), build_.index(count), flat_store(inside, inner, whole));
  }

  /// The store by subscripts of the memory's elements, which are sums where those of dims divide the row's.
  Stmt flat_store(bool inside, const arith::Substitution& values, const arith::Facts& facts) {
    const tir::Store& made = *store(inside, values, facts).as<tir::Store>();
    const auto offset = [&](tir::BufferRef buffer, const std::vector<Expr>& indices) {
      return arith::simplify(tir::element_offset(build_.context(), *buffer, indices), facts);
    };
    const Expr value = arith::rewrite(made.value, [&](Expr e) {
      const auto* load = e.as<arith::Load>();
      return load == nullptr || load->indices.empty()
                 ? e
                 : build_.load(flat(load->buffer), {offset(load->buffer, load->indices)});
    });
    return build_.store(flat(made.buffer), {offset(made.buffer, made.indices)}, value);
  }

  /// The same memory as one dim.
  tir::BufferRef flat(tir::BufferRef buffer) {
    for (const auto& [known, made] : flat_)
      if (known == buffer) return made;
    const Expr count = build_.index(*analysis::known_bytes(*buffer) / buffer->dtype.bytes());
    flat_.emplace_back(buffer, build_.buffer(buffer->name + "_flat", buffer->dtype, {count}, buffer->scope));
    return flat_.back().second;
  }

  /// A loop variable and how many elements of a row an iteration of it has.
  struct Step {
    Var var;
    int64_t elements;
  };

  /// Whether the store and each load of it moves by these steps, or does not move.
  bool is_row(const tir::Store& made, const std::vector<Step>& steps) {
    bool fits = moves_by(*made.buffer, made.indices, steps, false);
    arith::for_each_node(made.value, [&](Expr e) {
      if (const auto* load = e.as<arith::Load>()) fits = fits && moves_by(*load->buffer, load->indices, steps, true);
    });
    return fits;
  }

  bool moves_by(const tir::Buffer& buffer, const std::vector<Expr>& indices, const std::vector<Step>& steps,
                bool may_stay) {
    if (!analysis::known_bytes(buffer)) return false;
    const Expr offset = tir::element_offset(build_.context(), buffer, indices);
    const auto step_is = [&](const Step& step, int64_t elements) {
      return (arith::simplify(arith::substitute(offset, {{step.var, step.var + 1}}) - offset)).is_constant(elements);
    };
    if (may_stay && std::all_of(steps.begin(), steps.end(), [&](const Step& step) { return step_is(step, 0); }))
      return true;
    return std::all_of(steps.begin(), steps.end(), [&](const Step& step) { return step_is(step, step.elements); });
  }

  Stmt store(bool inside, const arith::Substitution& values, const arith::Facts& facts) {
    const auto& choice = *store_->value.as<arith::Select>();
    const auto placed = [&](Expr e) {
      return arith::simplify(arith::substitute(arith::substitute(e, axes_), values), facts);
    };
    std::vector<Expr> indices;
    for (Expr index : store_->indices) indices.push_back(placed(index));
    return build_.store(store_->buffer, std::move(indices), placed(inside ? choice.then_value : choice.else_value));
  }

  /// The loop that runs downwards; the number of loops if there is none.
  size_t downwards_depth() const {
    size_t depth = 0;
    while (depth < loops_.size() && (!is_downwards_ || loops_[depth].all.count() == 1)) ++depth;
    return depth;
  }

  tir::Builder build_;
  arith::Substitution axes_;  ///< of the block, over the source's loop variables
  const tir::Store* store_ = nullptr;
  std::vector<Loop> loops_;  ///< outermost first
  std::vector<std::pair<tir::BufferRef, tir::BufferRef>> flat_;
  bool is_downwards_;
};

}  // namespace

Result<Changed> copy_rows(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  if (context.target.pointer_bits > 32) return changed;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    const std::optional<FreeNest> nest = analysis::may_overlap(*kernel) ? free_nest(*kernel) : std::nullopt;
    if (!nest) continue;
    const bool is_downwards = makes_larger(*kernel);
    Rows rows(module.context(), *nest, is_downwards);
    if (rows.read())
      kernel->body = rows.made(), changed = Changed::kYes;
    else if (is_downwards)
      kernel->body = downwards(module.context(), *nest), changed = Changed::kYes;
  }
  return changed;
}

}  // namespace relaxc
