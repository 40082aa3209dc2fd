// bindings.h: the variables of a prim func that have values here, and what is known of them.
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
  /// Of a task's body: it knows what is known around, and has no variables yet.
  explicit Bindings(const arith::Facts& facts) : facts_(facts) {}

  /// Null: it has no value here.
  const Lanes* find(arith::Expr var) const;
  /// Until the innermost scope ends.
  void bind(arith::Expr var, Lanes value);
  /// The same, knowing that the variable is in min .. min + extent - 1.
  void bind_range(arith::Var var, arith::Expr min, arith::Expr extent, Lanes value);
  void assume_size(arith::Var symbol) { facts_.bound(symbol, arith::Range::at_least(0)); }

  const arith::Facts& facts() const { return facts_; }
  /// What is known of an index here. Loops ask about the same few divisors and offsets again and again.
  arith::Range range_of(arith::Expr index);
  /// `e` in its simplest form under these facts; nothing if it is in that form.
  std::optional<arith::Expr> simplified(arith::Expr e);

  /// Its destructor restores the variables to what they were.
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
    std::unique_ptr<arith::Facts> outside;  ///< null: the facts stayed as they were
  };
  void undo_since(size_t mark);

  std::unordered_map<arith::Expr, Lanes> vars_;
  std::vector<Change> log_;
  arith::Facts facts_;
  std::optional<arith::Prover> prover_;         ///< under these facts, from the first question on
  std::unordered_set<arith::Expr> simplified_;  ///< what simplify() has nothing to say about any more
};

}  // namespace relaxc::codegen_llvm
