// loop_bounds.cpp: walks the statements of a kernel with the range of every loop variable.
//
// An extent that depends on an outer loop, as that of a last tile does, has the largest value that it takes; the total
// is then an upper bound and not the exact number.
#include "compiler/api/observe/loop_bounds.h"

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::api {
namespace {

constexpr int64_t kUnbounded = INT64_MAX;

/// Returns the product of two counts; kUnbounded if it has no bound, or none in int64.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a == 0 || b == 0) return 0;
  return a == kUnbounded || b == kUnbounded || __builtin_mul_overflow(a, b, &product) ? kUnbounded : product;
}

int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return a == kUnbounded || b == kUnbounded || __builtin_add_overflow(a, b, &sum) ? kUnbounded : sum;
}

/// A statement that is left to visit, with what is around it.
struct Visit {
  tir::Stmt statement;
  int64_t depth, runs;
};

class LoopWalk {
 public:
  explicit LoopWalk(const arith::Facts& facts) : facts_(facts) {}

  KernelLoops run(tir::Stmt body) {
    waiting_.push_back({body, 0, 1});
    while (!waiting_.empty()) {
      Visit place = waiting_.back();
      waiting_.pop_back();
      look_at(place);
    }
    return std::move(found_);
  }

 private:
  void look_at(Visit place) {
    if (!place.statement) return;
    if (const auto* loop = place.statement.as<tir::For>()) enter(*loop, place);
    if (place.statement.as<tir::While>() != nullptr) found_.has_while = true, place.runs = kUnbounded;
    if (place.statement.as<tir::Store>() != nullptr) found_.stores_at_most = plus(found_.stores_at_most, place.runs);
    std::vector<tir::Stmt> inside = tir::children(place.statement);
    for (size_t i = inside.size(); i-- > 0;) waiting_.push_back({inside[i], place.depth, place.runs});
  }

  void enter(const tir::For& loop, Visit& place) {
    const arith::Range extent = arith::bounds(loop.extent, facts_), first = arith::bounds(loop.min, facts_),
                       last = arith::bounds(arith::simplify(loop.min + loop.extent), facts_);
    const int64_t at_most = extent.has_upper() ? std::max<int64_t>(extent.upper, 0) : kUnbounded;
    facts_.bound(loop.var, {first.lower, last.has_upper() ? last.upper - 1 : last.upper});
    place.runs = times(place.runs, at_most);
    found_.loops.push_back({loop.var.name(), place.depth, arith::to_string(loop.extent), at_most, place.runs});
    ++place.depth;
  }

  arith::Facts facts_;
  std::vector<Visit> waiting_;
  KernelLoops found_;
};

}  // namespace

KernelLoops loop_bounds_of(const tir::PrimFunc& kernel, const arith::Facts& facts) {
  return LoopWalk(facts).run(kernel.body);
}

}  // namespace relaxc::api
