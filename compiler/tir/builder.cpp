// builder.cpp: makes statements.
#include "compiler/tir/builder.h"

#include <algorithm>

#include "compiler/arith/visit.h"

namespace relaxc::tir {

BufferRef Builder::buffer(std::string name, DType dtype, std::vector<Expr> shape, Scope scope, uint32_t alignment) {
  return context_.arena().make<Buffer>(
      Buffer{context_.next_id(), std::move(name), dtype, std::move(shape), {}, scope, alignment, nullptr});
}

BufferRef Builder::records(std::string name, const Record& record, Expr count) {
  Buffer made;
  made.id = context_.next_id(), made.name = std::move(name), made.dtype = DType::u(8);
  made.shape = {count, index(static_cast<int64_t>(record.fields.size()))};
  made.record = &record;
  return context_.arena().make<Buffer>(std::move(made));
}

Expr Builder::field(BufferRef records, Expr at, std::string_view name) {
  const uint32_t i = records->record->index_of(name);
  return context_.load(records, dtype_of(records->record->fields[i].kind), {at, index(i)});
}

Stmt Builder::seq(std::vector<Stmt> body) {
  Seq node;
  for (Stmt s : body) {
    if (!s) continue;
    if (const auto* inner = s.as<Seq>())
      node.body.insert(node.body.end(), inner->body.begin(), inner->body.end());
    else
      node.body.push_back(s);
  }
  if (node.body.size() == 1) return node.body[0];
  return make(std::move(node));
}

Stmt Builder::loop(Var var, Expr min, Expr extent, Stmt body, LoopKind kind) {
  For node;
  node.id = context_.next_id() + 1;  // 0: none
  node.var = var;
  node.min = min;
  node.extent = extent;
  node.loop_kind = kind;
  node.body = body;
  return make(std::move(node));
}

Stmt Builder::loop(std::string name, Expr extent, const std::function<Stmt(Var)>& body, LoopKind kind) {
  Var var = context_.var(std::move(name));
  return loop(var, context_.index(0), extent, body(var), kind);
}

Stmt Builder::loop_while(Expr condition, Stmt body) {
  While node;
  node.condition = condition;
  node.body = body;
  return make(std::move(node));
}

Stmt Builder::leave_loop() {
  return make(Break{});
}

Stmt Builder::next_iteration() {
  return make(Continue{});
}

Stmt Builder::branch(Expr condition, Stmt then_body, Stmt else_body) {
  If node;
  node.condition = condition;
  node.then_body = then_body;
  node.else_body = else_body;
  return make(std::move(node));
}

Stmt Builder::let(Var var, Expr value, Stmt body) {
  Let node;
  node.var = var;
  node.value = value;
  node.body = body;
  return make(std::move(node));
}

Stmt Builder::let(std::string name, Expr value, const std::function<Stmt(Var)>& body) {
  Var var = context_.var(std::move(name), value.dtype());
  return let(var, value, body(var));
}

Stmt Builder::alloc(BufferRef buffer, Stmt body) {
  Alloc node;
  node.buffer = buffer;
  node.body = body;
  return make(std::move(node));
}

Stmt Builder::view(BufferRef buffer, BufferRef base, Expr byte_offset, Stmt body, uint32_t round_up) {
  View node;
  node.buffer = buffer;
  node.base = base;
  node.byte_offset = byte_offset;
  node.round_up = round_up;
  node.body = body;
  return make(std::move(node));
}

Stmt Builder::store(BufferRef buffer, Indices indices, Expr value) {
  RELAXC_CHECK(value.dtype() == buffer->dtype, "a store of " + to_string(value.dtype()) + " into " + buffer->name);
  RELAXC_CHECK(indices.size() == buffer->shape.size(), "wrong number of subscripts of " + buffer->name);
  Store node;
  node.buffer = buffer;
  node.indices = std::move(indices);
  node.value = value;
  return make(std::move(node));
}

Stmt Builder::block(Block block) {
  if (block.id == 0) block.id = context_.next_id() + 1;
  return make(std::move(block));
}

Stmt Builder::guard(Guard guard) {
  return make(std::move(guard));
}
Stmt Builder::invoke(Invoke invoke) {
  return make(std::move(invoke));
}

namespace {

/// Loop variables, the block's axes bound to them, and the axes as subscripts.
struct Axes {
  std::vector<Var> loops;
  std::vector<IterVar> iters;
  Indices indices;
};

void add_axes(Context& context, const std::vector<Expr>& extents, IterKind kind, const char* prefix, Axes& axes,
              Indices& indices) {
  for (size_t i = 0; i < extents.size(); ++i) {
    Var loop = context.var(prefix + std::to_string(i));
    Var axis = context.var(std::string("v") + prefix + std::to_string(i));
    axes.loops.push_back(loop);
    axes.iters.push_back({axis, context.index(0), extents[i], kind, loop});
    indices.push_back(axis);
  }
}

}  // namespace

Stmt Builder::compute(BufferRef out, const std::function<Expr(const Indices&)>& value, std::string name) {
  Axes axes;
  add_axes(context_, out->shape, IterKind::kSpatial, "i", axes, axes.indices);
  Block node;
  node.name = name.empty() ? out->name : std::move(name);
  node.iters = axes.iters;
  node.body = store(out, axes.indices, value(axes.indices));
  Stmt s = block(std::move(node));
  for (size_t i = axes.loops.size(); i-- > 0;) s = loop(axes.loops[i], context_.index(0), out->shape[i], s);
  return s;
}

Stmt Builder::reduce(BufferRef out, const std::vector<Expr>& reduce_extents, Expr init,
                     const std::function<Expr(Expr, const Indices&, const Indices&)>& combine, std::string name) {
  Axes axes;
  Indices reduced;
  add_axes(context_, out->shape, IterKind::kSpatial, "i", axes, axes.indices);
  add_axes(context_, reduce_extents, IterKind::kReduce, "k", axes, reduced);
  Block node;
  node.name = name.empty() ? out->name : std::move(name);
  node.iters = axes.iters;
  node.init = store(out, axes.indices, init);
  node.body = store(out, axes.indices, combine(load(out, axes.indices), axes.indices, reduced));
  Stmt s = block(std::move(node));
  for (size_t i = axes.loops.size(); i-- > 0;) s = loop(axes.loops[i], context_.index(0), axes.iters[i].extent, s);
  if (std::any_of(reduce_extents.begin(), reduce_extents.end(),
                  [](Expr e) { return !e.constant() || *e.constant() == 0; }))
    return seq({compute(
                    out, [&](const Indices&) { return init; }, out->name + "_init"),
                s});
  return s;
}

Stmt Builder::nest(const std::vector<Expr>& extents, const std::function<Stmt(const Indices&)>& body) {
  std::vector<Var> vars;
  Indices indices;
  for (size_t i = 0; i < extents.size(); ++i) {
    vars.push_back(context_.var("i" + std::to_string(i)));
    indices.push_back(vars.back());
  }
  Stmt s = body(indices);
  for (size_t i = extents.size(); i-- > 0;) s = loop(vars[i], context_.index(0), extents[i], s);
  return s;
}

void collect_symbols(PrimFunc& function) {
  function.symbols.clear();
  auto is_param = [&](Var var) {
    return std::any_of(function.params.begin(), function.params.end(), [&](const Param& p) { return p.var == var; });
  };
  auto add = [&](Var var) {
    bool known = std::find(function.symbols.begin(), function.symbols.end(), var) != function.symbols.end();
    if (!known && !is_param(var)) function.symbols.push_back(var);
  };
  for (const Param& param : function.params) {
    if (param.buffer == nullptr) continue;
    for (Expr dim : param.buffer->shape)
      for (Var var : arith::free_vars(dim)) add(var);
  }
}

}  // namespace relaxc::tir
