// kernel_work.cpp: counts the operations that a kernel's loops execute.
//
// Extents are evaluated with the values of the call; an extent that depends on a loop around it (a triangle) is taken
// at that loop's middle. Of two branches the longer one counts. Expressions are shared, and so is their work: a node
// counts once in each statement.
#include "compiler/analysis/kernel_work.h"

#include <algorithm>
#include <set>

#include "compiler/tir/visit.h"

namespace relaxc::analysis {
namespace {

using arith::Expr;
using tir::BufferRef;

/// Numbers of operations on floats, and on integers that are not indices.
struct Operations {
  double flops = 0, integer_ops = 0;

  Operations& operator+=(const Operations& more) {
    flops += more.flops, integer_ops += more.integer_ops;
    return *this;
  }
  Operations operator*(double times) const { return {flops * times, integer_ops * times}; }
  double sum() const { return flops + integer_ops; }
};

double operations_of(Expr node) {
  if (const auto* call = node.as<arith::Call>()) {
    if (!node.dtype().is_float() || call->intrinsic == arith::Intrinsic::k_bitcast) return 0;
    return call->intrinsic == arith::Intrinsic::k_fma ? 2 : 1;
  }
  bool arithmetic = node.as<arith::Add>() != nullptr || node.as<arith::Sub>() != nullptr ||
                    node.as<arith::Mul>() != nullptr || node.as<arith::Div>() != nullptr ||
                    node.as<arith::Min>() != nullptr || node.as<arith::Max>() != nullptr;
  return arithmetic ? 1 : 0;
}

Operations of_expressions(tir::Stmt s) {
  Operations all;
  auto count = [&](Expr node) {
    if (node.dtype().is_float()) all.flops += operations_of(node);
    if (node.dtype().is_integer() && !node.dtype().is_index()) all.integer_ops += operations_of(node);
  };
  for (Expr e : tir::expressions(s)) arith::for_each_node(e, count);
  return all;
}

Operations of_statement(tir::Stmt s, Numbers& numbers) {
  Operations all;
  while (s) {
    all += of_expressions(s);
    if (const auto* let = s.as<tir::Let>()) {
      numbers.let(let->var, let->value);
      s = let->body;
    } else if (const auto* alloc = s.as<tir::Alloc>()) {
      s = alloc->body;
    } else if (const auto* view = s.as<tir::View>()) {
      s = view->body;
    } else if (const auto* loop = s.as<tir::For>()) {
      int64_t trips = std::max<int64_t>(0, numbers.of(loop->extent));
      numbers.set(loop->var, numbers.of(loop->min) + trips / 2);
      return all += of_statement(loop->body, numbers) * static_cast<double>(trips);
    } else if (const auto* branch = s.as<tir::If>()) {
      Operations first = of_statement(branch->then_body, numbers), second = of_statement(branch->else_body, numbers);
      return all += first.sum() < second.sum() ? second : first;
    } else if (const auto* seq = s.as<tir::Seq>()) {
      for (size_t i = 0; i + 1 < seq->body.size(); ++i) all += of_statement(seq->body[i], numbers);
      s = seq->body.empty() ? tir::Stmt() : seq->body.back();
    } else {
      for (tir::Stmt child : tir::children(s)) all += of_statement(child, numbers);
      return all;
    }
  }
  return all;
}

double bytes_of(const tir::Buffer& buffer, const Numbers& numbers) {
  auto bytes = static_cast<double>(buffer.dtype.bytes());
  for (Expr dim : buffer.shape) bytes *= static_cast<double>(std::max<int64_t>(0, numbers.of(dim)));
  return bytes;
}

}  // namespace

void Numbers::let(arith::Var var, Expr value) {
  if (value.dtype().is_index() || value.dtype().is_integer()) values_[var] = of(value);
}

int64_t Numbers::of(Expr e) const {
  auto value_of = [&](arith::Var var) {
    auto found = values_.find(var);
    return found == values_.end() ? typical_ : found->second;
  };
  return arith::evaluate(e, value_of).value_or(typical_);
}

Numbers inside_call(const tir::PrimFunc& callee, const tir::Invoke& invoke, const Numbers& numbers) {
  Numbers inside = numbers;
  for (size_t i = 0; i < invoke.args.size(); ++i) {
    const auto* value = std::get_if<Expr>(&invoke.args[i]);
    if (value == nullptr) continue;
    if (i < callee.params.size())
      inside.set(callee.params[i].var, numbers.of(*value));
    else if (i - callee.params.size() < callee.symbols.size())
      inside.set(callee.symbols[i - callee.params.size()], numbers.of(*value));
  }
  return inside;
}

Work work_of_call(const tir::PrimFunc& callee, const tir::Invoke& invoke, const Numbers& numbers) {
  Work work;
  std::set<uint32_t> counted;
  for (const tir::Argument& argument : invoke.args) {
    const auto* buffer = std::get_if<BufferRef>(&argument);
    if (buffer == nullptr || !counted.insert((*buffer)->id).second) continue;
    double bytes = bytes_of(**buffer, numbers);
    work.bytes += bytes;
    if ((*buffer)->scope == tir::Scope::kWeights) work.weight_bytes += bytes;
  }
  Numbers inside = inside_call(callee, invoke, numbers);
  Operations operations = of_statement(callee.body, inside);
  work.flops = operations.flops;
  work.integer_ops = operations.integer_ops;
  return work;
}

}  // namespace relaxc::analysis
