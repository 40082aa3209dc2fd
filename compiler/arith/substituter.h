// substituter.h: replaces parts of many expressions that share nodes.
#pragma once

#include <unordered_map>

#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// Does what substitute() does, and caches: of n expressions that each contain the one before, no node is rebuilt
/// twice.
class Substituter {
 public:
  Substituter() = default;
  explicit Substituter(Substitution replacements) : replacements_(std::move(replacements)) {}

  /// Replaces `from` by `to` from now on.
  void add(Expr from, Expr to);
  const Substitution& replacements() const { return replacements_; }
  bool replaces(Expr from) const { return replacements_.count(from) != 0; }
  Expr of(Expr e);

 private:
  Substitution replacements_;
  std::unordered_map<Expr, Expr> done_;
};

}  // namespace relaxc::arith
