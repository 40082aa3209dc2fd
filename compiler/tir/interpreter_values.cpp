// interpreter_values.cpp: see interpreter_values.h.
#include "compiler/tir/interpreter_values.h"

#include <algorithm>

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/arith/walks.h"

namespace relaxc::tir::interpreter {

using namespace arith;

namespace {

/// The nodes of `root` that the program computes under any condition. The code of an expression has no branches, so it
/// computes also what a select does not choose; loads there must not fail, and give 0 out of bounds.
std::unordered_set<Expr> certain_nodes(Expr root) {
  std::unordered_set<Expr> certain;
  arith::for_each_reached(root, [&](Expr e) {
    certain.insert(e);
    return arith::eager_operands(e);
  });
  return certain;
}

/// The number of elements for bounds checks; null means one.
Expr count_of(const Buffer& buffer) {
  if (buffer.shape.empty()) return {};
  if (buffer.record != nullptr) return buffer.shape[0].context().index(INT64_MAX);  // offsets of fields are not checked
  for (Expr dim : buffer.shape)
    if (dim.is_constant(INT64_MAX)) return dim;  // its size is not known
  if (buffer.strides.empty()) return element_count(buffer.shape[0].context(), buffer);
  Expr last = buffer.shape[0].context().index(1);
  for (size_t i = 0; i < buffer.shape.size(); ++i) last = last + (buffer.shape[i] - 1) * buffer.strides[i];
  return last;
}

}  // namespace

Expr ValueCompiler::expanded(Expr e) const {
  return math_calls_ ? e : expand_all_math(e);
}

uint32_t ValueCompiler::reg(Expr e) {
  const Expr whole = expanded(e);
  std::unordered_set<Expr> outer = std::exchange(certain_, certain_nodes(whole));
  arith::for_each_node(whole, [&](Expr node) {
    if (!known_.has(node)) compute(node);
  });
  certain_ = std::move(outer);
  return known_.at(whole).reg;
}

void ValueCompiler::compute(Expr e) {
  if (e.as<VarNode>() != nullptr)
    RELAXC_UNREACHABLE("variable " + e.as<VarNode>()->name + " is not bound in " + function_.name);
  const auto* read = e.as<Load>();
  Known known{0, 0, read != nullptr || (e.as<Extern>() != nullptr && !is_angle_call(e))};
  std::vector<uint32_t> regs;
  for (Expr part : operands(e)) {
    const Known& k = known_.at(part);
    known.level = std::max(known.level, k.level);
    known.loads |= k.loads;
    regs.push_back(k.reg);
  }
  // Checked arithmetic must not run where the program would not have run it.
  if (known.loads || checked_) known.level = code_.top();
  known.reg = read != nullptr ? load(*read, known.level) : selection_.select(e, known.level, regs);
  known_.keep(e, known);
}

void ValueCompiler::bind_value(Var var, Expr e) {
  uint32_t value = reg(e);
  Known known = known_.at(expanded(e));
  if (known.loads) known = {code_.op(code_.top(), Op::kMove, {value}), code_.top(), false};
  known_.keep(var, known);
}

void ValueCompiler::declare(BufferRef buffer) {
  Expr count = function_.body ? count_of(*buffer) : Expr();
  count_[buffer] = count ? reg(count) : code_.constant({.i = 1});
  name_[buffer] = static_cast<uint32_t>(names_.size());
  names_.push_back(buffer->name);
}

uint32_t ValueCompiler::address(BufferRef buffer) const {
  RELAXC_CHECK(address_.count(buffer) != 0, "buffer " + buffer->name + " is not declared in " + function_.name);
  return address_.at(buffer);
}

uint32_t ValueCompiler::offset(BufferRef buffer, const std::vector<Expr>& indices) {
  if (indices.empty()) return code_.constant({.i = 0});
  return reg(element_offset(indices[0].context(), *buffer, indices));
}

uint32_t ValueCompiler::load(const Load& n, size_t level) {
  uint32_t base = address(n.buffer);
  if (n.buffer->record != nullptr && n.indices.empty()) return code_.op(level, Op::kMove, {base});
  // The level of the offset's nodes follows from their variables; the load itself stays at `level`.
  bool lenient = certain_.count(Expr(&n)) == 0;
  uint32_t at = n.buffer->record != nullptr ? field_offset(n) : offset(n.buffer, n.indices);
  return code_.emit_at(
      level, {load_op(n.dtype), lenient, n.dtype, code_.fresh(), base, at, name_.at(n.buffer), count_.at(n.buffer)});
}

/// The offset of a field in this machine's layout, in units of the field's size.
uint32_t ValueCompiler::field_offset(const Load& n) {
  const DataModel machine{sizeof(void*), alignof(int64_t)};
  const auto field = static_cast<uint32_t>(*n.indices[1].constant());
  const uint32_t size = size_of(n.buffer->record->fields[field].kind, machine.pointer_bytes);
  const Expr step = n.indices[0].context().index(layout(*n.buffer->record, machine).size / size);
  return reg(n.indices[0] * step + static_cast<int64_t>(offset_of(*n.buffer->record, field, machine) / size));
}

void ValueCompiler::store(BufferRef buffer, const std::vector<Expr>& indices, Expr value) {
  uint32_t base = address(buffer);
  uint32_t at = offset(buffer, indices), stored = reg(value);
  code_.emit({store_op(buffer->dtype), false, buffer->dtype, stored, base, at, name_.at(buffer), count_.at(buffer)});
}

}  // namespace relaxc::tir::interpreter
