// pattern.h: how a prim func accesses its operands, read from its loops.
//
// Fusion needs to know whether a function is one loop nest that computes each element of its result once, from which
// elements of its operands, and whether it reduces. Nothing is tagged by hand: patterns follow the definition.
#pragma once

#include <optional>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

enum class Pattern : uint8_t {
  kElementwise,  ///< reads every operand at the result's own index
  kBroadcast,    ///< reads operands at a part of the result's index (some dims left out or 0)
  kInjective,    ///< computes each element of the result once, from anywhere
  kReduction,    ///< nests, of which some reduce; the last writes each element of the result once, at its own index
  kOpaque,       ///< anything else
};

/// One perfect nest: loops around one block with one store.
struct Nest {
  std::vector<const tir::For*> loops;
  const tir::Block* block = nullptr;
  const tir::Store* store = nullptr;  ///< the body of the block
};

/// Returns the nest that `s` is; its block is null if `s` is none. A block with a predicate is none.
Nest as_nest(tir::Stmt s);

/// Returns the statements of the function's body in order, without the allocations around all of them, whose buffers
/// are added to `temporaries`.
std::vector<tir::Stmt> parts_of(const tir::PrimFunc& function, std::vector<tir::BufferRef>& temporaries);

/// The form of the body of a function with one result. Unless the pattern is kOpaque, the body is a sequence of nests
/// inside allocations.
struct KernelShape {
  Pattern pattern = Pattern::kOpaque;
  std::vector<tir::BufferRef> temporaries;  ///< the allocations
  std::vector<tir::Stmt> before;            ///< the nests before the last
  Nest nest;                                ///< the last one
  tir::Stmt last;                           ///< the same as a statement

  bool spatial() const { return pattern <= Pattern::kInjective; }
  /// Whether the last nest reduces without temporaries: alone, or after the nest that writes its neutral element.
  bool single_reduction() const { return pattern == Pattern::kReduction && reduces && temporaries.empty(); }
  bool reduces = false;  ///< the last nest has reduce axes
};
KernelShape classify(const tir::PrimFunc& function);

/// Whether a value is cheap enough to be recomputed for every use: no float division or function, two loads at most.
bool cheap(arith::Expr value);

/// Returns how many leading dims the kernel's sums keep, if each adds up what it reads over all dims behind these to
/// one element: 1 for [n, 1] of [n, d]. Returns 0 if a sum is of another kind, such as a product of matrices, and
/// nothing if there is no sum.
std::optional<size_t> rows_of_sums(const KernelShape& shape);
/// Whether each row (of the first `rows` dims) that a nest writes depends only on the same row of `buffer`.
bool reads_own_rows(const KernelShape& shape, tir::BufferRef buffer, size_t rows);
/// Returns the number of nests that have reduce axes.
size_t reductions(const KernelShape& shape);
/// Returns the number of nests that read `buffer`.
size_t nests_reading(const KernelShape& shape, tir::BufferRef buffer);

/// Returns the parameters that are tensors, or scalars, in order: those of a call's operands and then those of its
/// results. A program may declare scalars between tensors.
std::vector<tir::BufferRef> buffer_params(const tir::PrimFunc& function);
std::vector<arith::Var> scalar_params(const tir::PrimFunc& function);

/// Whether the nest reads `buffer` only at the index it writes (`store`'s subscripts, dim by dim).
bool reads_at_own_index(const Nest& nest, tir::BufferRef buffer);
/// Whether the nest computes each element of its result from the elements at the same index of operands, which are
/// broadcast as in NumPy, and by the same expression at every index.
bool maps_elements(const Nest& nest);
/// Whether the nest only permutes elements of one buffer: each element of the result is one of the buffer's,
/// subscripted by distinct axes of the result.
bool permutes(const Nest& nest);
/// For such a nest, whether the last axis stays the last, so that neighbours in memory stay neighbours.
bool keeps_last_axis(const Nest& nest);
/// Whether the nest only selects elements of one buffer, at a constant distance along each axis of the result, and
/// whole rows (the last axis): a slice with strides.
bool picks_rows(const Nest& nest);
/// Whether every subscript of `buffer` is one axis or 0, as in a product of matrices and unlike in a convolution.
bool reads_along_axes(const Nest& nest, tir::BufferRef buffer);
/// The same, but axes of extent 1 may be added to a subscript, as in a convolution with 1x1 filters.
bool reads_along_wide_axes(const Nest& nest, tir::BufferRef buffer);
/// Returns the parameters of floats whose elements are multiplied with each other in a sum, as in a product of matrices
/// or a convolution; empty if there is no such sum.
std::vector<tir::BufferRef> multiplied_operands(const tir::PrimFunc& function);
/// Returns for how many elements of the nest's result each element of `buffer` is read; nothing if that is unknown.
std::optional<int64_t> readers_of_each(const Nest& nest, tir::BufferRef buffer);
/// Whether each element of `buffer` is read at most once over the whole nest: its subscripts are distinct axes that
/// together are all axes of extent other than 1.
bool reads_each_once(const Nest& nest, tir::BufferRef buffer);

}  // namespace relaxc::analysis
