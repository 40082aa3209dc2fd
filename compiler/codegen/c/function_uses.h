// function_uses.h: what a prim func's text will use of its variables and buffers, known before it is written.
//
// A C compiler warns of what is declared and not used, and a parameter that is only read is const.
#pragma once

#include <set>
#include <string>

#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

class FunctionUses {
 public:
  explicit FunctionUses(const tir::PrimFunc& function);

  /// Something uses what is declared for it. False also where several statements declare it: not all need be used.
  bool is_used(arith::Var var) const { return vars_.count(var->id) != 0 && rebound_.count(var->id) == 0; }
  bool is_used(tir::BufferRef buffer) const { return buffers_.count(buffer) != 0 && renamed_.count(buffer) == 0; }
  /// Functions of others that the text calls.
  const std::set<std::string>& foreign_functions() const { return foreign_; }
  /// Buffers that the function stores to, passes on or looks into through a view: their parameters are not const.
  std::set<tir::BufferRef> written() const;
  /// Buffers that the function stores to, itself or through views, or passes on.
  std::set<tir::BufferRef> changed() const;

 private:
  void look_at(tir::Stmt s);
  void look_at(arith::Expr e);
  void declares(arith::Var var);
  void declares(tir::BufferRef buffer);

  const tir::PrimFunc& function_;
  std::set<uint32_t> vars_, bound_, rebound_;  ///< by id: used, bound by a let, bound by several
  std::set<tir::BufferRef> buffers_, named_, renamed_;
  std::set<std::string> foreign_;
};

}  // namespace relaxc::codegen_c
