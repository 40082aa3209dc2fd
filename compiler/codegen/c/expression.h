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

/// One lane of a vectorized loop, for statements that are printed as a loop over lanes. Outside of that loop names
/// stand for the values of lane 0, and what differs between lanes by no constant step is an array of `count` elements.
struct LaneView {
  const tir::Lanes* lanes = nullptr;
  int64_t count = 0;
  std::string index;                         ///< the variable that counts lanes
  std::set<uint32_t> own_vars, own_buffers;  ///< by id: what exists in one lane at a time
};

/// Prints the expressions of one function. Nodes that a statement uses more than once become temporaries, so that a
/// shared expression is neither computed nor printed twice.
class Expressions {
 public:
  /// `helpers` collects the helper functions that the text calls. `ranges`, if not null: index arithmetic that may
  /// overflow sets `bad` when it does. `widths`, if not null: indices that 32 bits hold get 32.
  Expressions(Names& names, std::set<std::string>& helpers, tir::IndexRanges* ranges, tir::IndexWidths* widths)
      : names_(names), helpers_(helpers), ranges_(ranges), widths_(widths) {}

  /// Declarations of the temporaries that `roots` share, one line each, to be before the statement that uses them.
  std::vector<std::string> share(const std::vector<arith::Expr>& roots);
  /// The C text of `e`; parenthesized unless it is primary.
  std::string text(arith::Expr e);
  /// The C type that holds the value of `e`.
  std::string type_of(arith::Expr e);
  /// Whether `bad` may have been set since the last time that this was asked.
  bool take_checks() { return std::exchange(checks_, false); }
  bool has_checks() const { return checks_; }
  /// Forgets the temporaries of the statement.
  void end_statement() { temporaries_.clear(); }

  /// Sums of four products of bytes, where four of the bytes are a word of memory, call a helper that has instructions
  /// for it.
  void use_dots() { dots_ = true; }
  /// `var` is declared with 64 bits, whatever it holds: a parameter.
  void declare_wide(arith::Expr var) { declared_wide_.insert(var->id); }

  /// While set, text is that of a lane.
  void set_lane(const LaneView* lane) { lane_ = lane; }

  /// A pointer of type `type` at an address; hoisted() of the address has been printed.
  std::string pointer(const std::string& type, arith::Expr address);
  /// `buffer[...]` as an lvalue.
  std::string element(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  /// The bits to be stored for a value of `dtype`.
  std::string stored(DType dtype, const std::string& value);
  std::string helper(const std::string& name);
  /// The subscript of an element, in elements.
  std::string offset(const tir::Buffer& buffer, const std::vector<arith::Expr>& indices);

 private:
  class Sharing;

  std::string print(arith::Expr e);
  std::string variable(arith::Expr e);
  bool is_narrow(arith::Expr e) { return widths_ != nullptr && widths_->is_narrow(e); }
  std::string index_binary(const arith::Binary& n, const std::string& name, const std::string& a, const std::string& b);
  std::string binary(const arith::Binary& n);
  std::string dot(const arith::Binary& n);  ///< "": it is no such sum
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
