// names.h: what names stand for in a Relax function.
//
// Owns the scopes of the function, the symbols that are declared and have no value yet, the names that stayed inside of
// a block or a branch, and which names the text reads later. A name that only the function around knows is captured
// when it is first looked up.
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

  /// A name of this function; null if it has none.
  Binding* find_own(std::string_view name) { return scopes_.find(name); }
  /// A name of this function, or of one around, which is then captured.
  Binding* find(const std::string& name);
  /// "R.nn.relu" of a call's callee, if no name hides its root; empty for all else.
  std::string path_of(const ast::Expr& e);

  void bind(const std::string& name, Term term, Place place) { scopes_.bind(name, std::move(term), place); }
  /// What an assignment does: the name is seen from here on, and a value without a name gets it.
  void assign(const std::string& name, Term term, Place place);
  /// Makes the targets of a refused statement known as failures.
  void poison(const ast::Expr* target);
  /// The same for all that the statements of a refused one would have bound.
  void poison(const std::vector<const ast::Stmt*>& body);
  /// The symbols that a refused annotation would have made: using them is no mistake of its own.
  void poison_mentioned(const ast::Expr* annotation);

  /// A symbol that has no value until a pattern binds it.
  arith::Var declare_symbol(const std::string& name, DType dtype, Place place);
  bool has_no_value(arith::Expr symbol) const { return open_.count(symbol) != 0; }
  void give_value(arith::Expr symbol) { open_.erase(symbol); }
  /// Makes a captured symbol one that has no value here either.
  void take_away_value(arith::Expr symbol) { open_.insert(symbol); }

  /// A name that stayed inside of something; `way_out` says what would bring it out.
  void hide(const std::string& name, Place place, std::string_view way_out) { hidden_[name] = {place, way_out}; }
  void unhide(const std::string& name) { hidden_.erase(name); }
  /// Reports a name that stands for nothing. `dims`: a dim was expected.
  Failure unbound(const ast::Expr& e, bool dims);

  /// Whether the suites around read `name` after the current statement.
  bool is_read_later(const std::string& name) const;

  /// Names have a frame of their own while it lives, or until it is left.
  class Inner {
   public:
    explicit Inner(Names& names) : inner_(names.scopes_) {}
    Frame leave() { return inner_.leave(); }

   private:
    Scope<Term>::Inner inner_;
  };

  /// The names of a branch: a frame of their own, a list of those that are assigned, and the symbols that get a value
  /// in it, which have none after.
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

  /// The text reads `names` after the statement that is read while it lives.
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

  FunctionParts& parts_;
  Scope<Term> scopes_;
  std::map<std::string, Hidden> hidden_;
  std::unordered_set<arith::Expr> open_;
  std::vector<std::string>* assigned_ = nullptr;
  std::vector<std::set<std::string>> later_;
};

}  // namespace relaxc::frontend
