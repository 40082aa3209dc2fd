// shape_program.h: the numbers that a host function computes with, and what must hold of them.
//
// Owns the symbols, the guards of the entry, and which dims are known to be extents. Most of a shape program is nothing
// at all, since shapes are expressions: a Let appears only where data brings a new number, a guard only where a
// condition is not known to hold. Every product of dims is made here (sizes.cpp says why). Uses the insertion point and
// the names of nodes.
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

/// That a dim of `tensor` is what it is not.
Found exact_dim(size_t axis, const std::string& tensor = {});
/// The record of a relation between symbols: the sides, if it is a comparison.
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
  /// The dims of an info in entry symbols and symbols of data.
  std::vector<Expr> dims(relax::Info info) const { return symbols_.known(relax_dims(info)); }
  /// The place of a bare entry symbol among ours; -1 for anything else.
  int32_t our_symbol(Expr e) const;

  /// A guard, unless `condition` is known to hold: of the entry, or a statement here if it depends on data or on being
  /// reached. `found` is said of it at the current op if the record alone does not say where it is.
  void require(Expr condition, tir::Guard record, const Found& found);
  /// The same with `text` for what is said.
  void require_named(Expr condition, tir::Guard record, const std::string& text);
  void require_equal(Expr expected, Expr actual, size_t axis, const Found& found);
  /// Memory of `capacity` elements has room for `elements`.
  void require_room(Expr elements, Expr capacity);
  /// Whether `view` has as many elements as its operand before it is checked: then its operand can be made in memory of
  /// the view's size.
  bool is_size_known_before(const relax::Op& view) const;
  /// A guard at this place, come what may.
  void add_guard(tir::Guard record, const Found& found);
  /// `var` gets a value that only the run knows. `is_size`: it is not negative.
  void bind_from_data(Var var, Expr value, Expr upper_bound, bool is_size = true);

  /// None of the dims is negative from here on.
  void require_extents(const std::vector<Expr>& shape);
  /// The number of elements of a tensor of these dims, which are required to be extents. Where a product does not fit
  /// int64 the function leaves with a status, as its overflow code says.
  Expr elements_of(const std::vector<Expr>& shape);
  /// The same of dims that need not have values yet: for a bound alone.
  Expr product_of(const std::vector<Expr>& shape);
  Expr bytes_of(DType dtype, const std::vector<Expr>& shape) { return elements_of(shape) * dtype.bytes(); }

 private:
  void guard_declared(Var var, bool is_size);
  bool names_size(const relax::Op& cast, Expr dim, Expr found) const;

  InsertionPoint& at_;
  tir::Builder& build_;
  Origins& origins_;
  const arith::Facts& declared_;  ///< by the program
  Symbols symbols_;
  std::vector<tir::Guard> guards_;
  std::unordered_set<Expr> extents_;  ///< dims that are not negative wherever they are known
};

}  // namespace relaxc::lower
