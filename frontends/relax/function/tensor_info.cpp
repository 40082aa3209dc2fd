// tensor_info.cpp: reads R.Tensor(shape, dtype, ndim=…); `_` and None are unknown.
#include "frontends/relax/function/infos.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Info;

namespace {

/// The arguments of a tensor type; null if not given.
struct TensorType {
  const ast::Expr *shape = nullptr, *dtype = nullptr, *device = nullptr, *ndim = nullptr;
};

Result<TensorType> tensor_type(SourceText& source, const ast::Expr& e) {
  std::vector<const ast::Expr*> arguments = info_arguments(e);
  TensorType type;
  if (arguments.size() > 4)
    return source.error(arguments[4]->place, Kind::wrong_arity,
                        "R.Tensor takes a shape, a dtype, a device and ndim, found {} arguments", arguments.size());
  const ast::Expr** fields[] = {&type.shape, &type.dtype, &type.device, &type.ndim};
  for (size_t i = 0; i < arguments.size(); ++i) *fields[i] = arguments[i];
  // R.Tensor("float32", ndim=2) has a dtype as its first argument.
  if (type.shape != nullptr && type.dtype == nullptr && type.shape->is(AstKind::kString) &&
      parse_dtype(type.shape->text))
    std::swap(type.shape, type.dtype);
  for (const ast::Keyword& keyword : e.keywords) {
    const ast::Expr** field = keyword.name == "shape"     ? &type.shape
                              : keyword.name == "dtype"   ? &type.dtype
                              : keyword.name == "ndim"    ? &type.ndim
                              : keyword.name == "vdevice" ? &type.device
                                                          : nullptr;
    if (field == nullptr) {
      Failure failure = source.error(keyword.place, Kind::invalid_attribute, "R.Tensor has no '{}'", keyword.name);
      suggest(source, keyword.name, {"shape", "dtype", "ndim", "vdevice"});
      return failure;
    }
    *field = keyword.value;
  }
  return type;
}

/// Returns the dtype, or nullopt if it is unknown.
Result<std::optional<DType>> element_type(SourceText& source, const ast::Expr* dtype) {
  bool unknown = dtype == nullptr || is_wildcard(*dtype) || (dtype->is(AstKind::kString) && dtype->text.empty());
  if (unknown) return std::optional<DType>();
  RELAXC_TRY(DType read, dtype_value(source, *dtype));
  if (read == DType::index() || read == DType::handle())
    return source.error(dtype->place, Kind::invalid_value, "a tensor cannot hold {}", to_string(read));
  return std::optional<DType>(read);
}

/// Returns the rank, or -1 if it is unknown.
Result<int64_t> rank_of(FunctionParts& fn, const ast::Expr* ndim) {
  if (ndim == nullptr || (ndim->is(AstKind::kUnary) && ndim->text == "-")) return int64_t{-1};
  RELAXC_TRY(arith::Expr count, fn.dims.index(*ndim));
  if (count.constant() == nullptr || *count.constant() > 64)
    return fn.source.error(ndim->place, Kind::invalid_value, "ndim is a small integer");
  return *count.constant();
}

Status check_dims(SourceText& source, const TensorType& type, const std::vector<arith::Expr>& dims, int64_t rank) {
  for (arith::Expr dim : dims)
    if (dim.constant() != nullptr && *dim.constant() < 0)
      return source.error(type.shape->place, Kind::invalid_value, "a dim cannot be negative, found {}",
                          *dim.constant());
  if (rank >= 0 && rank != static_cast<int64_t>(dims.size()))
    return source.error(type.ndim->place, Kind::rank_mismatch, "ndim={} of a shape of {} dims", rank, dims.size());
  return Done{};
}

}  // namespace

Result<Info> read_tensor_info(FunctionParts& fn, const ast::Expr& e) {
  Diagnostics& diag = fn.diag();
  RELAXC_TRY(TensorType type, tensor_type(fn.source, e));
  bool ok = type.device == nullptr || is_wildcard(*type.device) || check_device(fn.source, *type.device);
  Result<std::optional<DType>> element = element_type(fn.source, type.dtype);
  RELAXC_TRY(int64_t rank, rank_of(fn, type.ndim));
  if (type.shape == nullptr || is_wildcard(*type.shape)) {
    if (!ok || !element) return diag.failed();
    return relax::tensor_info(fn.context(), static_cast<int32_t>(rank), *element);
  }
  Result<std::vector<arith::Expr>> dims = fn.dims.list(*type.shape);
  if (!dims || !element || !ok) return diag.failed();
  RELAXC_DO(check_dims(fn.source, type, *dims, rank));
  const DimPattern& pattern = fn.dims.pattern();
  for (arith::Expr dim : *dims)
    if (const auto* var = dim.as<arith::VarNode>();
        var != nullptr && pattern.kind() != DimPattern::kUse && pattern.own_symbols() == nullptr)
      fn.function.facts.bound(arith::Var(var), arith::Range::at_least(0));
  return relax::tensor_info(fn.context(), std::move(*dims), *element);
}

}  // namespace relaxc::frontend
