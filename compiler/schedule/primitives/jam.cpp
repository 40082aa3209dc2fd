// jam.cpp: unroll-and-jam: moves a loop of a tile inwards past the reduction.
//
// The statements in the body of a loop with independent iterations may run for all iterations, one statement after the
// other; a local then needs a copy for each iteration. Locals that are the same in all iterations (an operand that is
// loaded once for the whole tile) keep one copy, and what computes them stays outside of the loop: this is the reuse
// for which tiles are made. These locals are found by a fixpoint over what each statement reads and writes.
#include "compiler/schedule/primitives/jam.h"

#include <optional>
#include <set>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

namespace {

class Jamming {
 public:
  Jamming(Context& context, const For& loop, bool past_allocs)
      : context_(context), build_(context), loop_(loop), past_allocs_(past_allocs) {}

  Stmt run() {
    tir::for_each_stmt(loop_.body, [&](Stmt s) {
      if (const auto* alloc = s.as<tir::Alloc>()) locals_.insert(alloc->buffer);
    });
    size_t before = 0;
    do {
      before = varying_.size();
      collect(loop_.body);
    } while (varying_.size() > before);
    return push(loop_.body);
  }

 private:
  /// Whether the loop moves into the statement; others are wrapped as a whole.
  bool is_structure(Stmt s) const {
    return s.as<tir::Seq>() != nullptr || s.as<For>() != nullptr || (past_allocs_ && s.as<tir::Alloc>() != nullptr);
  }

  bool varies(Stmt s) const {
    bool found = false;
    tir::for_each_stmt(s, [&](Stmt inner) {
      for (Expr e : tir::expressions(inner)) found |= depends_on(e, loop_.var);
    });
    for_each_access(s, [&](const Access& access) {
      found |= varying_.count(access.buffer) != 0 || (access.is_store && locals_.count(access.buffer) == 0);
    });
    return found;
  }

  void collect(Stmt s) {
    if (is_structure(s)) {
      for (Stmt child : tir::children(s)) collect(child);
      return;
    }
    if (!varies(s)) return;
    for_each_access(s, [&](const Access& access) {
      if (access.is_store && locals_.count(access.buffer) != 0) varying_.insert(access.buffer);
    });
  }

  Stmt push(Stmt s) {
    if (const auto* seq = s.as<tir::Seq>()) {
      std::vector<Stmt> parts;
      for (Stmt child : seq->body) parts.push_back(push(child));
      return build_.seq(std::move(parts));
    }
    if (const auto* inner = s.as<For>()) {
      RELAXC_CHECK(!depends_on(inner->extent, loop_.var) && !depends_on(inner->min, loop_.var),
                   "a loop whose bounds differ between the iterations to jam");
      For to = *inner;
      to.body = push(inner->body);
      return make_stmt(context_, std::move(to));
    }
    if (const auto* alloc = past_allocs_ ? s.as<tir::Alloc>() : nullptr) {
      if (varying_.count(alloc->buffer) == 0) return build_.alloc(alloc->buffer, push(alloc->body));
      tir::Buffer wide = *alloc->buffer;
      wide.id = context_.next_id();
      wide.shape.insert(wide.shape.begin(), loop_.extent);
      BufferRef made = context_.arena().make<tir::Buffer>(std::move(wide));
      Stmt body = redirect(context_, alloc->body, alloc->buffer, made, [&](const Indices& from) {
        Indices to = from;
        to.insert(to.begin(), loop_.var - loop_.min);
        return std::optional(to);
      });
      locals_.insert(made), varying_.insert(made);
      return build_.alloc(made, push(body));
    }
    if (!varies(s)) return s;
    For leaf = loop_;
    leaf.id = context_.next_id() + 1;
    leaf.var = context_.var(loop_.var.name());
    leaf.body = tir::substitute(context_, s, {{loop_.var, leaf.var}});
    return make_stmt(context_, std::move(leaf));
  }

  Context& context_;
  tir::Builder build_;
  const For& loop_;
  const bool past_allocs_;
  std::set<BufferRef> locals_, varying_;  // never iterated
};

}  // namespace

Stmt jammed(Context& context, const For& loop, bool past_allocs) {
  return Jamming(context, loop, past_allocs).run();
}

Legal<Jam::Facts> Jam::legal(const Tree& tree) const {
  return is_jammable(tree, loop);
}

Jam::Made Jam::apply(Tree& tree, const Facts&) const {
  tree.edit_loop(loop, [&](const For& from) { return jammed(tree.context(), from, true); });
  return Done{};
}

}  // namespace relaxc::schedule
