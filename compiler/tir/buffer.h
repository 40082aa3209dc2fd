// buffer.h: a typed, shaped piece of memory that loops access.
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

/// Where a buffer is. kGlobal: the caller's memory or an arena; kLocal: registers or stack, of constant size, private
/// to one iteration of the loop around its Alloc; kWeights: read-only model data.
enum class Scope : uint8_t { kGlobal, kLocal, kWeights };

/// Alignment, in bytes, of memory between kernels and of scratch memory that is read in vectors: a whole vector of any
/// target, and a cache line of most.
inline constexpr int64_t kMemoryAlignment = 64;

/// Returns whether a tensor or buffer, if it is not empty, takes more than 2^56 bytes: more than any address space has
/// room for, and so few that sums and products of its sizes with paddings and strides of windows fit int64. Dims that
/// are not known count as 1, as does an element of an unknown dtype.
bool beyond_memory(const std::vector<Expr>& shape, int64_t element_bytes);

/// Immutable. Its identity is the pointer; `id` gives a stable order.
struct Buffer {
  uint32_t id = 0;
  std::string name;
  DType dtype;
  std::vector<Expr> shape;    ///< in elements, index expressions
  std::vector<Expr> strides;  ///< in elements; empty: compact row-major
  Scope scope = Scope::kGlobal;
  uint32_t alignment =
      0;  ///< known alignment of the first element's address, in bytes; 0: the natural alignment of an element's dtype
  /// If not null, the buffer is an array of structs, of shape [count, fields], and `dtype` has no meaning. A load of a
  /// field has the dtype dtype_of(its kind), and its last subscript is constant; a load without subscripts is the
  /// array's address, as an index. No statement stores to such a buffer.
  const Record* record = nullptr;

  /// Returns a load of one element. `indices` are index expressions, one for each dim.
  Expr operator()(Context& context, std::vector<Expr> indices) const {
    return context.load(this, dtype, std::move(indices));
  }
};
using BufferRef = const Buffer*;

/// Returns the number of elements as an index expression; 1 for rank 0.
Expr element_count(Context& context, const Buffer& buffer);
/// Returns the size of a compact buffer in bytes.
Expr byte_size(Context& context, const Buffer& buffer);
/// Returns the offset of an element from the first one, in elements, by strides or row-major.
Expr element_offset(Context& context, const Buffer& buffer, const std::vector<Expr>& indices);

}  // namespace relaxc::tir
