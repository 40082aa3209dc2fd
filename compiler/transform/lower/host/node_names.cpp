// node_names.cpp: names of ops and kernels.
#include "compiler/transform/lower/host/node_names.h"

#include "compiler/relax/origin_text.h"
#include "compiler/tir/visit.h"

namespace relaxc::lower {

std::string Origins::here() const {
  return op_ != nullptr ? relax::origin_text(*op_) : "function '" + function_.name + "'";
}

int32_t Origins::of_kernel(const relax::Op& op, const tir::PrimFunc& kernel) {
  return tir::has_guards(kernel.body) ? nodes_.number(relax::call_text(op, kernel)) : -1;
}

}  // namespace relaxc::lower
