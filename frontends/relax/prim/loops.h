// loops.h: the loops around what is being read, up to the next block.
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

  /// What the names of the loops stand for, outermost first.
  const std::vector<arith::Expr>& variables() const { return variables_; }
  /// Whether there is a surrounding loop, which `break` leaves.
  bool any() const { return depth_ > 0; }
  /// The range of a loop's variable; null for anything else.
  const tir::Span* range_of(arith::Expr var) const {
    auto range = ranges_.find(var->id);
    return range == ranges_.end() ? nullptr : &range->second;
  }
  void set_range(arith::Var var, tir::Span range) { ranges_[var->id] = range; }

  /// While it lives, loops with these variables surround what is read; a `while` has none.
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

  /// The inside of a block is read while it lives: the loops around it do not count there.
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
