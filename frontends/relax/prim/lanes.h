// lanes.h: the lanes of the store that is read.
//
// `A[T.Ramp(i * 4, 1, 4)] = B[i * 4 : i * 4 + 4] + T.Broadcast(x, 4)` is a vectorized loop over the lanes; its
// expressions are read as values of one lane.
#pragma once

#include <map>

#include "compiler/arith/visit.h"
#include "compiler/tir/buffer.h"

namespace relaxc::frontend {

class Lanes {
 public:
  explicit Lanes(arith::Context& context) : context_(context) {}
  Lanes(const Lanes&) = delete;

  /// 0 outside of stores with lanes.
  int64_t count() const { return count_; }
  bool any() const { return count_ > 0; }
  arith::Var var() const { return var_; }
  /// Returns whether a subscript differs between lanes.
  bool move(const std::vector<arith::Expr>& indices) const {
    for (arith::Expr at : indices)
      for (arith::Var var : arith::free_vars(at))
        if (var == var_) return true;
    return false;
  }

  /// Returns the lanes in an element of a buffer of vectors, which are its last dim; 0 if it has scalars.
  int64_t of_element(const tir::Buffer* buffer) const {
    auto known = vectors_.find(buffer);
    return known == vectors_.end() ? 0 : known->second;
  }
  void set_element(const tir::Buffer* buffer, int64_t lanes) { vectors_[buffer] = lanes; }

  /// While it lives, a store of `count` lanes is read; 0: of one element. Stores are not nested.
  class Store {
   public:
    Store(Lanes& lanes, int64_t count) : lanes_(lanes) {
      lanes_.count_ = count;
      lanes_.var_ = count > 0 ? lanes_.context_.var("lane") : arith::Var();
    }
    Store(const Store&) = delete;
    ~Store() { lanes_.count_ = 0, lanes_.var_ = arith::Var(); }

   private:
    Lanes& lanes_;
  };

 private:
  arith::Context& context_;
  std::map<const tir::Buffer*, int64_t> vectors_;
  int64_t count_ = 0;
  arith::Var var_;
};

}  // namespace relaxc::frontend
