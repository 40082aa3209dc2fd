// match_argument.cpp: matches an argument with the symbols of its parameter.
#include "frontends/relax/function/calls.h"

namespace relaxc::frontend {

using relax::Info;

namespace {

/// Matches one argument with its parameter.
class ArgumentMatch {
 public:
  ArgumentMatch(FunctionParts& fn, arith::Substitution& symbols, Place place, const std::string& name)
      : fn_(fn), symbols_(symbols), place_(place), name_(name) {}

  Status match(Info param, Info argument);

 private:
  Status match_tensors(Info param, Info argument);
  Status match_prims(Info param, Info argument);
  Status match_tuples(Info param, Info argument);
  Failure mismatch(Kind kind, Info param, Info argument) {
    return fn_.source.error(place_, kind, "parameter '{}' is {}, found {}", name_, relax::to_string(param),
                            relax::to_string(argument));
  }
  using Dims = std::optional<std::vector<arith::Expr>>;
  /// Returns how the dims differ, or nullopt if they can match; binds symbols that are dims on their own.
  std::optional<Kind> match_dims(const Dims& wanted, const Dims& given);

  FunctionParts& fn_;
  arith::Substitution& symbols_;
  Place place_;
  const std::string& name_;
};

Status ArgumentMatch::match(Info param, Info argument) {
  if (param->kind == relax::InfoKind::kObject) return Done{};
  if (param->kind != argument->kind) return mismatch(Kind::dtype_mismatch, param, argument);
  if (param->as<relax::TensorInfo>()) return match_tensors(param, argument);
  if (param->as<relax::PrimInfo>()) return match_prims(param, argument);
  if (param->as<relax::TupleInfo>()) return match_tuples(param, argument);
  if (const auto* wanted = param->as<relax::ShapeInfo>())
    if (std::optional<Kind> differ = match_dims(wanted->dims, argument->as<relax::ShapeInfo>()->dims))
      return mismatch(*differ, param, argument);
  if (const auto* wanted = param->as<relax::CallableInfo>())
    if (wanted->params.size() != argument->as<relax::CallableInfo>()->params.size())
      return mismatch(Kind::wrong_arity, param, argument);
  return Done{};
}

Status ArgumentMatch::match_tensors(Info param, Info argument) {
  const auto &wanted = *param->as<relax::TensorInfo>(), &given = *argument->as<relax::TensorInfo>();
  if (wanted.dtype && given.dtype && wanted.dtype != given.dtype)
    return mismatch(Kind::dtype_mismatch, param, argument);
  if (wanted.ndim >= 0 && given.ndim >= 0 && wanted.ndim != given.ndim)
    return mismatch(Kind::rank_mismatch, param, argument);
  if (std::optional<Kind> differ = match_dims(wanted.shape, given.shape)) return mismatch(*differ, param, argument);
  return Done{};
}

Status ArgumentMatch::match_prims(Info param, Info argument) {
  const auto &wanted = *param->as<relax::PrimInfo>(), &given = *argument->as<relax::PrimInfo>();
  if (wanted.dtype != given.dtype) return mismatch(Kind::dtype_mismatch, param, argument);
  if (wanted.value && given.value && wanted.value.as<arith::VarNode>()) symbols_.emplace(wanted.value, given.value);
  return Done{};
}

Status ArgumentMatch::match_tuples(Info param, Info argument) {
  const std::vector<Info>&wanted = param->as<relax::TupleInfo>()->fields,
        &given = argument->as<relax::TupleInfo>()->fields;
  if (wanted.size() != given.size()) return mismatch(Kind::wrong_arity, param, argument);
  for (size_t i = 0; i < given.size(); ++i) RELAXC_DO(match(wanted[i], given[i]));
  return Done{};
}

std::optional<Kind> ArgumentMatch::match_dims(const Dims& wanted, const Dims& given) {
  if (!wanted || !given) return std::nullopt;
  if (wanted->size() != given->size()) return Kind::rank_mismatch;
  for (size_t i = 0; i < wanted->size(); ++i) {
    if ((*wanted)[i].as<arith::VarNode>() && symbols_.emplace((*wanted)[i], (*given)[i]).second) continue;
    arith::Expr expected = arith::substitute((*wanted)[i], symbols_);
    if (arith::prove(arith::ne(expected, (*given)[i]), fn_.function.facts)) return Kind::shape_mismatch;
  }
  return std::nullopt;
}

}  // namespace

Status match_argument(FunctionParts& fn, Info param, Info argument, arith::Substitution& symbols, Place place,
                      const std::string& name) {
  return ArgumentMatch(fn, symbols, place, name).match(param, argument);
}

}  // namespace relaxc::frontend
