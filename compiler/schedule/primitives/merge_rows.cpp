// merge_rows.cpp: see merge_rows.h.
#include "compiler/schedule/primitives/merge_rows.h"

#include <fmt/format.h>

#include <set>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/independence.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// A loop inside of views, without the loops of one iteration around it.
struct Rows {
  std::vector<const tir::View*> views;
  const For* loop = nullptr;
};

class Merging {
 public:
  explicit Merging(Context& context) : context_(context), build_(context) {}

  /// The merged statement; null if the two cannot be merged.
  Stmt merged(Stmt first, Stmt second) {
    Rows a = rows_of(first), b = rows_of(second);
    if (a.loop == nullptr || b.loop == nullptr || !arith::prove_equal(a.loop->extent, b.loop->extent)) return {};
    if (!share_memory(first, second)) return {};
    Stmt other = tir::substitute(context_, b.loop->body, {{b.loop->var, a.loop->var}});
    For loop = *a.loop;
    loop.body = build_.seq({a.loop->body, other});
    Stmt s = in_views(a, in_views(b, make_stmt(context_, loop)));
    const For* made = nullptr;
    tir::for_each_stmt(s, [&](Stmt inner) {
      const auto* candidate = inner.as<For>();
      if (candidate != nullptr && candidate->id == loop.id) made = candidate;
    });
    if (!has_independent_iterations(s, *made)) return {};
    if (Stmt inner = merged(a.loop->body, other)) {
      loop.body = inner;
      s = in_views(a, in_views(b, make_stmt(context_, loop)));
    }
    return s;
  }

  Rows rows_of(Stmt s) const {
    Rows found;
    while (true) {
      if (const auto* view = s.as<tir::View>()) {
        found.views.push_back(view);
        s = view->body;
        continue;
      }
      const auto* loop = s.as<For>();
      if (loop == nullptr || loop->loop_kind != tir::LoopKind::kSerial || !loop->min.is_constant(0)) return found;
      if (!loop->extent.is_constant(1) || (loop->body.as<For>() == nullptr && loop->body.as<tir::View>() == nullptr)) {
        found.loop = loop;
        return found;
      }
      s = tir::substitute(context_, loop->body, {{loop->var, loop->min}});
    }
  }

 private:
  Stmt in_views(const Rows& rows, Stmt s) {
    for (size_t i = rows.views.size(); i-- > 0;) {
      tir::View view = *rows.views[i];
      view.body = s;
      s = make_stmt(context_, std::move(view));
    }
    return s;
  }

  /// Whether both access a common buffer; otherwise merging gains nothing.
  static bool share_memory(Stmt first, Stmt second) {
    std::set<BufferRef> touched;  // never iterated
    bool shared = false;
    for (Stmt s : {first, second}) {
      auto touch = [&](BufferRef buffer) {
        if (s == first)
          touched.insert(buffer);
        else
          shared |= touched.count(buffer) != 0;
      };
      for_each_access(s, [&](const Access& access) { touch(access.buffer); });
      tir::for_each_stmt(s, [&](Stmt inner) {
        if (const auto* view = inner.as<tir::View>()) touch(view->base);
      });
    }
    return shared;
  }

  Context& context_;
  tir::Builder build_;
};

/// Calls `f` with the sequence in which the nests of these row loops are adjacent, and the index in it.
template <typename F>
void at_neighbours(Context& context, Stmt root, uint32_t first, uint32_t second, F f) {
  const Merging merging(context);
  auto is_of = [&](Stmt s, uint32_t id) {
    const For* loop = merging.rows_of(s).loop;
    return loop != nullptr && loop->id == id;
  };
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    for (size_t i = 0; seq != nullptr && i + 1 < seq->body.size(); ++i)
      if (is_of(seq->body[i], first) && is_of(seq->body[i + 1], second)) f(*seq, i);
  });
}

}  // namespace

uint32_t row_loop(Context& context, Stmt s) {
  const For* loop = Merging(context).rows_of(s).loop;
  return loop == nullptr ? 0 : loop->id;
}

Legal<MergeRows::Facts> MergeRows::legal(const Tree& tree) const {
  const tir::Seq* around = nullptr;
  size_t place = 0;
  at_neighbours(tree.context(), tree.root(), first, second,
                [&](const tir::Seq& seq, size_t i) { around = &seq, place = i; });
  Stmt both = around == nullptr ? Stmt() : Merging(tree.context()).merged(around->body[place], around->body[place + 1]);
  RELAXC_REQUIRE(
      static_cast<bool>(both),
      fmt::format(
          "the nests of loops '{}' and '{}' are not consecutive, have rows of their own, or need more of each other "
          "than the same row",
          loop_name(tree, first), loop_name(tree, second)));
  return Facts{around, place, both};
}

MergeRows::Made MergeRows::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&, old = facts.around->body](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr || seq->body != old) return s;
    std::vector<Stmt> parts = old;
    parts[facts.place] = facts.both;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(facts.place) + 1);
    return build.seq(std::move(parts));
  };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), rewriter));
  return Done{};
}

}  // namespace relaxc::schedule
