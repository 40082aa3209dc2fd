// visit.cpp: children, expressions and rebuilding of statements.
//
// Loops, branches and blocks are nested only as deep as in the program, which the frontends bound, so recursion is safe
// there. Scopes that reach to the end of a suite (lets, allocations, views) nest as often as there are values:
// rebuilding walks down such a chain and up again in loops.
#include "compiler/tir/visit.h"

#include <unordered_set>
#include <variant>

#include "compiler/arith/substituter.h"
#include "compiler/arith/walks.h"
#include "compiler/tir/builder.h"

namespace relaxc::tir {
namespace {

class Rebuild {
 public:
  Rebuild(Context& context, const Rewriter& rewriter) : context_(context), build_(context), rewriter_(rewriter) {}

  Stmt run(Stmt s) {
    std::vector<Link> chain;
    while (s && descend(s, chain)) {
    }
    Stmt rebuilt = s ? replaced(visit(s, [&](const auto& node) { return again(s, node); })) : s;
    for (; !chain.empty(); chain.pop_back()) {
      Link& link = chain.back();
      rebuilt = replaced(std::visit([&](auto& node) { return close(link.before, node, rebuilt); }, link.after));
    }
    return rebuilt;
  }

 private:
  /// A statement whose last part is still to be rebuilt, and its copy.
  struct Link {
    Stmt before;
    std::variant<Seq, Let, Alloc, View> after;
  };

  /// Adds `s` to the chain and replaces it by the statement at its end; false if it has none.
  bool descend(Stmt& s, std::vector<Link>& chain) {
    if (const auto* seq = s.as<Seq>()) {
      if (seq->body.empty()) return false;
      Seq to = *seq;
      for (size_t i = 0; i + 1 < to.body.size(); ++i) to.body[i] = run(to.body[i]);
      chain.push_back({s, std::move(to)});
      s = seq->body.back();
    } else if (const auto* let = s.as<Let>()) {
      Let to = *let;
      expr(to.value);
      chain.push_back({s, std::move(to)});
      s = let->body;
    } else if (const auto* alloc = s.as<Alloc>()) {
      Alloc to = *alloc;
      buffer(to.buffer);
      chain.push_back({s, std::move(to)});
      s = alloc->body;
    } else if (const auto* view = s.as<View>()) {
      View to = *view;
      buffer(to.buffer), buffer(to.base), expr(to.byte_offset);
      chain.push_back({s, std::move(to)});
      s = view->body;
    } else {
      return false;
    }
    return true;
  }

  Stmt close(Stmt before, Seq& to, Stmt last) {
    to.body.back() = last;
    return to.body == before.as<Seq>()->body ? before : build_.seq(std::move(to.body));
  }
  Stmt close(Stmt before, Let& to, Stmt body) {
    const Let& node = *before.as<Let>();
    to.body = body;
    return finish(before, std::move(to), to.value == node.value && to.body == node.body);
  }
  Stmt close(Stmt before, Alloc& to, Stmt body) {
    const Alloc& node = *before.as<Alloc>();
    to.body = body;
    return finish(before, std::move(to), to.buffer == node.buffer && to.body == node.body);
  }
  Stmt close(Stmt before, View& to, Stmt body) {
    const View& node = *before.as<View>();
    to.body = body;
    bool same = to.buffer == node.buffer && to.base == node.base && to.byte_offset == node.byte_offset;
    return finish(before, std::move(to), same && to.body == node.body);
  }

  Stmt replaced(Stmt s) { return s && rewriter_.on_stmt ? rewriter_.on_stmt(s) : s; }

  Stmt again(Stmt s, const Seq&) { return s; }  // empty
  Stmt again(Stmt, const Let&) { RELAXC_UNREACHABLE("a link"); }
  Stmt again(Stmt, const Alloc&) { RELAXC_UNREACHABLE("a link"); }
  Stmt again(Stmt, const View&) { RELAXC_UNREACHABLE("a link"); }
  /// Each copies the node, rewrites the copy, and keeps the old node if nothing changed.
  Stmt again(Stmt s, const For& node) {
    For to = node;
    expr(to.min), expr(to.extent), stmt(to.body);
    return finish(s, std::move(to), to.min == node.min && to.extent == node.extent && to.body == node.body);
  }
  Stmt again(Stmt s, const While& node) {
    While to = node;
    expr(to.condition), stmt(to.body);
    return finish(s, std::move(to), to.condition == node.condition && to.body == node.body);
  }
  Stmt again(Stmt s, const Break&) { return s; }
  Stmt again(Stmt s, const Continue&) { return s; }
  Stmt again(Stmt s, const If& node) {
    If to = node;
    expr(to.condition), stmt(to.then_body), stmt(to.else_body);
    bool same = to.condition == node.condition && to.then_body == node.then_body && to.else_body == node.else_body;
    return finish(s, std::move(to), same);
  }
  Stmt again(Stmt s, const Store& node) {
    Store to = node;
    buffer(to.buffer), exprs(to.indices), expr(to.value);
    return finish(s, std::move(to), to.buffer == node.buffer && to.indices == node.indices && to.value == node.value);
  }
  Stmt again(Stmt s, const Block& node) {
    Block to = node;
    changed_ = false;
    for (IterVar& iter : to.iters) part(iter.min), part(iter.extent), part(iter.binding);
    part(to.predicate);
    for (auto* regions : {&to.reads, &to.writes})
      for (BufferRegion& region : *regions) {
        BufferRef before = region.buffer;
        buffer(region.buffer);
        changed_ |= before != region.buffer;
        for (Span& span : region.spans) part(span.begin), part(span.extent);
      }
    bool same = !changed_;
    stmt(to.init), stmt(to.body);
    return finish(s, std::move(to), same && to.init == node.init && to.body == node.body);
  }
  Stmt again(Stmt s, const Guard& node) {
    Guard to = node;
    expr(to.condition), expr(to.expected), expr(to.actual);
    bool same = to.condition == node.condition && to.expected == node.expected && to.actual == node.actual;
    return finish(s, std::move(to), same);
  }
  Stmt again(Stmt s, const Invoke& node) {
    Invoke to = node;
    for (Argument& argument : to.args) {
      if (auto* e = std::get_if<Expr>(&argument)) expr(*e);
      if (auto* b = std::get_if<BufferRef>(&argument)) buffer(*b);
    }
    return finish(s, std::move(to), to.args == node.args);
  }

  /// `after` is taken by reference, since calls compare its fields in the argument beside it, and C++ leaves open which
  /// of the two is evaluated first.
  template <typename T>
  Stmt finish(Stmt before, T&& after, bool same) {
    return same ? before : Stmt(context_.arena().make<T>(std::move(after)));
  }
  /// Loads name buffers too: with `on_buffer`, every load is rebuilt on the new buffer before `on_expr` sees the whole
  /// expression.
  void expr(Expr& e) {
    if (!e) return;
    if (rewriter_.on_buffer && loads(e)) {
      e = arith::rewrite(e, [&](Expr node) {
        const auto* load = node.as<arith::Load>();
        if (load == nullptr) return node;
        BufferRef to = rewriter_.on_buffer(load->buffer);
        return to == load->buffer ? node : context_.load(to, to->dtype, load->indices);
      });
    }
    if (rewriter_.on_expr) e = rewriter_.on_expr(e);
  }
  /// Whether `e` has a load. Sizes share parts, each of which is visited once.
  bool loads(Expr e) {
    auto unknown = [&](Expr node) {
      return arith::operands_except(node, [&](Expr operand) { return plain_.count(operand) != 0; });
    };
    if (plain_.count(e) != 0) return false;
    bool found = false;
    std::vector<Expr> visited;
    arith::for_each_node(e, unknown, [&](Expr node) {
      found |= node.as<arith::Load>() != nullptr;
      visited.push_back(node);
    });
    if (!found) plain_.insert(visited.begin(), visited.end());
    return found;
  }
  void part(Expr& e) {
    Expr before = e;
    expr(e);
    changed_ |= !(before == e);
  }
  void exprs(std::vector<Expr>& list) {
    for (Expr& e : list) expr(e);
  }
  void stmt(Stmt& s) { s = run(s); }
  void buffer(BufferRef& b) {
    if (b != nullptr && rewriter_.on_buffer) b = rewriter_.on_buffer(b);
  }

  Context& context_;
  Builder build_;
  const Rewriter& rewriter_;
  bool changed_ = false;
  std::unordered_set<Expr> plain_;  ///< nodes below which there is no load
};

}  // namespace

std::vector<Stmt> children(Stmt s) {
  using List = std::vector<Stmt>;
  auto present = [](List list) {
    std::erase_if(list, [](Stmt child) { return !child; });
    return list;
  };
  return visit(
      s, [](const Seq& n) { return n.body; }, [&](const For& n) { return present({n.body}); },
      [&](const While& n) { return present({n.body}); }, [](const Break&) { return List{}; },
      [](const Continue&) { return List{}; },
      [&](const If& n) {
        return present({n.then_body, n.else_body});
      },
      [&](const Let& n) { return present({n.body}); }, [&](const Alloc& n) { return present({n.body}); },
      [&](const View& n) { return present({n.body}); }, [](const Store&) { return List{}; },
      [&](const Block& n) {
        return present({n.init, n.body});
      },
      [](const Guard&) { return List{}; }, [](const Invoke&) { return List{}; });
}

std::vector<Expr> expressions(Stmt s) {
  std::vector<Expr> out;
  auto add = [&](Expr e) {
    if (e) out.push_back(e);
  };
  auto add_regions = [&](const std::vector<BufferRegion>& regions) {
    for (const BufferRegion& region : regions)
      for (const Span& span : region.spans) add(span.begin), add(span.extent);
  };
  visit(
      s, [](const Seq&) {}, [&](const For& n) { add(n.min), add(n.extent); }, [&](const While& n) { add(n.condition); },
      [](const Break&) {}, [](const Continue&) {}, [&](const If& n) { add(n.condition); },
      [&](const Let& n) { add(n.value); }, [](const Alloc&) {}, [&](const View& n) { add(n.byte_offset); },
      [&](const Store& n) {
        for (Expr e : n.indices) add(e);
        add(n.value);
      },
      [&](const Block& n) {
        for (const IterVar& iter : n.iters) add(iter.min), add(iter.extent), add(iter.binding);
        add(n.predicate);
        add_regions(n.reads), add_regions(n.writes);
      },
      [&](const Guard& n) { add(n.condition), add(n.expected), add(n.actual); },
      [&](const Invoke& n) {
        for (const Argument& argument : n.args)
          if (const auto* e = std::get_if<Expr>(&argument)) add(*e);
      });
  return out;
}

Stmt rewrite(Context& context, Stmt s, const Rewriter& rewriter) {
  return Rebuild(context, rewriter).run(s);
}

Stmt substitute(Context& context, Stmt s, const arith::Substitution& replacements) {
  Rewriter rewriter;
  arith::Substituter substituter(replacements);
  rewriter.on_expr = [&](Expr e) { return substituter.of(e); };
  return rewrite(context, s, rewriter);
}

void for_each_stmt(Stmt root, const std::function<void(Stmt)>& f) {
  std::vector<Stmt> stack{root};
  while (!stack.empty()) {
    Stmt s = stack.back();
    stack.pop_back();
    if (!s) continue;
    f(s);
    std::vector<Stmt> inner = children(s);
    stack.insert(stack.end(), inner.rbegin(), inner.rend());
  }
}

bool has_guards(Stmt root) {
  bool found = false;
  for_each_stmt(root, [&](Stmt s) { found = found || s.as<Guard>() != nullptr; });
  return found;
}

}  // namespace relaxc::tir
