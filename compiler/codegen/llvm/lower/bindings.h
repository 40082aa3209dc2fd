// bindings.h: the values of a prim func's variables, and the facts about them, at a point of the function.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/arith/prover.h"
#include "compiler/codegen/llvm/lower/lanes.h"

namespace relaxc::codegen_llvm {

class Bindings {
 public:
  Bindings() = default;
  /// For the body of a task: starts with the facts of the code around it and without variables.
  explicit Bindings(const arith::Facts& facts) : facts_(facts) {}

  /// Returns the variable's value; null if it has none here.
  const Lanes* find(arith::Expr var) const;
  /// Binds a variable until the innermost Scope ends.
  void bind(arith::Expr var, Lanes value);
  /// Like `bind`; also records that the variable is in [min, min + extent).
  void bind_range(arith::Var var, arith::Expr min, arith::Expr extent, Lanes value);
  void assume_size(arith::Var symbol) { facts_.bound(symbol, arith::Range::at_least(0)); }

  const arith::Facts& facts() const { return facts_; }
  /// Returns the range of an index here; cached, since loops ask for the same divisors and offsets repeatedly.
  arith::Range range_of(arith::Expr index);
  /// Returns `e` simplified under these facts; nullopt if that does not change it.
  std::optional<arith::Expr> simplified(arith::Expr e);

  /// Undoes the bindings made since its construction when it is destroyed.
  class Scope {
   public:
    explicit Scope(Bindings& bindings) : bindings_(bindings), mark_(bindings.log_.size()) {}
    ~Scope() { bindings_.undo_since(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Bindings& bindings_;
    size_t mark_;
  };

 private:
  struct Change {
    arith::Expr var;
    std::optional<Lanes> before;
    std::unique_ptr<arith::Facts> outside;  ///< the facts before; null if they did not change
  };
  void undo_since(size_t mark);

  std::unordered_map<arith::Expr, Lanes> vars_;
  std::vector<Change> log_;
  arith::Facts facts_;
  std::optional<arith::Prover> prover_;         ///< for these facts; made by the first query
  std::unordered_set<arith::Expr> simplified_;  ///< expressions that simplify() does not change
};

}  // namespace relaxc::codegen_llvm
