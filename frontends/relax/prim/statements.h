// statements.h: the statements of a prim func.
#pragma once

#include "frontends/relax/prim/parts.h"

namespace relaxc::frontend {

using Body = std::vector<const ast::Stmt*>;

// statements.cpp

/// All statements of a suite as one.
Result<tir::Stmt> prim_suite(PrimParts& fn, const Body& body);
Status prim_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// `break` and `continue`, which TVM prints as T.break_loop() and T.continue_loop().
Status leave_iteration(PrimParts& fn, bool loop, Place place, Suite& out);
/// `assert condition, "message"`, or behind it ("RuntimeError", ["message"]): leaves the function with RLX_ASSERTION.
Status assertion(PrimParts& fn, const ast::Expr& test, const ast::Expr* message, Suite& out);

/// `return value`, T.ret(value): stores it where the caller finds it.
Status return_statement(PrimParts& fn, const ast::Expr* value, Place place, Suite& out);

// prim_calls.cpp

/// The prim func of the module that the expression calls, or one whose reading failed; null for anything else.
const Global* called_prim_func(PrimParts& fn, const ast::Expr& e);
/// A call of a prim func, which is where it is called; `result`: of one element, for what it returns.
Status call_prim_func(PrimParts& fn, const Global& callee, const ast::Expr& call, Suite& out,
                      tir::BufferRef result = nullptr);
/// A scalar, or what a prim func returns that is called here.
Result<Scalar> value_or_call(PrimParts& fn, const ast::Expr& e, Suite& out);

// assignments.cpp

Status prim_assignment(PrimParts& fn, const ast::Stmt& stmt, Suite& out);
/// The value of a scalar, in the dtype of its annotation.
Result<arith::Expr> let_type(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& value, Suite& out);
/// A scalar for the rest of the suite.
Status bind_scalar(PrimParts& fn, const ast::Expr& target, arith::Expr value, const ast::Stmt& stmt, Suite& out);

// stores.cpp

/// `A[i] = value`; `op`: the operator before the '=', or nothing.
Status store_statement(PrimParts& fn, const ast::Expr& target, const ast::Expr& value, const std::string& op,
                       Suite& out);
/// `mask`: for which lanes; null: for all.
Status store_element(PrimParts& fn, tir::BufferRef buffer, std::vector<arith::Expr> indices, Scalar scalar, Place place,
                     Suite& out, arith::Expr mask = {});
/// A.vstore([i, j], value, predicate=mask); the last subscript begins the row of lanes unless a Ramp says it.
Status vector_store(PrimParts& fn, const ast::Expr& call, Suite& out);

// loop.cpp

/// Whether the function names the iterations of a loop: T.grid, T.serial, range, …
bool is_loop(const std::string& callee);
/// One loop, or the nest of a T.grid.
Status loop_statement(PrimParts& fn, const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out);
/// Integers for schedules are kept; lists and texts are for other compilers' schedules and are dropped.
Result<std::map<std::string, int64_t>> loop_annotations(PrimParts& fn, const ast::Expr* dict);

// block.cpp

Status block_statement(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& head, Suite& out);
/// `with T.init():` in the suite `around`.
Status init_statement(PrimParts& fn, const ast::Stmt& stmt, const Suite& around);
/// T.reads, T.writes, T.where and T.sblock_attr of the block around; `done` is false for any other call.
Status block_clause(PrimParts& fn, const std::string& callee, const ast::Expr& call, bool& done);

// axes.cpp

/// `vi = T.axis.spatial(128, i)`, `vi, vj = T.axis.remap("SR", [i, j])`, T.axis.S and R, extents (begin, end).
Status axis_statement(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt);
/// The axes in the head of a block of 2021.
Status positional_axes(PrimParts& fn, const ast::Expr& ranges, const ast::Expr* target);
/// T.bind(vi, i)
Status bind_axis(PrimParts& fn, const ast::Expr& call);
/// Axes that nothing binds are the loops around the block.
Status finish_axes(PrimParts& fn);

// calls.cpp

/// A statement that is a call or a comment.
Status call_statement(PrimParts& fn, const ast::Stmt& stmt, Suite& out);

// external_calls.cpp

/// Functions that take the tensors of the ABI and may fail.
bool is_packed(const std::string& callee);
/// Functions of C, which take pointers and numbers.
bool is_plain(const std::string& callee);
/// T.invoke("kernel", X, n, trace=3), T.call_packed("custom", X, n), T.call_runtime("rlx_…", X, n)
Status invoke_call(PrimParts& fn, const ast::Expr& call, const std::string& callee, Suite& out);
/// T.call_extern("int32", "update", C.data, A.access_ptr("r", offset=8), n): a C function with pointers; a part of a
/// buffer is a view that exists during the call.
Status call_plain(PrimParts& fn, const ast::Expr& call, Suite& out);
/// T.call_extern("float32", "myfunc", x) as a value.
Result<Scalar> external_value(PrimParts& fn, const ast::Expr& e);

}  // namespace relaxc::frontend
