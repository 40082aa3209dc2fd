// effects.cpp: what a program does besides giving results, and the text that it prints.
#include "compiler/relax/effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/visit.h"
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

std::set<std::string> impure_functions(const Module& module) {
  std::set<std::string> impure;
  std::map<std::string, std::vector<std::string>> callers;
  std::vector<std::string> waiting;
  for (const Function* function : module.functions())
    for (const Op* op : ops_of(function->body(), true)) {
      if (op->kind == OpKind::kCallFunction) callers[op->callee].push_back(function->name);
      if (op->regions.empty() && has_effect(*op) && impure.insert(function->name).second)
        waiting.push_back(function->name);
    }
  while (!waiting.empty()) {
    std::string name = std::move(waiting.back());
    waiting.pop_back();
    for (const std::string& caller : callers[name])
      if (impure.insert(caller).second) waiting.push_back(caller);
  }
  return impure;
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
      read.fault = fmt::format("'{}' in the format belongs to no {{}}; {{{{ and }}}} stand for braces", c);
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
