// clone.cpp: copies functions with new identities.
#include "compiler/tir/clone.h"

#include <map>
#include <variant>

#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir {
namespace {

class Cloner {
 public:
  Cloner(Context& context, const arith::Substitution& symbols) : context_(context), map_(symbols) {}

  PrimFunc run(const PrimFunc& from) {
    PrimFunc to = from;
    to.params.clear();
    std::vector<Param> params = from.params;
    std::erase_if(params, [&](const Param& p) { return p.buffer == nullptr && map_.count(p.var) != 0; });
    for (Var symbol : from.symbols)
      if (map_.count(symbol) == 0) rename(symbol);
    for (Param& param : params)
      if (param.buffer == nullptr) param.var = rename(param.var);
    for (const Param& param : params) to.params.push_back({buffer(param.buffer), param.var});
    to.body = stmt(from.body);
    collect_symbols(to);
    return to;
  }

 private:
  Var rename(Var var) {
    Var fresh = context_.var(var.name(), var.dtype());
    map_[var] = fresh;
    return fresh;
  }

  Expr expr(Expr e) {
    if (!e) return e;
    Expr replaced = arith::substitute(e, map_);
    return arith::rewrite(replaced, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      return load == nullptr ? node : context_.load(buffer(load->buffer), load->dtype, load->indices);
    });
  }

  BufferRef buffer(BufferRef from) {
    if (from == nullptr || copies_.count(from) != 0) return from;
    auto found = buffers_.find(from);
    if (found != buffers_.end()) return found->second;
    Buffer to = *from;
    to.id = context_.next_id();
    for (Expr& dim : to.shape) dim = arith::substitute(dim, map_);
    for (Expr& stride : to.strides) stride = arith::substitute(stride, map_);
    BufferRef made = context_.arena().make<Buffer>(std::move(to));
    copies_[made] = true;
    return buffers_[from] = made;
  }

  template <typename T>
  Stmt make(T node) {
    return Stmt(context_.arena().make<T>(std::move(node)));
  }

  /// Renames binders before it copies what they bind. Scopes that end with their suite nest as deep as there are
  /// values, so they are copied in a loop, and closed from the last to the first.
  Stmt stmt(Stmt s) {
    std::vector<std::variant<Seq, Let, Alloc, View>> chain;
    while (s) {
      if (const auto* seq = s.as<Seq>(); seq != nullptr && !seq->body.empty()) {
        Seq to = *seq;
        for (size_t i = 0; i + 1 < to.body.size(); ++i) to.body[i] = stmt(to.body[i]);
        s = to.body.back();
        chain.emplace_back(std::move(to));
      } else if (const auto* let = s.as<Let>()) {
        s = let->body;
        chain.emplace_back(opened(*let));
      } else if (const auto* alloc = s.as<Alloc>()) {
        s = alloc->body;
        chain.emplace_back(opened(*alloc));
      } else if (const auto* view = s.as<View>()) {
        s = view->body;
        chain.emplace_back(opened(*view));
      } else {
        break;
      }
    }
    Stmt made = s ? visit(s, [&](const auto& node) { return copy(node); }) : s;
    for (; !chain.empty(); chain.pop_back())
      made = std::visit([&](auto& node) { return closed(std::move(node), made); }, chain.back());
    return made;
  }
  Let opened(Let node) {
    node.value = expr(node.value), node.var = rename(node.var);
    return node;
  }
  Alloc opened(Alloc node) {
    node.buffer = buffer(node.buffer);
    return node;
  }
  View opened(View node) {
    node.base = buffer(node.base), node.buffer = buffer(node.buffer);
    node.byte_offset = expr(node.byte_offset);
    return node;
  }
  Stmt closed(Seq node, Stmt last) {
    node.body.back() = last;
    return make(std::move(node));
  }
  template <typename T>
  Stmt closed(T node, Stmt body) {
    node.body = body;
    return make(std::move(node));
  }

  Stmt copy(Seq node) { return make(std::move(node)); }  // empty
  Stmt copy(const Let&) { RELAXC_UNREACHABLE("a link"); }
  Stmt copy(const Alloc&) { RELAXC_UNREACHABLE("a link"); }
  Stmt copy(const View&) { RELAXC_UNREACHABLE("a link"); }
  Stmt copy(For node) {
    node.min = expr(node.min), node.extent = expr(node.extent);
    node.id = context_.next_id() + 1, node.var = rename(node.var);
    node.body = stmt(node.body);
    return make(std::move(node));
  }
  Stmt copy(While node) {
    node.condition = expr(node.condition), node.body = stmt(node.body);
    return make(std::move(node));
  }
  Stmt copy(Break node) { return make(node); }
  Stmt copy(Continue node) { return make(node); }
  Stmt copy(If node) {
    node.condition = expr(node.condition);
    node.then_body = stmt(node.then_body), node.else_body = stmt(node.else_body);
    return make(std::move(node));
  }
  Stmt copy(Store node) {
    node.buffer = buffer(node.buffer), node.value = expr(node.value);
    for (Expr& index : node.indices) index = expr(index);
    return make(std::move(node));
  }
  Stmt copy(Block node) {
    for (IterVar& iter : node.iters) {
      iter.min = expr(iter.min), iter.extent = expr(iter.extent), iter.binding = expr(iter.binding);
      iter.var = rename(iter.var);
    }
    node.id = context_.next_id() + 1;
    node.predicate = expr(node.predicate);
    for (auto* regions : {&node.reads, &node.writes})
      for (BufferRegion& region : *regions) {
        region.buffer = buffer(region.buffer);
        for (Span& span : region.spans) span = {expr(span.begin), expr(span.extent)};
      }
    node.init = stmt(node.init), node.body = stmt(node.body);
    return make(std::move(node));
  }
  Stmt copy(Guard node) {
    node.condition = expr(node.condition), node.expected = expr(node.expected), node.actual = expr(node.actual);
    return make(std::move(node));
  }
  Stmt copy(Invoke node) {
    for (Argument& argument : node.args) {
      if (auto* e = std::get_if<Expr>(&argument)) *e = expr(*e);
      if (auto* b = std::get_if<BufferRef>(&argument)) *b = buffer(*b);
    }
    return make(std::move(node));
  }

  Context& context_;
  arith::Substitution map_;
  std::map<BufferRef, BufferRef> buffers_;
  std::map<BufferRef, bool> copies_;
};

}  // namespace

PrimFunc clone(Context& context, const PrimFunc& function, const arith::Substitution& symbols) {
  return Cloner(context, symbols).run(function);
}

}  // namespace relaxc::tir
