// blocks.cpp: primitives on blocks and on what they write.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;

namespace {

arith::Substitution bindings(const Block& block) {
  arith::Substitution map;
  for (const tir::IterVar& iter : block.iters) map[iter.var] = iter.binding;
  return map;
}

/// Whether two subscripts name one element; along a dim of 1 all do.
bool same_place(const tir::Buffer& buffer, const Indices& a, const Indices& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!buffer.shape[i].is_constant(1) && !arith::prove_equal(a[i], b[i])) return false;
  return a.size() == b.size();
}

}  // namespace

void Schedule::bind_axes() {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* block = s.as<Block>();
    if (block == nullptr || block->iters.empty() || block->init) return s;
    Block bound = *block;
    arith::Substitution map = bindings(*block);
    bound.body = tir::substitute(context_, bound.body, map);
    if (bound.predicate) bound.predicate = arith::substitute(bound.predicate, map);
    bound.iters.clear(), bound.reads.clear(), bound.writes.clear();
    return make_stmt(context_, std::move(bound));
  };
  root_ = tir::rewrite(context_, root_, rewriter);
}

void Schedule::decompose_reduction(uint32_t block_id, uint32_t loop_id) {
  note("decompose_reduction " + block(block_id).name);
  const Block from = block(block_id);
  RELAXC_CHECK(from.init && !from.predicate, "a block without an init cannot be decomposed");
  arith::Substitution map = bindings(from);
  edit_block(block_id, [&](const Block&) {
    Block update = from;
    update.body = tir::substitute(context_, from.body, map);
    update.init = {};
    update.iters.clear(), update.reads.clear(), update.writes.clear();
    return make_stmt(context_, std::move(update));
  });
  edit_loop(loop_id, [&](const For& loop) {
    Block init;
    init.name = from.name + "_init";
    init.body = tir::substitute(context_, from.init, map);
    return build_.seq({build_.block(std::move(init)), Stmt(&loop)});
  });
}

void Schedule::reverse_compute_at(uint32_t block_id, uint32_t loop_id, const std::vector<uint32_t>& axes) {
  note(fmt::format("reverse_compute_at {} in {}", block(block_id).name, loop(loop_id).var.name()));
  Stmt nest;
  tir::for_each_stmt(root_, [&](Stmt s) {
    const Block* inner = nest ? nullptr : analysis::as_nest(s).block;
    if (inner != nullptr && inner->id == block_id) nest = s;
  });
  RELAXC_CHECK(nest, "a consumer that is no perfect nest");
  analysis::Nest consumer = analysis::as_nest(nest);
  RELAXC_CHECK(consumer.loops.size() == axes.size() && consumer.block->iters.empty(), "a consumer over other axes");
  arith::Substitution map;
  for (size_t i = 0; i < axes.size(); ++i) map[consumer.loops[i]->var] = loop(axes[i]).var;
  Stmt moved = tir::substitute(context_, Stmt(consumer.block), map);
  tir::Rewriter drop;
  drop.on_stmt = [&](Stmt s) { return s == nest ? Stmt() : s; };
  root_ = tir::rewrite(context_, root_, drop);
  edit_loop(loop_id, [&](const For& loop) {
    For to = loop;
    to.body = build_.seq({loop.body, moved});
    return make_stmt(context_, std::move(to));
  });
}

void Schedule::contract(BufferRef buffer, uint32_t loop_id, bool keep) {
  note(fmt::format("contract {}{}", buffer->name, keep ? " and store it" : ""));
  edit_loop(loop_id, [&](const For& loop) {
    Indices at;
    for_each_access(loop.body, [&](const Access& access) {
      if (access.buffer != buffer) return;
      RELAXC_CHECK(at.empty() || same_place(*buffer, at, access.indices),
                   buffer->name + " is used at two places of one iteration");
      if (at.empty()) at = access.indices;
    });
    BufferRef scalar = build_.buffer(buffer->name + "_local", buffer->dtype, {}, tir::Scope::kLocal);
    Stmt body = redirect(context_, loop.body, buffer, scalar, [](const Indices&) { return std::optional(Indices{}); });
    if (keep) {
      Block store;
      store.name = buffer->name + "_store";
      store.body = build_.store(buffer, at, build_.load(scalar, {}));
      body = build_.seq({body, build_.block(std::move(store))});
    }
    For to = loop;
    to.body = build_.alloc(scalar, body);
    return make_stmt(context_, std::move(to));
  });
}

std::vector<Expr> conjuncts(Expr condition) {
  std::vector<Expr> pending{condition}, found;
  while (!pending.empty()) {
    Expr e = pending.back();
    pending.pop_back();
    if (const auto* both = e.as<arith::And>())
      pending.push_back(both->a), pending.push_back(both->b);
    else
      found.push_back(e);
  }
  return found;
}

Expr without_clamps(Expr e, Expr condition) {
  std::vector<Expr> known = conjuncts(condition);
  auto holds = [&](auto fits) { return std::any_of(known.begin(), known.end(), fits); };
  auto at_least = [&](Expr p, Expr least) {
    return holds([&](Expr c) {
      const auto* le = c.as<arith::Le>();
      return le != nullptr && le->a == least && le->b == p;
    });
  };
  auto at_most = [&](Expr p, Expr most) {
    return holds([&](Expr c) {
      const auto* lt = c.as<arith::Lt>();
      return lt != nullptr && lt->a == p && arith::prove_equal(lt->b, most + 1);
    });
  };
  return arith::rewrite(e, [&](Expr node) {
    if (!node.dtype().is_index()) return node;
    if (const auto* most = node.as<arith::Max>()) {
      if (at_least(most->a, most->b)) return most->a;
      if (at_least(most->b, most->a)) return most->b;
    }
    if (const auto* least = node.as<arith::Min>()) {
      if (at_most(least->a, least->b)) return least->a;
      if (at_most(least->b, least->a)) return least->b;
    }
    return node;
  });
}

namespace {

bool is_number(Expr e) {
  return e.constant() != nullptr || e.as<arith::FloatImm>() != nullptr;
}
bool has_load(Expr e) {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) { found |= node.as<arith::Load>() != nullptr; });
  return found;
}

/// The nodes of a value that go through a local, outermost first; what is inside of one is not looked at.
void find_staged(Expr e, BufferRef own, Var var, std::vector<Expr>& found) {
  const auto* select = e.as<arith::Select>();
  const auto* load = e.as<arith::Load>();
  bool guarded = select != nullptr && is_number(select->else_value) && has_load(select->then_value) &&
                 !has_load(select->condition);
  bool plain = var && load != nullptr && load->buffer != own &&
               std::any_of(load->indices.begin(), load->indices.end(), [&](Expr i) { return depends_on(i, var); });
  if (guarded || plain) {
    if (std::find(found.begin(), found.end(), e) == found.end()) found.push_back(e);
    return;
  }
  if (e.dtype().is_index()) return;
  for (Expr operand : arith::operands(e)) find_staged(operand, own, var, found);
}

}  // namespace

void Schedule::stage_loads(uint32_t block_id, uint32_t loop_id) {
  Var var = loop_id == 0 ? Var() : loop(loop_id).var;
  edit_block(block_id, [&](const Block& block) {
    const auto* store = block.body.as<tir::Store>();
    std::vector<Expr> staged;
    find_staged(store->value, store->buffer, var, staged);
    if (staged.empty()) return Stmt(&block);
    note("stage_loads of " + block.name);
    std::vector<Stmt> parts;
    std::vector<BufferRef> locals;
    arith::Substitution replaced;
    for (Expr e : staged) {
      BufferRef local = build_.buffer("operand", e.dtype(), {}, tir::Scope::kLocal);
      locals.push_back(local);
      replaced[e] = build_.load(local, {});
      const auto* select = e.as<arith::Select>();
      parts.push_back(build_.store(local, {}, select != nullptr ? select->else_value : context_.zero(e.dtype())));
      Stmt fill =
          build_.store(local, {}, select != nullptr ? without_clamps(select->then_value, select->condition) : e);
      parts.push_back(select != nullptr ? build_.branch(select->condition, fill) : fill);
    }
    Block update = block;
    update.body = build_.store(store->buffer, store->indices, arith::substitute(store->value, replaced));
    parts.push_back(make_stmt(context_, std::move(update)));
    Stmt s = build_.seq(std::move(parts));
    for (size_t i = locals.size(); i-- > 0;) s = build_.alloc(locals[i], s);
    return s;
  });
}

namespace {

/// The product that an update adds to its own element, if that can be done with one rounding.
const arith::Mul* fusible_product(const Update& update) {
  const auto* product = update.value ? update.value.as<arith::Mul>() : nullptr;
  bool wide = product != nullptr && update.value.dtype().is_float() && update.value.dtype().bits >= 32;
  return wide && update.kind == arith::ExprKind::kAdd ? product : nullptr;
}

}  // namespace

void Schedule::use_fma(uint32_t block_id) {
  edit_block(block_id, [&](const Block& block) {
    const auto* store = block.body.as<tir::Store>();
    Update update = store == nullptr ? Update{} : update_of(*store);
    const auto* product = fusible_product(update);
    if (product == nullptr) return Stmt(&block);
    note("use_fma in " + block.name);
    Block fused = block;
    fused.body = build_.store(store->buffer, store->indices,
                              arith::call(arith::Intrinsic::k_fma, {product->a, product->b, update.own}));
    return make_stmt(context_, std::move(fused));
  });
}

void Schedule::allow_reassociation(uint32_t block_id) {
  edit_block(block_id, [&](const Block& block) {
    Block to = block;
    to.annotations["reassociate"] = 1;
    note("reassociate " + block.name);
    return make_stmt(context_, std::move(to));
  });
}

void Schedule::reduce_in_lanes(uint32_t block_id, uint32_t loop_id, int64_t lanes, int64_t vector, bool fma) {
  note(fmt::format("reduce {} in {} lanes{}", loop(loop_id).var.name(), lanes, fma ? " by fma" : ""));
  const Block from = block(block_id);
  RELAXC_CHECK(from.annotations.count("reassociate") != 0, "a reduction whose order is to be kept");
  edit_loop(loop_id, [&](const For& loop) {
    const auto& store = *from.body.as<tir::Store>();
    Update update = update_of(store);
    DType dtype = store.buffer->dtype;
    BufferRef part = build_.buffer("partial", dtype, {context_.index(lanes)}, tir::Scope::kLocal);
    auto combine = [&](Expr a, Expr b) { return context_.binary(update.kind, a, b); };
    bool idempotent = update.kind == arith::ExprKind::kMin || update.kind == arith::ExprKind::kMax;
    Expr neutral = idempotent ? update.own : context_.number(dtype, update.kind == arith::ExprKind::kMul ? 1 : 0);
    auto vector_loop = [&](int64_t width, const std::function<Stmt(Var)>& body) {
      return build_.loop("lane", context_.index(width), body, tir::LoopKind::kVectorized);
    };
    auto add_into = [&](Expr lane, Expr at) {
      Expr value = arith::substitute(update.value, {{loop.var, at}}), own = build_.load(part, {lane});
      const auto* product = fma && fusible_product(update) != nullptr ? value.as<arith::Mul>() : nullptr;
      if (product == nullptr) return build_.store(part, {lane}, combine(own, value));
      return build_.store(part, {lane}, arith::call(arith::Intrinsic::k_fma, {product->a, product->b, own}));
    };
    std::vector<Stmt> steps{vector_loop(lanes, [&](Var v) { return build_.store(part, {v}, neutral); })};
    Expr done = loop.min, left = loop.extent;
    for (int64_t width : lanes > vector ? std::vector{lanes, vector} : std::vector{lanes}) {
      Expr count = arith::floordiv(left, width);
      steps.push_back(build_.loop(loop.var.name() + "_o", count, [&](Var o) {
        return vector_loop(width, [&](Var v) { return add_into(v, done + o * width + v); });
      }));
      done = arith::simplify(done + count * width), left = arith::simplify(left - count * width);
    }
    steps.push_back(
        build_.loop(loop.var.name() + "_t", left, [&](Var t) { return add_into(context_.index(0), done + t); }));
    for (int64_t half = lanes / 2; half > 0; half /= 2)
      steps.push_back(vector_loop(half, [&](Var v) {
        return build_.store(part, {v}, combine(build_.load(part, {v}), build_.load(part, {v + half})));
      }));
    Block joined = from;
    joined.body =
        build_.store(store.buffer, store.indices, combine(update.own, build_.load(part, {context_.index(0)})));
    steps.push_back(make_stmt(context_, std::move(joined)));
    return build_.alloc(part, build_.seq(std::move(steps)));
  });
}

BufferRef Schedule::pack(BufferRef buffer, const Packing& packing) {
  note(fmt::format("{} as {}", packing.description(), buffer->name));
  std::vector<Expr> dims;
  for (int64_t dim : packing.packed_shape()) dims.push_back(context_.index(dim));
  BufferRef packed = build_.buffer(buffer->name + "_packed", buffer->dtype, std::move(dims), buffer->scope);
  root_ = redirect(context_, root_, buffer, packed, [&](const Indices& from) {
    Expr along = from[packing.axis];
    Indices to{arith::floordiv(along, packing.panel)};
    for (size_t i : packing.order) to.push_back(from[i]);
    to.push_back(arith::floormod(along, packing.panel));
    return std::optional(to);
  });
  return packed;
}

void Schedule::simplify_subscripts(BufferRef buffer) {
  arith::Facts facts;
  tir::for_each_stmt(root_, [&](Stmt s) {
    const auto* loop = s.as<For>();
    if (loop == nullptr || !loop->min.is_constant(0)) return;
    const int64_t* extent = loop->extent.constant();
    facts.bound(loop->var, {0, extent != nullptr ? std::max<int64_t>(*extent, 1) - 1 : INT64_MAX});
  });
  root_ = redirect(context_, root_, buffer, buffer, [&](const Indices& from) {
    Indices to;
    for (Expr index : from) to.push_back(arith::simplify(index, facts));
    return std::optional(to);
  });
}

void Schedule::inline_nest(uint32_t block_id) {
  note("inline " + block(block_id).name);
  Stmt nest;
  tir::for_each_stmt(root_, [&](Stmt s) {
    const Block* inner = nest ? nullptr : analysis::as_nest(s).block;
    if (inner != nullptr && inner->id == block_id) nest = s;
  });
  RELAXC_CHECK(nest, "only a perfect nest can be inlined");
  analysis::Nest producer = analysis::as_nest(nest);
  RELAXC_CHECK(!producer.block->init, "a reduction cannot be inlined");
  const Indices axes = producer.store->indices;
  BufferRef buffer = producer.store->buffer;
  Expr value = arith::substitute(producer.store->value, bindings(*producer.block));
  arith::Substitution outer = bindings(*producer.block);
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) { return s == nest ? Stmt() : s; };
  root_ = tir::rewrite(context_, root_, rewriter);
  rewriter.on_stmt = {};
  rewriter.on_expr = [&](Expr e) {
    return arith::rewrite(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      if (load == nullptr || load->buffer != buffer) return node;
      arith::Substitution at;
      for (size_t i = 0; i < axes.size(); ++i) at[arith::substitute(axes[i], outer)] = load->indices[i];
      return arith::substitute(value, at);
    });
  };
  root_ = tir::rewrite(context_, root_, rewriter);
}

}  // namespace relaxc::schedule
