// regions.cpp: the derivatives of branches and loops (differentiation.h).
#include <algorithm>
#include <utility>

#include "compiler/transform/graph/gradients/loop.h"

namespace relaxc::gradients {

using namespace relax;

namespace {

/// Whether the ops of the region can be computed a second time.
bool can_repeat(const Region& region) {
  const std::vector<Op*> ops = ops_of(region, true);
  return std::all_of(ops.begin(), ops.end(), [](const Op* op) {
    switch (op->kind) {
      case OpKind::kOperator:
        return op->def->pure;
      case OpKind::kConstant:
      case OpKind::kShape:
      case OpKind::kPrim:
      case OpKind::kTuple:
      case OpKind::kTupleGet:
      case OpKind::kMatchCast:
      case OpKind::kCallTir:
      case OpKind::kIf:
      case OpKind::kLoop:
        return true;
      default:
        return false;
    }
  });
}

bool has_shape(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  return tensor != nullptr && tensor->shape && tensor->dtype;
}

/// Whether the shape is the same in each step of the loop.
bool is_fixed(const Value& value, const Op& loop) {
  for (arith::Expr dim : value.shape())
    for (arith::Var var : loop.binds)
      if (arith::substitute(dim, {{var, dim.context().index(0)}}) != dim) return false;
  return true;
}

/// Returns how many steps the loop has; null if only a run knows that.
arith::Expr steps_of(const Op& loop, size_t carried) {
  if (loop.results.size() > carried)
    return has_shape(*loop.results[carried]) ? loop.results[carried]->shape()[0] : arith::Expr();
  const Value *trips = loop.operand(0), *more = loop.regions[0]->results()[0];
  if (trips == nullptr || loop.operand(1) != nullptr || more != nullptr) return {};
  const auto* prim = trips->info->as<PrimInfo>();
  return prim == nullptr ? arith::Expr() : prim->value;
}

/// Returns x[at] of a value with a row for each step.
Result<Value*> row_of(GraphBuilder& b, Value* x, arith::Expr at) {
  RELAXC_TRY(Value * row,
             b.call("slice_part", {x, b.shape({at}), b.shape({b.context().index(1)})}, {{"axis", int64_t{0}}}));
  std::vector<arith::Expr> shape(x->shape().begin() + 1, x->shape().end());
  return b.call("reshape", {row, b.shape(std::move(shape))});
}

}  // namespace

bool Differentiation::Loop::takes_row(const Op& op, arith::Expr step) const {
  if (!op.is("slice_part") || op.attrs.integer("axis") != 0) return false;
  Value* whole = op.operand(0);
  if (std::find(captured.begin(), captured.end(), whole) == captured.end()) return false;
  const auto &begin = *op.operand(1)->info->as<ShapeInfo>()->dims,
             &extent = *op.operand(2)->info->as<ShapeInfo>()->dims;
  return extent[0].is_constant(1) && arith::prove_equal(begin[0], step) && arith::prove_equal(whole->shape()[0], steps);
}

bool Differentiation::Loop::reads_rows_only(const Op& loop, const Value* value) const {
  const auto* prim = loop.regions[0]->arguments[0]->info->as<PrimInfo>();
  if (prim == nullptr || !prim->value) return false;
  const std::vector<Value*> reads = values_read_inside(loop);
  const std::vector<Op*> ops = ops_of(*loop.regions[0]);
  return std::count(reads.begin(), reads.end(), value) == std::count_if(ops.begin(), ops.end(), [&](const Op* op) {
           return takes_row(*op, prim->value) && op->operand(0) == value;
         });
}

std::optional<std::vector<Value*>> Differentiation::captured(const Op& op) const {
  std::vector<Value*> found;
  for (Value* value : values_read_inside(op)) {
    if (active_.count(value) == 0 || std::count(found.begin(), found.end(), value) != 0) continue;
    if (!has_shape(*value)) return std::nullopt;
    found.push_back(value);
  }
  return found;
}

Result<Value*> Differentiation::zeros(GraphBuilder& builder, const Value& like) {
  return builder.call("zeros", {builder.shape(like.shape())}, {{"dtype", like.dtype()}});
}

Status Differentiation::through_branch(GraphBuilder& builder, const Op& op, const std::vector<Adjoint>& by_results) {
  std::optional<std::vector<Value*>> outer = captured(op);
  if (!outer) return refuse(op, "that reads a tuple or a tensor of unknown shape");
  if (!op.binds.empty()) return refuse(op, "whose two sides give other shapes");
  if (!can_repeat(*op.regions[0]) || !can_repeat(*op.regions[1])) return refuse(op, "with calls or effects");
  Op* made = builder.append(OpKind::kIf, {op.operand(0)});
  Adjoints before = std::exchange(adjoints_, {});
  Loop* step = std::exchange(step_, nullptr);
  bool ok = true;
  for (const Region* region : op.regions) {
    adjoints_.clear();
    ok &= bool(sweep_side(*region, function_.make_region(made), *outer, by_results));
  }
  adjoints_ = std::move(before);
  step_ = step;
  if (!ok) return context_.diag.failed();
  for (Value* value : *outer)
    RELAXC_DO(add(builder, value,
                  {function_.make_result(made, "", tensor_info(module_.context(), value->shape(), value->dtype()))}));
  return Done{};
}

Status Differentiation::sweep_side(const Region& from, Region* to, const std::vector<Value*>& outer,
                                   const std::vector<Adjoint>& by_results) {
  Block* block = function_.make_block(to, true);
  Copy copy(function_, block);
  for (const Op* inner : ops_of(from)) copy.op(*inner);
  const std::vector<Op*> ops = block->ops;
  mark(ops);
  GraphBuilder builder(module_, context_.ops, block, context_.diag);
  for (size_t k = 0; k < by_results.size(); ++k) RELAXC_DO(add(builder, copy.of(from.results()[k]), by_results[k]));
  RELAXC_DO(sweep(builder, ops));
  for (Value* value : outer) {
    Value* by_value = adjoints_[value].tensor;
    if (by_value == nullptr) {
      RELAXC_TRY(by_value, zeros(builder, *value));
    }
    to->yield->add_operand(by_value);
  }
  return Done{};
}

Status Differentiation::restore_carried(GraphBuilder& builder, Op& op, Loop& loop) {
  Region* region = op.regions[0];
  for (size_t k = 0; k < loop.carried; ++k) {
    Value* argument = region->arguments[k + 1];
    std::vector<arith::Expr> shape = argument->shape();
    shape.insert(shape.begin(), loop.steps);
    region->yield->add_operand(argument);
    Value* stored = function_.make_result(&op, "", tensor_info(module_.context(), shape, argument->dtype()));
    RELAXC_TRY(Value * state, row_of(builder, stored, loop.now));
    loop.states.push_back(state);
  }
  return Done{};
}

Status Differentiation::sweep_step(GraphBuilder& builder, const Op& op, Loop& loop) {
  const Region& from = *op.regions[0];
  Block* block = builder.block();
  Copy copy(function_, block);
  copy.values[from.arguments[0]] = builder.prim(loop.now);
  if (const auto* prim = from.arguments[0]->info->as<PrimInfo>(); prim != nullptr && prim->value)
    if (const auto* var = prim->value.as<arith::VarNode>()) copy.symbols[arith::Var(var)] = loop.now;
  for (size_t k = 0; k < loop.carried; ++k) copy.values[from.arguments[k + 1]] = loop.states[k];
  for (size_t k : loop.floats) active_.insert(loop.states[k]);
  const size_t first = block->ops.size();
  for (const Op* inner : ops_of(from)) copy.op(*inner);
  const std::vector<Op*> ops(block->ops.begin() + static_cast<std::ptrdiff_t>(first), block->ops.end());
  mark(ops);
  for (size_t i = 0; i < loop.floats.size(); ++i)
    RELAXC_DO(add(builder, copy.of(from.results()[1 + loop.floats[i]]), {loop.body->arguments[1 + i]}));
  for (size_t k = loop.carried; k < loop.by_results.size(); ++k) {
    if (loop.by_results[k].tensor == nullptr) continue;
    RELAXC_TRY(Value * row, row_of(builder, loop.by_results[k].tensor, loop.now));
    RELAXC_DO(add(builder, copy.of(from.results()[1 + k]), {row}));
  }
  return sweep(builder, ops);
}

Status Differentiation::finish_step(GraphBuilder& builder, Loop& loop) {
  Op* yield = loop.body->yield;
  yield->add_operand(nullptr);
  auto carry = [&](Value* value) {
    yield->add_operand(value);
    function_.make_result(loop.op, "", tensor_info(module_.context(), value->shape(), value->dtype()));
  };
  for (size_t k : loop.floats) {
    Value* by_state = adjoints_[loop.states[k]].tensor;
    if (by_state == nullptr) {
      RELAXC_TRY(by_state, zeros(builder, *loop.states[k]));
    }
    carry(by_state);
  }
  for (size_t i = 0; i < loop.sums.size(); ++i) {
    Adjoint total{loop.body->arguments[1 + loop.floats.size() + i]};
    RELAXC_DO(sum(builder, total, adjoints_[loop.sums[i]]));
    carry(total.tensor);
  }
  for (Value* value : loop.captured) {
    auto row = loop.rows.find(value);
    if (row == loop.rows.end()) continue;
    std::vector<arith::Expr> shape(value->shape().begin() + 1, value->shape().end());
    RELAXC_TRY(Value * flat, builder.call("reshape", {row->second.tensor, builder.shape(shape)}));
    yield->add_operand(flat);
    function_.make_result(loop.op, "", tensor_info(module_.context(), value->shape(), value->dtype()));
  }
  return Done{};
}

Status Differentiation::through_loop(GraphBuilder& builder, Op& op, const std::vector<Adjoint>& by_results) {
  const Region* region = op.regions[0];
  Loop loop;
  loop.carried = region->arguments.size() - 1;
  loop.steps = steps_of(op, loop.carried);
  loop.by_results = by_results;
  if (!loop.steps) return refuse(op, "whose number of steps depends on data");
  std::optional<std::vector<Value*>> outer = captured(op);
  if (!outer) return refuse(op, "that reads a tuple or a tensor of unknown shape");
  if (!can_repeat(*region)) return refuse(op, "with calls or effects");
  loop.captured = *outer;
  for (Value* value : loop.captured)
    if (!loop.reads_rows_only(op, value)) loop.sums.push_back(value);
  for (size_t k = 0; k < loop.carried; ++k) {
    const Value& argument = *region->arguments[k + 1];
    if (!has_shape(argument) || !is_fixed(argument, op)) return refuse(op, "that carries no tensor of one shape");
    if (argument.dtype().is_float()) loop.floats.push_back(k);
  }
  RELAXC_DO(begin_backward(builder, op, loop));

  GraphBuilder inner(module_, context_.ops, function_.make_block(loop.body, true), context_.diag);
  inner.location = op.location;
  Adjoints before = std::exchange(adjoints_, {});
  Loop* outer_step = std::exchange(step_, &loop);
  const bool ok =
      bool(restore_carried(inner, op, loop)) && bool(sweep_step(inner, op, loop)) && bool(finish_step(inner, loop));
  adjoints_ = std::move(before);
  step_ = outer_step;
  if (!ok) return context_.diag.failed();
  return add_results(builder, op, loop);
}

Status Differentiation::begin_backward(GraphBuilder& builder, const Op& op, Loop& loop) {
  arith::Var back = module_.context().var("back");
  function_.facts.bound(back, arith::Range::at_least(0));
  function_.facts.assume(arith::lt(back, loop.steps));
  loop.now = loop.steps - 1 - back;
  std::vector<Value*> operands{builder.prim(loop.steps), nullptr};
  for (size_t k : loop.floats) {
    Value* start = loop.by_results[k].tensor;
    if (start == nullptr) {
      RELAXC_TRY(start, zeros(builder, *op.regions[0]->arguments[k + 1]));
    }
    operands.push_back(start);
  }
  for (const Value* value : loop.sums) {
    RELAXC_TRY(Value * start, zeros(builder, *value));
    operands.push_back(start);
  }
  loop.op = builder.append(OpKind::kLoop, operands);
  loop.op->binds.push_back(back);
  loop.body = function_.make_region(loop.op);
  function_.make_argument(loop.body, "back", prim_info(module_.context(), DType::index(), back));
  for (size_t k = 2; k < operands.size(); ++k)
    function_.make_argument(loop.body, "by",
                            tensor_info(module_.context(), operands[k]->shape(), operands[k]->dtype()));
  return Done{};
}

Status Differentiation::add_results(GraphBuilder& builder, const Op& op, const Loop& loop) {
  const std::vector<Value*>& results = loop.op->results;
  for (size_t i = 0; i < loop.floats.size(); ++i) RELAXC_DO(add(builder, op.operand(2 + loop.floats[i]), {results[i]}));
  for (size_t i = 0; i < loop.sums.size(); ++i)
    RELAXC_DO(add(builder, loop.sums[i], {results[loop.floats.size() + i]}));
  size_t row = loop.floats.size() + loop.sums.size();
  for (Value* value : loop.captured) {
    if (loop.rows.count(value) == 0) continue;
    RELAXC_TRY(Value * stacked, builder.call("flip", {results[row++]}, {{"axis", std::vector<int64_t>{0}}}));
    RELAXC_DO(add(builder, value, {stacked}));
  }
  return Done{};
}

}  // namespace relaxc::gradients
