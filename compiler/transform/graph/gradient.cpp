// gradient.cpp: differentiates functions.
//
// A program that trains needs, beside a loss, its derivatives by the weights. Reverse mode computes all of them in one
// pass over the ops from the last to the first: each op gets the derivatives of the target by its results, and its row
// in the op table (OpDef::gradient) gives those by its operands, as operators. They go through the same passes as the
// rest, so that what the gradient reads of the forward computation is fused, shared and planned with it, and
// derivatives that no result needs are dead code.
//
// The gradient is a function of its own, NAME_adjoint, as TVM has it: it computes the function's results again and
// returns them with the derivatives. Operators that others define have the gradient of their expansion. Derivatives are
// added in the order of the ops, so the same program gives the same bytes. What depends on no asked parameter, and what
// is no float, has no derivative, and nothing is asked of such ops.
//
// Not supported, and reported: calls of functions on the way. Checkpoints, with which TVM trades memory for time, have
// no counterpart.
#include <algorithm>

#include "compiler/relax/copy.h"
#include "compiler/transform/graph/gradients/differentiation.h"
#include "compiler/transform/graph/rewriting/expansion.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns the numbers of the parameters by which to differentiate.
Result<std::vector<size_t>> asked_parameters(const Function& function, PassContext& context) {
  const std::vector<Value*>& all = function.body().arguments;
  std::vector<size_t> asked;
  if (function.gradient->parameters.empty()) {
    for (size_t i = 0; i < all.size(); ++i)
      if (gradients::is_float_tensor(*all[i])) asked.push_back(i);
    if (asked.empty())
      return context.diag.error(function.location, Kind::invalid_value, "'{}' has no parameter of a float dtype",
                                function.name);
    return asked;
  }
  bool ok = true;
  for (const std::string& name : function.gradient->parameters) {
    auto at = std::find_if(all.begin(), all.end(), [&](const Value* value) { return value->name == name; });
    const bool fits = at != all.end() && gradients::is_float_tensor(**at);
    if (!fits)
      context.diag.error(function.location, Kind::invalid_value, "the gradient of '{}' by '{}', which is {}",
                         function.name, name,
                         at == all.end() ? "not a parameter" : "not a float tensor but " + to_string((*at)->info));
    const auto index = static_cast<size_t>(at - all.begin());
    const bool twice = std::count(asked.begin(), asked.end(), index) != 0;
    if (fits && twice)
      context.diag.error(function.location, Kind::redefinition, "the gradient of '{}' names '{}' twice", function.name,
                         name);
    ok &= fits && !twice;
    asked.push_back(index);
  }
  if (!ok) return context.diag.failed();
  return asked;
}

/// Fails unless the target is a float scalar.
Status check_target(const Function& function, PassContext& context) {
  const std::vector<Value*>& results = function.body().results();
  const int64_t target = function.gradient->target;
  if (target < 0 || target >= static_cast<int64_t>(results.size()))
    return context.diag.error(function.location, Kind::invalid_value,
                              "the gradient of result {} of '{}', which has {} results", target, function.name,
                              results.size());
  const Value& value = *results[static_cast<size_t>(target)];
  const auto* tensor = value.info->as<TensorInfo>();
  if (tensor != nullptr && tensor->ndim == 0 && gradients::is_float_tensor(value)) return Done{};
  return context.diag.error(function.location, Kind::invalid_value,
                            "the gradient of result {} of '{}' must be that of a float scalar, found {}", target,
                            function.name, to_string(value.info));
}

Status differentiate(Module& module, Function& function, PassContext& context) {
  const std::string name = function.name + "_adjoint";
  if (module.find_function(name) != nullptr || module.find_prim_func(name) != nullptr)
    return context.diag.error(function.location, Kind::redefinition, "the gradient of '{}' is '{}', which is defined",
                              function.name, name);
  RELAXC_DO(check_target(function, context));
  RELAXC_TRY(std::vector<size_t> asked, asked_parameters(function, context));
  Function* adjoint = copy_function(module, function, name);
  adjoint->is_private = false;
  adjoint->num_input = function.num_input;
  RELAXC_DO(expand_operators(module, *adjoint, context, [](const OpDef& def) { return def.gradient == nullptr; }));
  std::vector<Value*> parameters;
  for (size_t index : asked) parameters.push_back(adjoint->body().arguments[index]);
  if (!function.output_names.empty()) {
    adjoint->output_names = function.output_names;
    for (const Value* parameter : parameters) adjoint->output_names.push_back(parameter->name + "_adjoint");
  }
  Value* target = adjoint->body().results()[static_cast<size_t>(function.gradient->target)];
  RELAXC_DO(gradients::Differentiation(module, function, *adjoint, context).run(*target, parameters));
  function.gradient.reset();
  return Done{};
}

}  // namespace

Result<Changed> gradient(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  bool ok = true;
  for (Function* function : module.functions()) {
    if (!function->gradient) continue;
    ok &= bool(differentiate(module, *function, context));
    changed = Changed::kYes;
  }
  if (!ok) return context.diag.failed();
  return changed;
}

}  // namespace relaxc
