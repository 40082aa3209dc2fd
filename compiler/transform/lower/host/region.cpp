// region.cpp: lowers regions, op by op.
//
// The problem: a graph of values becomes code that runs from top to bottom, which computes, checks and uses shapes like
// any other numbers and copies no byte that need not be copied.
//
// The method: one walk in the order of the graph. Shapes are expressions already, so most of the shape program needs no
// code; there is a Let only where data brings a new number. Views cost an address. The kernel that computes a returned
// result writes it to the caller's memory.
//
// Rejected: a bytecode of shape registers as other Relax compilers have it (a machine in the runtime, and dims that no
// pass can see through).
#include "compiler/relax/op_def.h"
#include "compiler/relax/origin_text.h"
#include "compiler/transform/lower/host/op_lowering.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc::lower {

using namespace relax;

namespace {

void require_requirements(HostLowering& host, const Op& op) {
  for (const Requirement& requirement : op.requirements) {
    tir::Guard record;
    record.code = requirement.code;
    record.expected = requirement.expected, record.actual = requirement.actual;
    host.shapes.require_named(requirement.condition, std::move(record), located_text(op, requirement));
  }
}

Status lower_operator(HostLowering& host, Op& op) {
  if (op.is("concat")) return lower_concat(host, op);
  if (contiguous_part(op)) return lower_part(host, op);
  if (op.def->role == Role::kNode) return lower_node(host, op);
  return op.def->role == Role::kView ? lower_view(host, op) : lower_host_op(host, op);
}

Status lower_op(HostLowering& host, Op& op) {
  Origins::Current current(host.origins, op);
  require_requirements(host, op);
  switch (op.kind) {
    case OpKind::kOperator:
      return lower_operator(host, op);
    case OpKind::kConstant:
      return lower_constant(host, op);
    case OpKind::kShape:
    case OpKind::kPrim:
      return Done{};
    case OpKind::kTuple:
      for (Value* field : op.operands()) host.values.slot(*op.result()).fields.push_back(host.values.slot(*field));
      return Done{};
    case OpKind::kTupleGet:
      host.values.slot(*op.result()) =
          ValueStorage(host.values.slot(*op.operand(0)).fields.at(static_cast<size_t>(op.attrs.integer("index"))));
      return Done{};
    case OpKind::kMatchCast:
      return lower_match_cast(host, op);
    case OpKind::kCallTir:
      return call_tir(host, op);
    case OpKind::kCallFunction:
      return call_function(host, op);
    case OpKind::kMakeClosure:
    case OpKind::kCallClosure:
      RELAXC_UNREACHABLE("resolve_closures leaves no callable");
    case OpKind::kCallExternal:
      return call_external(host, op);
    case OpKind::kShapeFunction:
      return lower_shape_function(host, op);
    case OpKind::kCallInplace:
      return call_inplace(host, op);
    case OpKind::kAssert:
      return lower_assert(host, op);
    case OpKind::kPrint:
      return lower_print(host, op);
    case OpKind::kIf:
      return lower_if(host, op);
    case OpKind::kLoop:
      return lower_loop(host, op);
  }
  RELAXC_UNREACHABLE();
}

}  // namespace

Status lower_region(HostLowering& host, const Region& region) {
  choose_parts(host, region);
  for (Op* op : ops_of(region)) RELAXC_DO(lower_op(host, *op));
  return Done{};
}

}  // namespace relaxc::lower
