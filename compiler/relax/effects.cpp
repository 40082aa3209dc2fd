// effects.cpp: finds side effects by a fixpoint over calls and values; parses print formats.
#include "compiler/relax/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/arith/visit.h"
#include "compiler/relax/callable.h"
#include "compiler/relax/op_def.h"

namespace relaxc::relax {

bool has_effect(const Op& op) {
  if (op.kind == OpKind::kAssert || op.kind == OpKind::kPrint) return true;
  if (op.kind == OpKind::kCallExternal) return op.results.empty();
  if (op.kind == OpKind::kOperator) return op.def != nullptr && !op.def->pure;
  return std::any_of(op.regions.begin(), op.regions.end(), [](const Region* region) {
    std::vector<Op*> ops = ops_of(*region, true);
    return std::any_of(ops.begin(), ops.end(),
                       [](const Op* inner) { return inner->regions.empty() && has_effect(*inner); });
  });
}

AssertedNumbers asserted_numbers(const Op& op) {
  const Function& function = *op.block->parent->function;
  const auto* prim = op.operand(0)->info->as<PrimInfo>();
  std::vector<Expr> sides = prim != nullptr && prim->value ? arith::operands(prim->value) : std::vector<Expr>();
  bool compares = sides.size() == 2 && sides[0].dtype().is_index() && sides[1].dtype().is_index();
  if (compares) return {sides[1], sides[0]};
  return {function.context().index(1), function.context().index(0)};
}

bool Effects::of_op(const Op& op) const {
  if (op.kind == OpKind::kCallFunction) return of_function(op.callee);
  if (op.kind == OpKind::kCallClosure) return closures_.count(op.operand(0)) != 0;
  if (op.regions.empty()) return has_effect(op);
  return std::any_of(op.regions.begin(), op.regions.end(), [&](const Region* region) {
    std::vector<Op*> ops = ops_of(*region, true);
    return std::any_of(ops.begin(), ops.end(),
                       [&](const Op* inner) { return inner->regions.empty() && of_op(*inner); });
  });
}

/// Without closures only calls propagate effects, and one walk from callees to callers finds them all. With closures
/// the propagation is repeated over the whole program until nothing changes.
Effects::Effects(const Module& module) : module_(module) {
  std::map<std::string, std::vector<std::string>> callers;
  std::vector<std::string> waiting;
  bool closures = false;
  for (const Function* function : module.functions())
    for (const Op* op : ops_of(function->body(), true)) {
      if (op->kind == OpKind::kCallFunction) callers[op->callee].push_back(function->name);
      if (op->kind == OpKind::kMakeClosure) values_of_functions_.insert(op->callee);
      closures |= op->kind == OpKind::kMakeClosure || op->kind == OpKind::kCallClosure;
      if (op->regions.empty() && has_effect(*op) && functions_.insert(function->name).second)
        waiting.push_back(function->name);
    }
  while (!waiting.empty()) {
    std::string name = std::move(waiting.back());
    waiting.pop_back();
    for (const std::string& caller : callers[name])
      if (functions_.insert(caller).second) waiting.push_back(caller);
  }
  if (!closures) return;
  for (const Function* function : module.functions())
    for (const Value* argument : function->body().arguments)
      if (const auto* callable = argument->info->as<CallableInfo>(); callable != nullptr && !callable->pure)
        closures_.insert(argument);
  for (bool changed = true; changed;) {
    changed = flow_through_values();
    for (const Function* function : module.functions())
      for (const Op* op : ops_of(function->body(), true)) {
        changed |= flow(*op);
        if (op->regions.empty() && of_op(*op)) changed |= functions_.insert(function->name).second;
      }
  }
}

static Info impure(Context& context, Info info) {
  if (const auto* callable = info->as<CallableInfo>())
    return callable_info(context, callable->symbols, callable->params, callable->result, false);
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) return info;
  std::vector<Info> fields;
  for (Info field : tuple->fields) fields.push_back(impure(context, field));
  return tuple_info(context, std::move(fields));
}

void Effects::write_types(Module& module) const {
  if (closures_.empty()) return;
  auto write = [&](Value* value) {
    if (closures_.count(value) != 0) value->info = impure(module.context(), value->info);
  };
  for (Function* function : module.functions()) {
    for (Value* argument : function->body().arguments) write(argument);
    for (Op* op : ops_of(function->body(), true)) {
      for (Value* result : op->results) write(result);
      for (Region* region : op->regions)
        for (Value* argument : region->arguments) write(argument);
    }
  }
}

bool Effects::mark(const Value* value) {
  bool may_hold = holds_callable(value->info) || value->info->kind == InfoKind::kObject;
  return may_hold && closures_.insert(value).second;
}

bool Effects::marked(const std::vector<Value*>& values, size_t from) const {
  return std::any_of(values.begin() + static_cast<int64_t>(std::min(from, values.size())), values.end(),
                     [&](const Value* value) { return closures_.count(value) != 0; });
}

bool Effects::mark_from(const std::vector<Value*>& from, size_t first, const std::vector<Value*>& to) {
  bool changed = false;
  for (size_t i = 0; i < to.size() && first + i < from.size(); ++i)
    if (closures_.count(from[first + i]) != 0) changed |= mark(to[i]);
  return changed;
}

/// Marks parameters that calls of closures reach, and finds out whether such calls may give closures that may have an
/// effect. Returns true if something is new.
bool Effects::flow_through_values() {
  bool changed = false;
  for (const std::string& name : values_of_functions_) {
    const Function* callee = module_.find_function(name);
    if (callee == nullptr) continue;
    if (passed_)
      for (const Value* param : callee->body().arguments) changed |= mark(param);
    if (!returned_ && marked(callee->body().results())) changed = returned_ = true;
  }
  return changed;
}

/// Marks the values to which the op passes closures that may have an effect. Returns true if a mark is new.
bool Effects::flow(const Op& op) {
  const std::vector<Value*>& operands = op.operands();
  bool changed = false;
  if (op.kind == OpKind::kMakeClosure || op.kind == OpKind::kCallFunction) {
    const Function* callee = module_.find_function(op.callee);
    if (callee == nullptr) return false;
    const std::vector<Value*>& params = callee->body().arguments;
    std::vector<Value*> last = params;
    if (op.kind == OpKind::kMakeClosure && operands.size() <= params.size())
      last.assign(params.end() - static_cast<int64_t>(operands.size()), params.end());
    changed = mark_from(operands, 0, last);
    if (op.kind == OpKind::kCallFunction) return mark_from(callee->body().results(), 0, op.results) || changed;
    return (of_function(op.callee) && mark(op.results[0])) || changed;
  }
  if (op.kind == OpKind::kCallClosure) {
    if (marked(operands, 1)) changed = !std::exchange(passed_, true);
    for (const Value* result : op.results) changed |= returned_ && mark(result);
    return changed;
  }
  for (const Region* region : op.regions) {
    size_t first = op.kind == OpKind::kLoop ? 1 : 0;  // a loop's body yields the condition before the carried values
    if (op.kind == OpKind::kLoop) {
      std::vector<Value*> carried(region->arguments.begin() + 1, region->arguments.end());
      changed |= mark_from(operands, 2, carried);
      changed |= mark_from(region->results(), 1, carried);
    }
    changed |= mark_from(region->results(), first, op.results);
  }
  if (op.regions.empty() && marked(operands))
    for (const Value* result : op.results) changed |= mark(result);
  return changed;
}

PrintFormat read_print_format(std::string_view format, size_t values) {
  PrintFormat read;
  std::string text;
  if (format.empty()) {
    for (size_t i = 0; i < values; ++i) read.pieces.push_back({i == 0 ? "" : " ", true});
    read.pieces.push_back({"\n", false});
    return read;
  }
  for (size_t at = 0; at < format.size(); ++at) {
    char c = format[at], next = at + 1 < format.size() ? format[at + 1] : '\0';
    if ((c == '{' || c == '}') && next == c) {
      text += c;
      ++at;
    } else if (c == '{' && next == '}') {
      read.pieces.push_back({std::move(text), true});
      text.clear();
      ++at;
    } else if (c == '{' || c == '}') {
      read.fault = fmt::format("'{}' in the format belongs to no {{}}; {{{{ and }}}} mean braces", c);
      return read;
    } else {
      text += c;
    }
  }
  if (read.pieces.size() != values)
    read.fault = fmt::format("the format has {} places {{}} for {} values", read.pieces.size(), values);
  read.pieces.push_back({text + "\n", false});
  return read;
}

PrintKind print_kind(Info info) {
  return info->as<TensorInfo>() != nullptr  ? kPrintTensor
         : info->as<ShapeInfo>() != nullptr ? kPrintShape
         : info->as<PrimInfo>() != nullptr  ? kPrintScalar
                                            : kPrintNothing;
}

}  // namespace relaxc::relax
