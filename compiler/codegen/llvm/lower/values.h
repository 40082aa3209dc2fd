// values.h: the value of an expression at a point of the function; shared nodes are computed once.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/lower/bindings.h"

namespace relaxc::codegen_llvm {

class Expressions;
class OverflowChecks;

class Values {
 public:
  Values(Bindings& bindings, OverflowChecks& checks, Expressions& expressions)
      : bindings_(bindings), checks_(checks), expressions_(expressions) {}

  /// Returns the value of `e`, after a test that nothing overflowed.
  Lanes value(arith::Expr e);
  /// Returns the value of `e`, whose overflow flag may still have to be tested.
  Lanes pending(arith::Expr e);
  /// Returns an operand that may not be needed: it is tested only if its user asks for the flag.
  Lanes pending_if_checked(arith::Expr e);
  /// Returns the value of an expression that must be uniform.
  llvm::Value* scalar(arith::Expr e);
  /// Whether `e` may be evaluated only where it is needed: it reads memory, whose subscript a condition may guard, or
  /// calls an external function, which can observe its calls.
  bool must_be_lazy(arith::Expr e);

  bool knows(arith::Expr e) const { return memo_.count(e) != 0; }
  void remember(arith::Expr e, Lanes value);

  /// Calls `f` and forgets the values that it computed.
  template <typename F>
  auto isolated(F f) {
    Scope scope(*this, &Values::forget_since);
    return f();
  }
  /// Calls `f`, whose code dominates what follows. If index arithmetic is checked, values that read no memory are kept
  /// to the end of the suite, since computing them again would test each operation again.
  template <typename F>
  auto dominating(F f) {
    Scope scope(*this, &Values::forget_not_dominating);
    return f();
  }

 private:
  class Scope {
   public:
    using Forget = void (Values::*)(size_t mark);
    Scope(Values& values, Forget forget) : values_(values), forget_(forget), mark_(values.log_.size()) {}
    ~Scope() { (values_.*forget_)(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Values& values_;
    Forget forget_;
    size_t mark_;
  };

  void clear_overflow(arith::Expr e);
  void forget_since(size_t mark);
  void forget_not_dominating(size_t mark);

  Bindings& bindings_;
  OverflowChecks& checks_;
  Expressions& expressions_;
  std::unordered_map<arith::Expr, Lanes> memo_;
  std::vector<std::pair<arith::Expr, std::optional<Lanes>>> log_;  ///< changes of the memo, with what was there before
  std::unordered_map<arith::Expr, bool> reads_;                    ///< whether it reads memory or calls a function
};

}  // namespace relaxc::codegen_llvm
