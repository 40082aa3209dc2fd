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
#include <set>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/independence.h"
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
  Merging(Context& context, const Target& target) : context_(context), build_(context), target_(target) {}

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

  /// The innermost loop around several nests, a few iterations of each nest at a time where they are short. A known
  /// number of rows is cut into equal steps, so that all bounds stay numbers.
  Stmt in_steps(Stmt s) {
    constexpr double kShort = 400;  // nanoseconds of a row; its sums make the processor wait for some tens
    if (const auto* view = s.as<tir::View>()) {
      tir::View to = *view;
      to.body = in_steps(view->body);
      return make_stmt(context_, std::move(to));
    }
    const auto* loop = s.as<For>();
    if (loop == nullptr) return s;
    const auto* nests = loop->body.as<tir::Seq>();
    if (nests == nullptr) {
      For to = *loop;
      to.body = in_steps(loop->body);
      return make_stmt(context_, std::move(to));
    }
    int64_t count = rows_of_step(loop->extent);
    if (count == 1 || !has_loops(loop->body) || nanoseconds(loop->body, target_) > kShort) return s;
    Expr steps = arith::ceildiv(loop->extent, count);
    return build_.loop(loop->var.name() + "_c", steps, [&](Var step) {
      Expr begin = loop->min + step * count, rows = build_.index(count);
      if (loop->extent.constant() == nullptr) rows = arith::simplify(arith::min(rows, loop->extent - step * count));
      std::vector<Stmt> parts;
      for (Stmt nest : nests->body)
        parts.push_back(build_.loop(loop->var.name(), rows, [&](Var row) {
          return tir::substitute(context_, nest, {{loop->var, begin + row}});
        }));
      return build_.seq(std::move(parts));
    });
  }

 private:
  /// 1: one after the other.
  static int64_t rows_of_step(Expr extent) {
    constexpr int64_t kRows = 4;
    const int64_t* known = extent.constant();
    if (known == nullptr) return kRows;
    if (*known <= kRows) return 1;
    int64_t count = kRows;
    while (*known % count != 0) --count;
    return count;
  }

  /// Else an iteration is an element and no row: there is no sum to wait for.
  static bool has_loops(Stmt s) {
    bool found = false;
    tir::for_each_stmt(s, [&](Stmt inner) { found |= inner.as<For>() != nullptr; });
    return found;
  }

  Rows rows_of(Stmt s) {
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
  const Target& target_;
};

}  // namespace

std::vector<Stmt> merge_rows(Context& context, std::vector<Stmt> parts, const Target& target, std::string& trace) {
  constexpr int kMostNests = 16;  // in one loop, which is looked at again for each; no norm has as many
  Merging merging(context, target);
  std::vector<Stmt> out;
  int nests = 0;  // in the last of `out`
  auto finish = [&] {
    if (nests > 1) out.back() = merging.in_steps(out.back());
  };
  for (Stmt part : parts) {
    bool room = nests > 0 && nests < kMostNests;
    Stmt both = room ? merging.merged(out.back(), part) : Stmt();
    if (both) {
      out.back() = both;
      trace += "merge_rows\n";
      ++nests;
    } else {
      finish();
      out.push_back(part);
      nests = 1;
    }
  }
  finish();
  return out;
}

}  // namespace relaxc::schedule
