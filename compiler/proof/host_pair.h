// host_pair.h: a host function as it was before its memory was planned, beside what it has become.
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

/// `offset` bytes from the begin of a parameter's memory; where `round_up` is not 0, from there on to the next multiple
/// of it, and `beyond` bytes further.
struct Address {
  tir::BufferRef memory = nullptr;
  Expr offset;
  uint32_t round_up = 0;
  Expr beyond;
};

/// Memory that the function had by one name before it was planned: an allocation, or a parameter.
struct Tensor {
  tir::BufferRef buffer = nullptr;
  bool parameter = false;
  std::optional<Address> place;  ///< of an allocation that something touches
  /// Of an allocation: its size in bytes, in terms of the parameters where it can be.
  Expr bytes;
};

/// A call of another host function.
struct HostCall {
  const tir::Invoke* call = nullptr;  ///< as planned
  arith::Facts facts;                 ///< that hold there
  std::vector<Expr> scalars;          ///< the callee's scalar parameters, in order
  Expr frame;                         ///< bytes of the memory that the callee gets
};

/// What the two bodies say together.
struct HostPair {
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  std::vector<HostCall> calls;
};

/// What is known of buffer parameters, by their ids.
struct Parameters {
  std::set<uint32_t>
      scratch;              ///< memory for allocations, which holds nothing at first and need not hold anything later
  std::set<uint32_t> idle;  ///< results that the caller reads, and whose contents at first count for nothing
};

/// Walks both bodies in step. Says in `claims` of each use of a part of a tensor whether it lies in its tensor's place,
/// and of each copy that was left out whether its operands are one memory. Where the bodies differ otherwise, an
/// undecided claim says so, and what is given ends there.
/// \param facts  what is known of the function's scalar parameters, and `known` answers about it
HostPair read_pair(tir::Stmt unplanned, const tir::PrimFunc& planned, const Parameters& parameters,
                   const arith::Facts& facts, Inequalities& known, const tir::FindFunction& find, Claims& claims);

}  // namespace relaxc::proof
