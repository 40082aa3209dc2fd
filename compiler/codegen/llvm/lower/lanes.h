// lanes.h: values in all lanes of a vectorized loop, and arithmetic on them.
//
// LLVM's vectorizer does not see vectorized loops: their body is lowered once, and each value is either uniform, affine
// in the lane (an index that grows by a constant step from lane to lane), or a vector with one element a lane.
// Divergent control flow becomes a mask.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/lower/frame.h"
#include "compiler/tir/index_widths.h"

namespace relaxc::codegen_llvm {

/// The value of an expression in all lanes. Outside of vectorized loops only `scalar` is set.
struct Lanes {
  llvm::Value* scalar = nullptr;  ///< the value of lane 0, when all others follow from it
  int64_t step = 0;               ///< lane i holds scalar + i * step
  llvm::Value* vector = nullptr;  ///< else one element a lane
  /// Whether index arithmetic has overflowed and was not tested yet; null if it cannot have. Only in scalar code. The
  /// value is then wrapped, never poison.
  llvm::Value* overflow = nullptr;

  bool is_uniform() const { return vector == nullptr && step == 0; }
};

/// The types of index values (index_types.cpp).
class IndexTypes {
 public:
  explicit IndexTypes(Frame& frame);

  /// Whether some indices have 32 bits; otherwise all have 64.
  bool are_mixed() const { return widths_.has_value(); }
  /// The type of the value of `index`.
  llvm::Type* of(arith::Expr index);
  /// The type of the loop's counter.
  llvm::Type* of(const tir::For& loop);
  llvm::Type* widest() const { return b_.getInt64Ty(); }
  /// Returns `value`, which fits `type`, converted to it.
  llvm::Value* resized(llvm::Value* value, llvm::Type* type);
  Lanes resized(Lanes value, llvm::Type* type);
  /// Returns `value` converted to the type of `index`; unchanged if `index` is not of the index type.
  Lanes as(arith::Expr index, Lanes value);
  /// Returns the operands in the widest of their types and the type of `result`, an index or a condition.
  std::pair<Lanes, Lanes> operands_of(arith::Expr result, Lanes a, Lanes b);

 private:
  llvm::IRBuilder<>& b_;
  std::optional<tir::IndexWidths> widths_;
};

/// The lanes of the loop that is being lowered, the mask of active lanes, and arithmetic on values in lanes.
class LaneArithmetic {
 public:
  explicit LaneArithmetic(Frame& frame) : b_(frame.builder()), numeric_(frame.numeric()), indices_(frame) {}

  IndexTypes& indices() { return indices_; }

  /// The number of lanes; 0 outside of vectorized loops.
  uint32_t count() const { return count_; }
  /// The active lanes; null if all are.
  llvm::Value* mask() const { return mask_; }
  /// The same, but a vector of ones if all are.
  llvm::Value* mask_of_all();
  /// The variable of their loop, if that begins at 0; else null.
  arith::Var var() const { return var_; }
  /// Distance in bytes after each loaded vector that is prefetched; 0 for none.
  int64_t prefetch() const { return prefetch_; }

  /// Applies `f` to operands of these dtypes, which it receives all as scalars or all as vectors.
  Lanes apply(const std::vector<Lanes>& operands, const std::vector<DType>& dtypes,
              const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& f);
  /// Returns the value as a vector of one element a lane.
  llvm::Value* widened(Lanes value, DType dtype);
  // For indices whose arithmetic does not overflow:
  Lanes add(Lanes a, Lanes b);
  Lanes subtract(Lanes a, Lanes b);
  Lanes multiply(Lanes a, Lanes b);
  /// Returns the `or` of two flags, each of which may be null.
  llvm::Value* any_of(llvm::Value* a, llvm::Value* b);
  static bool may_have_overflowed(const Lanes& a, const Lanes& b) {
    return a.overflow != nullptr || b.overflow != nullptr;
  }

  /// While it exists, code is the body of a vectorized loop with this number of lanes.
  class Loop {
   public:
    Loop(LaneArithmetic& lanes, arith::Var var, uint32_t count, int64_t prefetch) : lanes_(lanes) {
      lanes_.var_ = var, lanes_.count_ = count, lanes_.prefetch_ = prefetch;
    }
    ~Loop() { lanes_.var_ = {}, lanes_.count_ = 0, lanes_.prefetch_ = 0; }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

   private:
    LaneArithmetic& lanes_;
  };

  /// While it exists, code runs only in the active lanes in which `condition` holds.
  class Masked {
   public:
    Masked(LaneArithmetic& lanes, llvm::Value* condition) : lanes_(lanes), outer_(lanes.mask_) {
      lanes_.mask_ = outer_ != nullptr ? lanes_.b_.CreateAnd(outer_, condition) : condition;
    }
    ~Masked() { lanes_.mask_ = outer_; }
    Masked(const Masked&) = delete;
    Masked& operator=(const Masked&) = delete;

   private:
    LaneArithmetic& lanes_;
    llvm::Value* outer_;
  };

 private:
  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  IndexTypes indices_;
  arith::Var var_;
  uint32_t count_ = 0;
  llvm::Value* mask_ = nullptr;
  int64_t prefetch_ = 0;
};

}  // namespace relaxc::codegen_llvm
