// conditions.h: what several primitives ask of a loop or block before they are legal.
//
// Each is Done or says why not, with the names that a reader of the trace knows.
#pragma once

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// What a loop primitive cannot follow is left as it is: iterations that may end early, calls.
Legal<> has_plain_body(const Tree& tree, uint32_t loop);
/// The loop has no vectors or copies of its body yet.
Legal<> is_in_order(const Tree& tree, uint32_t loop);
/// An iteration that a mask leaves out must do nothing that is seen, and read nothing that is not there. Masks are put
/// around stores, so nothing else may depend on the variable or outlive the iteration.
Legal<> is_maskable(const Tree& tree, uint32_t loop);
/// Its body is there as many times, or as wide.
Legal<> has_few_iterations(const Tree& tree, uint32_t loop);
/// Iterations may run in any order, or at the same time.
Legal<> runs_together(const Tree& tree, uint32_t loop);
/// The same on several cores.
Legal<> is_parallelizable(const Tree& tree, uint32_t loop);
/// The loop is unrolled or in vectors, or may become so; loops inside have bounds that are the same for all iterations.
Legal<> is_jammable(const Tree& tree, uint32_t loop);
/// The order of the block's reduction may change.
Legal<> is_marked(const Tree& tree, uint32_t block);

/// The nest gives every element of memory that only this kernel sees, in loops of their own, and what it reads is the
/// same later.
Legal<> is_producer(const Tree& tree, Stmt nest);
/// The loops over the dims of what a nest computes, which are its outermost ones in any order; empty: it is another
/// kind of nest, or has other elements than the buffer.
std::vector<const tir::For*> axes_of(const Tree& tree, Stmt nest);
/// Whether anything reads the memory of `buffer` that is not in one of `readers`.
bool is_read_besides(const Tree& tree, BufferRef buffer, const std::vector<Stmt>& readers);
/// The place among Tree::operands of a constant that the nests in focus alone read, in this shape.
Legal<size_t> own_operand(const Tree& tree, BufferRef buffer);

}  // namespace relaxc::schedule
