// struct_info.cpp: makes, rewrites and prints struct infos; info_order.cpp compares them.
#include "compiler/relax/struct_info.h"

#include <algorithm>

#include "compiler/tir/buffer.h"

namespace relaxc::relax {
namespace {

template <typename T>
Info make(Context& context, T info) {
  return context.arena().make<T>(std::move(info));
}

std::string list(const std::vector<Expr>& dims) {
  std::string text;
  for (Expr dim : dims) text += (text.empty() ? "" : ", ") + arith::to_string(dim);
  return text;
}

std::string join(const std::vector<Expr>& dims) {
  return dims.size() == 1 ? list(dims) + "," : list(dims);
}

std::string join(const std::vector<Info>& infos) {
  std::string text;
  for (Info info : infos) text += (text.empty() ? "" : ", ") + to_string(info);
  return text;
}

std::string tensor_text(const TensorInfo& tensor) {
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (tensor.shape) add("(" + join(*tensor.shape) + ")");
  if (tensor.dtype) add("dtype=\"" + to_string(*tensor.dtype) + "\"");
  if (!tensor.shape && tensor.ndim >= 0) add("ndim=" + std::to_string(tensor.ndim));
  return "R.Tensor(" + text + ")";
}

}  // namespace

Info object_info(Context& context) {
  return make(context, ObjectInfo{});
}

Info prim_info(Context& context, DType dtype, Expr value) {
  PrimInfo info;
  info.dtype = dtype;
  info.value = value;
  return make(context, std::move(info));
}

Info shape_info(Context& context, std::vector<Expr> dims) {
  ShapeInfo info;
  info.ndim = static_cast<int32_t>(dims.size());
  info.dims = std::move(dims);
  return make(context, std::move(info));
}

Info shape_info(Context& context, int32_t ndim) {
  ShapeInfo info;
  info.ndim = ndim;
  return make(context, std::move(info));
}

Info tensor_info(Context& context, std::vector<Expr> shape, std::optional<DType> dtype) {
  TensorInfo info;
  info.dtype = dtype;
  info.ndim = static_cast<int32_t>(shape.size());
  info.shape = std::move(shape);
  return make(context, std::move(info));
}

Info tensor_info(Context& context, int32_t ndim, std::optional<DType> dtype) {
  TensorInfo info;
  info.dtype = dtype;
  info.ndim = ndim;
  return make(context, std::move(info));
}

Info tuple_info(Context& context, std::vector<Info> fields) {
  TupleInfo info;
  info.fields = std::move(fields);
  return make(context, std::move(info));
}

Info callable_info(Context& context, std::vector<Var> symbols, std::vector<Info> params, Info result, bool pure) {
  CallableInfo info;
  info.symbols = std::move(symbols);
  info.params = std::move(params);
  info.result = result;
  info.pure = pure;
  return make(context, std::move(info));
}

Info substitute(Context& context, Info info, const arith::Substitution& replacements) {
  auto dims = [&](std::vector<Expr> list) {
    for (Expr& dim : list) dim = arith::substitute(dim, replacements);
    return list;
  };
  switch (info->kind) {
    case InfoKind::kObject:
      return info;
    case InfoKind::kPrim: {
      const auto& prim = *info->as<PrimInfo>();
      return prim.value ? prim_info(context, prim.dtype, arith::substitute(prim.value, replacements)) : info;
    }
    case InfoKind::kShape: {
      const auto& shape = *info->as<ShapeInfo>();
      return shape.dims ? shape_info(context, dims(*shape.dims)) : info;
    }
    case InfoKind::kTensor: {
      const auto& tensor = *info->as<TensorInfo>();
      return tensor.shape ? tensor_info(context, dims(*tensor.shape), tensor.dtype) : info;
    }
    case InfoKind::kTuple: {
      std::vector<Info> fields = info->as<TupleInfo>()->fields;
      for (Info& field : fields) field = substitute(context, field, replacements);
      return tuple_info(context, std::move(fields));
    }
    case InfoKind::kCallable: {
      CallableInfo callable = *info->as<CallableInfo>();
      for (Info& param : callable.params) param = substitute(context, param, replacements);
      callable.result = substitute(context, callable.result, replacements);
      return make(context, std::move(callable));
    }
  }
  RELAXC_UNREACHABLE();
}

std::vector<Var> symbols_of(Info info) {
  std::vector<Var> found;
  auto add = [&](Expr e) {
    if (!e) return;
    for (Var var : arith::free_vars(e))
      if (std::find(found.begin(), found.end(), var) == found.end()) found.push_back(var);
  };
  auto add_dims = [&](const std::optional<std::vector<Expr>>& dims) {
    if (!dims) return;
    for (Expr dim : *dims) add(dim);
  };
  if (const auto* prim = info->as<PrimInfo>()) add(prim->value);
  if (const auto* shape = info->as<ShapeInfo>()) add_dims(shape->dims);
  if (const auto* tensor = info->as<TensorInfo>()) add_dims(tensor->shape);
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields)
      for (Var var : symbols_of(field)) add(var);
  if (const auto* callable = info->as<CallableInfo>()) {
    for (Info param : callable->params)
      for (Var var : symbols_of(param)) add(var);
    for (Var var : symbols_of(callable->result)) add(var);
    std::erase_if(found, [&](Var var) {
      return std::find(callable->symbols.begin(), callable->symbols.end(), var) != callable->symbols.end();
    });
  }
  return found;
}

std::string impossible_size(Info info) {
  const auto* tensor = info == nullptr ? nullptr : info->as<TensorInfo>();
  if (tensor == nullptr) return {};
  if (tensor->ndim > kMostRank)
    return "a tensor of " + std::to_string(tensor->ndim) + " dims, of which it has at most " +
           std::to_string(kMostRank);
  const bool large = tensor->shape && tir::beyond_memory(*tensor->shape, tensor->dtype ? tensor->dtype->bytes() : 1);
  return large ? to_string(info) + ", which is larger than any memory" : "";
}

std::string to_string(Info info) {
  if (info == nullptr) return "?";
  switch (info->kind) {
    case InfoKind::kObject:
      return "R.Any";
    case InfoKind::kPrim: {
      const auto& prim = *info->as<PrimInfo>();
      std::string value = prim.value ? "value=" + arith::to_string(prim.value) : "";
      if (prim.dtype.is_index()) return value.empty() ? "R.Prim(\"int64\")" : "R.Prim(" + value + ")";
      return "R.Prim(\"" + to_string(prim.dtype) + (value.empty() ? "\")" : "\", " + value + ")");
    }
    case InfoKind::kShape: {
      const auto& shape = *info->as<ShapeInfo>();
      if (shape.dims) return "R.Shape([" + list(*shape.dims) + "])";
      return shape.ndim < 0 ? "R.Shape" : "R.Shape(ndim=" + std::to_string(shape.ndim) + ")";
    }
    case InfoKind::kTensor:
      return tensor_text(*info->as<TensorInfo>());
    case InfoKind::kTuple:
      return "R.Tuple(" + join(info->as<TupleInfo>()->fields) + ")";
    case InfoKind::kCallable: {
      const auto& callable = *info->as<CallableInfo>();
      return "R.Callable((" + join(callable.params) + (callable.params.size() == 1 ? ",), " : "), ") +
             to_string(callable.result) + (callable.pure ? ", True)" : ", False)");
    }
  }
  RELAXC_UNREACHABLE();
}

}  // namespace relaxc::relax
