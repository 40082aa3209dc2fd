// expression.h: scalar expressions as C expressions.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/c/names.h"
#include "compiler/tir/index_widths.h"
#include "compiler/tir/lanes.h"

namespace relaxc::codegen_c {

/// One lane of a vectorized loop, for statements printed as a loop over lanes. Outside of that loop a variable has its
/// value in lane 0; one that does not grow by a constant step from lane to lane is an array of `count` elements.
struct LaneView {
  const tir::Lanes* lanes = nullptr;
  int64_t count = 0;
  std::string index;                         ///< the variable that counts lanes
  std::set<uint32_t> own_vars, own_buffers;  ///< by id: declared inside of the loop over lanes
};

/// Prints the expressions of one function. Nodes that a statement uses more than once become temporaries, so that a
/// shared expression is neither computed nor printed twice.
class Expressions {
 public:
  /// `helpers` collects the helper functions that the text calls. With `ranges`, index arithmetic that may overflow
  /// sets `bad` when it does. With `widths`, indices that fit 32 bits have 32. Both may be null.
  Expressions(Names& names, std::set<std::string>& helpers, tir::IndexRanges* ranges, tir::IndexWidths* widths)
      : names_(names), helpers_(helpers), ranges_(ranges), widths_(widths) {}

  /// Makes temporaries of the nodes that `roots` share; returns their declarations, to be printed before the statement.
  std::vector<std::string> share(const std::vector<arith::Expr>& roots);
  /// Returns the C text of `e`, in parentheses unless it is a primary expression.
  std::string text(arith::Expr e);
  /// Returns the C type of the value of `e`.
  std::string type_of(arith::Expr e);
  /// Returns whether the text since the last call may set `bad`, and resets that.
  bool take_checks() { return std::exchange(checks_, false); }
  bool has_checks() const { return checks_; }
  /// Forgets the temporaries of the statement.
  void end_statement() { temporaries_.clear(); }

  /// Lets sums of four products of bytes call a helper that uses dot product instructions, if four of the bytes are a
  /// word of memory.
  void use_dots() { dots_ = true; }
  /// Says that `var`, a parameter, is declared with 64 bits whatever its range is.
  void declare_wide(arith::Expr var) { declared_wide_.insert(var->id); }

  /// Prints text for one lane of a vectorized loop from now on; null: for code outside of such loops.
  void set_lane(const LaneView* lane) { lane_ = lane; }

  /// Returns a pointer of type `type` to `address`, whose text hoisted() has returned before.
  std::string pointer(const std::string& type, arith::Expr address);
  /// Returns `buffer[...]` as an lvalue.
  std::string element(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  /// Returns the bits that are stored for a value of `dtype`.
  std::string stored(DType dtype, const std::string& value);
  std::string helper(const std::string& name);
  /// Returns the offset of an element from the start of the buffer, in elements.
  std::string offset(const tir::Buffer& buffer, const std::vector<arith::Expr>& indices);

 private:
  class Sharing;

  std::string print(arith::Expr e);
  std::string variable(arith::Expr e);
  bool is_narrow(arith::Expr e) { return widths_ != nullptr && widths_->is_narrow(e); }
  std::string index_binary(const arith::Binary& n, const std::string& name, const std::string& a, const std::string& b);
  std::string binary(const arith::Binary& n);
  std::string dot(const arith::Binary& n);  ///< empty if it is not such a sum
  std::string integer_binary(const arith::Binary& n, const std::string& a, const std::string& b);
  std::string cast(const arith::Cast& n);
  std::string field(const arith::Load& n);
  std::string call(const arith::Call& n);
  std::string bitcast(const arith::Call& n);
  std::string bitcast_bits(DType to, const std::string& bits);
  std::string rounded(DType dtype, std::string value);

  Names& names_;
  std::set<std::string>& helpers_;
  tir::IndexRanges* ranges_;
  tir::IndexWidths* widths_;
  std::set<uint32_t> declared_wide_;  ///< by id
  bool dots_ = false;
  bool checks_ = false;
  const LaneView* lane_ = nullptr;
  std::unordered_map<arith::Expr, std::string> temporaries_;
};

}  // namespace relaxc::codegen_c
