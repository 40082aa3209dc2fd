// interpreter_compile.cpp: TIR to flat code.
//
// Expressions are DAGs: a node is computed once and kept in a register. A node without loads is placed in the outermost
// loop body (or branch) in which its variables exist, so that address arithmetic leaves inner loops; loads, and what
// depends on them, stay in their statement. Code of nested bodies is collected apart and joined when the body ends, so
// that hoisted code lands before the loop.
#include <algorithm>

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/arith/walks.h"
#include "compiler/tir/index_checks.h"
#include "compiler/tir/interpreter_batch.h"
#include "compiler/tir/interpreter_compiler.h"

namespace relaxc::tir::interpreter {

using namespace arith;

namespace {

/// The nodes that are evaluated whatever the conditions inside `root` say. All code is straight, so operands of a
/// select are computed even if it does not choose them; loads there must not fail, and give 0 out of bounds.
std::unordered_set<Expr> certain_nodes(Expr root) {
  std::unordered_set<Expr> certain;
  arith::for_each_reached(root, [&](Expr e) {
    certain.insert(e);
    return arith::eager_operands(e);
  });
  return certain;
}

/// Elements, for checks of bounds; null: one.
Expr count_of(const Buffer& buffer) {
  if (buffer.shape.empty()) return {};
  if (buffer.record != nullptr) return buffer.shape[0].context().index(INT64_MAX);  // fields have places of their own
  for (Expr dim : buffer.shape)
    if (dim.is_constant(INT64_MAX)) return dim;  // its size is not known
  if (buffer.strides.empty()) return element_count(buffer.shape[0].context(), buffer);
  Expr last = buffer.shape[0].context().index(1);
  for (size_t i = 0; i < buffer.shape.size(); ++i) last = last + (buffer.shape[i] - 1) * buffer.strides[i];
  return last;
}

}  // namespace

Program Compiler::run() {
  for (const Param& param : function_.params) {
    uint32_t reg = code_.fresh();
    if (param.buffer != nullptr) {
      program_.buffer_params.push_back(reg);
      address_[param.buffer] = reg;
    } else {
      add_scalar(param.var, reg);
    }
  }
  for (Var symbol : function_.symbols) add_scalar(symbol, code_.fresh());
  for (const Param& param : function_.params)
    if (param.buffer != nullptr) declare(param.buffer);
  statement(function_.body);
  code_.emit({.op = Op::kEnd});
  program_.code = code_.finish(program_.loops);
  program_.registers = code_.registers();
  plan_batches(program_);
  return std::move(program_);
}

/// What depends on loads must be computed anew after a store.
void Compiler::end_statement() {
  for (Expr e : with_loads_) known_.erase(e);
  with_loads_.clear();
}

void Compiler::keep(Expr e, Known known) {
  known_[e] = known;
  if (known.loads)
    with_loads_.push_back(e);
  else
    values_[known.level].push_back(e);
}

uint32_t Compiler::reg(Expr e) {
  Expr expanded = expand_all_math(e);
  std::unordered_set<Expr> outer = std::exchange(certain_, certain_nodes(expanded));
  arith::for_each_node(expanded, [&](Expr node) {
    if (known_.count(node) == 0) compute(node);
  });
  certain_ = std::move(outer);
  return known_.at(expanded).reg;
}

void Compiler::compute(Expr e) {
  if (e.as<VarNode>() != nullptr)
    RELAXC_UNREACHABLE("variable " + e.as<VarNode>()->name + " is not bound in " + function_.name);
  std::vector<Expr> parts = operands(e);
  Known known{0, 0, e.as<Load>() != nullptr || (e.as<Extern>() != nullptr && !is_angle_call(e))};
  std::vector<uint32_t> regs;
  for (Expr part : parts) {
    const Known& k = known_.at(part);
    known.level = std::max(known.level, k.level);
    known.loads |= k.loads;
    regs.push_back(k.reg);
  }
  // Checked arithmetic must not run where the program would not have run it.
  if (known.loads || checked_) known.level = code_.top();
  known.reg = node(e, known.level, regs);
  keep(e, known);
}

uint32_t Compiler::constant(Register value) {
  uint32_t reg = code_.fresh();
  program_.constants.push_back({reg, value});
  return reg;
}

uint32_t Compiler::add_call(size_t level, Op op, CallRecord record) {
  program_.calls.push_back(std::move(record));
  return code_.emit_at(level,
                       {.op = op, .dst = code_.fresh(), .extra = static_cast<int64_t>(program_.calls.size()) - 1});
}

/// The register of the number of elements, for bounds checks.
void Compiler::declare(BufferRef buffer) {
  Expr count = function_.body ? count_of(*buffer) : Expr();
  size_[buffer] = count ? reg(count) : constant({.i = 1});
  name_[buffer] = static_cast<uint32_t>(program_.buffer_names.size());
  program_.buffer_names.push_back(buffer->name);
}

uint32_t Compiler::offset(BufferRef buffer, const std::vector<Expr>& indices) {
  if (indices.empty()) return constant({.i = 0});
  return reg(element_offset(indices[0].context(), *buffer, indices));
}

uint32_t Compiler::access(BufferRef buffer) {
  RELAXC_CHECK(address_.count(buffer) != 0, "buffer " + buffer->name + " is not declared in " + function_.name);
  return address_.at(buffer);
}

/// Scopes that reach to the end of a suite nest as often as there are values: they are gone along, not into.
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

/// Binds `var` to the value of `e`, computed here.
void Compiler::bind_value(Var var, Expr e) {
  uint32_t value = reg(e);
  Known known = known_.at(expand_all_math(e));
  if (known.loads) known = {code_.op(code_.top(), Op::kMove, {value}), code_.top(), false};
  bind(var, known);
}

void Compiler::run(const For& node) {
  uint32_t begin = reg(node.min), end = reg(node.min + node.extent);
  int64_t head = code_.new_label(), next = code_.new_label(), out = code_.new_label();
  uint32_t counter = code_.op(code_.top(), Op::kMove, {begin});
  // Up to which iteration batches were tried and given up.
  uint32_t tried = code_.op(code_.top(), Op::kMove, {constant({.i = INT64_MIN})});
  auto number = static_cast<int64_t>(program_.loops.size());
  program_.loops.push_back({counter, end, head, next});
  exits_.push_back({out, next});
  nested([&] {
    code_.emit({.op = Op::kJumpIfNotLess, .a = counter, .b = end, .extra = out});
    code_.emit({.op = Op::kBatch, .dst = tried, .a = counter, .extra = number});
    code_.place(head);
    bind(node.var, {counter, code_.top(), false});
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
    code_.emit({.op = Op::kJumpIfZero, .a = reg(node.condition), .extra = out});
    end_statement();
    statement(node.body);
    code_.emit({.op = Op::kJump, .extra = head});
  });
  exits_.pop_back();
  code_.place(out);
}

void Compiler::run(const If& node) {
  int64_t otherwise = code_.new_label(), out = code_.new_label();
  uint32_t condition = reg(node.condition);
  // One level around both branches: what either leaves to the outside is computed before the jump, or the branch that
  // is not taken would skip what is known after it.
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
  bind_value(node.var, node.value);
  end_statement();
  return node.body;
}

Stmt Compiler::enter(const Alloc& node, std::vector<uint32_t>& owned) {
  Expr bytes = node.buffer->shape.empty() ? Expr() : byte_size(node.buffer->shape[0].context(), *node.buffer);
  uint32_t size = bytes ? reg(bytes) : constant({.i = node.buffer->dtype.bytes()});
  uint32_t address = code_.emit({.op = Op::kAlloc, .dst = code_.fresh(), .a = size});
  address_[node.buffer] = address;
  declare(node.buffer);
  owned.push_back(address);
  return node.body;
}

uint32_t Compiler::rounded_up(uint32_t address, int64_t alignment) {
  uint32_t behind = code_.op(code_.top(), Op::kOffset, {address, constant({.i = alignment - 1})});
  return code_.op(code_.top(), Op::kAndI, {behind, constant({.i = -alignment})});
}

Stmt Compiler::enter(const View& node) {
  uint32_t offset = reg(node.byte_offset);
  uint32_t address = node.base == nullptr ? code_.op(code_.top(), Op::kMove, {offset})
                                          : code_.op(code_.top(), Op::kOffset, {access(node.base), offset});
  address_[node.buffer] = node.round_up == 0 ? address : rounded_up(address, node.round_up);
  declare(node.buffer);
  return node.body;
}

void Compiler::run(const Store& node) {
  uint32_t base = access(node.buffer);
  uint32_t at = offset(node.buffer, node.indices), value = reg(node.value);
  code_.emit({store_op(node.buffer->dtype), false, node.buffer->dtype, value, base, at, name_.at(node.buffer),
              size_.at(node.buffer)});
  end_statement();
}

void Compiler::run(const Block& node) {
  for (const IterVar& iter : node.iters) bind_value(iter.var, iter.binding);
  int64_t out = code_.new_label();
  uint32_t predicate = node.predicate ? reg(node.predicate) : 0;
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
  for (const IterVar& iter : node.iters) known_.erase(iter.var);
}

void Compiler::run_init(const Block& node) {
  int64_t after = code_.new_label();
  std::vector<uint32_t> conditions;
  for (const IterVar& iter : node.iters)
    if (iter.iter_kind == IterKind::kReduce) conditions.push_back(reg(eq(iter.var, iter.min)));
  nested([&] {
    for (uint32_t condition : conditions) code_.emit({.op = Op::kJumpIfZero, .a = condition, .extra = after});
    statement(node.init);
  });
  code_.place(after);
}

void Compiler::run(const Guard& node) {
  GuardRecord record{node.code, node.tensor, node.axis, node.symbol, node.error_node, 0, 0};
  guard_ = &node;
  uint32_t holds = reg(node.condition);
  record.expected = node.expected ? reg(node.expected) : constant({.i = 0});
  record.actual = node.actual ? reg(node.actual) : constant({.i = 0});
  overflows_.erase(guard_);
  guard_ = nullptr;
  code_.emit({.op = Op::kGuard, .a = holds, .extra = static_cast<int64_t>(program_.guards.size())});
  program_.guards.push_back(record);
  end_statement();
}

/// What is reported where the index arithmetic of now overflows.
int64_t Compiler::overflow_guard() {
  auto [known, fresh] = overflows_.emplace(guard_, static_cast<int64_t>(program_.guards.size()));
  if (!fresh) return known->second;
  const Guard found = overflow_record(function_, guard_);
  uint32_t expected = constant({.i = INT64_MAX}), actual = constant({.i = overflow_actual(found)});
  program_.guards.push_back({found.code, found.tensor, found.axis, found.symbol, found.error_node, expected, actual});
  return known->second;
}

void Compiler::run(const Invoke& node) {
  CallRecord record{node.callee, node.plain, node.result, {}, node.error_node, node.status};
  const Guard named = overflow_of(function_, node);
  guard_ = node.error_node >= 0 ? &named : nullptr;
  for (const Argument& argument : node.args) {
    CallArgument arg;
    if (const auto* e = std::get_if<Expr>(&argument)) {
      arg.value = reg(*e);
      arg.dtype = e->dtype();
    } else {
      BufferRef buffer = std::get<BufferRef>(argument);
      arg = {true, access(buffer), buffer->dtype, {}};
      for (Expr dim : buffer->shape) arg.shape.push_back(reg(dim));
    }
    record.args.push_back(std::move(arg));
  }
  overflows_.erase(guard_);
  guard_ = nullptr;
  Op call = node.runtime ? Op::kCallRuntime : node.external ? Op::kCallExternal : Op::kCall;
  add_call(code_.top(), call, std::move(record));
  end_statement();
}

Program compile(const PrimFunc& function) {
  return Compiler(function).run();
}

}  // namespace relaxc::tir::interpreter
