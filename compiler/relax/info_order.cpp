// info_order.cpp: struct infos as a lattice: equality, order and upper bounds.
//
// `subsumes` is an order and `join` an upper bound in it: tests/unit/relax checks both on random infos. Dims are
// compared by what can be proved of them, so facts make more infos comparable. A function type is contravariant in its
// parameters and covariant in its result; its own symbols are matched by their positions.
#include <algorithm>

#include "compiler/relax/struct_info.h"

namespace relaxc::relax {
namespace {

using Dims = std::optional<std::vector<Expr>>;

bool same_number(Expr a, Expr b, const arith::Facts& facts) {
  if (a == b) return true;
  return a.dtype().is_index() && b.dtype().is_index() && arith::prove_equal(a, b, facts);
}

bool same_dims(const std::vector<Expr>& a, const std::vector<Expr>& b, const arith::Facts& facts = {}) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Expr x, Expr y) { return same_number(x, y, facts); });
}

bool same_optional_dims(const Dims& a, const Dims& b) {
  return a.has_value() == b.has_value() && (!a || same_dims(*a, *b));
}

bool same_fields(const std::vector<Info>& a, const std::vector<Info>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Info x, Info y) { return same(x, y); });
}

/// Returns `callable` with its symbols replaced by the ones that `like` has at the same positions.
CallableInfo renamed(const CallableInfo& callable, const CallableInfo& like) {
  CallableInfo made = callable;
  if (callable.symbols == like.symbols) return made;
  arith::Substitution names;
  for (size_t i = 0; i < callable.symbols.size(); ++i) names[callable.symbols[i]] = like.symbols[i];
  Context& context = callable.symbols[0].context();
  for (Info& param : made.params) param = substitute(context, param, names);
  made.result = substitute(context, made.result, names);
  return made;
}

/// Returns the dims that describe both shapes, or nothing if one shape is unknown, ranks differ or `number` finds none.
Dims join_dims(const Dims& a, const Dims& b, const JoinNumber& number) {
  if (!a || !b || a->size() != b->size()) return std::nullopt;
  std::vector<Expr> joined;
  for (size_t i = 0; i < a->size(); ++i) {
    joined.push_back(number((*a)[i], (*b)[i]));
    if (!joined.back()) return std::nullopt;
  }
  return joined;
}

}  // namespace

bool same(Info a, Info b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind) return false;
  switch (a->kind) {
    case InfoKind::kObject:
      return true;
    case InfoKind::kPrim: {
      const auto &x = *a->as<PrimInfo>(), &y = *b->as<PrimInfo>();
      return x.dtype == y.dtype && (x.value == y.value || (x.value && y.value && same_number(x.value, y.value, {})));
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
    case InfoKind::kCallable: {
      const auto &x = *a->as<CallableInfo>(), &y = *b->as<CallableInfo>();
      if (x.pure != y.pure || x.symbols.size() != y.symbols.size()) return false;
      CallableInfo alike = renamed(y, x);
      return same_fields(x.params, alike.params) && same(x.result, alike.result);
    }
  }
  RELAXC_UNREACHABLE();
}

bool subsumes(Info general, Info specific, const arith::Facts& facts) {
  if (general->kind == InfoKind::kObject) return true;
  if (general->kind != specific->kind) return false;
  auto dims_ok = [&](const auto& g, const auto& s) { return !g || (s && same_dims(*g, *s, facts)); };
  auto fields_ok = [&](const std::vector<Info>& g, const std::vector<Info>& s) {
    auto field_ok = [&](Info x, Info y) { return subsumes(x, y, facts); };
    return std::equal(g.begin(), g.end(), s.begin(), s.end(), field_ok);
  };
  switch (general->kind) {
    case InfoKind::kObject:
      return true;
    case InfoKind::kPrim: {
      const auto &g = *general->as<PrimInfo>(), &s = *specific->as<PrimInfo>();
      return g.dtype == s.dtype && (!g.value || (s.value && same_number(g.value, s.value, facts)));
    }
    case InfoKind::kShape: {
      const auto &g = *general->as<ShapeInfo>(), &s = *specific->as<ShapeInfo>();
      return (g.ndim < 0 || g.ndim == s.ndim) && dims_ok(g.dims, s.dims);
    }
    case InfoKind::kTensor: {
      const auto &g = *general->as<TensorInfo>(), &s = *specific->as<TensorInfo>();
      return (!g.dtype || g.dtype == s.dtype) && (g.ndim < 0 || g.ndim == s.ndim) && dims_ok(g.shape, s.shape);
    }
    case InfoKind::kTuple:
      return fields_ok(general->as<TupleInfo>()->fields, specific->as<TupleInfo>()->fields);
    case InfoKind::kCallable: {
      const auto &g = *general->as<CallableInfo>(), &given = *specific->as<CallableInfo>();
      if ((g.pure && !given.pure) || g.symbols.size() != given.symbols.size()) return false;
      CallableInfo s = renamed(given, g);
      return fields_ok(s.params, g.params) && subsumes(g.result, s.result, facts);
    }
  }
  RELAXC_UNREACHABLE();
}

Info join(Context& context, Info a, Info b, const JoinNumber& given) {
  JoinNumber number = given;
  if (!number) number = [](Expr x, Expr y) { return same_number(x, y, {}) ? x : Expr(); };
  if (a->kind != b->kind) return object_info(context);
  switch (a->kind) {
    case InfoKind::kObject:
      return a;
    case InfoKind::kPrim: {
      const auto &x = *a->as<PrimInfo>(), &y = *b->as<PrimInfo>();
      if (x.dtype != y.dtype) return object_info(context);
      return prim_info(context, x.dtype, x.value && y.value ? number(x.value, y.value) : Expr());
    }
    case InfoKind::kShape: {
      const auto &x = *a->as<ShapeInfo>(), &y = *b->as<ShapeInfo>();
      if (Dims dims = join_dims(x.dims, y.dims, number)) return shape_info(context, *dims);
      return shape_info(context, x.ndim == y.ndim ? x.ndim : -1);
    }
    case InfoKind::kTensor: {
      const auto &x = *a->as<TensorInfo>(), &y = *b->as<TensorInfo>();
      std::optional<DType> dtype = x.dtype == y.dtype ? x.dtype : std::nullopt;
      if (Dims shape = join_dims(x.shape, y.shape, number)) return tensor_info(context, *shape, dtype);
      return tensor_info(context, x.ndim == y.ndim ? x.ndim : -1, dtype);
    }
    case InfoKind::kTuple: {
      const std::vector<Info>&x = a->as<TupleInfo>()->fields, &y = b->as<TupleInfo>()->fields;
      if (x.size() != y.size()) return object_info(context);
      std::vector<Info> fields;
      for (size_t i = 0; i < x.size(); ++i) fields.push_back(join(context, x[i], y[i], number));
      return tuple_info(context, std::move(fields));
    }
    case InfoKind::kCallable:
      return subsumes(a, b) ? a : subsumes(b, a) ? b : object_info(context);
  }
  RELAXC_UNREACHABLE();
}

}  // namespace relaxc::relax
