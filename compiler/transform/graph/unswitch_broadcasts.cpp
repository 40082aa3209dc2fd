// unswitch_broadcasts.cpp: chooses before a kernel runs whether it broadcasts dims that only the run knows.
//
// If two open dims meet in a broadcast, each operand's subscript is `select(dim == 1, 0, i)`, and the result's dim is
// `select(a == 1, b, a)`. No load is then known to be contiguous, a convolution does not have the extents of the sum
// after it, and a kernel after others has one condition inside of the other. Broadcasts by such a 1 are rare: dims meet
// because an image was reduced and enlarged again, and are equal whenever the model is used as it was made.
//
// The method: a call of such a kernel becomes an If. One branch calls the kernel; the other one calls a copy in which
// no dim is taken to be 1, so that its subscripts are plain ones. The condition of the copy is, for each dim in
// question, that it is not 1, or that the axis of the result is as short. It is tested once a call. Kernels are chosen
// after fusion, so that the copy is fused as the kernel is; both are scheduled as all others.
//
// Rejected: a copy of the whole function, which doubles kernels that need no condition; and strides of 0, which leave
// open whether an operand is contiguous. Measured by bench/symbolic.py (docs/performance.md, "What open dims cost").
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/analysis/pattern.h"
#include "compiler/relax/builder.h"
#include "compiler/relax/call_symbols.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;
using tir::BufferRef;

/// Returns the dim of a condition `dim == 1`; null for any other.
Expr dim_that_is_one(Expr condition) {
  const auto* equal = condition.as<arith::Eq>();
  if (equal == nullptr || !equal->a.dtype().is_index()) return {};
  return equal->b.is_constant(1) ? equal->a : equal->a.is_constant(1) ? equal->b : Expr();
}

/// Calls `f` with every node of the expressions of a kernel, those of its buffers' shapes included.
void for_each_expression(const tir::PrimFunc& kernel, const std::function<void(Expr)>& f) {
  auto nodes = [&](Expr e) { arith::for_each_node(e, f); };
  for (const tir::Param& param : kernel.params)
    if (param.buffer != nullptr) std::for_each(param.buffer->shape.begin(), param.buffer->shape.end(), nodes);
  tir::for_each_stmt(kernel.body, [&](tir::Stmt s) {
    if (const auto* alloc = s.as<tir::Alloc>())
      std::for_each(alloc->buffer->shape.begin(), alloc->buffer->shape.end(), nodes);
    for (Expr e : tir::expressions(s)) nodes(e);
  });
}

/// A kernel's conditions `dim == 1` that no variable of a loop decides, and the kernel without them.
class Broadcasts {
 public:
  Broadcasts(arith::Context& context, const tir::PrimFunc& kernel) : context_(context), kernel_(kernel) {
    tir::for_each_stmt(kernel.body, [&](tir::Stmt s) {
      if (const auto* loop = s.as<tir::For>()) extents_[loop->var] = loop->extent;
      if (const auto* block = s.as<tir::Block>())
        for (const tir::IterVar& iter : block->iters) extents_[iter.var] = iter.extent;
    });
    for_each_expression(kernel, [&](Expr node) { note(node); });
  }

  /// Whether a subscript has such a condition: without one, there is nothing to gain.
  bool found() const {
    return std::any_of(dims_.begin(), dims_.end(), [](const auto& dim) { return dim.second.in_subscripts; });
  }

  /// What must hold of the kernel's symbols for a call of without_conditions().
  Expr condition() const {
    Expr all = context_.boolean(true);
    for (const auto& [id, dim] : dims_)
      all = arith::logical_and(all, dim.axis ? arith::eq(dim.dim, dim.axis) : arith::ne(dim.dim, context_.index(1)));
    return all;
  }

  /// Returns a copy of the kernel in which each of the conditions is false.
  tir::PrimFunc without_conditions() {
    // Inner conditions come first, since they are older.
    for (const auto& [id, dim] : dims_) {
      false_.insert(dim.condition);
      false_.insert(without(dim.condition));
    }
    tir::Rewriter rewriter;
    rewriter.on_expr = [&](Expr e) { return without(e); };
    rewriter.on_buffer = [&](BufferRef buffer) { return without(buffer); };
    tir::PrimFunc made = kernel_;
    made.body = tir::rewrite(context_, kernel_.body, rewriter);
    for (tir::Param& param : made.params)
      if (param.buffer != nullptr) param.buffer = without(param.buffer);
    arith::Substitution same;  // the call may not have dims from which a renamed symbol follows
    for (arith::Var symbol : kernel_.symbols) same[symbol] = symbol;
    return tir::clone(context_, made, same);
  }

 private:
  struct Dim {
    Expr condition, dim;
    /// The only extent along which the dim is broadcast, or that results from that; null: there are several, or it
    /// changes with the variable of a loop.
    Expr axis;
    bool in_subscripts = false;
  };

  void note(Expr node) {
    const auto* select = node.as<arith::Select>();
    if (select == nullptr || !select->dtype.is_index()) return;
    const Expr dim = dim_that_is_one(select->condition);
    if (!dim || !is_of_symbols(dim)) return;
    const auto extent = extents_.find(select->else_value);
    const bool subscript = select->then_value.is_constant(0) && extent != extents_.end();
    Expr axis = subscript ? extent->second : node;
    if (!is_of_symbols(axis)) axis = {};
    const auto [known, first] = dims_.try_emplace(select->condition->id, Dim{select->condition, dim, axis, subscript});
    if (first) return;
    if (known->second.axis != axis) known->second.axis = {};
    known->second.in_subscripts |= subscript;
  }

  bool is_of_symbols(Expr dim) const {
    const std::vector<arith::Var> vars = arith::free_vars(dim);
    return std::all_of(vars.begin(), vars.end(), [&](arith::Var var) {
      return std::find(kernel_.symbols.begin(), kernel_.symbols.end(), var) != kernel_.symbols.end();
    });
  }

  Expr without(Expr e) const {
    return arith::rewrite(e, [&](Expr node) {
      const auto* select = node.as<arith::Select>();
      return select != nullptr && false_.count(select->condition) != 0 ? select->else_value : node;
    });
  }

  BufferRef without(BufferRef buffer) {
    BufferRef& made = buffers_[buffer];
    if (made != nullptr) return made;
    tir::Buffer copy = *buffer;
    for (auto* list : {&copy.shape, &copy.strides})
      for (Expr& e : *list) e = without(e);
    return made = context_.arena().make<tir::Buffer>(std::move(copy));
  }

  arith::Context& context_;
  const tir::PrimFunc& kernel_;
  std::unordered_map<Expr, Expr> extents_;  ///< of the variables of loops and blocks
  std::map<uint32_t, Dim> dims_;            ///< by the condition's id
  std::unordered_set<Expr> false_;          ///< the conditions, also with inner ones left out; never iterated
  std::map<BufferRef, BufferRef> buffers_;  // looked up only
};

class Unswitching {
 public:
  Unswitching(Module& module, PassContext& context) : module_(module), context_(context) {}

  Changed run() {
    Changed changed = Changed::kNo;
    for (Function* function : module_.functions())
      for (Op* op : ops_of(function->body(), true))
        if (op->kind == OpKind::kCallTir && op->binds.empty() && op->results.size() == 1 && choose(*op))
          changed = Changed::kYes;
    return changed;
  }

 private:
  struct Choice {
    Expr condition;      ///< of the kernel's symbols; null: there is no choice
    std::string callee;  ///< the kernel to call where it holds
  };

  const Choice& choice_of(const std::string& callee) {
    const auto [known, first] = choices_.try_emplace(callee);
    const tir::PrimFunc& kernel = *module_.find_prim_func(callee);
    if (!first || !kernel.is_private) return known->second;
    Broadcasts broadcasts(module_.context(), kernel);
    if (!broadcasts.found() || broadcasts.condition().constant() != nullptr) return known->second;
    tir::PrimFunc made = broadcasts.without_conditions();
    if (lacks_symbols(made, kernel)) return known->second;
    made.name = module_.unique_name(callee);
    known->second = {broadcasts.condition(), module_.add_prim_func(std::move(made))->name};
    return known->second;
  }

  /// Whether a copy of the kernel uses symbols of it that no shape of the copy gives, such as the start of a slice that
  /// only the dim of a result told.
  static bool lacks_symbols(const tir::PrimFunc& made, const tir::PrimFunc& kernel) {
    std::unordered_set<Expr> gone(kernel.symbols.begin(), kernel.symbols.end());
    for (arith::Var symbol : made.symbols) gone.erase(symbol);
    bool lacks = false;
    for_each_expression(made, [&](Expr node) { lacks |= gone.count(node) != 0; });
    return lacks;
  }

  /// Makes an If of the call, whose branches call the kernel and its copy. Returns false if there is no choice.
  bool choose(Op& op) {
    const Choice& choice = choice_of(op.callee);
    if (!choice.condition) return false;
    GraphBuilder builder(module_, context_.ops, &op, context_.diag);
    builder.location = op.location;
    Op* branch = builder.append(OpKind::kIf, {builder.prim(in_call(op, choice.condition))});
    for (const std::string& callee : {choice.callee, op.callee}) add_branch(builder, *branch, op, callee);
    branch->requirements = std::move(op.requirements);
    op.requirements.clear();
    Value* joined = builder.function().make_result(branch, op.result()->name, op.result()->info);
    op.result()->replace_all_uses_with(joined);
    return true;
  }

  void add_branch(const GraphBuilder& builder, Op& branch, const Op& op, const std::string& callee) const {
    Region* region = builder.function().make_region(&branch);
    GraphBuilder inside(module_, context_.ops, builder.function().make_block(region, false), context_.diag);
    inside.location = op.location;
    Op* call = inside.call_tir(callee, op.operands(), {op.result()->info});
    call->origins = op.origins;
    call->guarded = op.guarded;
    region->yield->add_operand(call->result());
  }

  /// Returns a condition of the callee's symbols as one of the caller's.
  Expr in_call(const Op& op, Expr condition) const {
    std::vector<std::vector<Expr>> dims;
    for (const Value* tensor : tensors_known_before(op)) dims.push_back(tensor->shape());
    arith::Substitution found;
    solve_symbols(*module_.find_prim_func(op.callee), dims, found);
    return arith::substitute(condition, found);
  }

  Module& module_;
  PassContext& context_;
  std::map<std::string, Choice> choices_;  // by callee; looked up only
};

}  // namespace

Result<Changed> unswitch_broadcasts(relax::Module& module, PassContext& context) {
  if (context.option(kUnswitchBroadcasts) == 0 || context.target.vector_bits == 0) return Changed::kNo;
  return Unswitching(module, context).run();
}

}  // namespace relaxc
