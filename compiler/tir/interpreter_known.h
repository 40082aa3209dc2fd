// interpreter_known.h: which expressions are in registers, and until where in the code.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

/// Where the value of an expression is.
struct Known {
  uint32_t reg = 0;
  size_t level = 0;    ///< the body that computes it, by its depth
  bool loads = false;  ///< it depends on memory
};

class KnownValues {
 public:
  bool has(Expr e) const { return known_.count(e) != 0; }
  const Known& at(Expr e) const { return known_.at(e); }
  /// Until the body of its level ends or, of what depends on memory, the statement.
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
  /// What depends on loads must be computed anew after a store.
  void end_statement() {
    for (Expr e : with_loads_) known_.erase(e);
    with_loads_.clear();
  }

 private:
  std::unordered_map<Expr, Known> known_;
  std::vector<std::vector<Expr>> levels_ = std::vector<std::vector<Expr>>(1);  ///< what each body computes
  std::vector<Expr> with_loads_;
};

}  // namespace relaxc::tir::interpreter
