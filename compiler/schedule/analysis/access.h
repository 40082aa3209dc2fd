// access.h: loads, stores and subscripts of a nest; read-only queries of strategies and steps.
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

/// The difference of an index expression between `var` + 1 and `var`; nullopt if it is not a constant.
std::optional<int64_t> step_of(Expr index, Expr var);
/// The same for the element's offset in a compact row-major buffer.
std::optional<int64_t> step_of(BufferRef buffer, const std::vector<Expr>& indices, Expr var);
bool depends_on(Expr e, Expr var);
/// Whether `e` contains a load.
bool has_load(Expr e);

/// The sequence of statements inside of a kernel's allocations and views, or inside of a block of its rows.
std::vector<Stmt> statements_of(Stmt s);
/// The outermost loop that contains the block and no other one; null if the block has no nest of its own.
Stmt nest_around(Stmt root, uint32_t block);

/// Maps the axes of a block to the expressions that they are bound to.
arith::Substitution bindings(const tir::Block& block);

/// One load or store.
struct Access {
  BufferRef buffer;
  std::vector<Expr> indices;
  bool is_store;
};
/// Calls `f` for every access in `s`: a store before the loads of its value, each distinct load of a statement once.
void for_each_access(Stmt s, const std::function<void(const Access&)>& f);
/// The first of two adjacent subscripts `outer + c` and `inner + d`, where neither `c`, `d` nor any other subscript
/// depends on the two variables. After the loops are fused, these two are one subscript. nullopt if there is no such
/// pair.
std::optional<size_t> fused_place(const std::vector<Expr>& indices, Expr outer, Expr inner);
/// Whether two perfectly nested loops can be fused: their variables occur in adjacent subscripts of contiguous dims
/// alone, which become one (see fuse.h).
///
/// \param in_conditions  allows conditions of branches to use the loop variables, which fusing computes by a division
bool can_fuse(const tir::For& outer, const tir::For& inner, bool in_conditions = false);

/// The operands of a reduction's store `own = combine(own, value)`; `value` is null if the store is not of this form.
struct Update {
  arith::ExprKind kind = arith::ExprKind::kAdd;  ///< Add, Mul, Min or Max
  Expr own, value;
};
Update update_of(const tir::Store& store);
/// The product that an update adds, if a fused multiply-add can compute it; else null.
const arith::Mul* fusible_product(const Update& update);
/// Whether `init` is the neutral element of the combination, so that several partial results may start with it.
bool is_neutral(arith::ExprKind kind, Expr init);

}  // namespace relaxc::schedule
