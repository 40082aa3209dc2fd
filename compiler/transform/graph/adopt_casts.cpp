// adopt_casts.cpp: a parameter of unknown shape gets the shape that the function casts it to.
//
// Programs that write `x: R.Tensor` and then match_cast x are saying what they want of their caller, only later. An
// object must say it in its interface: the dims are checked before anything is touched, and the symbols are entry
// symbols. So the first match_cast of a parameter, where it runs on every path, becomes the parameter's own struct
// info. Casts of the same parameter that follow compare with it, as they did before.
#include <algorithm>

#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

bool is_complete(const TensorInfo& tensor) {
  return tensor.shape.has_value() && tensor.dtype.has_value();
}

/// The symbols of `info` that are in no parameter yet become symbols of the function.
void bind_symbols(Function& function, Op& cast) {
  for (arith::Var var : cast.binds)
    if (std::find(function.symbols.begin(), function.symbols.end(), var) == function.symbols.end())
      function.symbols.push_back(var);
  cast.binds.clear();
}

Changed adopt(Function& function) {
  Changed changed = Changed::kNo;
  for (Op* op : ops_of(function.body())) {
    if (op->kind != OpKind::kMatchCast) continue;
    Value* from = op->operand(0);
    const auto *known = from->info->as<TensorInfo>(), *wanted = op->result()->info->as<TensorInfo>();
    bool parameter = from->region == &function.body();
    if (!parameter || known == nullptr || is_complete(*known) || wanted == nullptr || !wanted->shape) continue;
    std::optional<DType> dtype = wanted->dtype ? wanted->dtype : known->dtype;
    if (known->dtype && wanted->dtype && known->dtype != wanted->dtype) continue;  // infer reports it
    if (known->ndim >= 0 && known->ndim != wanted->ndim) continue;
    from->info = tensor_info(function.context(), *wanted->shape, dtype);
    if (!wanted->dtype) op->result()->info = from->info;
    bind_symbols(function, *op);
    changed = Changed::kYes;
  }
  return changed;
}

}  // namespace

Result<Changed> adopt_casts(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= adopt(*function);
  return changed;
}

}  // namespace relaxc
