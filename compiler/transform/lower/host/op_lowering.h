// op_lowering.h: the lowering of each kind of op.
//
// Each function adds the statements of one op at the insertion point and sets the storage of its results. Ops with
// regions lower these in turn. State that ops share is in the parts of the host function; the functions here own
// nothing.
#pragma once

#include <vector>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// Lowers all ops of a region, in order.
Status lower_region(HostLowering& host, const relax::Region& region);

// simple_ops.cpp: ops that call nothing.
Status lower_constant(HostLowering& host, relax::Op& op);
Status lower_view(HostLowering& host, relax::Op& op);
/// Lowers a slice that is contiguous in its operand to a view of it.
Status lower_part(HostLowering& host, relax::Op& op);
/// Lowers operators between shapes and tensors, by the infos of operands and result instead of by name.
Status lower_host_op(HostLowering& host, relax::Op& op);
Status lower_shape_function(HostLowering& host, relax::Op& op);
/// Adds a scalar to the arguments of an external function: an integer as int64_t, a float as a tensor of rank 0.
void pass_scalar(HostLowering& host, tir::Invoke& call, Expr value);

// nodes.cpp: what algebraic data is made of.
Status lower_node(HostLowering& host, relax::Op& op);

// in_place_concat.cpp
/// Gives operands of the region's concatenations places in the results if their producers can write there.
void choose_parts(HostLowering& host, const relax::Region& region);
Status lower_concat(HostLowering& host, relax::Op& op);

// match_cast.cpp
Status lower_match_cast(HostLowering& host, relax::Op& op);

// kernel_call.cpp
Status call_tir(HostLowering& host, relax::Op& op);

// external_call.cpp
Status call_external(HostLowering& host, relax::Op& op);
/// Lowers a match_cast of a handle to the object behind it.
Status open_object(HostLowering& host, relax::Op& op);

// inplace_call.cpp: calls that write a result to the memory of an operand.
Status call_inplace(HostLowering& host, relax::Op& op);

// function_call.cpp
Status call_function(HostLowering& host, relax::Op& op);

// effects.cpp
Status lower_assert(HostLowering& host, relax::Op& op);
Status lower_print(HostLowering& host, relax::Op& op);

// branch.cpp and loop.cpp
Status lower_if(HostLowering& host, relax::Op& op);
Status lower_loop(HostLowering& host, relax::Op& op);

}  // namespace relaxc::lower
