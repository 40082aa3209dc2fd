// fused_kernel.cpp: writes several prim funcs as one.
//
// Every member is cloned with the caller's dims instead of its symbols, so that all members use the same variables. A
// spatial last nest `y[i] = f(i)` is a function of its index: loads of y become f of the load's subscripts, and the
// nest is removed. All such functions have the same axes, so that in a chain of element-wise members each is built once
// instead of again in every member after it.
//
// A value with other users is a result of the kernel: it is stored, and members after it read it there, since they will
// be in the loop that wrote it.
#include "compiler/transform/graph/fusion/fused_kernel.h"

#include <algorithm>
#include <map>

#include "compiler/analysis/pattern.h"
#include "compiler/relax/origin_text.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/graph/rewriting/origins.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns the callee's symbols and scalar parameters as expressions of the caller. A dim that is a single symbol
/// defines it.
arith::Substitution match_symbols(const tir::PrimFunc& callee, const Op& call) {
  arith::Substitution found;
  std::vector<tir::BufferRef> buffers = analysis::buffer_params(callee);
  std::vector<arith::Var> scalars = analysis::scalar_params(callee);
  size_t tensor = 0, scalar = 0;
  auto match = [&](const Value& value) {
    const std::vector<Expr>& formal = buffers[tensor++]->shape;
    for (size_t i = 0; i < formal.size(); ++i)
      if (formal[i].as<arith::VarNode>() != nullptr) found.emplace(formal[i], value.shape()[i]);
  };
  for (Value* operand : call.operands())
    if (operand->info->as<TensorInfo>() != nullptr) match(*operand);
  for (Value* result : call.results) match(*result);
  for (Value* operand : call.operands()) {
    if (const auto* prim = operand->info->as<PrimInfo>()) found.emplace(scalars[scalar++], prim->value);
    if (const auto* shape = operand->info->as<ShapeInfo>())
      for (Expr dim : *shape->dims) found.emplace(scalars[scalar++], dim);
  }
  // A symbol that no dim is alone (only n + 3 occurs) is the caller's own: operators are defined with its symbols.
  for (arith::Var symbol : callee.symbols) found.emplace(symbol, symbol);
  return found;
}

/// `y[axes] = value` as a function of subscripts; `shape` is that of y.
struct Inlined {
  std::vector<Expr> axes;
  std::vector<Expr> shape;
  Expr value;
};

/// The place where an expression is stored.
struct Place {
  std::vector<Expr> indices, shape;
};

using Renaming = std::map<tir::BufferRef, tir::BufferRef>;

class FusedKernel {
 public:
  FusedKernel(Module& module, const std::vector<Op*>& members, Op& place)
      : module_(module), members_(members), place_(place), context_(module.context()), build_(context_) {
    for (Op* member : members_)
      if (is_used_outside(*member)) outside_.push_back(member->result());
    if (outside_.empty()) outside_.push_back(members_.back()->result());
  }

  void run() {
    for (Op* member : members_) add(*member);
    finish();
  }

 private:
  void add(Op& op) {
    const tir::PrimFunc& callee = *module_.find_prim_func(op.callee);
    tir::PrimFunc copy = tir::clone(context_, callee, match_symbols(callee, op));
    analysis::KernelShape shape = analysis::classify(copy);
    Renaming rename;
    std::vector<tir::BufferRef> buffers = analysis::buffer_params(copy);
    size_t tensor = 0;
    for (Value* operand : op.operands())
      if (operand->info->as<TensorInfo>() != nullptr) rename[buffers[tensor++]] = buffer_of(*operand);
    tir::BufferRef result = buffers[tensor];
    bool seen = std::find(outside_.begin(), outside_.end(), op.result()) != outside_.end();
    if (seen) outputs_.push_back(result);
    temporaries_.insert(temporaries_.end(), shape.temporaries.begin(), shape.temporaries.end());
    for (tir::Stmt s : shape.before) body_.push_back(write_inlined(s, rename));
    if (shape.pattern == analysis::Pattern::kOpaque) {
      for (tir::Stmt s : analysis::parts_of(copy, temporaries_)) body_.push_back(renamed(s, rename));
      if (!seen) temporaries_.push_back(result);
    } else if (!seen && !shape.reduces && !is_built_up(shape, result) && !is_expensive(shape, op) && !has_windows(op)) {
      inlined_[result] = as_function(shape.nest, rename);
    } else {
      body_.push_back(write_inlined(shape.last, rename));
      if (!seen) temporaries_.push_back(result);
    }
    buffers_[op.result()] = result;
    name_ += (name_.empty() ? "" : "_") + short_name(callee.name);
    add_origins(origins_, callee.origins);
    if (!op.guarded.empty())
      guarded_.insert(guarded_.end(), op.guarded.begin(), op.guarded.end());
    else if (tir::has_guards(callee.body))
      guarded_.push_back(origin_text(op));
  }

  bool is_used_outside(const Op& op) const {
    const auto& uses = op.result()->uses();
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return std::find(members_.begin(), members_.end(), use.user) == members_.end();
    });
  }

  /// Returns a body that is not a list of nests with its parameters replaced by the group's buffers.
  tir::Stmt renamed(tir::Stmt body, const Renaming& rename) {
    tir::Rewriter rewriter;
    rewriter.on_buffer = [&](tir::BufferRef buffer) {
      auto found = rename.find(buffer);
      return found == rename.end() ? buffer : found->second;
    };
    return tir::rewrite(context_, body, rewriter);
  }

  /// Returns whether the last nest alone does not define the result: an earlier nest writes it, or the last one reads
  /// it.
  static bool is_built_up(const analysis::KernelShape& shape, tir::BufferRef result) {
    bool touched = false;
    auto look = [&](tir::Stmt s, bool stores) {
      tir::for_each_stmt(s, [&](tir::Stmt inner) {
        const auto* store = inner.as<tir::Store>();
        touched |= stores && store != nullptr && store->buffer == result;
        for (Expr e : tir::expressions(inner))
          arith::for_each_node(e, [&](Expr node) {
            const auto* load = node.as<arith::Load>();
            touched |= load != nullptr && load->buffer == result;
          });
      });
    };
    for (tir::Stmt s : shape.before) look(s, true);
    look(shape.last, false);
    return touched;
  }

  /// Returns whether inlining the member would compute expensive work again, for every element of a larger reader or
  /// for several results; or whether an opaque member reads it, into which nothing can be inlined.
  bool is_expensive(const analysis::KernelShape& shape, const Op& op) const {
    if (outside_.size() > 1)
      for (const Use& use : op.result()->uses())
        if (analysis::classify(*module_.find_prim_func(use.user->callee)).pattern == analysis::Pattern::kOpaque)
          return true;
    if (analysis::cheap(shape.nest.store->value)) return false;
    if (outside_.size() > 1) return true;
    const std::vector<Expr>& own = op.result()->shape();
    for (const Use& use : op.result()->uses()) {
      const std::vector<Expr>& reader = use.user->result()->shape();
      for (size_t i = 0; i < own.size() && own.size() == reader.size(); ++i)
        if (own[i].is_constant(1) && !reader[i].is_constant(1)) return true;
    }
    return false;
  }

  /// Returns whether a member reduces windows of the result, which must be stored for that.
  bool has_windows(const Op& op) const {
    for (const Use& use : op.result()->uses()) {
      const tir::PrimFunc& reader = *module_.find_prim_func(use.user->callee);
      const analysis::KernelShape shape = analysis::classify(reader);
      if (shape.pattern != analysis::Pattern::kReduction) continue;
      const std::vector<tir::BufferRef> buffers = analysis::buffer_params(reader);
      size_t tensor = 0;
      for (const Value* operand : use.user->operands()) {
        if (operand->info->as<TensorInfo>() == nullptr) continue;
        tir::BufferRef buffer = buffers[tensor++];
        bool slides = operand == op.result() && !analysis::reads_along_wide_axes(shape.nest, buffer);
        for (tir::Stmt s : shape.before)
          slides |= operand == op.result() && !analysis::reads_along_wide_axes(analysis::as_nest(s), buffer);
        if (slides) return true;
      }
    }
    return false;
  }

  /// Returns the name without the number that makes it unique, and without the prefix of fused kernels.
  static std::string short_name(const std::string& name) {
    bool fused = name.rfind(kFused, 0) == 0;
    return base_name(fused ? name.substr(std::string_view(kFused).size()) : name);
  }

  tir::BufferRef buffer_of(Value& value) {
    auto [it, fresh] = buffers_.emplace(&value, nullptr);
    if (!fresh) return it->second;
    it->second = build_.buffer("x" + std::to_string(inputs_.size()), value.dtype(), value.shape());
    inputs_.push_back({&value, it->second});
    return it->second;
  }

  /// Subscripts a temporary as the result is where both dims have one element, instead of by 0, so that schedules see
  /// that the nests access it at the same place.
  Expr at_own_index(Expr e, const Place& place) {
    if (temporaries_.empty()) return e;
    return arith::rewrite(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      bool temporary =
          load != nullptr && std::find(temporaries_.begin(), temporaries_.end(), load->buffer) != temporaries_.end();
      if (!temporary || load->indices.size() != place.indices.size()) return node;
      std::vector<Expr> indices = load->indices;
      for (size_t i = 0; i < indices.size(); ++i)
        if (load->buffer->shape[i].is_constant(1) && place.shape[i].is_constant(1)) indices[i] = place.indices[i];
      return context_.load(load->buffer, load->dtype, std::move(indices));
    });
  }

  /// Returns what a member reads in the group: an operand, a temporary, or the value that an inlined member computes.
  Expr read(const arith::Load& load, const Renaming& rename, const Place& place) {
    auto renamed = rename.find(load.buffer);
    tir::BufferRef buffer = renamed == rename.end() ? load.buffer : renamed->second;
    auto found = inlined_.find(buffer);
    if (found == inlined_.end()) return at_own_index(context_.load(buffer, load.dtype, load.indices), place);
    const Inlined& inlined = found->second;
    bool same_place = load.indices == inlined.axes && place.indices == inlined.axes && place.shape == inlined.shape;
    if (same_place) return inlined.value;
    arith::Substitution at;
    for (size_t i = 0; i < load.indices.size(); ++i) at[inlined.axes[i]] = load.indices[i];
    return at_own_index(arith::substitute(inlined.value, at), place);
  }

  Expr write_inlined(Expr e, const Renaming& rename, const Place& place) {
    return arith::rewrite(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      return load == nullptr ? node : read(*load, rename, place);
    });
  }

  tir::Stmt write_inlined(tir::Stmt s, const Renaming& rename) {
    analysis::Nest nest = analysis::as_nest(s);
    Place place{nest.store->indices, nest.store->buffer->shape};
    tir::Rewriter rewriter;
    rewriter.on_expr = [&](Expr e) { return write_inlined(e, rename, place); };
    // Regions that the program states for a block name buffers of the original function, so they are removed.
    rewriter.on_stmt = [this](tir::Stmt inner) {
      const auto* block = inner.as<tir::Block>();
      if (block == nullptr || (block->reads.empty() && block->writes.empty())) return inner;
      tir::Block plain = *block;
      plain.reads.clear(), plain.writes.clear();
      return tir::Stmt(context_.arena().make<tir::Block>(std::move(plain)));
    };
    return tir::rewrite(context_, s, rewriter);
  }

  /// Returns the nest's value as a function of the axes that all inlined members share.
  Inlined as_function(const analysis::Nest& nest, const Renaming& rename) {
    arith::Substitution shared;
    Inlined inlined;
    inlined.shape = nest.store->buffer->shape;
    for (size_t i = 0; i < nest.block->iters.size(); ++i) {
      arith::Var own = nest.block->iters[i].var;
      if (i == axes_.size()) axes_.push_back(own);
      if (!(axes_[i] == own)) shared[own] = axes_[i];
      inlined.axes.push_back(axes_[i]);
    }
    Place place{inlined.axes, inlined.shape};
    inlined.value = write_inlined(arith::substitute(nest.store->value, shared), rename, place);
    return inlined;
  }

  void finish() {
    tir::PrimFunc kernel;
    kernel.name = module_.unique_name(kFused + (name_.size() <= 80 ? name_ : name_.substr(0, 80)));
    for (const auto& [value, buffer] : inputs_) kernel.params.push_back({buffer, {}});
    for (tir::BufferRef buffer : outputs_) kernel.params.push_back({buffer, {}});
    kernel.body = build_.seq(std::move(body_));
    for (size_t i = temporaries_.size(); i-- > 0;) kernel.body = build_.alloc(temporaries_[i], kernel.body);
    kernel.origins = origins_;
    kernel.location = members_.back()->location;
    tir::collect_symbols(kernel);
    std::vector<arith::Var> scalars = unbound_scalars(kernel);
    for (arith::Var var : scalars) kernel.params.push_back({nullptr, var});
    replace_calls(kernel.name, scalars);
    module_.add_prim_func(std::move(kernel));
  }

  /// Returns the symbols that the body uses and that no parameter's shape defines.
  std::vector<arith::Var> unbound_scalars(const tir::PrimFunc& kernel) const {
    std::vector<arith::Var> used, bound = kernel.symbols;
    tir::for_each_stmt(kernel.body, [&](tir::Stmt s) {
      if (const auto* loop = s.as<tir::For>()) bound.push_back(loop->var);
      if (const auto* let = s.as<tir::Let>()) bound.push_back(let->var);
      if (const auto* block = s.as<tir::Block>())
        for (const tir::IterVar& iter : block->iters) bound.push_back(iter.var);
      for (Expr e : tir::expressions(s))
        for (arith::Var var : arith::free_vars(e))
          if (std::find(used.begin(), used.end(), var) == used.end()) used.push_back(var);
    });
    std::erase_if(used, [&](arith::Var v) { return std::find(bound.begin(), bound.end(), v) != bound.end(); });
    return used;
  }

  void replace_calls(const std::string& name, const std::vector<arith::Var>& scalars) {
    Op& call = *insert(OpKind::kCallTir, members_.back()->location, scalars);
    call.callee = name;
    call.origins = origins_, call.guarded = guarded_;
    // The requirements of all members must still be guarded.
    for (Op* member : members_)
      for (Requirement requirement : member->requirements) {
        requirement.text = located_text(*member, requirement);
        call.requirements.push_back(std::move(requirement));
      }
    for (Value* value : outside_)
      value->replace_all_uses_with(place_.block->parent->function->make_result(&call, value->name, value->info));
    for (Op* member : members_) member->drop_operands();
  }

  /// Inserts the new op before `place_`; its operands are the group's inputs and a Prim value for each scalar.
  Op* insert(OpKind kind, Location location, const std::vector<arith::Var>& scalars) {
    Block& block = *place_.block;
    Function& function = *block.parent->function;
    Op* call = function.make_op(kind, location);
    for (const auto& [value, buffer] : inputs_) call->add_operand(value);
    std::vector<Op*> made;
    for (arith::Var var : scalars) {
      made.push_back(function.make_op(OpKind::kPrim, location));
      call->add_operand(function.make_result(made.back(), {}, prim_info(context_, var.dtype(), var)));
    }
    made.push_back(call);
    for (Op* op : made) op->block = &block;
    block.ops.insert(std::find(block.ops.begin(), block.ops.end(), &place_), made.begin(), made.end());
    return call;
  }

  static constexpr const char* kFused = "fused_";

  Module& module_;
  const std::vector<Op*>& members_;
  Op& place_;
  Context& context_;
  tir::Builder build_;
  std::vector<Value*> outside_;  ///< results of members that others use, in order
  std::map<Value*, tir::BufferRef> buffers_;
  std::vector<std::pair<Value*, tir::BufferRef>> inputs_;
  std::vector<tir::BufferRef> outputs_, temporaries_;
  std::map<tir::BufferRef, Inlined> inlined_;
  std::vector<arith::Var> axes_;  ///< the axes of inlined members, by position
  std::vector<tir::Stmt> body_;
  std::vector<Location> origins_;
  std::vector<std::string> guarded_;
  std::string name_;
};

}  // namespace

void fuse_group(relax::Module& module, const std::vector<relax::Op*>& members, relax::Op& place) {
  FusedKernel(module, members, place).run();
}

}  // namespace relaxc
