// captures.h: what a nested function captures of the enclosing one.
//
// A nested function becomes a function of the module at once (lambda lifting): each name of the enclosing function that
// it uses becomes a parameter after its own, in the order of first use. Symbols are captured by the shapes of captured
// tensors, and all others by one shape at the end. Both functions share the identities of symbols, so types need no
// translation. Within the function its own name is a closure of its captured parameters, which are known when its body
// has been read.
#pragma once

#include <vector>

#include "frontends/relax/function/names.h"

namespace relaxc::frontend {

class Captures {
 public:
  /// `outer` is the enclosing function; `inner` has only its own parameters so far.
  Captures(FunctionParts& outer, FunctionParts& inner) : outer_(outer), inner_(inner) {}
  Captures(const Captures&) = delete;

  struct Found {
    Term term;
    Place place;
  };
  /// Returns what a name of the enclosing function is here; nullopt if that function has no such name.
  std::optional<Found> find(const std::string& name);
  /// Returns the function as a value in its own body.
  Result<relax::Value*> self_closure(Place place);
  /// Completes the parameters when the body has been read; returns the captured values of the enclosing function.
  std::vector<relax::Value*> finish();
  /// The symbols of the enclosing function that are used here.
  const std::vector<arith::Var>& symbols() const { return symbols_; }
  bool shares(arith::Var symbol) const;
  /// Returns a substitution that maps each shared symbol to itself.
  arith::Substitution shared() const;

 private:
  Term import(const Term& outer, const std::string& name, Place place);
  void import_symbols(const std::vector<arith::Var>& symbols);
  size_t own_parameters() const;

  FunctionParts& outer_;
  FunctionParts& inner_;
  std::vector<relax::Value*> captured_;  ///< one for each parameter after the function's own
  std::vector<arith::Var> symbols_;
  std::vector<relax::Op*> self_closures_;  ///< receive the captured values once these are known
};

}  // namespace relaxc::frontend
