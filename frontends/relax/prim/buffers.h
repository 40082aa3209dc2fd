// buffers.h: buffers as they are described, matched and opened, and the pointers that name their memory.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// The arguments of a buffer; null: not given.
struct Description {
  Place place;
  const ast::Expr *shape = nullptr, *dtype = nullptr, *data = nullptr, *strides = nullptr, *elem_offset = nullptr,
                  *byte_offset = nullptr, *scope = nullptr;
  uint32_t alignment = 0, round_up = 0;
};
/// Memory that an expression points to: a buffer's, from `byte_offset` on.
struct Pointer {
  tir::BufferRef buffer = nullptr;
  arith::Expr byte_offset;
  uint32_t round_up = 0;  ///< to a multiple of it
};

// describe_buffer.cpp

/// The arguments of T.match_buffer, T.alloc_buffer and the like, from position `first` on.
Result<Description> describe_buffer(PrimParts& fn, const ast::Expr& call, size_t first, const std::string& callee);

// buffers.cpp

/// The strides of compact memory, in elements.
std::vector<arith::Expr> compact_strides(arith::Context& context, const std::vector<arith::Expr>& shape);
/// T.Buffer(shape, dtype), T.Buffer[shape, dtype], T.Buffer[(shape), dtype], T.Buffer[8, dtype].
Result<tir::BufferRef> buffer_annotation(PrimParts& fn, const ast::Expr& annotation, const std::string& name);
Result<tir::BufferRef> make_buffer(PrimParts& fn, const Description& description, const std::string& name);
/// `base`: what the buffer is a part of; its strides are the default then.
Result<tir::BufferRef> make_buffer(PrimParts& fn, const Description& description, const std::string& name,
                                   std::vector<arith::Expr> dims, const tir::Buffer* base);
/// A parameter's strides and offset: symbols there take the values of compact memory.
Status parameter_layout(PrimParts& fn, const Description& description, std::vector<arith::Expr>& strides,
                        const std::vector<arith::Expr>& usual, arith::Expr offset);
Result<std::vector<arith::Expr>> buffer_shape(PrimParts& fn, const ast::Expr& e);

// memory.cpp and match_buffer.cpp

/// `A = T.match_buffer(a, (n,), "float32")` of a handle or of a part of a buffer.
Status match_buffer(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// T.alloc_buffer and the like; with `data=` the memory is that of another buffer or of a handle.
Status open_buffer(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt, Suite& out);
/// `B = A.view(256)`, `B = A.view((4, 64), "int32")`: all of a compact buffer under another shape or dtype.
Status view_buffer(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// A buffer whose memory is that of `base`, under the name that the statement gives.
Status open_view(PrimParts& fn, const ast::Stmt& stmt, tir::BufferRef opened, Pointer base, Suite& out);

// pointers.cpp

/// `A.data`, `T.address_of(A[i])`, `A.access_ptr("r")`, `T.tvm_access_ptr(…)`, or the name of a buffer.
bool is_pointer(PrimParts& fn, const ast::Expr& e);
Result<Pointer> read_pointer(PrimParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
