// legality.h: whether a change of order keeps what a kernel computes; what primitives ask about what they are told.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/independence.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// Whether all statements in `s` are such that every iteration of a loop around them runs to its end, and what they
/// access is known: no break, continue, while, guard or call.
bool is_plain(Stmt s);

/// Annotation of a loop whose iterations were made to be independent of each other, where accesses do not show it.
inline constexpr const char* kIndependent = "independent";

/// Whether the iterations of `loop`, in `root`, may run in any order, or at the same time: there is at most one, or
/// they are independent.
bool may_run_together(Stmt root, const tir::For& loop);

/// Whether perfectly nested loops may stand in the order that `order` gives as places in `chain`. Loops that are
/// independent of each other whatever those around them do may stand anywhere; the others keep their order, unless what
/// ties them is a reduction that is marked (`reassociate`).
///
/// \param marked  a block whose reduction counts as marked; 0: none but those that are
bool may_reorder(Context& context, Stmt root, const std::vector<const tir::For*>& chain,
                 const std::vector<size_t>& order, uint32_t marked = 0);

/// Whether no iteration of perfectly nested loops meets any other one.
bool are_independent(Context& context, Stmt root, const std::vector<const tir::For*>& chain);

/// What `s` does with the memory of `buffer` first: each time that it runs it stores to it before it reads it, or not.
enum class FirstUse : uint8_t { kNone, kStore, kOther };
FirstUse first_use(Stmt s, BufferRef buffer);

/// Whether `s` accesses the buffer, has a view of it or hands it to a function.
bool is_used(Stmt s, BufferRef buffer);

/// Whether a variable that is bound inside of `s` occurs in `e`.
bool uses_variable_of(Expr e, Stmt s);

}  // namespace relaxc::schedule
