// names.h: the names of a Relax function and their meanings.
//
// Has the scopes of the function, the declared symbols without a value, the names that went out of scope with a block
// or a branch, and the names that the text reads later. A name that only the enclosing function has is captured at its
// first lookup.
#pragma once

#include <optional>
#include <set>
#include <unordered_set>

#include "frontends/relax/function/term.h"
#include "frontends/relax/shared/scope.h"

namespace relaxc::frontend {

struct FunctionParts;

class Names {
 public:
  using Binding = Scope<Term>::Binding;
  using Frame = Scope<Term>::Frame;

  explicit Names(FunctionParts& parts) : parts_(parts) {}
  Names(const Names&) = delete;

  /// Returns the binding of a name of this function; null if it has none. Memory that a call has written is what the
  /// call gave.
  Binding* find_own(std::string_view name);
  /// Returns the binding of a name of this function, or of an enclosing one, which is then captured; null if none.
  Binding* find(const std::string& name);
  /// Returns "R.nn.relu" for a call's callee, if no name hides its root; empty for other expressions.
  std::string path_of(const ast::Expr& e);

  void bind(const std::string& name, Term term, Place place);
  /// Binds the name of an assignment; a value without a name gets it.
  void assign(const std::string& name, Term term, Place place);
  /// Marks the targets of an invalid statement as failed, so that their uses are not reported.
  void poison(const ast::Expr* target);
  /// The same for all names that the body of an invalid statement would have bound.
  void poison(const std::vector<const ast::Stmt*>& body);
  /// The same for the symbols that an invalid annotation would have bound.
  void poison_mentioned(const ast::Expr* annotation);

  /// Declares a symbol that has no value until a pattern binds it.
  arith::Var declare_symbol(const std::string& name, DType dtype, Place place);
  bool has_no_value(arith::Expr symbol) const { return open_.count(symbol) != 0; }
  void give_value(arith::Expr symbol) { open_.erase(symbol); }
  /// Marks a captured symbol as one that has no value here either.
  void take_away_value(arith::Expr symbol) { open_.insert(symbol); }

  /// Records a name that went out of scope; `way_out` says in the message how to keep it.
  void hide(const std::string& name, Place place, std::string_view way_out) { hidden_[name] = {place, way_out}; }
  void unhide(const std::string& name) { hidden_.erase(name); }
  /// Reports an unknown name. `dims`: whether a dim was expected.
  Failure unbound(const ast::Expr& e, bool dims);

  /// Returns whether the enclosing suites read `name` after the current statement.
  bool is_read_later(const std::string& name) const;

  /// Opens a frame of names, until it is destroyed or left.
  class Inner {
   public:
    explicit Inner(Names& names) : inner_(names.scopes_) {}
    Frame leave() { return inner_.leave(); }

   private:
    Scope<Term>::Inner inner_;
  };

  /// Opens the frame of a branch: also lists the names that are assigned in it, and makes symbols that get a value in
  /// it lose that afterwards.
  class Branch {
   public:
    Branch(Names& names, std::vector<std::string>& assigned)
        : names_(names), outer_(std::exchange(names.assigned_, &assigned)), open_(names.open_), inner_(names) {}
    Branch(const Branch&) = delete;
    ~Branch() { names_.assigned_ = outer_, names_.open_ = std::move(open_); }
    Frame leave() { return inner_.leave(); }

   private:
    Names& names_;
    std::vector<std::string>* outer_;
    std::unordered_set<arith::Expr> open_;
    Inner inner_;
  };

  /// While it lives, `names` are those that the text reads after the current statement.
  class Later {
   public:
    Later(Names& names, std::set<std::string> read) : names_(names) { names.later_.push_back(std::move(read)); }
    Later(const Later&) = delete;
    ~Later() { names_.later_.pop_back(); }

   private:
    Names& names_;
  };

 private:
  struct Hidden {
    Place place;
    std::string_view way_out;
  };

  /// Tells the observer of the file, if there is one.
  void tell(const std::string& name, const Term& term, Place place) const;

  FunctionParts& parts_;
  Scope<Term> scopes_;
  std::map<std::string, Hidden> hidden_;
  std::unordered_set<arith::Expr> open_;
  std::vector<std::string>* assigned_ = nullptr;
  std::vector<std::set<std::string>> later_;
};

}  // namespace relaxc::frontend
