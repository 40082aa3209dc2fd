// copy_kernel.cpp: the kernels that copy tensors, the only ones that lowering itself needs.
//
// `to[i…] = from[i…]` over the extents of `to`. Static shapes get a function of their own with constant extents;
// open shapes share one for each dtype and rank, which takes the dims. Both may be called with one buffer for from
// and to, as for a state, and then have nothing to do; otherwise the two do not overlap, and C compilers and LLVM
// turn the loop into memcpy. If `from` is larger than `to`, since its result got room for its bound, each has dims
// of its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/transform/lower/host/shared.h"

namespace relaxc::lower {
namespace {

using Dims = std::vector<Expr>;

Dims open_dims(tir::Builder& build, const char* name, size_t rank) {
  Dims dims;
  for (size_t axis = 0; axis < rank; ++axis) dims.push_back(build.context().var(name + std::to_string(axis)));
  return dims;
}

/// Returns one loop over all elements of two compact buffers, whatever their dims.
tir::Stmt flat_copy(tir::Builder& build, BufferRef from, BufferRef to) {
  Expr count = build.index(1);
  for (Expr dim : to->shape) count = count * dim;
  BufferRef all = build.buffer("all", from->dtype, {count}), copy = build.buffer("copy", to->dtype, {count});
  tir::Stmt loop = build.compute(copy, [&](const tir::Indices& i) { return build.load(all, i); });
  return build.view(all, from, build.index(0), build.view(copy, to, build.index(0), loop));
}

/// Returns the name of the prim func for `name`, which is made at the first request.
const std::string& copy_function(Shared& shared, const std::string& name, DType dtype, const Dims& from_dims,
                                 const Dims& to_dims) {
  auto [known, fresh] = shared.copies.emplace(name, "");
  if (!fresh) return known->second;
  tir::Builder build(shared.module.context());
  BufferRef from = build.buffer("from", dtype, from_dims), to = build.buffer("to", dtype, to_dims);
  tir::PrimFunc made;
  made.name = known->second = shared.module.unique_name(name);
  made.memory.in_place = {0};
  made.memory.copies = from_dims == to_dims;
  made.noalias = made.memory.copies;  // if both are the same memory, nothing is read or written
  made.params = {{from, {}}, {to, {}}};
  made.body = made.memory.copies ? flat_copy(build, from, to)
                                 : build.compute(to, [&](const tir::Indices& i) { return build.load(from, i); });
  tir::collect_symbols(made);
  shared.module.add_prim_func(std::move(made));
  return known->second;
}

}  // namespace

tir::Invoke copy_call(Shared& shared, BufferRef from, BufferRef to) {
  tir::Builder build(shared.module.context());
  tir::Invoke invoke;
  invoke.args = {from, to};
  auto hand = [&](const Dims& dims) { invoke.args.insert(invoke.args.end(), dims.begin(), dims.end()); };
  const size_t rank = to->shape.size();
  const std::string of = to_string(to->dtype);
  std::vector<int64_t> fixed;
  for (Expr dim : to->shape)
    if (const int64_t* number = dim.constant()) fixed.push_back(*number);
  if (from->shape != to->shape) {
    const Dims wanted = open_dims(build, "to", rank);
    invoke.callee = copy_function(shared, fmt::format("copy_part_{}_{}", of, rank), to->dtype,
                                  open_dims(build, "from", rank), wanted);
    hand(from->shape), hand(to->shape);
  } else if (fixed.size() == rank) {
    std::string name = fmt::format("copy_{}{}{}", of, rank == 0 ? "" : "_", fmt::join(fixed, "x"));
    invoke.callee = copy_function(shared, name, to->dtype, to->shape, to->shape);
  } else {
    Dims dims = open_dims(build, "n", rank);
    invoke.callee = copy_function(shared, fmt::format("copy_{}_rank{}", of, rank), to->dtype, dims, dims);
    hand(to->shape);
  }
  return invoke;
}

}  // namespace relaxc::lower
