// external_call.cpp: binds the names of a row, checks its rules and makes its call.
//
// Numbers are expressions, since dims may be symbols. Conditions of a row must be proved when compiling: one that some
// sizes meet and others do not would need both versions of the code. Operands are passed as tensors, dims and integers
// as int64, everything else as a constant tensor, as for custom operators (frontends/onnx/custom_op.cpp).
#include "compiler/transform/graph/external/external_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/relax/attr_text.h"

namespace relaxc {
namespace {

using namespace relax;
using arith::Facts;

/// The part of a message that says why a row does not fit.
using Refusal = std::string;

class Plan {
 public:
  Plan(const ExternalPattern& row, const PatternMatch& match, const Value& result, const Facts& facts)
      : row_(row),
        match_(match),
        result_(result),
        facts_(facts),
        context_(result.op->block->parent->function->context()) {}

  std::variant<ExternalCallPlan, Refusal> run() {
    for (const auto& [name, value] : match_.attrs) {
      if (const auto* integer = std::get_if<int64_t>(&value)) numbers_[name] = context_.index(*integer);
      if (const bool* flag = std::get_if<bool>(&value)) numbers_[name] = context_.index(*flag ? 1 : 0);
    }
    for (const ExternalPattern::Operand& operand : row_.operands) bind(operand);
    for (const ExternalPattern::Operand& operand : row_.operands)
      if (auto value = match_.values.find(operand.name); value != match_.values.end())
        check(operand.rule, *value->second, fmt::format("operand '{}'", operand.name));
    if (row_.result) check(*row_.result, result_, "the result");
    for (size_t i = 0; i < row_.conditions.size(); ++i) check(row_.conditions[i], i);
    ExternalCallPlan plan;
    for (const ExternalPattern::Argument& argument : row_.arguments)
      plan.arguments.push_back({passed(argument.value, argument.axes), argument.axes});
    check_order(row_.result_axes, result_, "the result");
    if (row_.scratch) plan.scratch = evaluate(*row_.scratch);
    if (plan.scratch && arith::bounds(plan.scratch, facts_).upper < 0)
      refuse(fmt::format("its scratch has {} bytes", arith::to_string(plan.scratch)));
    if (!refusal_.empty()) return refusal_;
    return plan;
  }

 private:
  void refuse(Refusal why) {
    if (refusal_.empty()) refusal_ = std::move(why);
  }

  /// Binds names that are a whole dim of the rule, and are not bound yet, to the dims of the operand.
  void bind(const ExternalPattern::Operand& operand) {
    auto value = match_.values.find(operand.name);
    if (value == match_.values.end()) return;
    const std::vector<Expr>& shape = value->second->shape();
    for (size_t i = 0; i < std::min(shape.size(), operand.rule.dims.size()); ++i)
      if (operand.rule.dims[i].kind == RuleDim::kName) numbers_.emplace(operand.rule.dims[i].name, shape[i]);
  }

  void check(const RuleTensor& rule, const Value& value, const std::string& what) {
    const std::string found = relax::to_string(value.info);
    if (rule.dtype && value.dtype() != *rule.dtype)
      return refuse(fmt::format("{} is {}, and must be of {}", what, found, relaxc::to_string(*rule.dtype)));
    if (rule.any) return;
    if (value.shape().size() != rule.dims.size())
      return refuse(fmt::format("{} is {}, and must have {} dims", what, found, rule.dims.size()));
    for (size_t i = 0; i < rule.dims.size(); ++i) {
      Expr wanted = evaluate(rule.dims[i]);
      if (wanted && !arith::prove_equal(wanted, value.shape()[i], facts_))
        return refuse(fmt::format("dim {} of {} is {}, which is not known to be {}", i, what,
                                  arith::to_string(value.shape()[i]), arith::to_string(wanted)));
    }
  }

  void check(const ExternalPattern::Condition& condition, size_t place) {
    Expr a = evaluate(condition.a), b = evaluate(condition.b);
    if (!a || !b) return;
    Expr holds = condition.kind == ExternalPattern::Condition::kEqual     ? arith::eq(a, b)
                 : condition.kind == ExternalPattern::Condition::kUnequal ? arith::ne(a, b)
                 : condition.kind == ExternalPattern::Condition::kLess    ? arith::lt(a, b)
                                                                          : arith::le(a, b);
    if (!arith::prove(holds, facts_))
      refuse(fmt::format("its condition {} is not known to hold: {}", place + 1, arith::to_string(holds)));
  }

  /// Returns the value of a number of the row; null, after a refusal, if it has none here.
  Expr evaluate(const RuleDim& dim) {
    switch (dim.kind) {
      case RuleDim::kNumber:
        return context_.index(dim.number);
      case RuleDim::kName:
        if (auto found = numbers_.find(dim.name); found != numbers_.end()) return found->second;
        return refuse(fmt::format("'{}' is no integer here", dim.name)), Expr();
      case RuleDim::kElement:
        return element(dim);
      default:
        break;
    }
    Expr a = evaluate(dim.parts[0]), b = evaluate(dim.parts[1]);
    if (!a || !b) return {};
    const bool divides = dim.kind == RuleDim::kFloorDivide || dim.kind == RuleDim::kFloorModulo;
    if (divides && b.is_constant(0)) return refuse("it divides by 0"), Expr();
    return arith::simplify(combined_dims(dim.kind, a, b), facts_);
  }

  Expr element(const RuleDim& dim) {
    auto found = match_.attrs.find(dim.name);
    const auto* list = found == match_.attrs.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
    if (list != nullptr && dim.number < static_cast<int64_t>(list->size()))
      return context_.index((*list)[static_cast<size_t>(dim.number)]);
    return refuse(fmt::format("there is no {}[{}]", dim.name, dim.number)), Expr();
  }

  /// Refuses axes, if there are any, that are no permutation of the axes of `value`.
  void check_order(std::vector<int64_t> axes, const Value& value, const std::string& what) {
    if (axes.empty()) return;
    std::sort(axes.begin(), axes.end());
    bool all = axes.size() == value.shape().size();
    for (size_t i = 0; i < axes.size(); ++i) all = all && axes[i] == static_cast<int64_t>(i);
    if (!all) refuse(fmt::format("{} is {}, whose axes are permuted otherwise", what, relax::to_string(value.info)));
  }

  decltype(ExternalArgument::what) passed(const RuleDim& argument, const std::vector<int64_t>& axes) {
    if (argument.kind == RuleDim::kName && numbers_.count(argument.name) == 0) {
      if (auto value = match_.values.find(argument.name); value != match_.values.end()) {
        check_order(axes, *value->second, fmt::format("operand '{}'", argument.name));
        return value->second;
      }
      if (auto attr = match_.attrs.find(argument.name); attr != match_.attrs.end()) return attr->second;
    }
    return evaluate(argument);
  }

  const ExternalPattern& row_;
  const PatternMatch& match_;
  const Value& result_;
  const Facts& facts_;
  Context& context_;
  std::map<std::string, Expr> numbers_;
  Refusal refusal_;
};

template <typename T>
ConstantRef vector_of(DType dtype, const T* items, size_t count) {
  const auto* begin = reinterpret_cast<const std::byte*>(items);
  return ConstantData::inline_bytes(dtype, {static_cast<int64_t>(count)},
                                    std::vector<std::byte>(begin, begin + count * sizeof(T)));
}

/// Returns an attribute that is no integer as a tensor: float32, a vector of int64 or float32, or the bytes of a text.
Value* attribute_tensor(const AttrValue& value, GraphBuilder& builder) {
  if (const auto* number = std::get_if<double>(&value)) return builder.scalar(DType::f(32), *number);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
    return builder.constant(vector_of(DType::i(64), list->data(), list->size()));
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    std::vector<float> narrow(list->begin(), list->end());
    return builder.constant(vector_of(DType::f(32), narrow.data(), narrow.size()));
  }
  const auto* text = std::get_if<std::string>(&value);
  const std::string spelled = text != nullptr ? *text : attr_text(value);
  return builder.constant(vector_of(DType::u(8), spelled.data(), spelled.size()));
}

Value* permuted(Value* value, const std::vector<int64_t>& axes, GraphBuilder& builder) {
  if (axes.empty()) return value;
  Result<Value*> made = builder.call("permute_dims", {value}, {{"axes", axes}});
  RELAXC_CHECK(bool(made), "axes that were checked do not fit");
  return *made;
}

}  // namespace

std::variant<ExternalCallPlan, std::string> plan_external_call(const ExternalPattern& row, const PatternMatch& match,
                                                               const Value& result, const arith::Facts& facts) {
  return Plan(row, match, result, facts).run();
}

MadeCall make_external_call(const ExternalPattern& row, const ExternalCallPlan& plan, const Value& result,
                            GraphBuilder& builder) {
  std::vector<Value*> operands;
  for (const ExternalArgument& argument : plan.arguments) {
    if (const auto* value = std::get_if<Value*>(&argument.what))
      operands.push_back(permuted(*value, argument.axes, builder));
    else if (const auto* number = std::get_if<arith::Expr>(&argument.what))
      operands.push_back(builder.prim(*number));
    else
      operands.push_back(attribute_tensor(std::get<AttrValue>(argument.what), builder));
  }
  Op* call = builder.append(OpKind::kCallExternal, std::move(operands));
  call->callee = row.function;
  Function& function = builder.function();
  if (plan.scratch) function.make_result(call, {}, tensor_info(builder.context(), {plan.scratch}, DType::u(8)));
  if (row.result_axes.empty()) return {call, function.make_result(call, result.name, result.info)};
  std::vector<Expr> filled(row.result_axes.size());
  for (size_t i = 0; i < filled.size(); ++i) filled[static_cast<size_t>(row.result_axes[i])] = result.shape()[i];
  Value* made = function.make_result(call, {}, tensor_info(builder.context(), std::move(filled), result.dtype()));
  made = permuted(made, row.result_axes, builder);
  made->name = result.name;
  return {call, made};
}

}  // namespace relaxc
