// symbols.h: what a host function knows of each symbol.
//
// A symbol is one of three things: a parameter of the host function (an entry symbol), another name of an expression of
// such (known when compiling; it is replaced everywhere), or a value that is found while running, for which at most a
// bound is known. Memory is planned in entry symbols alone, so a size that depends on data is planned by its bound.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/arith/prover.h"
#include "compiler/arith/visit.h"

namespace relaxc::lower {

using arith::Context;
using arith::Expr;
using arith::Var;

/// Each of a list by the replacements; null ones stay null.
std::vector<Expr> replace(std::vector<Expr> list, const arith::Substitution& by);

class Symbols {
 public:
  explicit Symbols(const arith::Facts& facts) : facts_(facts), entry_facts_(facts) {}

  void add_entry(Var var) { entry_.push_back(var), is_entry_.insert(var); }
  /// What is declared of a symbol that has no value yet.
  void declare(Var var, arith::Range range);
  /// `condition` holds from here on: it is checked here, or (`at_entry`) before anything runs.
  void assume(Expr condition, bool at_entry);
  /// `var` is another name of `value`.
  void define(Var var, Expr value) { known_[var] = known(value); }
  /// `var` is found while running, is at most `bound` (null: unbounded unless the facts say so) and, if it `is_size`,
  /// not negative.
  void add_data(Var var, Expr bound, bool is_size = true);

  const std::vector<Var>& entry() const { return entry_; }
  /// What holds before anything runs: a guard of the entry may rely on this alone.
  const arith::Facts& entry_facts() const { return entry_facts_; }
  /// A region: what is assumed while it lives ends with it; what is known of the symbols that it brought does not.
  class Scope {
   public:
    /// `forget`: the symbols that it brought are gone after it as well.
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
  /// Whether the facts, or those of the entry alone, prove `condition`.
  bool proves(Expr condition, bool at_entry) const;
  /// `e` in entry symbols and symbols of data.
  Expr known(Expr e) const { return e ? arith::substitute(e, known_) : e; }
  std::vector<Expr> known(std::vector<Expr> list) const;
  bool in_scope(Var var) const;
  /// Whether `e` has entry symbols only, and no load.
  bool of_entry(Expr e) const;
  bool of_entry(const std::vector<Expr>& list) const;
  /// The least that is certainly >= `e` and has entry symbols only; null if nothing is.
  Expr bounded(Expr e) const;

 private:
  Expr find_bound(Expr e) const;
  std::vector<int64_t> variable_facts(Expr e) const;
  bool grows_with(Expr e, Expr var) const;
  Expr compared_with_entry(Expr e) const;
  std::optional<size_t> latest_data(Expr e, size_t end) const;
  void keep(Var var, Expr bound);

  arith::Facts facts_, entry_facts_;
  mutable std::shared_ptr<arith::Prover> entry_prover_;  ///< null: not asked since the entry's facts changed
  std::vector<Var> entry_;
  std::unordered_set<Expr> is_entry_;
  arith::Substitution known_;
  std::vector<std::pair<Var, Expr>> data_;  ///< with bounds, in order of binding
  std::unordered_map<Expr, size_t> place_;  ///< in data_
  /// By the form of an expression that an assumption bounds: what by, in entry symbols alone. Of the first compared_
  /// assumptions.
  mutable std::unordered_map<Expr, Expr> bound_of_;
  mutable size_t compared_ = 0;
  struct Answer {
    std::vector<int64_t> known;  ///< of the variables, when it was found
    Expr bound;                  ///< null: nothing is
  };
  mutable std::unordered_map<Expr, Answer> answers_;  ///< of `bounded`
};

}  // namespace relaxc::lower
