// returned_scalar.cpp: recognizes prim funcs that return an expression of scalars.
#include "frontends/relax/shared/returned_scalar.h"

namespace relaxc::frontend {

const tir::Store* returned_scalar(const tir::PrimFunc& prim, size_t scalars) {
  if (prim.params.size() != scalars + 1 || prim.params.back().buffer == nullptr) return nullptr;
  for (size_t i = 0; i < scalars; ++i)
    if (prim.params[i].buffer != nullptr) return nullptr;
  const auto* store = prim.body.as<tir::Store>();
  return store != nullptr && store->buffer == prim.params.back().buffer ? store : nullptr;
}

}  // namespace relaxc::frontend
