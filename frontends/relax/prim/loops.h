// loops.h: the enclosing loops, up to the next block.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/tir/stmt.h"

namespace relaxc::frontend {

class Loops {
 public:
  Loops() = default;
  Loops(const Loops&) = delete;

  /// The values of the loops' names, outermost first.
  const std::vector<arith::Expr>& variables() const { return variables_; }
  /// Whether there is an enclosing loop, which `break` leaves.
  bool any() const { return depth_ > 0; }
  /// Returns the range of a loop's variable; null for any other expression.
  const tir::Span* range_of(arith::Expr var) const {
    auto range = ranges_.find(var->id);
    return range == ranges_.end() ? nullptr : &range->second;
  }
  void set_range(arith::Var var, tir::Span range) { ranges_[var->id] = range; }

  /// While it lives, loops with these variables enclose the statements; a `while` has none.
  class Inside {
   public:
    Inside(Loops& loops, const std::vector<arith::Expr>& variables) : loops_(loops), outer_(loops.variables_.size()) {
      loops_.variables_.insert(loops_.variables_.end(), variables.begin(), variables.end());
      ++loops_.depth_;
    }
    Inside(const Inside&) = delete;
    ~Inside() {
      loops_.variables_.resize(outer_);
      --loops_.depth_;
    }

   private:
    Loops& loops_;
    size_t outer_;
  };

  /// While it lives, the inside of a block is read, where enclosing loops do not count.
  class Hidden {
   public:
    explicit Hidden(Loops& loops)
        : loops_(loops), variables_(std::exchange(loops.variables_, {})), depth_(std::exchange(loops.depth_, 0)) {}
    Hidden(const Hidden&) = delete;
    ~Hidden() { loops_.variables_ = std::move(variables_), loops_.depth_ = depth_; }

   private:
    Loops& loops_;
    std::vector<arith::Expr> variables_;
    size_t depth_;
  };

 private:
  std::vector<arith::Expr> variables_;
  std::map<uint32_t, tir::Span> ranges_;  ///< by the variable's id
  size_t depth_ = 0;
};

}  // namespace relaxc::frontend
