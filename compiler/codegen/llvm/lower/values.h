// values.h: the value of an expression at a place of the function, computed once where it can be shared.
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

  /// Nothing overflowed on the way.
  Lanes value(arith::Expr e);
  /// Whether something did is still to be tested.
  Lanes pending(arith::Expr e);
  /// An operand that is computed only for its overflow, if that is asked for.
  Lanes pending_if_checked(arith::Expr e);
  /// Of an expression that must be uniform.
  llvm::Value* scalar(arith::Expr e);
  /// Whether it may be computed only where it is wanted: a subscript may be outside of its buffer where a condition
  /// does not hold, and an external function sees its call.
  bool must_be_lazy(arith::Expr e);

  bool knows(arith::Expr e) const { return memo_.count(e) != 0; }
  void remember(arith::Expr e, Lanes value);

  /// Values computed in `f` are not used after it.
  template <typename F>
  auto isolated(F f) {
    Scope scope(*this, &Values::forget_since);
    return f();
  }
  /// What `f` computes dominates what follows: where index arithmetic is checked, so that each operation is a test,
  /// values that read no memory are kept to the end of the suite.
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

  void lower_operands(arith::Expr e);
  void forget_since(size_t mark);
  void forget_not_dominating(size_t mark);

  Bindings& bindings_;
  OverflowChecks& checks_;
  Expressions& expressions_;
  std::unordered_map<arith::Expr, Lanes> memo_;
  std::vector<std::pair<arith::Expr, std::optional<Lanes>>> log_;  ///< of the memo, and what was known before
  std::unordered_map<arith::Expr, bool> reads_;                    ///< memory, or calls an external function
};

}  // namespace relaxc::codegen_llvm
