// op_lowering.h: what each kind of op becomes.
//
// Each function adds the statements of one op at the insertion point and gives its results their slots. Ops with
// regions lower those in turn. What they share between ops is in the parts of the host function; they own nothing
// themselves.
#pragma once

#include <vector>

#include "compiler/transform/lower/host/host_lowering.h"

namespace relaxc::lower {

/// All ops of a region, in order.
Status lower_region(HostLowering& host, const relax::Region& region);

// simple_ops.cpp: ops that call nothing.
Status lower_constant(HostLowering& host, relax::Op& op);
Status lower_view(HostLowering& host, relax::Op& op);
/// A slice that is read where it is.
Status lower_part(HostLowering& host, relax::Op& op);
/// Shapes made of tensors, tensors made of shapes: by what goes in and comes out, whatever the operator is called.
Status lower_host_op(HostLowering& host, relax::Op& op);
Status lower_shape_function(HostLowering& host, relax::Op& op);

// in_place_concat.cpp
/// Gives operands of the region's concatenations their places in the results, where they can be made there.
void choose_parts(HostLowering& host, const relax::Region& region);
Status lower_concat(HostLowering& host, relax::Op& op);

// match_cast.cpp
Status lower_match_cast(HostLowering& host, relax::Op& op);

// kernel_call.cpp
Status call_tir(HostLowering& host, relax::Op& op);

// external_call.cpp
Status call_external(HostLowering& host, relax::Op& op);
/// A match_cast of a handle.
Status open_object(HostLowering& host, relax::Op& op);

// inplace_call.cpp: calls that write a result where an operand was.
Status call_inplace(HostLowering& host, relax::Op& op);
/// The operands of a call as they are passed: where one is written, the result that takes its place.
std::vector<const relax::Value*> placed_operands(const relax::Op& op);
/// The results that have memory of their own.
std::vector<relax::Value*> fresh_results(const relax::Op& op);

// function_call.cpp
Status call_function(HostLowering& host, relax::Op& op);

// effects.cpp
Status lower_assert(HostLowering& host, relax::Op& op);
Status lower_print(HostLowering& host, relax::Op& op);

// branch.cpp and loop.cpp
Status lower_if(HostLowering& host, relax::Op& op);
Status lower_loop(HostLowering& host, relax::Op& op);

}  // namespace relaxc::lower
