// definition.cpp: an operator as a prim func that TVM calls.
//
// TVM passes tensors and scalars before the memory of the results. It gives a symbol its value where a buffer has it as
// a whole dim; any other symbol, such as n of a buffer of n * 2 elements alone, is a scalar.
#include "compiler/transform/tvm/definition.h"

#include <algorithm>

namespace relaxc {

using namespace relax;

namespace {

bool is_whole_dim(const tir::PrimFunc& function, Var var) {
  return std::any_of(function.params.begin(), function.params.end(), [&](const tir::Param& param) {
    if (param.buffer == nullptr) return false;
    const auto& shape = param.buffer->shape;
    return std::find(shape.begin(), shape.end(), Expr(var)) != shape.end();
  });
}

}  // namespace

tir::PrimFunc* add_definition(GraphBuilder& builder, const Op& op, std::vector<Value*>& operands) {
  Module& module = builder.module();
  std::string_view name = op.def->name.text();
  std::string stem(name.substr(name.rfind('.') + 1));
  tir::PrimFunc* function = module.add_prim_func(define_op(module.context(), op, module.unique_name(stem)));
  for (Var symbol : function->symbols)
    if (!is_whole_dim(*function, symbol)) function->params.push_back({nullptr, symbol});
  operands.clear();
  for (Value* operand : op.operands())
    if (operand != nullptr && operand->info->as<TensorInfo>() != nullptr) operands.push_back(operand);
  auto results = function->params.begin() + static_cast<std::ptrdiff_t>(operands.size());
  std::stable_partition(results, function->params.end(),
                        [](const tir::Param& param) { return param.buffer == nullptr; });
  tir::collect_symbols(*function);
  for (const tir::Param& param : function->params)
    if (param.buffer == nullptr) operands.push_back(builder.prim(param.var));
  return function;
}

}  // namespace relaxc
