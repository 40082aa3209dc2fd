// pattern.h: what a prim func does to its operands, read from its loops.
//
// Fusion asks: is this one loop nest that computes each element of its result once, from which elements of the
// operands, and does it reduce? Nothing is tagged by hand: a definition that changes changes its pattern.
#pragma once

#include <optional>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

enum class Pattern : uint8_t {
  kElementwise,  ///< reads every operand at the result's own index
  kBroadcast,    ///< reads operands at a part of the result's index (some dims left out or 0)
  kInjective,    ///< computes each element of the result once, from anywhere
  kReduction,    ///< nests, some of which reduce; the last writes the result, each element once and in its own place
  kOpaque,       ///< anything else
};

/// One perfect nest: loops around one block with one store.
struct Nest {
  std::vector<const tir::For*> loops;
  const tir::Block* block = nullptr;
  const tir::Store* store = nullptr;  ///< of the body
};

/// The nest that `s` is, if it is one (block null: it is not). A block with a predicate is none.
Nest as_nest(tir::Stmt s);

/// The statements of the function's body one after the other, inside of the allocations around all of them, which
/// `temporaries` gets.
std::vector<tir::Stmt> parts_of(const tir::PrimFunc& function, std::vector<tir::BufferRef>& temporaries);

/// What the function's body is as a whole, for a function with one result. The body is a sequence of nests inside
/// allocations.
struct KernelShape {
  Pattern pattern = Pattern::kOpaque;
  std::vector<tir::BufferRef> temporaries;  ///< the allocations
  std::vector<tir::Stmt> before;            ///< the nests before the last
  Nest nest;                                ///< the last one
  tir::Stmt last;                           ///< the same as a statement

  bool spatial() const { return pattern <= Pattern::kInjective; }
  /// The last nest reduces, alone or after the nest that writes its neutral element.
  bool single_reduction() const { return pattern == Pattern::kReduction && reduces && temporaries.empty(); }
  bool reduces = false;  ///< the last nest has reduce axes
};
KernelShape classify(const tir::PrimFunc& function);

/// Whether a value is cheap enough to be computed again for every use: no division, no function, few loads.
bool cheap(arith::Expr value);

/// How many leading dims a kernel's sums leave as they are, where each reduces what it reads over the dims behind them
/// and gives one element for those: 1 for [n, 1] of [n, d]. 0: it has sums of another kind, as a product of matrices.
/// Nothing: it has none.
std::optional<size_t> rows_of_sums(const KernelShape& shape);
/// Whether what each row (of the first `rows` dims) of everything the kernel writes needs of `buffer` is the same row.
bool reads_own_rows(const KernelShape& shape, tir::BufferRef buffer, size_t rows);
/// How many nests have axes along which they reduce.
size_t reductions(const KernelShape& shape);
/// How many nests read `buffer`.
size_t nests_reading(const KernelShape& shape, tir::BufferRef buffer);

/// The parameters that are tensors, and those that are scalars, each in order: those of a call's operands and then its
/// results. A program may write scalars between tensors.
std::vector<tir::BufferRef> buffer_params(const tir::PrimFunc& function);
std::vector<arith::Var> scalar_params(const tir::PrimFunc& function);

/// Whether the nest reads `buffer` only at the index it writes (`store`'s subscripts, dim by dim).
bool reads_at_own_index(const Nest& nest, tir::BufferRef buffer);
/// Whether the nest computes each element of its result from the elements at the same place of operands that are
/// broadcast as NumPy does it, and in the same way at every place.
bool maps_elements(const Nest& nest);
/// Whether the nest only gives elements of one buffer other places: each element of the result is one of it,
/// subscripted by distinct axes of the result.
bool permutes(const Nest& nest);
/// For such a nest, whether neighbours in memory stay neighbours.
bool keeps_last_axis(const Nest& nest);
/// Whether the nest only picks elements of one buffer, a constant number apart along its own axis of the result, and
/// rows (the last axis) whole: a slice with strides.
bool picks_rows(const Nest& nest);
/// Whether every subscript of `buffer` is one axis, as in a product of matrices and unlike in a convolution.
bool reads_along_axes(const Nest& nest, tir::BufferRef buffer);
/// The same except for axes of one element, as a convolution by filters of one element has them.
bool reads_along_wide_axes(const Nest& nest, tir::BufferRef buffer);
/// The parameters whose elements are multiplied with each other in a sum, as in a product of matrices or a convolution;
/// none if no sum is of such products.
std::vector<tir::BufferRef> multiplied_operands(const tir::PrimFunc& function);
/// For how many elements of the nest's result each element of `buffer` is read; nothing if that is not known.
std::optional<int64_t> readers_of_each(const Nest& nest, tir::BufferRef buffer);
/// Whether each element of `buffer` is read at most once over the whole nest: its subscripts are distinct axes that
/// together are all axes of extent other than 1.
bool reads_each_once(const Nest& nest, tir::BufferRef buffer);

}  // namespace relaxc::analysis
