// interpreter_compile.cpp: compiles statements to flat code.
//
// The code of nested bodies is collected separately and appended when the body ends, so that hoisted code precedes the
// loop. interpreter_values.cpp places the code of expressions.
#include "compiler/arith/walks.h"
#include "compiler/tir/index_checks.h"
#include "compiler/tir/interpreter_batch.h"
#include "compiler/tir/interpreter_compiler.h"

namespace relaxc::tir::interpreter {

Program Compiler::run() {
  for (const Param& param : function_.params) {
    uint32_t reg = code_.fresh();
    if (param.buffer != nullptr) {
      program_.buffer_params.push_back(reg);
      values_.set_address(param.buffer, reg);
    } else {
      add_scalar(param.var, reg);
    }
  }
  for (Var symbol : function_.symbols) add_scalar(symbol, code_.fresh());
  for (const Param& param : function_.params)
    if (param.buffer != nullptr) values_.declare(param.buffer);
  statement(function_.body);
  code_.emit({.op = Op::kEnd});
  code_.finish(program_);
  program_.guards = guards_.take();
  program_.buffer_names = values_.take_names();
  if (options_.batches) plan_batches(program_, options_.arrays_in_lanes);
  return std::move(program_);
}

void Compiler::add_scalar(Var var, uint32_t reg) {
  program_.scalar_params.push_back(reg);
  program_.scalar_dtypes.push_back(var.dtype());
  values_.bind(var, reg);
}

/// Compiles scopes that end with their suite in a loop: they nest as deep as there are values, too deep for recursion.
void Compiler::statement(Stmt s) {
  std::vector<uint32_t> owned;
  while (s)
    s = tir::visit(
        s, [&](const Seq& n) { return enter(n); }, [&](const Let& n) { return enter(n); },
        [&](const Alloc& n) { return enter(n, owned); }, [&](const View& n) { return enter(n); },
        [&](const auto& n) { return run(n), Stmt(); });
  for (; !owned.empty(); owned.pop_back()) code_.emit({.op = Op::kFree, .a = owned.back()});
}

Stmt Compiler::enter(const Seq& node) {
  for (size_t i = 0; i + 1 < node.body.size(); ++i) statement(node.body[i]);
  return node.body.empty() ? Stmt() : node.body.back();
}

void Compiler::run(const For& node) {
  uint32_t begin = values_.reg(node.min), end = values_.reg(node.min + node.extent);
  int64_t head = code_.new_label(), next = code_.new_label(), out = code_.new_label();
  uint32_t counter = code_.op(code_.top(), Op::kMove, {begin});
  // The iteration up to which batches were tried and given up.
  uint32_t tried = code_.op(code_.top(), Op::kMove, {code_.constant({.i = INT64_MIN})});
  auto number = static_cast<int64_t>(program_.loops.size());
  program_.loops.push_back({counter, end, head, next, node.loop_kind == LoopKind::kParallel});
  exits_.push_back({out, next});
  nested([&] {
    code_.emit({.op = Op::kJumpIfNotLess, .a = counter, .b = end, .extra = out});
    code_.emit({.op = Op::kBatch, .dst = tried, .a = counter, .extra = number});
    code_.place(head);
    values_.bind(node.var, counter);
    statement(node.body);
  });
  exits_.pop_back();
  code_.place(next);
  code_.emit({.op = Op::kLoopNext, .dst = counter, .a = counter, .b = end, .extra = head});
  code_.place(out);
}

void Compiler::run(const While& node) {
  int64_t head = code_.new_label(), out = code_.new_label();
  exits_.push_back({out, head});
  nested([&] {
    code_.place(head);
    code_.emit({.op = Op::kJumpIfZero, .a = values_.reg(node.condition), .extra = out});
    values_.end_statement();
    statement(node.body);
    code_.emit({.op = Op::kJump, .extra = head});
  });
  exits_.pop_back();
  code_.place(out);
}

void Compiler::run(const If& node) {
  int64_t otherwise = code_.new_label(), out = code_.new_label();
  uint32_t condition = values_.reg(node.condition);
  // One level is around both branches: what a branch leaves to the outside is computed before the jump. Else a branch
  // that is not taken would skip the code of values that are taken as known after it.
  nested([&] {
    nested([&] {
      code_.emit({.op = Op::kJumpIfZero, .a = condition, .extra = otherwise});
      statement(node.then_body);
      if (node.else_body) code_.emit({.op = Op::kJump, .extra = out});
    });
    code_.place(otherwise);
    if (node.else_body) nested([&] { statement(node.else_body); });
  });
  code_.place(out);
}

Stmt Compiler::enter(const Let& node) {
  values_.bind_value(node.var, node.value);
  values_.end_statement();
  return node.body;
}

Stmt Compiler::enter(const Alloc& node, std::vector<uint32_t>& owned) {
  Expr bytes = node.buffer->shape.empty() ? Expr() : byte_size(node.buffer->shape[0].context(), *node.buffer);
  uint32_t size = bytes ? values_.reg(bytes) : code_.constant({.i = node.buffer->dtype.bytes()});
  uint32_t address = code_.emit({.op = Op::kAlloc, .dst = code_.fresh(), .a = size});
  values_.set_address(node.buffer, address);
  values_.declare(node.buffer);
  owned.push_back(address);
  return node.body;
}

uint32_t Compiler::rounded_up(uint32_t address, int64_t alignment) {
  uint32_t behind = code_.op(code_.top(), Op::kOffset, {address, code_.constant({.i = alignment - 1})});
  return code_.op(code_.top(), Op::kAndI, {behind, code_.constant({.i = -alignment})});
}

/// Guards that a view is inside the memory that it is a part of, so a wrong destination of a kernel is found before the
/// kernel writes to it. A buffer without elements is memory whose size another function computes; an output without
/// bound has a dim of INT64_MAX.
void Compiler::require_inside(const View& node) {
  if (node.base == nullptr || node.base->shape.empty() || node.round_up != 0 || node.buffer->shape.empty()) return;
  for (Expr dim : node.base->shape)
    if (const int64_t* extent = dim.constant(); extent != nullptr && *extent == INT64_MAX) return;
  arith::Context& context = node.base->shape[0].context();
  Expr whole = byte_size(context, *node.base), end = node.byte_offset + byte_size(context, *node.buffer);
  if (whole.constant() != nullptr && *whole.constant() == 0) return;
  GuardRecord record{kOutsideMemory, -1, -1, -1, -1, 0, 0};
  record.expected = values_.reg(whole), record.actual = values_.reg(end);
  code_.emit({.op = Op::kGuard, .a = values_.reg(arith::le(end, whole)), .extra = guards_.add(record)});
}

Stmt Compiler::enter(const View& node) {
  require_inside(node);
  uint32_t offset = values_.reg(node.byte_offset);
  uint32_t address = node.base == nullptr ? code_.op(code_.top(), Op::kMove, {offset})
                                          : code_.op(code_.top(), Op::kOffset, {values_.address(node.base), offset});
  values_.set_address(node.buffer, node.round_up == 0 ? address : rounded_up(address, node.round_up));
  values_.declare(node.buffer);
  return node.body;
}

void Compiler::run(const Store& node) {
  values_.store(node.buffer, node.indices, node.value);
  values_.end_statement();
}

void Compiler::run(const Block& node) {
  for (const IterVar& iter : node.iters) values_.bind_value(iter.var, iter.binding);
  int64_t out = code_.new_label();
  uint32_t predicate = node.predicate ? values_.reg(node.predicate) : 0;
  auto body = [&] {
    if (node.predicate) code_.emit({.op = Op::kJumpIfZero, .a = predicate, .extra = out});
    if (node.init) run_init(node);
    statement(node.body);
  };
  if (node.predicate)
    nested(body);
  else
    body();
  code_.place(out);
  for (const IterVar& iter : node.iters) values_.unbind(iter.var);
}

void Compiler::run_init(const Block& node) {
  int64_t after = code_.new_label();
  std::vector<uint32_t> conditions;
  for (const IterVar& iter : node.iters)
    if (iter.iter_kind == IterKind::kReduce) conditions.push_back(values_.reg(eq(iter.var, iter.min)));
  nested([&] {
    for (uint32_t condition : conditions) code_.emit({.op = Op::kJumpIfZero, .a = condition, .extra = after});
    statement(node.init);
  });
  code_.place(after);
}

void Compiler::run(const Guard& node) {
  GuardRecord record{node.code, node.tensor, node.axis, node.symbol, node.error_node, 0, 0};
  guards_.begin(&node);
  uint32_t holds = values_.reg(node.condition);
  record.expected = node.expected ? values_.reg(node.expected) : code_.constant({.i = 0});
  record.actual = node.actual ? values_.reg(node.actual) : code_.constant({.i = 0});
  guards_.end();
  code_.emit({.op = Op::kGuard, .a = holds, .extra = guards_.add(record)});
  values_.end_statement();
}

void Compiler::run(const Invoke& node) {
  CallRecord record{node.callee, node.plain, node.result, {}, node.error_node, node.status};
  const Guard named = overflow_of(function_, node);
  guards_.begin(node.error_node >= 0 ? &named : nullptr);
  for (const Argument& argument : node.args) {
    CallArgument arg;
    if (const auto* e = std::get_if<Expr>(&argument)) {
      arg.value = values_.reg(*e);
      arg.dtype = e->dtype();
    } else {
      BufferRef buffer = std::get<BufferRef>(argument);
      arg = {true, values_.address(buffer), buffer->dtype, {}};
      for (Expr dim : buffer->shape) arg.shape.push_back(values_.reg(dim));
    }
    record.args.push_back(std::move(arg));
  }
  guards_.end();
  Op call = node.runtime ? Op::kCallRuntime : node.external ? Op::kCallExternal : Op::kCall;
  code_.emit_call(code_.top(), call, std::move(record));
  values_.end_statement();
}

Program compile(const PrimFunc& function, const CodeOptions& options) {
  return Compiler(function, options).run();
}

}  // namespace relaxc::tir::interpreter
