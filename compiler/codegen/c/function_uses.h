// function_uses.h: the variables, buffers and functions that the C text of a prim func uses, computed before printing.
//
// The printer needs them first: C compilers warn of unused declarations, and a parameter that is only read is const.
#pragma once

#include <set>
#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

class FunctionUses {
 public:
  explicit FunctionUses(const tir::PrimFunc& function);

  /// Whether the text uses what is declared. False if several statements declare it, since not all need be used.
  bool is_used(arith::Var var) const { return vars_.count(var->id) != 0 && rebound_.count(var->id) == 0; }
  bool is_used(tir::BufferRef buffer) const { return buffers_.count(buffer) != 0 && renamed_.count(buffer) == 0; }
  /// The external functions that the text calls.
  const std::set<std::string>& foreign_functions() const { return foreign_; }
  /// Buffers that the function stores to, passes to calls or has a view of: their parameters are not const.
  std::set<tir::BufferRef> written() const;
  /// Buffers that the function stores to, directly or through views, or passes to calls.
  std::set<tir::BufferRef> changed() const;

 private:
  void look_at(tir::Stmt s);
  void look_at(arith::Expr e);
  void declares(arith::Var var);
  void declares(tir::BufferRef buffer);

  const tir::PrimFunc& function_;
  std::set<uint32_t> vars_, bound_, rebound_;  ///< by id: used; bound by a let; bound by several lets
  std::set<tir::BufferRef> buffers_, named_, renamed_;
  std::set<std::string> foreign_;
};

}  // namespace relaxc::codegen_c
