// struct_info.cpp: making, comparing and printing struct info.
#include "compiler/relax/struct_info.h"

#include <algorithm>

namespace relaxc::relax {
namespace {

template <typename T>
Info make(Context& context, T info) {
  return context.arena().make<T>(std::move(info));
}

/// Compares infos; symbols that callables have to themselves are alike if they stand in the same places.
class Comparison {
 public:
  explicit Comparison(const arith::Facts& facts) : facts_(facts) {}

  bool same(Info a, Info b) const;

  bool same_dims(const std::vector<Expr>& a, const std::vector<Expr>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Expr x, Expr y) { return same_dim(x, y); });
  }

 private:
  bool same_dim(Expr a, Expr b) const {
    if (!renamed_.empty()) b = arith::substitute(b, renamed_);
    return a == b || arith::prove_equal(a, b, facts_);
  }
  bool same_optional_dims(const std::optional<std::vector<Expr>>& a, const std::optional<std::vector<Expr>>& b) const {
    return a.has_value() == b.has_value() && (!a || same_dims(*a, *b));
  }
  bool same_fields(const std::vector<Info>& a, const std::vector<Info>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Info x, Info y) { return same(x, y); });
  }
  bool same_callables(const CallableInfo& a, const CallableInfo& b) const {
    if (a.pure != b.pure || a.symbols.size() != b.symbols.size()) return false;
    Comparison inner = *this;
    for (size_t i = 0; i < a.symbols.size(); ++i) inner.renamed_[b.symbols[i]] = a.symbols[i];
    return inner.same_fields(a.params, b.params) && inner.same(a.result, b.result);
  }

  const arith::Facts& facts_;
  arith::Substitution renamed_;  ///< of the second info
};

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

bool Comparison::same(Info a, Info b) const {
  if (a == b && renamed_.empty()) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind) return false;
  switch (a->kind) {
    case InfoKind::kObject:
      return true;
    case InfoKind::kPrim: {
      const auto &x = *a->as<PrimInfo>(), &y = *b->as<PrimInfo>();
      return x.dtype == y.dtype && (x.value == y.value || (x.value && y.value && same_dim(x.value, y.value)));
    }
    case InfoKind::kShape: {
      const auto &x = *a->as<ShapeInfo>(), &y = *b->as<ShapeInfo>();
      return x.ndim == y.ndim && same_optional_dims(x.dims, y.dims);
    }
    case InfoKind::kTensor: {
      const auto &x = *a->as<TensorInfo>(), &y = *b->as<TensorInfo>();
      return x.dtype == y.dtype && x.ndim == y.ndim && same_optional_dims(x.shape, y.shape);
    }
    case InfoKind::kTuple:
      return same_fields(a->as<TupleInfo>()->fields, b->as<TupleInfo>()->fields);
    case InfoKind::kCallable:
      return same_callables(*a->as<CallableInfo>(), *b->as<CallableInfo>());
  }
  RELAXC_UNREACHABLE();
}

bool same(Info a, Info b) {
  const arith::Facts none;
  return Comparison(none).same(a, b);
}

bool subsumes(Info general, Info specific, const arith::Facts& facts) {
  if (general->kind == InfoKind::kObject) return true;
  if (general->kind != specific->kind) return false;
  auto dims_ok = [&](const auto& g, const auto& s) { return !g || (s && Comparison(facts).same_dims(*g, *s)); };
  switch (general->kind) {
    case InfoKind::kObject:
      return true;
    case InfoKind::kPrim: {
      const auto &g = *general->as<PrimInfo>(), &s = *specific->as<PrimInfo>();
      return g.dtype == s.dtype && (!g.value || (s.value && arith::prove_equal(g.value, s.value, facts)));
    }
    case InfoKind::kShape: {
      const auto &g = *general->as<ShapeInfo>(), &s = *specific->as<ShapeInfo>();
      return (g.ndim < 0 || g.ndim == s.ndim) && dims_ok(g.dims, s.dims);
    }
    case InfoKind::kTensor: {
      const auto &g = *general->as<TensorInfo>(), &s = *specific->as<TensorInfo>();
      return (!g.dtype || g.dtype == s.dtype) && (g.ndim < 0 || g.ndim == s.ndim) && dims_ok(g.shape, s.shape);
    }
    case InfoKind::kTuple: {
      const auto &g = general->as<TupleInfo>()->fields, &s = specific->as<TupleInfo>()->fields;
      auto field_ok = [&](Info x, Info y) { return subsumes(x, y, facts); };
      return std::equal(g.begin(), g.end(), s.begin(), s.end(), field_ok);
    }
    case InfoKind::kCallable:
      return same(general, specific);
  }
  RELAXC_UNREACHABLE();
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

std::string to_string(Info info) {
  if (info == nullptr) return "?";
  switch (info->kind) {
    case InfoKind::kObject:
      return "R.Object";
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
