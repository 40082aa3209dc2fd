// call_arguments.h: the arguments of a call of a Relax function.
//
// Owns the arguments' memory and the callee's symbols as expressions of the caller's. Uses the caller's HostLowering.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

class CallArguments {
 public:
  CallArguments(HostLowering& host, const relax::Op& op, const HostCallee& callee);

  /// Solves the callee's symbols, requires what the callee declares and guards, and stores shapes and scalars to
  /// memory. Reports an argument whose rank is not its parameter's.
  Status solve();
  /// The buffers of the arguments, one for each leaf of the callee's parameters.
  const std::vector<BufferRef>& memories() const { return memories_; }
  /// Returns the callee's symbol as an expression of the caller's symbols.
  Expr value_of(Var symbol) const { return found_.at(symbol); }
  /// Replaces the callee's symbols in `e` by expressions of the caller's.
  Expr in_ours(Expr e) const { return arith::substitute(e, found_); }
  /// Whether the arguments determine all symbols of `e`.
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
  std::vector<BufferRef> memories_;             ///< null: a shape or scalar that is not in memory yet
  std::vector<int32_t> inputs_;                 ///< index of the caller's input that an argument is; -1: none
  arith::Substitution found_;                   ///< the callee's symbols in terms of the caller's
};

}  // namespace relaxc::lower
