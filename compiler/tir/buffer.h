// buffer.h: a typed, shaped piece of memory, as loops see it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/arith/expr.h"
#include "compiler/tir/record.h"

namespace relaxc::tir {

using arith::Context;
using arith::Expr;
using arith::Var;

/// Where a buffer lives. kGlobal: caller's memory or arena; kLocal: registers or stack, constant size, private to one
/// iteration of the loop around its Alloc; kWeights: read-only model data.
enum class Scope : uint8_t { kGlobal, kLocal, kWeights };

/// Bytes that memory between kernels, and scratch memory that is read in vectors, is aligned to: a whole vector of any
/// target, and a line of cache of most.
inline constexpr int64_t kMemoryAlignment = 64;

/// Immutable once made; identity is the pointer, the stable order is `id`.
struct Buffer {
  uint32_t id = 0;
  std::string name;
  DType dtype;
  std::vector<Expr> shape;    ///< index expressions, elements
  std::vector<Expr> strides;  ///< in elements; empty: compact row-major
  Scope scope = Scope::kGlobal;
  uint32_t alignment =
      0;  ///< bytes that the base is known to be a multiple of; 0: the natural alignment of the element
  /// Not null: an array of structs, of shape [count, fields], and `dtype` says nothing. A load of a field has the dtype
  /// of dtype_of(its kind) and a constant for its last subscript; one without subscripts gives the array's address, as
  /// an index. Nothing stores to it.
  const Record* record = nullptr;

  /// The Expr for one element. `indices` are index expressions, one a dim.
  Expr operator()(Context& context, std::vector<Expr> indices) const {
    return context.load(this, dtype, std::move(indices));
  }
};
using BufferRef = const Buffer*;

/// Elements (product of dims), as an index expression; 1 for rank 0.
Expr element_count(Context& context, const Buffer& buffer);
/// Bytes of a compact buffer.
Expr byte_size(Context& context, const Buffer& buffer);
/// The element offset of `indices`, by strides or row-major.
Expr element_offset(Context& context, const Buffer& buffer, const std::vector<Expr>& indices);

}  // namespace relaxc::tir
