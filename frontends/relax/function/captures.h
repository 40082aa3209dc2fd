// captures.h: what a nested function takes from the one around.
//
// A nested function is read into a function of the module at once (lambda lifting): what it mentions of the function
// around becomes a parameter after its own, in the order of first mention. Symbols come along in the shapes of captured
// tensors, and those that no shape gives as one shape at the end. The symbols of the two functions are the same
// identities, so that types need no translation. Inside of itself the function's name is a closure of its own captured
// parameters, which are known when its body has been read.
#pragma once

#include <vector>

#include "frontends/relax/function/names.h"

namespace relaxc::frontend {

class Captures {
 public:
  /// `outer` is the function around `inner`, which has its own parameters alone.
  Captures(FunctionParts& outer, FunctionParts& inner) : outer_(outer), inner_(inner) {}
  Captures(const Captures&) = delete;

  struct Found {
    Term term;
    Place place;
  };
  /// What a name of the function around is here; nothing if that has none.
  std::optional<Found> find(const std::string& name);
  /// The function as a value in its own body.
  Result<relax::Value*> self_closure(Place place);
  /// Completes the parameters when the body has been read; what the function around has to give for them.
  std::vector<relax::Value*> finish();
  /// Symbols of the function around that are mentioned here.
  const std::vector<arith::Var>& symbols() const { return symbols_; }
  bool shares(arith::Var symbol) const;
  /// Each symbol that is shared, for itself.
  arith::Substitution shared() const;

 private:
  Term import(const Term& outer, const std::string& name, Place place);
  void import_symbols(const std::vector<arith::Var>& symbols);
  size_t own_parameters() const;

  FunctionParts& outer_;
  FunctionParts& inner_;
  std::vector<relax::Value*> captured_;  ///< one for each parameter after the function's own
  std::vector<arith::Var> symbols_;
  std::vector<relax::Op*> self_closures_;  ///< to be given what is captured, once that is known
};

}  // namespace relaxc::frontend
