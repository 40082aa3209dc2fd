// call_arguments.h: what a call of a Relax function passes.
//
// Owns the memory of the arguments and the callee's symbols in terms of the caller's. Uses the parts of the caller.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

class CallArguments {
 public:
  CallArguments(HostLowering& host, const relax::Op& op, const HostCallee& callee);

  /// Finds the callee's symbols, requires what it declares and guards, and puts shapes and scalars in memory. Reports
  /// an argument of another rank.
  Status solve();
  /// One for each leaf of the callee's parameters.
  const std::vector<BufferRef>& memories() const { return memories_; }
  /// What a symbol of the callee is to us.
  Expr value_of(Var symbol) const { return found_.at(symbol); }
  /// `e` of the callee's symbols in ours.
  Expr in_ours(Expr e) const { return arith::substitute(e, found_); }
  /// Whether the arguments decide all symbols of `e`.
  bool decide(Expr e) const;

 private:
  void list(const ValueStorage& from, relax::Info info);
  Status match_dims();
  Expr read_scalar(Var name, Expr value);
  void require_dims();
  void read_values();
  void read_value(const ValueSymbol& value, std::map<const relax::Op*, BufferRef>& answers);
  BufferRef ask(const ValueSymbol& value, std::map<const relax::Op*, BufferRef>& answers);
  void require_declared();
  void require_guards();
  void put_in_memory();

  HostLowering& host_;
  const relax::Op& op_;
  const HostCallee& callee_;
  tir::Builder& build_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  std::vector<relax::Info> formals_, actuals_;  ///< leaves of parameters and arguments
  std::vector<BufferRef> memories_;             ///< null: none yet, a shape or scalar
  std::vector<int32_t> inputs_;                 ///< which input of ours an argument is; -1: none
  arith::Substitution found_;                   ///< the callee's symbols
};

}  // namespace relaxc::lower
