// storage.h: assigns offsets to pieces of memory that are needed at different times.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/arith/evaluation.h"
#include "compiler/arith/prover.h"
#include "compiler/tir/buffer.h"

namespace relaxc::plan {

using arith::Context;
using arith::Expr;

constexpr int64_t kAlignment =
    tir::kMemoryAlignment;  ///< alignment of the arena, and of every offset in one that is not tiny, in bytes
/// An arena of no more bytes than this is packed as tightly as the alignment of elements allows: rounding to lines of
/// 64 bytes would be most of it, and all of it stays in the L1 cache.
constexpr int64_t kTinyArena = 4096;

/// A size in bytes, as a product: `coefficient` * factors. Factors are index expressions over entry symbols, in order
/// of creation.
struct Size {
  int64_t coefficient = 1;
  std::vector<Expr> factors;
  bool overflow = false;  ///< the coefficient does not fit int64
};
Size size_of(Context& context, const std::vector<Expr>& dims, int64_t element_bytes);
Expr to_expr(Context& context, const Size& size);

/// The value of a symbol at which sizes are compared if no order of them is proved. `typical` returns `size`, clamped
/// to the range of the symbol.
constexpr int64_t kTypical = 256;
int64_t typical(const arith::Facts& facts, arith::Var var, int64_t size = kTypical);

/// A piece of memory, needed from statement `first` to `last` (inclusive).
struct Piece {
  Size size;
  uint32_t first = 0, last = 0;
  int64_t alignment = kAlignment;  ///< of its offset; a power of two, at most kAlignment
  /// Names of allocations, -1: none. A piece whose size is a number may overlap the one that ends, as the allocation
  /// `over`, where this one begins, if it begins at least `distance` bytes before that one or, with `behind`, after it.
  int over = -1, ends_as = -1;
  int64_t distance = 0;
  bool behind = false;
  bool meets(const Piece& other) const { return first <= other.last && other.first <= last; }
};

struct Storage {
  std::vector<Expr> offsets;  ///< one for each piece, a multiple of its alignment
  Expr bytes;                 ///< the high-water mark
  double weight = 0;          ///< sum of log2(bytes) over sample sizes, to compare plans of the same pieces
};

/// Proofs that one size is at most another, cached over the plans that are tried for one function.
class Comparisons {
 public:
  Comparisons(Context& context, const arith::Facts& facts) : prover_(context, facts) {}
  bool at_most(Expr a, Expr b);
  /// Returns a number that divides all values of `e`.
  int64_t divisor(Expr e) { return prover_.divisor(e); }

 private:
  arith::Prover prover_;
  std::map<std::pair<uint32_t, uint32_t>, bool> proved_;  ///< by the ids of both
};

/// Returns offsets such that pieces that are needed at one time never overlap, for all values of the symbols that
/// `facts` allows (all symbols in sizes are >= 0).
Storage assign_storage(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts,
                       Comparisons& known);
inline Storage assign_storage(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts) {
  Comparisons known(context, facts);
  return assign_storage(context, pieces, facts, known);
}

/// Returns a lower bound for every assignment of these pieces, in bytes: the largest sum of sizes that are needed at
/// one time, with the values of symbols of `at`; nothing if that overflows.
std::optional<int64_t> live_bytes(Context& context, const std::vector<Piece>& pieces, arith::Evaluation& at);

}  // namespace relaxc::plan
