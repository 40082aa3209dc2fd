// legality.h: whether a change of order preserves what a kernel computes; what primitives check their arguments by.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/independence.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// Whether `s` contains no break, continue, while, guard or call: every iteration of a loop around it runs to its end,
/// and its accesses are known.
bool is_plain(Stmt s);

/// Annotation of a loop whose iterations are independent by construction, where its accesses do not show it.
inline constexpr const char* kIndependent = "independent";

/// Whether the iterations of `loop`, in `root`, may run in any order or concurrently: there is at most one, or they are
/// independent.
bool may_run_together(Stmt root, const tir::For& loop);

/// Whether perfectly nested loops may be reordered to `order`, which lists positions in `chain`. Loops whose iterations
/// are independent whatever the loops around them do may be anywhere; the others keep their order, unless they depend
/// on each other by a reduction alone that `reassociate` has marked.
///
/// \param marked  a block whose reduction counts as marked besides those that are; 0 for none
bool may_reorder(Context& context, Stmt root, const std::vector<const tir::For*>& chain,
                 const std::vector<size_t>& order, uint32_t marked = 0);

/// Whether no two iterations of perfectly nested loops access the same element, one of them by a store.
bool are_independent(Context& context, Stmt root, const std::vector<const tir::For*>& chain);

/// The first access to `buffer` whenever `s` runs: none, certainly a store, or anything else.
enum class FirstUse : uint8_t { kNone, kStore, kOther };
FirstUse first_use(Stmt s, BufferRef buffer);

/// Whether `s` accesses the buffer, has a view of it or hands it to a function.
bool is_used(Stmt s, BufferRef buffer);

/// Whether a variable that is bound inside of `s` occurs in `e`.
bool uses_variable_of(Expr e, Stmt s);

}  // namespace relaxc::schedule
