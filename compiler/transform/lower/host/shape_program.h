// shape_program.h: the index values that a host function computes, and the conditions on them.
//
// Owns the symbols, the guards of the entry, and which dims are known not to be negative. Shapes are expressions, so
// most of a shape program needs no code: there is a Let only where data brings a new number, and a guard only where a
// condition is not proved. Every product of dims is made here (sizes.cpp says why). Uses the insertion point and the
// names of nodes.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/support/findings.h"
#include "compiler/support/status_code.h"
#include "compiler/transform/lower/host/infos.h"
#include "compiler/transform/lower/host/insertion_point.h"
#include "compiler/transform/lower/host/node_names.h"
#include "compiler/transform/lower/symbols.h"

namespace relaxc::lower {

/// Returns the finding that dim `axis` (of `tensor`) is not the number that it must be.
Found exact_dim(size_t axis, const std::string& tensor = {});
/// Returns the guard record of a relation between symbols, with both sides if it compares indices.
tir::Guard relation(Expr condition);

class ShapeProgram {
 public:
  ShapeProgram(InsertionPoint& at, Origins& origins, const arith::Facts& declared)
      : at_(at), build_(at.build()), origins_(origins), declared_(declared), symbols_(declared) {}
  ShapeProgram(const ShapeProgram&) = delete;

  Symbols& symbols() { return symbols_; }
  const Symbols& symbols() const { return symbols_; }
  /// Guards that the entry checks before anything runs.
  const std::vector<tir::Guard>& guards() const { return guards_; }
  /// Returns the dims of an info in entry symbols and data-dependent symbols.
  std::vector<Expr> dims(relax::Info info) const { return symbols_.known(relax_dims(info)); }
  /// Returns the index of `e` among the entry symbols; -1 if it is none.
  int32_t our_symbol(Expr e) const;

  /// Adds a guard unless `condition` is proved: to the entry, or here if it depends on data or this point may not be
  /// reached. The message has `found` and the current op, unless an entry's guard names a tensor in its record.
  void require(Expr condition, tir::Guard record, const Found& found);
  /// The same with `text` as message.
  void require_named(Expr condition, tir::Guard record, const std::string& text);
  void require_equal(Expr expected, Expr actual, size_t axis, const Found& found);
  /// Requires that `elements` are at most `capacity`, which is in elements.
  void require_room(Expr elements, Expr capacity);
  /// Whether `view` is sure, before its check runs, to have as many elements as its operand; the operand can then be
  /// computed in memory of the view's size.
  bool is_size_known_before(const relax::Op& view) const;
  /// Adds a guard statement here, even if its condition is proved.
  void add_guard(tir::Guard record, const Found& found);
  /// Binds `var` to a value that is known only at run time. `is_size`: it is not negative.
  void bind_from_data(Var var, Expr value, Expr upper_bound, bool is_size = true);

  /// Requires that no dim is negative.
  void require_extents(const std::vector<Expr>& shape);
  /// Returns the number of elements of a tensor of these dims, and requires that no dim is negative. If the product
  /// overflows int64 at run time, the function returns its overflow code as status.
  Expr elements_of(const std::vector<Expr>& shape);
  /// The same without the requirement, for bounds, whose dims need not have values yet.
  Expr product_of(const std::vector<Expr>& shape);
  Expr bytes_of(DType dtype, const std::vector<Expr>& shape) { return elements_of(shape) * dtype.bytes(); }

 private:
  void guard_declared(Var var, bool is_size);
  bool names_size(const relax::Op& cast, Expr dim, Expr found) const;

  InsertionPoint& at_;
  tir::Builder& build_;
  Origins& origins_;
  const arith::Facts& declared_;  ///< what the program declares
  Symbols symbols_;
  std::vector<tir::Guard> guards_;
  std::unordered_set<Expr> extents_;  ///< dims that are known not to be negative
};

}  // namespace relaxc::lower
