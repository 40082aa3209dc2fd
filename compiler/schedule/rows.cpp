// rows.cpp: nests over the same rows, a row at a time.
//
// A softmax is four nests: the maximum of each row, the powers, their sum, the quotients; a norm is three. One after
// the other, each goes through the whole tensor, which by then has left the cache. If the outermost loops of two nests
// have the same extent, and nothing that the second reads or writes in one iteration is touched by the first in
// another, both bodies can stand in one loop; then their own outermost loops are looked at in the same way.
//
// A short row is over before its maximum or its sum is known, and the next nest waits for that. So where rows are short
// a few of them take each step together: the rows of a step do not wait for each other.
//
// No iteration computes anything else than before, so bits stay, and one parallel loop does for all.
#include <fmt/format.h>

#include <set>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/rule_parts.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// A loop inside of views; loops of one iteration around it are gone.
struct Rows {
  std::vector<const tir::View*> views;
  const For* loop = nullptr;
};

class Merging {
 public:
  explicit Merging(Context& context) : context_(context), build_(context) {}

  /// One statement for both; null: they stay apart.
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

  /// Else there is nothing to be gained.
  static bool share_memory(Stmt first, Stmt second) {
    std::set<BufferRef> touched;  // asked for membership only
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

/// Calls `f` with the sequence and the place in it where the nests of these row loops stand side by side.
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

bool Schedule::can_merge_rows(uint32_t first, uint32_t second) const {
  bool fits = false;
  at_neighbours(context_, root_, first, second, [&](const tir::Seq& seq, size_t i) {
    fits = static_cast<bool>(Merging(context_).merged(seq.body[i], seq.body[i + 1]));
  });
  return fits;
}

void Schedule::merge_rows(uint32_t first, uint32_t second) {
  const tir::Seq* around = nullptr;
  size_t place = 0;
  at_neighbours(context_, root_, first, second, [&](const tir::Seq& seq, size_t i) { around = &seq, place = i; });
  Stmt both = around == nullptr ? Stmt() : Merging(context_).merged(around->body[place], around->body[place + 1]);
  require(static_cast<bool>(both), [&] {
    return fmt::format(
        "the nests of loops '{}' and '{}' do not stand side by side, have rows of their own, or need more "
        "of each other than the same row",
        loop_name(first), loop_name(second));
  });
  note(fmt::format("merge_rows {} {}", loop_name(first), loop_name(second)));
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&, old = around->body](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr || seq->body != old) return s;
    std::vector<Stmt> parts = old;
    parts[place] = both;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    return build_.seq(std::move(parts));
  };
  root_ = tir::rewrite(context_, root_, rewriter);
}

void Schedule::row_steps(uint32_t id, int64_t rows) {
  require_in_order(id), require_together(id);
  require(rows > 1, "a step has at least 2 rows");
  require(loop(id).body.as<tir::Seq>() != nullptr,
          [&] { return fmt::format("loop '{}' holds one nest", loop_name(id)); });
  require(loop(id).loop_kind == tir::LoopKind::kSerial, "steps of a parallel loop");
  note(fmt::format("row_steps {} {}", loop_name(id), rows));
  edit_loop(id, [&](const For& from) {
    const bool even = arith::divisor(arith::simplify(from.extent), facts_) % rows == 0;
    return build_.loop(from.var.name() + "_c", arith::ceildiv(from.extent, rows), [&](Var step) {
      Expr begin = from.min + step * rows, count = build_.index(rows);
      if (!even) count = arith::simplify(arith::min(count, from.extent - step * rows));
      std::vector<Stmt> parts;
      for (Stmt nest : from.body.as<tir::Seq>()->body)
        parts.push_back(build_.loop(from.var.name(), count, [&](Var row) {
          return tir::substitute(context_, nest, {{from.var, begin + row}});
        }));
      return build_.seq(std::move(parts));
    });
  });
}

namespace {

/// 1: one after the other. A known number of rows is cut into equal steps, so that all bounds stay numbers.
int64_t rows_of_step(Expr extent) {
  constexpr int64_t kRows = 4;
  const int64_t* known = extent.constant();
  if (known == nullptr) return kRows;
  if (*known <= kRows) return 1;
  int64_t count = kRows;
  while (*known % count != 0) --count;
  return count;
}

/// Else an iteration is an element and no row: there is no sum to wait for.
bool has_loops(Stmt s) {
  bool found = false;
  tir::for_each_stmt(s, [&](Stmt inner) { found |= inner.as<For>() != nullptr; });
  return found;
}

/// The innermost loop around several nests, a few iterations of each nest at a time where they are short.
void take_steps(Schedule& s, uint32_t id, const Target& target) {
  constexpr double kShort = 400;  // nanoseconds of a row; its sums make the processor wait for some tens
  const For* loop = &s.loop(id);
  for (Stmt body = loop->body; body.as<tir::Seq>() == nullptr;) {
    if (const auto* view = body.as<tir::View>()) {
      body = view->body;
      continue;
    }
    loop = body.as<For>();
    if (loop == nullptr) return;
    body = loop->body;
  }
  int64_t count = rows_of_step(loop->extent);
  if (count > 1 && has_loops(loop->body) && nanoseconds(loop->body, target) <= kShort) s.row_steps(loop->id, count);
}

}  // namespace

uint32_t row_loop(Context& context, Stmt s) {
  const For* loop = Merging(context).rows_of(s).loop;
  return loop == nullptr ? 0 : loop->id;
}

void schedule_rows(Schedule& s, const std::vector<uint32_t>& loops, const Target& target) {
  constexpr int kMostNests = 16;  // in one loop, which is looked at again for each; no norm has as many
  uint32_t last = 0;
  int nests = 0;  // of `last`
  auto finish = [&] {
    if (nests > 1) take_steps(s, last, target);
  };
  for (uint32_t loop : loops) {
    if (last != 0 && loop != 0 && nests < kMostNests && s.can_merge_rows(last, loop)) {
      s.merge_rows(last, loop);
      ++nests;
      continue;
    }
    finish();
    last = loop, nests = 1;
  }
  finish();
}

}  // namespace relaxc::schedule
