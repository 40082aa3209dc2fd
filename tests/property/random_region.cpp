// random_region.cpp: branches, loops, casts and tuples.
#include "compiler/arith/simplify.h"
#include "tests/property/random_function.h"

namespace relaxc::property {

using arith::Var;
using relax::Op;
using relax::OpKind;
using relax::TensorInfo;

/// A bool scalar in scope, or a new one that depends on data.
relax::Value* RandomFunction::condition() {
  Values flags = those([](const Value& value) {
    const auto* prim = value.info->as<relax::PrimInfo>();
    return (prim != nullptr && prim->dtype.is_bool()) ||
           (is_tensor(value) && value.dtype().is_bool() && value.shape().empty());
  });
  if (!flags.empty() && random_.chance(70)) return random_.of(flags);
  Values numbers = those(
      [](const Value& value) { return is_tensor(value) && value.dtype().is_float() && value.dtype().bits >= 32; });
  if (numbers.empty()) return nullptr;
  diag_.emplace();
  auto build = builder();
  auto most = build.call("max", {random_.of(numbers)});
  if (!most) return nullptr;
  auto flag = build.call("less", {build.scalar((*most)->dtype(), 1.5), *most});
  return flag ? *flag : nullptr;
}

/// What holds of a value that is one of two; symbols of `op` are where their dims differ.
std::optional<relax::Info> RandomFunction::joined(Op* op, Value* a, Value* b) {
  if (relax::same(a->info, b->info)) return a->info;
  if (!is_tensor(*a) || !is_tensor(*b) || a->dtype() != b->dtype() || a->shape().size() != b->shape().size()) return {};
  std::vector<Expr> dims = a->shape();
  for (size_t k = 0; k < dims.size(); ++k) {
    if (arith::prove_equal(dims[k], b->shape()[k], function_.facts)) continue;
    Var var = context().var(name());
    sizes_[var] = std::max(size(dims[k]).value_or(1), size(b->shape()[k]).value_or(1));
    op->binds.push_back(var);
    dims[k] = var;
  }
  return relax::tensor_info(context(), std::move(dims), a->dtype());
}

void RandomFunction::branch() {
  leave_dataflow();
  Value* flag = condition();
  if (flag == nullptr) return;
  Op* op = builder().append(OpKind::kIf, {flag});
  relax::Region* outer = region_;
  relax::Block* outer_block = block_;
  Values before = scope_, inside[2];
  for (Values& values : inside) {
    region_ = function_.make_region(op);
    new_block(random_.chance(20));
    statements(1 + random_.below(4));
    values = std::move(scope_);
    scope_ = before;
  }
  region_ = outer;
  block_ = outer_block;
  size_t wanted = 1 + random_.below(2);
  for (int attempt = 0; attempt < 200 && op->results.size() < wanted; ++attempt) {
    // The newest values are the ones that the branch computed.
    auto choose = [&](const Values& list) {
      return list[list.size() - 1 - random_.below(std::min<size_t>(list.size(), 6))];
    };
    Value *a = choose(inside[0]), *b = choose(inside[1]);
    std::optional<Info> info = joined(op, a, b);
    if (!info) continue;
    op->regions[0]->yield->add_operand(a);
    op->regions[1]->yield->add_operand(b);
    add(function_.make_result(op, {}, *info));
  }
}

/// A dim in scope, or a small number.
relax::Value* RandomFunction::trip_count() {
  Values trips = those([](const Value& value) {
    const auto* prim = value.info->as<relax::PrimInfo>();
    return prim != nullptr && prim->dtype.is_index() && prim->value.as<arith::VarNode>() != nullptr;
  });
  if (!trips.empty() && random_.chance(50)) return random_.of(trips);
  return builder().prim(context().index(random_.between(0, 3)));
}

/// What is known of the state in every iteration: its first extent is the loop's own symbol if it grows.
void RandomFunction::carry(Loop& loop) {
  loop.carried = loop.first->info;
  loop.grows = random_.chance(25) && !loop.first->shape().empty();
  if (!loop.grows) return;
  std::vector<Expr> dims = loop.first->shape();
  Var extent = context().var(name());
  sizes_[extent] = size(dims[0]).value_or(1) * 3;
  loop.op->binds.push_back(extent);
  dims[0] = extent;
  loop.carried = relax::tensor_info(context(), std::move(dims), loop.first->dtype());
}

/// The state after an iteration: a value like `argument`, most often a new one.
relax::Value* RandomFunction::next_state(const Loop& loop, const Value* argument, const Values& before) {
  const Value* first = loop.first;
  Values next = those([&](const Value& value) {
    if (!is_tensor(value) || value.dtype() != first->dtype() || value.shape().size() != first->shape().size())
      return false;
    for (size_t k = loop.grows ? 1 : 0; k < value.shape().size(); ++k)
      if (!arith::prove_equal(value.shape()[k], argument->shape()[k], function_.facts)) return false;
    return true;
  });
  std::erase_if(next, [&](Value* value) {
    return std::find(before.begin(), before.end(), value) != before.end() && random_.chance(80);
  });
  return next.back();
}

/// A value of each iteration that the loop stacks, of dims that are known outside; null if there is none.
relax::Value* RandomFunction::scanned(const Values& before) {
  const auto is_outside = [&](Var var) {
    return std::find(function_.symbols.begin(), function_.symbols.end(), var) != function_.symbols.end();
  };
  Values scans = those([&](const Value& value) {
    if (!is_tensor(value) || std::find(before.begin(), before.end(), &value) != before.end()) return false;
    for (Expr dim : value.shape())
      for (Var var : arith::free_vars(dim))
        if (!is_outside(var)) return false;
    return value.shape().size() < 4;
  });
  return !scans.empty() && random_.chance(40) ? random_.of(scans) : nullptr;
}

/// Makes the loop's region, and returns what it stacks, or null.
relax::Value* RandomFunction::loop_body(const Loop& loop, Var iteration) {
  relax::Region *outer = region_, *body = function_.make_region(loop.op);
  relax::Block* outer_block = block_;
  Values before = scope_;
  region_ = body;
  new_block(false);
  add(function_.make_argument(body, name(), relax::prim_info(context(), DType::index(), iteration)));
  Value* argument = function_.make_argument(body, name(), loop.carried);
  add(argument);
  if (loop.grows) {
    auto longer = builder().call("concat", {argument, loop.first}, {{"axis", int64_t{0}}});
    if (longer) add(*longer);
  }
  statements(1 + random_.below(4));
  Value* next = next_state(loop, argument, before);
  body->yield->add_operand(random_.chance(25) ? condition() : nullptr);
  body->yield->add_operand(next);
  Value* scan = scanned(before);
  if (scan != nullptr) body->yield->add_operand(scan);
  scope_ = std::move(before);
  region_ = outer;
  block_ = outer_block;
  return scan;
}

void RandomFunction::loop() {
  leave_dataflow();
  Values start = those([](const Value& value) { return is_tensor(value); });
  if (start.empty()) return;
  diag_.emplace();
  Loop loop{.count = trip_count(), .first = random_.of(start)};
  loop.op = builder().append(OpKind::kLoop, {loop.count, nullptr, loop.first});
  Var iteration = context().var(name());
  loop.op->binds.push_back(iteration);
  sizes_[iteration] = 0;
  carry(loop);
  Value* scan = loop_body(loop, iteration);
  add(function_.make_result(loop.op, {}, loop.carried));
  if (scan == nullptr) return;
  const auto& value = loop.count->info->as<relax::PrimInfo>()->value;
  Expr times = arith::max(value, context().index(0));
  if (loop.op->regions[0]->yield->operand(0) != nullptr) {
    Var var = context().var(name());
    loop.op->binds.push_back(var);
    sizes_[var] = size(value).value_or(1);
    times = var;
  }
  std::vector<Expr> dims = scan->shape();
  dims.insert(dims.begin(), times);
  add(function_.make_result(loop.op, {}, relax::tensor_info(context(), std::move(dims), scan->dtype())));
}

/// Seen with new symbols in the place of some dims, or with a dim's own number.
void RandomFunction::cast() {
  Values tensors = those([](const Value& value) { return is_tensor(value) && !value.shape().empty(); });
  if (tensors.empty()) return;
  Value* value = random_.of(tensors);
  std::vector<Expr> dims = value->shape();
  std::vector<Var> binds;
  for (Expr& dim : dims) {
    if (random_.chance(50)) continue;
    if (random_.chance(20) && size(dim)) {
      dim = context().index(*size(dim));
      continue;
    }
    Var var = context().var(name());
    sizes_[var] = size(dim).value_or(1);
    binds.push_back(var);
    dim = var;
  }
  diag_.emplace();
  auto seen = builder().match_cast(value, relax::tensor_info(context(), std::move(dims), value->dtype()), binds);
  if (seen) add(*seen);
}

void RandomFunction::tuple() {
  Values tuples = those([](const Value& value) {
    const auto* info = value.info->as<relax::TupleInfo>();
    return info != nullptr && !info->fields.empty();
  });
  diag_.emplace();
  if (!tuples.empty() && random_.chance(50)) {
    Value* from = random_.of(tuples);
    auto field = builder().tuple_get(
        from, static_cast<int64_t>(random_.below(from->info->as<relax::TupleInfo>()->fields.size())));
    if (field) add(*field);
    return;
  }
  Values fields;
  for (size_t k = 0, count = 1 + random_.below(3); k < count && !scope_.empty(); ++k)
    fields.push_back(random_.of(scope_));
  add(builder().tuple(fields));
}

}  // namespace relaxc::property
