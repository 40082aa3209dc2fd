// host_loop.cpp: loops with carried values.
//
// A carried tensor has two memories used in turn: iteration i reads the one of i's parity and writes the other, so the
// body never waits for a copy, and the size may change from one iteration to the next. One memory is enough where the
// kernel that makes the next value is the last to read this one, and reads it element by element or not at all: sums
// that grow in place, and states of recurrent networks. Its first value may be made there, too: the copy into it says
// that it can be done in place, and planning drops what copies a tensor to where it is. Carried dims and the number of
// iterations lie in a small vector of int64, the loop's state; each iteration begins by reading its symbols from there.
//
// Room is reserved for the largest iteration: a dim that each iteration sets anew is bounded by what it is set to, one
// that grows by a fixed amount by its start and the trip count, one that grows otherwise by running the formula (short
// loops), else by what the program declares. Where
// nothing bounds it, the two memories are blocks of the heap that grow as they must; so do scan outputs where nobody
// knows the number of iterations.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

struct HostFunction::Carried {
  BufferRef room = nullptr;                         ///< null: no tensor, symbols alone carry it
  Expr half;                                        ///< bytes, a multiple of the alignment; null: the room is one
  Expr elements;                                    ///< that the room, or a half of it, has room for
  BufferRef block = nullptr, next_block = nullptr;  ///< instead of a room, where its size has no bound
};

struct HostFunction::LoopState {
  size_t carried = 0;    ///< how many values
  Expr trips;            ///< null: until the condition fails
  bool dynamic = false;  ///< the number of iterations is known only afterwards
  Var iteration;
  std::vector<Var> symbols;  ///< that change from iteration to iteration
  std::vector<Expr> initial, next, bounds;
  Cells state;  ///< the symbols, then the number of iterations done
  std::vector<Carried> values;
  std::vector<BufferRef> scans;  ///< rooms, or blocks …
  std::vector<bool> growing;     ///< … that grow with the number of iterations
};

namespace {

constexpr int64_t kMostUnrolledBounds = 64;

}  // namespace

Expr HostFunction::trip_count(const Op& op) {
  if (op.operand(0) == nullptr) return {};
  auto input = trip_counts_.find(&op);
  if (input != trip_counts_.end()) return input->second;
  Expr value = values_.scalar(*op.operand(0));
  if (symbols_.of_entry(value)) return arith::cast(DType::index(), value);
  if (value.as<arith::VarNode>() != nullptr) return value;
  Var trips = context().var("trips");
  shapes_.bind_from_data(trips, value, {}, false);
  return trips;
}

/// Finds the symbols that change, where they start and what an iteration makes of them.
void HostFunction::carry_symbols(const Op& op, LoopState& loop) {
  const Region& body = *op.regions[0];
  for (size_t k = 0; k < loop.carried; ++k) {
    std::vector<Expr> inside = numbers(body.arguments[k + 1]->info);
    std::vector<Expr> before = symbols_.known(numbers(op.operand(k + 2)->info));
    std::vector<Expr> after = symbols_.known(numbers(body.results()[k + 1]->info));
    if (inside.empty()) continue;  // a scalar that is no number of any shape
    RELAXC_CHECK(inside.size() == before.size() && inside.size() == after.size(), "a carried value changes its rank");
    for (size_t axis = 0; axis < inside.size(); ++axis) {
      bool ours = std::find(op.binds.begin(), op.binds.end(), inside[axis]) != op.binds.end();
      bool known = std::find(loop.symbols.begin(), loop.symbols.end(), inside[axis]) != loop.symbols.end();
      if (!ours || known) continue;
      loop.symbols.push_back(Var(inside[axis].as<arith::VarNode>()));
      loop.initial.push_back(before[axis]);
      loop.next.push_back(after[axis]);
    }
  }
  arith::Substitution start;
  for (size_t j = 0; j < loop.symbols.size(); ++j) start[loop.symbols[j]] = loop.initial[j];
  for (size_t k = 0; k < loop.carried; ++k) {
    std::vector<Expr> inside = symbols_.known(numbers(body.arguments[k + 1]->info));
    std::vector<Expr> before = symbols_.known(numbers(op.operand(k + 2)->info));
    for (size_t axis = 0; axis < inside.size(); ++axis)
      if (inside[axis].dtype().is_index())
        shapes_.require_equal(arith::substitute(inside[axis], start), before[axis], axis,
                              exact_dim(axis, body.arguments[k + 1]->name));
  }
  for (size_t j = 0; j < loop.symbols.size(); ++j)
    loop.bounds.push_back(bound_of_carried(op, loop, loop.symbols[j], loop.initial[j], loop.next[j]));
}

Expr HostFunction::bound_of_carried(const Op&, const LoopState& loop, Var var, Expr initial, Expr next) {
  if (!var.dtype().is_index()) return {};
  Expr start = symbols_.bounded(initial), trips = loop.trips ? symbols_.bounded(loop.trips) : Expr();
  if (next == var || arith::prove(arith::le(next, var), symbols_.facts())) return start;
  if (!start) return {};
  // What an iteration sets anew does not depend on how many there are.
  std::optional<Expr> anew = arith::upper_bound_without(next, loop.symbols, symbols_.facts());
  if (Expr most = anew ? symbols_.bounded(*anew) : Expr()) return arith::max(start, most);
  if (!trips) return {};
  Expr step = arith::simplify(next - var, symbols_.facts());
  if (symbols_.of_entry(step)) return start + arith::max(trips, build_.index(0)) * arith::max(step, build_.index(0));
  std::vector<Var> inside = arith::free_vars(next);
  std::erase(inside, var);
  bool plain = std::all_of(inside.begin(), inside.end(), [&](Var v) { return symbols_.of_entry(v); });
  const int64_t* count = trips.constant();
  if (!plain || count == nullptr || *count > kMostUnrolledBounds) return {};
  Symbols trial = symbols_;
  Expr most = start, now = start;
  for (int64_t i = 0; i < *count && now; ++i) {
    Var step_var = context().var(var.name());
    trial.add_data(step_var, now);
    now = trial.bounded(arith::substitute(next, {{var, step_var}}));
    most = now ? arith::max(most, now) : now;
  }
  return most;
}

namespace {

/// The op of `region` itself that `op` is or stands in; null: it is what the region yields.
const Op* op_of(const Region& region, const Op* op) {
  while (op != nullptr && !op->is_yield && op->block->parent != &region) op = op->block->parent->parent_op;
  return op;
}

/// Whether the kernel that `op` calls may write its only result over that operand.
bool writes_over(const tir::PrimFunc& kernel, const Op& op, size_t operand) {
  bool tensors = std::all_of(op.operands().begin(), op.operands().end(),
                             [](const Value* v) { return v != nullptr && v->info->as<TensorInfo>() != nullptr; });
  if (op.results.size() != 1 || !tensors) return false;
  for (size_t i = 0; i <= operand; ++i)
    if (kernel.params.at(i).buffer == nullptr) return false;
  const std::vector<size_t>& inputs = kernel.memory.in_place;
  return std::find(inputs.begin(), inputs.end(), operand) != inputs.end();
}

}  // namespace

/// Whether the kernel that makes the next value of what is carried may write it over the last one: nobody reads that
/// later, nor the kernel itself but element by element.
bool HostFunction::replaces(const Op& op, size_t k) const {
  const Region& body = *op.regions[0];
  Value &last = *body.arguments[k + 1], &next = *body.results()[k + 1];
  const Op* maker = can_write(next, body);
  if (maker == nullptr || maker->kind != OpKind::kCallTir || maker->results.size() != 1) return false;
  if (symbols_.known(shapes_.dims(last.info)) != symbols_.known(shapes_.dims(next.info))) return false;
  tir::PrimFunc& kernel = *shared_.module.find_prim_func(maker->callee);
  std::map<const Op*, size_t> place;
  for (const Op* one : ops_of(body)) place.emplace(one, place.size());
  bool over = false;
  std::set<const Value*> seen{&last};
  for (std::vector<const Value*> left{&last}; !left.empty();) {
    const Value& value = *left.back();
    left.pop_back();
    for (const Use& use : value.uses()) {
      const Op* around = use.user->is_yield ? nullptr : op_of(body, use.user);
      if (around == nullptr || place.at(around) > place.at(maker)) return false;
      if (around == maker) {
        if (use.user != maker || !writes_over(kernel, *maker, use.index)) return false;
        over = true;
      }
      if (use.user->kind == OpKind::kCallTir) continue;
      for (const Value* result : use.user->results)  // it may be seen through them
        if (seen.insert(result).second) left.push_back(result);
    }
  }
  if (over) kernel.noalias = false;
  return true;
}

Status HostFunction::reserve_carried(const Op& op, LoopState& loop) {
  const Region& body = *op.regions[0];
  for (size_t k = 0; k < loop.carried; ++k) {
    loop.values.emplace_back();
    const Value& argument = *body.arguments[k + 1];
    if (argument.info->as<TensorInfo>() == nullptr) continue;
    Carried& value = loop.values.back();
    value.elements = symbols_.bounded(shapes_.product_of(shapes_.dims(argument.info)));
    if (!value.elements) {
      claim_carried(*op.operand(k + 2), argument, value);
      continue;
    }
    constexpr int64_t kAlign = WeightLayout::kAlignment;
    if (replaces(op, k)) {
      value.room =
          build_.buffer(argument.name + "_room", argument.dtype(), {value.elements}, tir::Scope::kGlobal, kAlign);
    } else {
      value.half = arith::ceildiv(value.elements * argument.dtype().bytes(), kAlign) * kAlign;
      value.room = build_.buffer(argument.name + "_room", DType::u(8), {value.half * 2}, tir::Scope::kGlobal, kAlign);
    }
    at_.alloc(value.room);
    const Value& first = *op.operand(k + 2);
    shapes_.require_room(shapes_.elements_of(shapes_.dims(first.info)), value.elements);
    memory_.copy(values_.buffer(first), memory_.view_as(value.room, argument.name, argument.dtype(),
                                                        shapes_.dims(first.info), build_.index(0)));
  }
  return Done{};
}

/// Two blocks: the body reads one and writes the other, and then they change places.
void HostFunction::claim_carried(const Value& first, const Value& argument, Carried& value) {
  value.next_block = heap_.empty_block(argument.name + "_next");
  value.block = heap_.claimed_block(argument.name, shapes_.bytes_of(argument.dtype(), shapes_.dims(first.info)));
  memory_.copy(values_.buffer(first),
               heap_.view_block(value.block, argument.name, argument.dtype(), shapes_.dims(first.info)));
}

Status HostFunction::reserve_scans(const Op& op, LoopState& loop) {
  Diagnostics& diag = this->diag();
  for (size_t k = loop.carried; k < op.results.size(); ++k) {
    const Value& result = *op.results[k];
    std::vector<Expr> element = shapes_.dims(op.regions[0]->results()[k + 1]->info);
    for (Expr dim : element)
      for (Var var : arith::free_vars(dim))
        if (!symbols_.in_scope(var))
          return diag.error(op.location, Kind::unsupported, "scan output '{}' changes its shape from step to step",
                            result.name);
    if (!loop.dynamic && symbols_.of_entry(shapes_.dims(result.info))) {
      loop.growing.push_back(false);
      loop.scans.push_back(produce(result));
      continue;
    }
    Expr most =
        loop.trips ? symbols_.bounded(arith::max(loop.trips, build_.index(0)) * shapes_.elements_of(element)) : Expr();
    loop.growing.push_back(!most);
    if (!most) {
      loop.scans.push_back(heap_.claimed_block(result.name, build_.index(0)));
      continue;
    }
    BufferRef room =
        build_.buffer(result.name + "_room", result.dtype(), {most}, tir::Scope::kGlobal, WeightLayout::kAlignment);
    at_.alloc(room);
    loop.scans.push_back(room);
  }
  return Done{};
}

Status HostFunction::lower_loop_body(const Op& op, LoopState& loop, tir::Stmt& body) {
  Diagnostics& diag = this->diag();
  const Region& region = *op.regions[0];
  InsertionPoint::Nested inside(at_, 1);
  Symbols::Mark before = symbols_.mark();
  symbols_.add_data(loop.iteration, loop.trips);
  for (size_t j = 0; j < loop.symbols.size(); ++j) {
    at_.let(loop.symbols[j], cell(loop.state, j));
  }
  const std::vector<Value*>& results = region.results();
  std::vector<BufferRef> targets(results.size());
  for (size_t k = 0; k < loop.carried; ++k) {
    const Value& argument = *region.arguments[k + 1];
    const Carried& value = loop.values[k];
    if (value.block != nullptr) {
      values_.slot(argument).buffer =
          heap_.view_block(value.block, argument.name, argument.dtype(), shapes_.dims(argument.info));
      targets[k + 1] = build_.buffer(argument.name + "_room", argument.dtype(), {context().var("room")},
                                     tir::Scope::kGlobal, WeightLayout::kAlignment);
    }
    if (value.room == nullptr) continue;
    auto half = [&](Expr i) { return value.half ? arith::floormod(i, 2) * value.half : Expr(); };
    values_.slot(argument).buffer =
        memory_.view_as(value.room, argument.name, argument.dtype(), shapes_.dims(argument.info), half(loop.iteration));
    targets[k + 1] = memory_.view_as(value.room, argument.name + "_next", argument.dtype(), {value.elements},
                                     half(loop.iteration + 1));
    memory_.limit(targets[k + 1], value.elements);
  }
  for (size_t k = 0; k < loop.scans.size(); ++k) {
    Expr elements = shapes_.elements_of(shapes_.dims(results[1 + loop.carried + k]->info));
    if (loop.growing[k]) {
      const Value& result = *results[1 + loop.carried + k];
      Expr step = elements * result.dtype().bytes(), written = loop.iteration * step;
      at_.add(heap_.reserve(loop.scans[k], written, written + step));
      targets[1 + loop.carried + k] = heap_.view_block(loop.scans[k], result.name, result.dtype(), {elements}, written);
      continue;
    }
    targets[1 + loop.carried + k] =
        memory_.view_as(loop.scans[k], loop.scans[k]->name, loop.scans[k]->dtype, {elements},
                        loop.iteration * elements * loop.scans[k]->dtype.bytes());
  }
  std::vector<bool> told = tell_targets(region, targets);
  Status done = lower_region(region);
  if (done) {
    for (size_t k = 0; k < results.size(); ++k)
      if (targets[k] != nullptr && !told[k])
        memory_.copy(values_.buffer(*results[k]),
                     memory_.seen_as(targets[k], results[k]->name, shapes_.dims(results[k]->info)));
    for (size_t j = 0; j < loop.symbols.size(); ++j) at_.add(set_cell(loop.state, j, symbols_.known(loop.next[j])));
    if (loop.dynamic) at_.add(set_cell(loop.state, loop.symbols.size(), loop.iteration + 1));
    for (const Carried& value : loop.values)
      if (value.block != nullptr) heap_.swap_blocks(value.block, value.next_block);
    if (results[0] != nullptr)
      at_.add(build_.branch(arith::logical_not(values_.truth(*results[0])), build_.leave_loop()));
    body = inside.finish();
    for (size_t k = 0; k < loop.carried; ++k)
      if (loop.values[k].block != nullptr) body = heap_.claim_views(body, targets[k + 1], loop.values[k].next_block);
  }
  symbols_.leave(std::move(before), false);
  if (!done) return diag.failed();
  return Done{};
}

/// What follows the loop sees the last values: carried tensors in the half of the last parity, dims in the state.
void HostFunction::loop_results(const Op& op, LoopState& loop) {
  Expr done = loop.trips ? arith::max(loop.trips, build_.index(0)) : Expr();
  if (loop.dynamic) {
    Var count = context().var("iterations");
    shapes_.bind_from_data(count, cell(loop.state, loop.symbols.size()), loop.trips);
    done = count;
  }
  for (size_t j = 0; j < loop.symbols.size(); ++j) {
    // The carried symbol itself may be the result's, or the result has one of its own.
    at_.let(loop.symbols[j], cell(loop.state, j));
  }
  const Region& region = *op.regions[0];
  for (size_t k = 0; k < op.results.size(); ++k) {
    std::vector<Expr> outside = numbers(op.results[k]->info);
    std::vector<Expr> last =
        k < loop.carried ? numbers(region.arguments[k + 1]->info) : shapes_.dims(region.results()[k + 1]->info);
    if (k >= loop.carried) last.insert(last.begin(), done);
    for (size_t axis = 0; axis < outside.size(); ++axis) {
      const auto* var = outside[axis].as<arith::VarNode>();
      if (var != nullptr && !symbols_.in_scope(Var(var))) symbols_.define(Var(var), symbols_.known(last[axis]));
    }
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    const Value& result = *op.results[k];
    if (result.info->as<TensorInfo>() == nullptr) continue;
    BufferRef block = k < loop.carried                 ? loop.values[k].block
                      : loop.growing[k - loop.carried] ? loop.scans[k - loop.carried]
                                                       : nullptr;
    if (k < loop.carried && block != nullptr) at_.add(heap_.release(loop.values[k].next_block));
    if (block != nullptr)
      values_.slot(result).buffer = heap_.own_block(block, result.name, result.dtype(), shapes_.dims(result.info));
    else if (k < loop.carried)
      values_.slot(result).buffer =
          memory_.view_as(loop.values[k].room, result.name, result.dtype(), shapes_.dims(result.info),
                          loop.values[k].half ? arith::floormod(done, 2) * loop.values[k].half : Expr());
    else
      values_.slot(result).buffer =
          memory_.view_as(loop.scans[k - loop.carried], result.name, result.dtype(), shapes_.dims(result.info));
  }
}

Status HostFunction::lower_loop(Op& op) {
  const Region& region = *op.regions[0];
  LoopState loop;
  loop.carried = op.operands().size() - 2;
  loop.trips = trip_count(op);
  loop.dynamic = !loop.trips || op.operand(1) != nullptr || region.results()[0] != nullptr;
  const auto* iteration = region.arguments[0]->info->as<PrimInfo>();
  const auto* named = iteration != nullptr && iteration->value ? iteration->value.as<arith::VarNode>() : nullptr;
  loop.iteration = named != nullptr ? Var(named) : context().var("i");
  carry_symbols(op, loop);
  loop.state = make_cells("loop_state", loop.symbols, 1);
  alloc_cells(loop.state);
  for (size_t j = 0; j < loop.symbols.size(); ++j) at_.add(set_cell(loop.state, j, loop.initial[j]));
  if (loop.dynamic) at_.add(set_cell(loop.state, loop.symbols.size(), build_.index(0)));
  RELAXC_DO(reserve_scans(op, loop));
  for (size_t j = 0; j < loop.symbols.size(); ++j) symbols_.add_data(loop.symbols[j], loop.bounds[j], false);
  RELAXC_DO(reserve_carried(op, loop));

  tir::Stmt body;
  RELAXC_DO(lower_loop_body(op, loop, body));
  Expr extent = loop.trips ? loop.trips : build_.index(INT64_MAX);
  tir::Stmt whole = build_.loop(loop.iteration, build_.index(0), extent, body);
  if (op.operand(1) != nullptr) whole = build_.branch(values_.truth(*op.operand(1)), whole);
  at_.add(whole);
  loop_results(op, loop);
  return Done{};
}

}  // namespace relaxc::lower
