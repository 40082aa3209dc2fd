// interpreter_values.h: compiles scalar expressions and memory accesses to the interpreter's flat code.
//
// Expressions are DAGs: a node is computed once and kept in a register. A node without loads is placed in the outermost
// loop body (or branch) in which its variables exist, so that address arithmetic leaves inner loops; loads, and what
// depends on them, stay in their statement.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/tir/interpreter_known.h"
#include "compiler/tir/interpreter_select.h"

namespace relaxc::tir::interpreter {

class ValueCompiler {
 public:
  ValueCompiler(const PrimFunc& function, Assembler& code, GuardTable& guards, bool math_calls)
      : function_(function),
        code_(code),
        checked_(function.checks.overflow_code != 0),
        math_calls_(math_calls),
        selection_(code, guards, checked_, math_calls) {}

  /// Returns the register of the value of `e`; emits code here unless the value is known.
  uint32_t reg(Expr e);
  /// Binds `var` to a register until the end of the innermost body.
  void bind(Var var, uint32_t reg) { known_.keep(var, {reg, code_.top(), false}); }
  /// Binds `var` to the value of `e`, computed here.
  void bind_value(Var var, Expr e);
  void unbind(Var var) { known_.forget(var); }

  void begin_body() { known_.begin_body(); }
  void end_body() { known_.end_body(); }
  void end_statement() { known_.end_statement(); }

  /// Sets the register with the address of the buffer's first element.
  void set_address(BufferRef buffer, uint32_t reg) { address_[buffer] = reg; }
  /// Computes the buffer's number of elements, for bounds checks; the variables of its dims must be bound.
  void declare(BufferRef buffer);
  uint32_t address(BufferRef buffer) const;
  void store(BufferRef buffer, const std::vector<Expr>& indices, Expr value);
  /// Returns the names of all declared buffers, for messages.
  std::vector<std::string> take_names() { return std::move(names_); }

 private:
  Expr expanded(Expr e) const;
  void compute(Expr e);
  uint32_t offset(BufferRef buffer, const std::vector<Expr>& indices);
  uint32_t field_offset(const arith::Load& n);
  uint32_t load(const arith::Load& n, size_t level);

  const PrimFunc& function_;
  Assembler& code_;
  bool checked_, math_calls_;
  Selection selection_;
  KnownValues known_;
  std::unordered_set<Expr> certain_;  ///< nodes of the current expression that no condition in it guards
  std::unordered_map<BufferRef, uint32_t> address_, count_, name_;
  std::vector<std::string> names_;
};

}  // namespace relaxc::tir::interpreter
