// interpreter_known.h: the registers of expressions, each with the part of the code in which it is valid.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

/// The register of an expression's value.
struct Known {
  uint32_t reg = 0;
  size_t level = 0;    ///< depth of the body that computes it
  bool loads = false;  ///< whether it depends on memory
};

class KnownValues {
 public:
  bool has(Expr e) const { return known_.count(e) != 0; }
  const Known& at(Expr e) const { return known_.at(e); }
  /// Keeps `e` until the body of its level ends; if it depends on memory, until the statement ends.
  void keep(Expr e, Known known) {
    known_[e] = known;
    (known.loads ? with_loads_ : levels_[known.level]).push_back(e);
  }
  void forget(Expr e) { known_.erase(e); }

  void begin_body() { levels_.emplace_back(); }
  void end_body() {
    for (Expr e : levels_.back()) known_.erase(e);
    levels_.pop_back();
  }
  /// Forgets values that depend on memory, since a store may change them.
  void end_statement() {
    for (Expr e : with_loads_) known_.erase(e);
    with_loads_.clear();
  }

 private:
  std::unordered_map<Expr, Known> known_;
  std::vector<std::vector<Expr>> levels_ = std::vector<std::vector<Expr>>(1);  ///< the nodes that each body computes
  std::vector<Expr> with_loads_;
};

}  // namespace relaxc::tir::interpreter
