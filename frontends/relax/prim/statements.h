// statements.h: reads the statements of a prim func.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

using Body = std::vector<const ast::Stmt*>;

// statements.cpp

/// Returns all statements of a suite as one.
Result<tir::Stmt> prim_suite(PrimParts& fn, const Body& body);
Status prim_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// Reads `break` and `continue`, which TVM prints as T.break_loop() and T.continue_loop().
Status leave_iteration(PrimParts& fn, bool loop, Place place, Suite& out);
/// Reads `assert condition, "message"`, or with ("RuntimeError", ["message"]); a failure returns RLX_ASSERTION.
Status assertion(PrimParts& fn, const ast::Expr& test, const ast::Expr* message, Suite& out);

/// Reads `return value`, T.ret(value): stores the value to the result buffer.
Status return_statement(PrimParts& fn, const ast::Expr* value, Place place, Suite& out);

// prim_calls.cpp

/// Returns the prim func of the module that the expression calls, even if reading it failed; null for anything else.
const Global* called_prim_func(PrimParts& fn, const ast::Expr& e);
/// Inlines a call of a prim func. `result` is a buffer of one element for its return value.
Status call_prim_func(PrimParts& fn, const Global& callee, const ast::Expr& call, Suite& out,
                      tir::BufferRef result = nullptr);
/// Returns the value of a call within an expression, of a prim func that returns an expression of scalars.
Result<Scalar> value_of_call(PrimParts& fn, const Global& callee, const ast::Expr& call);
/// Returns a scalar, or the return value of a prim func that is called here.
Result<Scalar> value_or_call(PrimParts& fn, const ast::Expr& e, Suite& out);

// assignments.cpp

Status prim_assignment(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// Returns a scalar's value in the dtype of its annotation.
Result<arith::Expr> let_type(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& value, Suite& out);
/// Binds a scalar for the rest of the suite.
Status bind_scalar(PrimParts& fn, const ast::Expr& target, arith::Expr value, const ast::Stmt& stmt, Suite& out);

// stores.cpp

/// Reads `A[i] = value`; `op` is the operator before the '=', or empty.
Status store_statement(PrimParts& fn, const ast::Expr& target, const ast::Expr& value, const std::string& op,
                       Suite& out);
/// `mask` is the condition for storing a lane; null for all lanes.
Status store_element(PrimParts& fn, tir::BufferRef buffer, std::vector<arith::Expr> indices, Scalar scalar, Place place,
                     Suite& out, arith::Expr mask = {});
/// Reads A.vstore([i, j], value, predicate=mask); unless the last subscript is a Ramp, the lanes begin there.
Status vector_store(PrimParts& fn, const ast::Expr& call, Suite& out);

// loop.cpp

/// Returns whether the function makes a loop: T.grid, T.serial, range, …
bool is_loop(const std::string& callee);
/// Reads one loop, or the nest of a T.grid.
Status loop_statement(PrimParts& fn, const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out);
/// Returns the integer annotations of a loop; lists and texts, which are for other compilers' schedules, are ignored.
Result<std::map<std::string, int64_t>> loop_annotations(PrimParts& fn, const ast::Expr* dict);

// block.cpp

Status block_statement(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& head, Suite& out);
/// Reads `with T.init():` in the suite `around`.
Status init_statement(PrimParts& fn, const ast::Stmt& stmt, const Suite& around);
/// Reads T.reads, T.writes, T.where and T.sblock_attr of the current block; `done` is false for any other call.
Status block_clause(PrimParts& fn, const std::string& callee, const ast::Expr& call, bool& done);

// axes.cpp

/// Reads `vi = T.axis.spatial(128, i)`, `vi, vj = T.axis.remap("SR", [i, j])`, T.axis.S and R, extents (begin, end).
Status axis_statement(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt);
/// Reads the axes in the head of a block in the syntax of 2021.
Status positional_axes(PrimParts& fn, const ast::Expr& ranges, const ast::Expr* target);
/// Reads T.bind(vi, i).
Status bind_axis(PrimParts& fn, const ast::Expr& call);
/// Binds axes without a binding to the loops around the block.
Status finish_axes(PrimParts& fn);

// calls.cpp

/// Reads a statement that is a call or a comment.
Status call_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// T.preflattened_buffer(A, (4, 8)): how callers shape a parameter whose elements TVM 0.9 and 0.10 count from the first
/// one. The memory is the same, so only the number of elements is checked.
Status check_preflattened(PrimParts& fn, const ast::Expr& call);

// external_calls.cpp

/// Whether the callee takes the tensors of the ABI and may fail.
bool is_packed(const std::string& callee);
/// Whether the callee is a C function, which takes pointers and numbers.
bool is_plain(const std::string& callee);
/// Reads T.invoke("kernel", X, n, trace=3), T.call_packed("custom", X, n), T.call_runtime("rlx_…", X, n).
Status invoke_call(PrimParts& fn, const ast::Expr& call, const std::string& callee, Suite& out);
/// Reads T.call_extern("int32", "update", C.data, A.access_ptr("r", offset=8), n): a C function with pointers; for a
/// part of a buffer it makes a view around the call, and for a string memory with its bytes and a 0.
Status call_plain(PrimParts& fn, const ast::Expr& call, Suite& out);
/// Reads T.call_extern("float32", "myfunc", x) as a value.
Result<Scalar> external_value(PrimParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
