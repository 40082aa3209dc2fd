// loop_symbols.cpp: upper bounds of carried dims.
//
// A dim that each iteration sets anew is bounded by that value; one that grows by a fixed amount, by its start and the
// trip count; any other, by evaluating its formula for each iteration (short loops), else by the declared range.
#include "compiler/transform/lower/host/loop_symbols.h"

#include <algorithm>
#include <optional>

namespace relaxc::lower {

using namespace relax;

namespace {

constexpr int64_t kMostUnrolledBounds = 64;

class CarriedSymbols {
 public:
  CarriedSymbols(ShapeProgram& shapes, const Op& loop, Expr trips)
      : shapes_(shapes),
        symbols_(shapes.symbols()),
        loop_(loop),
        body_(*loop.regions[0]),
        carried_(loop.operands().size() - 2),
        trips_(trips) {}

  LoopSymbols run() {
    for (size_t k = 0; k < carried_; ++k) find(k);
    require_first_dims();
    for (size_t j = 0; j < found_.symbols.size(); ++j) found_.bounds.push_back(bound(j));
    return std::move(found_);
  }

 private:
  void find(size_t k);
  void require_first_dims();
  Expr bound(size_t j) const;
  Expr bound_by_steps(Var var, Expr start, Expr next, int64_t count) const;
  const Value& argument(size_t k) const { return *body_.arguments[k + 1]; }

  ShapeProgram& shapes_;
  const Symbols& symbols_;
  const Op& loop_;
  const Region& body_;
  const size_t carried_;
  Expr trips_;
  LoopSymbols found_;
};

/// Adds the changing symbols of carried value `k`, with their initial values and their values after an iteration.
void CarriedSymbols::find(size_t k) {
  std::vector<Expr> inside = numbers(argument(k).info);
  std::vector<Expr> before = symbols_.known(numbers(loop_.operand(k + 2)->info));
  std::vector<Expr> after = symbols_.known(numbers(body_.results()[k + 1]->info));
  if (inside.empty()) return;  // a scalar that is no number of a shape
  RELAXC_CHECK(inside.size() == before.size() && inside.size() == after.size(), "a carried value changes its rank");
  for (size_t axis = 0; axis < inside.size(); ++axis) {
    bool ours = std::find(loop_.binds.begin(), loop_.binds.end(), inside[axis]) != loop_.binds.end();
    bool known = std::find(found_.symbols.begin(), found_.symbols.end(), inside[axis]) != found_.symbols.end();
    if (!ours || known) continue;
    found_.symbols.push_back(Var(inside[axis].as<arith::VarNode>()));
    found_.initial.push_back(before[axis]);
    found_.next.push_back(after[axis]);
  }
}

void CarriedSymbols::require_first_dims() {
  arith::Substitution start;
  for (size_t j = 0; j < found_.symbols.size(); ++j) start[found_.symbols[j]] = found_.initial[j];
  for (size_t k = 0; k < carried_; ++k) {
    std::vector<Expr> inside = symbols_.known(numbers(argument(k).info));
    std::vector<Expr> before = symbols_.known(numbers(loop_.operand(k + 2)->info));
    for (size_t axis = 0; axis < inside.size(); ++axis)
      if (inside[axis].dtype().is_index())
        shapes_.require_equal(arith::substitute(inside[axis], start), before[axis], axis,
                              exact_dim(axis, argument(k).name));
  }
}

/// Returns the largest value that symbol `j` can have; null if none is known.
Expr CarriedSymbols::bound(size_t j) const {
  Var var = found_.symbols[j];
  Expr next = found_.next[j];
  tir::Builder build(var.context());
  if (!var.dtype().is_index()) return {};
  Expr start = symbols_.bounded(found_.initial[j]), trips = trips_ ? symbols_.bounded(trips_) : Expr();
  if (next == var || arith::prove(arith::le(next, var), symbols_.facts())) return start;
  if (!start) return {};
  // A next value that does not depend on the last one is bounded whatever the number of iterations.
  std::optional<Expr> anew = arith::upper_bound_without(next, found_.symbols, symbols_.facts());
  if (Expr most = anew ? symbols_.bounded(*anew) : Expr()) return arith::max(start, most);
  if (!trips) return {};
  Expr step = arith::simplify(next - var, symbols_.facts());
  if (symbols_.of_entry(step)) {
    const Expr growth = arith::max(step, build.index(0));
    return start + arith::max(trips, build.index(0)) * growth;
  }
  std::vector<Var> inside = arith::free_vars(next);
  std::erase(inside, var);
  bool plain = std::all_of(inside.begin(), inside.end(), [&](Var v) { return symbols_.of_entry(v); });
  const int64_t* count = trips.constant();
  if (!plain || count == nullptr || *count > kMostUnrolledBounds) return {};
  return bound_by_steps(var, start, next, *count);
}

Expr CarriedSymbols::bound_by_steps(Var var, Expr start, Expr next, int64_t count) const {
  Symbols trial = symbols_;
  Expr most = start, now = start;
  for (int64_t i = 0; i < count && now; ++i) {
    Var step = var.context().var(var.name());
    trial.add_data(step, now);
    now = trial.bounded(arith::substitute(next, {{var, step}}));
    most = now ? arith::max(most, now) : now;
  }
  return most;
}

}  // namespace

LoopSymbols carried_symbols(ShapeProgram& shapes, const Op& loop, Expr trips) {
  return CarriedSymbols(shapes, loop, trips).run();
}

}  // namespace relaxc::lower
