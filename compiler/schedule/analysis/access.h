// access.h: what strategies and steps ask about a nest before they change it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::schedule {

using arith::Expr;
using arith::Var;
using tir::BufferRef;
using tir::Stmt;

/// By how much an index expression grows when `var` grows by 1; nothing if not by a constant.
std::optional<int64_t> step_of(Expr index, Expr var);
/// The same of the element's place in a compact buffer.
std::optional<int64_t> step_of(BufferRef buffer, const std::vector<Expr>& indices, Expr var);
bool depends_on(Expr e, Expr var);
/// Whether `e` reads memory, which may hold another number in each iteration.
bool has_load(Expr e);

/// The statements one after the other at the heart of a kernel, or of a block of its rows.
std::vector<Stmt> statements_of(Stmt s);
/// The outermost statement that is nothing but a nest around the block; null: there is none.
Stmt nest_around(Stmt root, uint32_t block);

/// What the axes of a block are bound to.
arith::Substitution bindings(const tir::Block& block);

/// One load or store.
struct Access {
  BufferRef buffer;
  std::vector<Expr> indices;
  bool is_store;
};
/// Every access in `s`, stores before the loads of their value; each distinct load of a statement once.
void for_each_access(Stmt s, const std::function<void(const Access&)>& f);
/// Where subscripts are `outer + c` and `inner + d` side by side, with `c` and `d` that depend on neither, and no other
/// one depends on the two: such a pair is one subscript along the fused loop.
std::optional<size_t> fused_place(const std::vector<Expr>& indices, Expr outer, Expr inner);
/// Whether the loads of `s` stay what they are if two perfectly nested loops are one (see fuse.h).
///
/// \param in_conditions  branches may ask for the loops' positions, which a division gives
bool can_fuse(const tir::For& outer, const tir::For& inner, bool in_conditions = false);

/// `acc[i] = combine(acc[i], value)`, the parts of a reduction's store; null value: it is none.
struct Update {
  arith::ExprKind kind = arith::ExprKind::kAdd;  ///< Add, Mul, Min or Max
  Expr own, value;
};
Update update_of(const tir::Store& store);
/// The product that an update adds to its own element, if that can be done with one rounding; null: it adds none.
const arith::Mul* fusible_product(const Update& update);
/// Whether `init` is neutral for the combination, so that it may be used more than once.
bool is_neutral(arith::ExprKind kind, Expr init);

}  // namespace relaxc::schedule
