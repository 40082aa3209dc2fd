// symbols.h: what a host function knows of each symbol.
//
// A symbol is a parameter of the host function (an entry symbol), a name for an expression of others (replaced
// everywhere while compiling), or a value that is found at run time, of which at most a bound is known. Memory is
// planned in entry symbols alone, so a size that depends on data is planned by its bound.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/arith/prover.h"
#include "compiler/arith/substituter.h"

namespace relaxc::lower {

using arith::Context;
using arith::Expr;
using arith::Var;

/// Substitutes `by` in each expression of the list; null ones stay null.
std::vector<Expr> replace(std::vector<Expr> list, const arith::Substitution& by);

class Symbols {
 public:
  explicit Symbols(const arith::Facts& facts) : facts_(facts), entry_facts_(facts) {}

  void add_entry(Var var);
  /// Records the declared range of a symbol that has no value yet.
  void declare(Var var, arith::Range range);
  /// Records that `condition` holds from here on: it is checked here, or (`at_entry`) before anything runs.
  void assume(Expr condition, bool at_entry);
  /// Makes `var` a name for `value`.
  void define(Var var, Expr value) { known_.add(var, known(value)); }
  /// Adds a symbol that is found at run time and is at most `bound` (null: unbounded unless the facts say so). If
  /// `is_size`, it is not negative.
  void add_data(Var var, Expr bound, bool is_size = true);

  const std::vector<Var>& entry() const { return entry_; }
  /// The facts that hold before anything runs; guards of the entry may rely on these alone.
  const arith::Facts& entry_facts() const { return entry_facts_; }
  /// A region. Assumptions made during its lifetime end with it; the ranges of symbols that it added are kept.
  class Scope {
   public:
    /// `forget`: the symbols that it added are removed as well.
    Scope(Symbols& symbols, bool forget);
    Scope(const Scope&) = delete;
    ~Scope();

   private:
    Symbols& symbols_;
    const bool forget_;
    arith::Facts facts_;
    arith::Substitution known_;
    size_t data_;
  };
  const arith::Facts& facts() const { return facts_; }
  /// Whether the facts, or those of the entry alone (`at_entry`), prove `condition`.
  bool proves(Expr condition, bool at_entry) const;
  /// Returns the canonical form of `e`, whatever values its symbols have. Parts that were asked for before cost
  /// nothing.
  Expr simplified(Expr e) const { return plain_->simplifier.simplify(e); }
  /// Returns `e` in entry symbols and data-dependent symbols.
  Expr known(Expr e) const { return e ? known_.of(e) : e; }
  std::vector<Expr> known(std::vector<Expr> list) const;
  bool in_scope(Var var) const;
  /// Whether `e` has no symbols but entry symbols, and no load.
  bool of_entry(Expr e) const;
  bool of_entry(const std::vector<Expr>& list) const;
  /// Returns an upper bound of `e` in entry symbols alone; null if none is found.
  Expr bounded(Expr e) const;

 private:
  Expr find_bound(Expr e) const;
  std::vector<int64_t> variable_facts(Expr e) const;
  bool grows_with(Expr e, Expr var) const;
  Expr compared_with_entry(Expr e) const;
  std::optional<size_t> latest_data(Expr e, size_t end) const;
  void keep(Var var, Expr bound);

  arith::Facts facts_, entry_facts_;
  mutable std::shared_ptr<arith::Prover> entry_prover_;  ///< null: the entry's facts changed since it was made
  /// What simplified() uses: a simplifier that knows nothing of the symbols.
  struct Plain {
    arith::Facts none;
    arith::Simplifier simplifier{none};
  };
  std::shared_ptr<Plain> plain_ = std::make_shared<Plain>();
  std::vector<Var> entry_;
  std::unordered_set<Expr> is_entry_;
  mutable std::unordered_map<Expr, bool> of_entry_;  ///< answers of `of_entry` for all nodes that it was asked about
  mutable arith::Substituter known_;
  std::vector<std::pair<Var, Expr>> data_;  ///< data-dependent symbols with bounds, in order of binding
  std::unordered_map<Expr, size_t> place_;  ///< index in data_
  /// Upper bounds in entry symbols alone, by the simplified expression that an assumption says they bound. Has those of
  /// the first compared_ assumptions.
  mutable std::unordered_map<Expr, Expr> bound_of_;
  mutable size_t compared_ = 0;
  struct Answer {
    std::vector<int64_t> known;  ///< facts about its variables when it was found
    Expr bound;                  ///< null: there is none
  };
  mutable std::unordered_map<Expr, Answer> answers_;  ///< answers of `bounded`, by expression
};

}  // namespace relaxc::lower
