// blocks.cpp: primitives on blocks and on what they write.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "compiler/analysis/pattern.h"
#include "compiler/arith/walks.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/group.h"
#include "compiler/schedule/legality.h"

namespace relaxc::schedule {

using tir::Block;
using tir::For;
using tir::Indices;

namespace {

/// Whether two subscripts name one element; along a dim of 1 all do.
bool same_place(const tir::Buffer& buffer, const Indices& a, const Indices& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (!buffer.shape[i].is_constant(1) && !arith::prove_equal(a[i], b[i])) return false;
  return a.size() == b.size();
}

}  // namespace

void Schedule::bind_axes() {
  note("bind_axes");
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
  const Block from = block(block_id);
  arith::Substitution map = bindings(from);
  require(from.init && !from.predicate, "the block has no init that could be a block of its own");
  const Stmt init = tir::substitute(context_, from.init, map);
  std::vector<const For*> inside;
  for (const For* at = &loop(loop_id); at != nullptr; at = at->body.as<For>()) inside.push_back(at);
  const auto* innermost = inside.back()->body.as<Block>();
  bool outermost = innermost != nullptr && innermost->id == block_id && is_plain(from.body);
  for (const tir::IterVar& iter : from.iters) {
    // All terms of the sum, and no part of them: there are others where the loop was split.
    bool reduces = iter.iter_kind == tir::IterKind::kReduce;
    auto own = std::find_if(inside.begin(), inside.end(), [&](const For* one) { return iter.binding == one->var; });
    outermost &= !reduces || (own != inside.end() && arith::prove_equal((*own)->extent, iter.extent) &&
                              arith::prove_equal((*own)->min, iter.min));
    for (const For* other : inside) outermost &= reduces || !depends_on(iter.binding, other->var);
  }
  require(outermost, [&] {
    return fmt::format("loop '{}' is not the outermost of just the reduction's loops around block '{}', each whole",
                       loop_name(loop_id), block_name(block_id));
  });
  note(fmt::format("decompose_reduction {} {}", block_name(block_id), loop_name(loop_id)));
  drop_fill(block_id);
  edit_block(block_id, [&](const Block&) {
    Block update = from;
    update.body = tir::substitute(context_, from.body, map);
    update.init = {};
    update.iters.clear(), update.reads.clear(), update.writes.clear();
    return make_stmt(context_, std::move(update));
  });
  edit_loop(loop_id, [&](const For& loop) {
    Block begin;
    begin.name = from.name + "_init";
    begin.body = init;
    return build_.seq({build_.block(std::move(begin)), Stmt(&loop)});
  });
}

/// A nest right before that of the block that fills in what the block begins with, which its init now does.
void Schedule::drop_fill(uint32_t block_id) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    for (size_t i = 1; seq != nullptr && i < seq->body.size(); ++i) {
      const analysis::Nest nest = analysis::as_nest(seq->body[i]);
      if (nest.block == nullptr || nest.block->id != block_id) continue;
      if (!fills_for(analysis::as_nest(seq->body[i - 1]), nest)) break;
      std::vector<Stmt> parts = seq->body;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      return build_.seq(std::move(parts));
    }
    return s;
  };
  root_ = tir::rewrite(context_, root_, rewriter);
}

void Schedule::contract(BufferRef buffer, uint32_t loop_id, bool keep) {
  const For& body_of = loop(loop_id);
  Indices at;
  for_each_access(body_of.body, [&](const Access& access) {
    bool same = access.buffer == buffer ? at.empty() || same_place(*buffer, at, access.indices)
                                        : memory_of(access.buffer) != memory_of(buffer);
    require(same, [&] { return buffer->name + " is used at two places of one iteration"; });
    if (access.buffer == buffer && at.empty()) at = access.indices;
  });
  for (Expr index : at)
    require(!uses_variable_of(index, body_of.body),
            [&] { return buffer->name + " is used at another place in each iteration of a loop inside"; });
  require(is_plain(body_of.body) && first_use(body_of.body, buffer) == FirstUse::kStore,
          [&] { return fmt::format("loop '{}' does not begin with a store to {}", loop_name(loop_id), buffer->name); });
  require(keep || !is_read_besides(buffer, {body_of.body}),
          [&] { return buffer->name + " is needed outside of the loop as well; 'store' it"; });
  note(fmt::format("contract {} {} {}", buffer_name(buffer), loop_name(loop_id), keep ? "store" : "drop"));
  edit_loop(loop_id, [&](const For& loop) {
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

/// Whether anything reads the memory of `buffer` that is not in one of `readers`.
bool Schedule::is_read_besides(BufferRef buffer, const std::vector<Stmt>& readers) const {
  if (!is_unseen(buffer)) return true;
  std::set<const tir::StmtNode*> inside;  // asked for membership only
  for (Stmt reader : readers) tir::for_each_stmt(reader, [&](Stmt s) { inside.insert(s.node()); });
  bool read = false;
  tir::for_each_stmt(root_, [&](Stmt s) {
    if (inside.count(s.node()) != 0) return;
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        const auto* load = node.as<arith::Load>();
        read |= load != nullptr && memory_of(load->buffer) == memory_of(buffer);
      });
  });
  return read;
}

std::vector<Expr> conjuncts(Expr condition) {
  std::vector<Expr> found;
  arith::for_each_reached(condition, [&](Expr e) {
    if (const auto* both = e.as<arith::And>()) return std::vector<Expr>{both->b, both->a};
    found.push_back(e);
    return std::vector<Expr>{};
  });
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

bool is_scalar_of(Expr e, BufferRef own) {
  const auto* load = e.as<arith::Load>();
  return load != nullptr && load->indices.empty() && load->buffer != own;
}

/// The nodes of a value that go through a local, outermost first; what is inside of one is not looked at, nor what only
/// one way of a condition reads, which may lie outside of its buffer on the other.
std::vector<Expr> find_staged(Expr value, BufferRef own, Var var) {
  std::vector<Expr> found;
  arith::for_each_reached(value, [&](Expr e) {
    const auto* select = e.as<arith::Select>();
    const auto* load = e.as<arith::Load>();
    bool guarded = select != nullptr && (is_number(select->else_value) || is_scalar_of(select->else_value, own)) &&
                   has_load(select->then_value) && !has_load(select->condition);
    bool plain = var && load != nullptr && load->buffer != own &&
                 std::any_of(load->indices.begin(), load->indices.end(), [&](Expr i) { return depends_on(i, var); });
    if (guarded || plain) found.push_back(e);
    return guarded || plain || e.dtype().is_index() ? std::vector<Expr>{} : arith::eager_operands(e);
  });
  return found;
}

}  // namespace

void Schedule::stage_loads(uint32_t block_id, uint32_t loop_id) {
  Var var = loop_id == 0 ? Var() : loop(loop_id).var;
  const bool staging = block(block_id).body.as<tir::Store>() != nullptr && !block(block_id).init;
  require(staging, [&] { return fmt::format("block '{}' is not one store", block_name(block_id)); });
  edit_block(block_id, [&](const Block& block) {
    const auto* store = block.body.as<tir::Store>();
    const std::vector<Expr> staged = find_staged(store->value, store->buffer, var);
    if (staged.empty()) return Stmt(&block);
    note(fmt::format("stage_loads {} {}", block_name(block_id), loop_id == 0 ? "-" : loop_name(loop_id)));
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
    note("use_fma " + block_name(block_id));
    Block fused = block;
    fused.body = build_.store(store->buffer, store->indices,
                              arith::call(arith::Intrinsic::k_fma, {product->a, product->b, update.own}));
    return make_stmt(context_, std::move(fused));
  });
}

void Schedule::allow_reassociation(uint32_t block_id) {
  if (block(block_id).annotations.count("reassociate") != 0) return;
  note("reassociate " + block_name(block_id));
  edit_block(block_id, [&](const Block& block) {
    Block to = block;
    to.annotations["reassociate"] = 1;
    return make_stmt(context_, std::move(to));
  });
}

void Schedule::require_marked(uint32_t block_id) const {
  require(block(block_id).annotations.count("reassociate") != 0, [&] {
    return fmt::format("the order in which block '{}' reduces is to be kept; 'reassociate' it first",
                       block_name(block_id));
  });
}

void Schedule::require_in_lanes(const Block& from, const For& loop, int64_t lanes, int64_t vector) const {
  require_marked(from.id);
  require_in_order(loop.id);
  const auto* store = from.body.as<tir::Store>();
  const auto* inner = loop.body.as<Block>();
  bool sums = store != nullptr && !from.init && from.iters.empty() && !from.predicate && inner != nullptr &&
              inner->id == from.id && loop.loop_kind == tir::LoopKind::kSerial && update_of(*store).value;
  for (size_t i = 0; sums && i < store->indices.size(); ++i) sums = !depends_on(store->indices[i], loop.var);
  require(sums, [&] {
    return fmt::format("block '{}' is not all that loop '{}' holds, or it does not sum into one element", from.name,
                       loop_name(loop.id));
  });
  auto is_power = [](int64_t n) { return n > 0 && n <= 256 && (n & (n - 1)) == 0; };
  require(is_power(lanes) && is_power(vector), "lanes are a power of two, up to 256");
}

void Schedule::reduce_in_lanes(uint32_t block_id, uint32_t loop_id, int64_t lanes, int64_t vector, bool fma) {
  const Block from = block(block_id);
  require_in_lanes(from, loop(loop_id), lanes, vector);
  note(fmt::format("reduce_in_lanes {} {} {} {} {}", block_name(block_id), loop_name(loop_id), lanes, vector,
                   fma ? "fma" : "-"));
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

Operand& Schedule::own_operand(BufferRef buffer) {
  BufferRef memory = memory_of(buffer);
  auto found = std::find_if(operands_.begin(), operands_.end(), [&](const Operand& o) { return o.buffer == memory; });
  require(found != operands_.end(), [&] { return buffer->name + " is no constant at every call of the kernel"; });
  bool alone = !is_accessed_outside(memory) && buffer->strides.empty();
  for_each_access(root_, [&](const Access& access) {
    alone &= memory_of(access.buffer) != memory || (access.buffer == buffer && !access.is_store);
  });
  require(alone, [&] { return buffer->name + " is read elsewhere in the kernel, or in another shape, too"; });
  return *found;
}

BufferRef Schedule::pack(BufferRef buffer, size_t axis, int64_t panel, const std::vector<size_t>& order) {
  const Operand operand = own_operand(buffer);
  Packing packing = operand.made;
  std::vector<size_t> all = order;
  all.push_back(axis);
  std::sort(all.begin(), all.end());
  bool fits = panel > 1 && panel <= 4096 && all.size() == buffer->shape.size();
  for (size_t i = 0; i < all.size(); ++i) fits &= all[i] == i;
  require(fits, [&] {
    return fmt::format("panels of {} along axis {}, order [{}] do not fit a tensor of {} axes", panel, axis,
                       fmt::join(order, ", "), buffer->shape.size());
  });
  for (Expr dim : buffer->shape) {
    require(dim.constant() != nullptr, [&] { return buffer->name + " has a dim that is not known"; });
    packing.shape.push_back(*dim.constant());
  }
  note(fmt::format("pack {} {} {} [{}]", buffer_name(buffer), axis, panel, fmt::join(order, ", ")));
  packing.axis = axis, packing.panel = panel, packing.order = order;
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
  packed_.push_back({operand.param, packed, packing});
  std::erase_if(operands_, [&](const Operand& one) { return one.buffer == operand.buffer; });
  return packed;
}

void Schedule::simplify_subscripts(BufferRef buffer) {
  note("simplify_subscripts " + buffer_name(buffer));
  const arith::Facts facts = facts_of_loops();
  root_ = redirect(context_, root_, buffer, buffer, [&](const Indices& from) {
    Indices to;
    for (Expr index : from) to.push_back(arith::simplify(index, facts));
    return std::optional(to);
  });
}

arith::Facts Schedule::facts_of_loops() const {
  arith::Facts facts;
  tir::for_each_stmt(root_, [&](Stmt s) {
    const auto* loop = s.as<For>();
    if (loop == nullptr || !loop->min.is_constant(0)) return;
    const int64_t* extent = loop->extent.constant();
    facts.bound(loop->var, {0, extent != nullptr ? std::max<int64_t>(*extent, 1) - 1 : INT64_MAX});
  });
  return facts;
}

}  // namespace relaxc::schedule
