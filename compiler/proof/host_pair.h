// host_pair.h: reads a host function's bodies before and after memory planning together.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "compiler/proof/inequalities.h"
#include "compiler/proof/occupancy.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::proof {

/// An address: `offset` bytes from the start of a parameter's memory; if `round_up` is not 0, this is rounded up to the
/// next multiple of it, and `beyond` bytes are added.
struct Address {
  tir::BufferRef memory = nullptr;
  Expr offset;
  uint32_t round_up = 0;
  Expr beyond;
};

/// A piece of memory in the unplanned function: an allocation, or a parameter.
struct Tensor {
  tir::BufferRef buffer = nullptr;
  bool parameter = false;
  std::optional<Address> place;  ///< of an allocation that is used
  /// Size of an allocation in bytes, in terms of the parameters if possible.
  Expr bytes;
};

/// A call of another host function.
struct HostCall {
  const tir::Invoke* call = nullptr;  ///< in the planned body
  arith::Facts facts;                 ///< facts that hold at the call
  std::vector<Expr> scalars;          ///< values of the callee's scalar parameters, in order
  Expr frame;                         ///< size in bytes of the memory for the callee's frame
};

/// The result of reading both bodies.
struct HostPair {
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  std::vector<HostCall> calls;
};

/// What is known about buffer parameters, by their ids.
struct Parameters {
  std::set<uint32_t>
      scratch;              ///< memory for allocations: it holds nothing at first, and its final contents do not matter
  std::set<uint32_t> idle;  ///< results for the caller, whose contents at the start do not matter
};

/// Walks both bodies in step. Adds to `claims`, for each use of a part of a tensor, whether it has the address that the
/// tensor's place implies, and for each omitted copy, whether its operands have one address. At any other difference it
/// adds an undecided claim and stops; the result is then incomplete.
/// \param facts what is known about the function's scalar parameters; `known` answers questions under them
HostPair read_pair(tir::Stmt unplanned, const tir::PrimFunc& planned, const Parameters& parameters,
                   const arith::Facts& facts, Inequalities& known, const tir::FindFunction& find, Claims& claims);

}  // namespace relaxc::proof
