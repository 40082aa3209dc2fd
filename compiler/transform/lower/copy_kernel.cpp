// copy_kernel.cpp: the one kernel that lowering itself needs.
//
// `to[i…] = from[i…]` over the extents of `to`, which may be smaller than those of `from` (a result that was given room
// for its bound). One prim func serves all tensors of a dtype and rank; it may be called with one memory for both, as
// states are.
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {
namespace {

BufferRef symbolic(tir::Builder& build, const std::string& name, DType dtype, size_t rank) {
  std::vector<Expr> shape;
  for (size_t axis = 0; axis < rank; ++axis) shape.push_back(build.context().var(name + std::to_string(axis)));
  return build.buffer(name, dtype, std::move(shape));
}

}  // namespace

const std::string& copy_function(Shared& shared, DType dtype, size_t rank) {
  std::string name = "copy_" + to_string(dtype) + "_" + std::to_string(rank);
  auto [known, fresh] = shared.copies.emplace(name, "");
  if (!fresh) return known->second;
  tir::Builder build(shared.module.context());
  tir::PrimFunc made;
  made.name = known->second = shared.module.unique_name(name);
  made.noalias = false;
  made.attrs["in_place"] = "0";
  made.attrs["copies"] = "1";
  BufferRef from = symbolic(build, "from", dtype, rank), to = symbolic(build, "to", dtype, rank);
  made.params = {{from, {}}, {to, {}}};
  made.body = build.compute(to, [&](const tir::Indices& i) { return build.load(from, i); });
  tir::collect_symbols(made);
  shared.module.add_prim_func(std::move(made));
  return known->second;
}

}  // namespace relaxc::lower
