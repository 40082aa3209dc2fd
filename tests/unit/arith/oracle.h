// oracle.h: the value of an index or bool expression at one point, computed the plain way.
//
// It shares no code with compiler/arith and computes in 128 bits, so that it also says what the value would be where
// 64 bits overflow. Integers of the program inside casts wrap as their dtype does.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::test {

using Wide = __int128;

class Oracle {
 public:
  explicit Oracle(arith::Expr root);

  /// The value with `values[i]` for `vars[i]`; nothing where it divides by zero or leaves 128 bits.
  std::optional<Wide> at(const std::vector<arith::Var>& vars, const std::vector<int64_t>& values);
  /// Whether all that was computed by the last call fits int64.
  bool stayed_in_64_bits() const { return narrow_; }

 private:
  std::optional<Wide> node(arith::Expr e) const;
  std::optional<Wide> of(arith::Expr e) const { return values_.at(e); }

  std::vector<arith::Expr> order_;
  std::unordered_map<arith::Expr, std::optional<Wide>> values_;
  bool narrow_ = true;
};

}  // namespace relaxc::test
