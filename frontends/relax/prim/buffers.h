// buffers.h: reads declarations of buffers, and pointers to their memory.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

/// The arguments of a declaration; null if not given.
struct Description {
  Place place;
  const ast::Expr *shape = nullptr, *dtype = nullptr, *data = nullptr, *strides = nullptr, *elem_offset = nullptr,
                  *byte_offset = nullptr, *scope = nullptr;
  uint32_t alignment = 0, round_up = 0;
  bool is_parameter = false;
};
/// The memory of a buffer from `byte_offset` on.
struct Pointer {
  tir::BufferRef buffer = nullptr;
  arith::Expr byte_offset;
  uint32_t round_up = 0;  ///< alignment to which the address is rounded up
};

// describe_buffer.cpp

/// Reads the arguments of T.match_buffer, T.alloc_buffer and the like, from position `first` on.
Result<Description> describe_buffer(PrimParts& fn, const ast::Expr& call, size_t first, const std::string& callee);

// buffers.cpp

/// Reads "global", "local" and the like.
Result<tir::Scope> storage_scope(PrimParts& fn, const ast::Expr& e);
/// Returns the strides of compact memory, in elements.
std::vector<arith::Expr> compact_strides(arith::Context& context, const std::vector<arith::Expr>& shape);
/// Reads T.Buffer(shape, dtype), T.Buffer[shape, dtype], T.Buffer[(shape), dtype], T.Buffer[8, dtype].
Result<tir::BufferRef> buffer_annotation(PrimParts& fn, const ast::Expr& annotation, const std::string& name);
Result<tir::BufferRef> make_buffer(PrimParts& fn, const Description& description, const std::string& name);
/// `base`: the buffer that this one is a part of, whose strides are the default.
Result<tir::BufferRef> make_buffer(PrimParts& fn, const Description& description, const std::string& name,
                                   std::vector<arith::Expr> dims, const tir::Buffer* base);
/// Resolves a parameter's strides and offset: symbols in them get the values of compact memory.
Status parameter_layout(PrimParts& fn, const Description& description, std::vector<arith::Expr>& strides,
                        const std::vector<arith::Expr>& usual, arith::Expr offset);
Result<std::vector<arith::Expr>> buffer_shape(PrimParts& fn, const ast::Expr& e);

// memory.cpp and match_buffer.cpp

/// Reads `A = T.match_buffer(a, (n,), "float32")` of a handle or of a part of a buffer.
Status match_buffer(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// Reads T.alloc_buffer and the like; with `data=` the memory is that of another buffer or of a handle.
Status open_buffer(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt, Suite& out);
/// Reads T.realize(A[0:8], "global"), which gives the declared buffer A its memory.
Status realize(PrimParts& fn, const ast::Expr& call, Suite& out);
/// Reads `B = A.view(256)`, `B = A.view((4, 64), "int32")`: a compact buffer with another shape or dtype.
Status view_buffer(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// Opens a view of `base` under the statement's name.
Status open_view(PrimParts& fn, const ast::Stmt& stmt, tir::BufferRef opened, Pointer base, Suite& out);

// pointers.cpp

/// Whether it is `A.data`, `T.address_of(A[i])`, `A.access_ptr("r")`, `T.tvm_access_ptr(…)`, or a buffer's name.
bool is_pointer(PrimParts& fn, const ast::Expr& e);
Result<Pointer> read_pointer(PrimParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
