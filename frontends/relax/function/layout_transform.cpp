// layout_transform.cpp: reads R.layout_transform(x, index_map=T.index_map(lambda i, j: (j, i))).
//
// The map gives the position of each element of x in the result: it becomes a prim func of the module that stores
// through it. The map's values determine the result's extents; elements that x does not fill have the padding value.
#include "frontends/relax/function/calls.h"
#include "frontends/relax/function/expressions.h"
#include "frontends/relax/function/special_forms.h"
#include "frontends/relax/function/values.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using relax::Value;

namespace {

/// Reads scalar expressions over the parameters of the map.
class MapReader : public ScalarReader {
 public:
  MapReader(FunctionParts& fn, const ast::Expr& lambda, const tir::Indices& at)
      : ScalarReader(fn.context(), fn.source) {
    for (size_t i = 0; i < at.size(); ++i) parts_[lambda.items[i]->text] = at[i];
  }

 private:
  Result<Scalar> name(const ast::Expr& e) override {
    if (auto known = parts_.find(e.text); known != parts_.end()) return Scalar{known->second};
    return source_.error(e.place, Kind::unbound_name, "the name '{}' is not a parameter of the map", e.text);
  }
  Result<Scalar> with_parts(const std::function<Result<Scalar>()>& read_parts) override { return read_parts(); }
  void name_part(const std::string& part, const Scalar& scalar, Place) override { parts_[part] = scalar.expr; }

  std::map<std::string, arith::Expr> parts_;
};

/// Returns 1 + the maximum of `e` if each variable runs from 0 to below its extent; a null Expr if it is unknown.
arith::Expr extent_of(arith::Expr e, const std::vector<arith::Var>& vars, const std::vector<arith::Expr>& extents) {
  arith::Expr one = e.context().index(1);
  const arith::Expr* dividend = &e;
  const arith::Expr* divisor = nullptr;
  bool remainder = e->kind == arith::ExprKind::kFloorMod;
  std::vector<arith::Expr> sides = arith::operands(e);
  if ((remainder || e->kind == arith::ExprKind::kFloorDiv) && sides[1].constant() != nullptr)
    dividend = &sides[0], divisor = &sides[1];
  for (size_t i = 0; i < vars.size(); ++i) {
    if (*dividend != arith::Expr(vars[i])) continue;
    if (divisor == nullptr) return extents[i];
    if (!remainder) return arith::simplify(arith::ceildiv(extents[i], *divisor->constant()));
    bool small = extents[i].constant() != nullptr && *extents[i].constant() < *divisor->constant();
    return small ? extents[i] : *divisor;
  }
  arith::Facts facts;
  for (size_t i = 0; i < vars.size(); ++i) {
    const int64_t* extent = extents[i].constant();
    if (extent == nullptr) return e.constant() != nullptr ? arith::simplify(e + one) : arith::Expr();
    facts.bound(vars[i], {0, std::max<int64_t>(*extent - 1, 0)});
  }
  arith::Range range = arith::bounds(e, facts);
  return range.has_upper() && range.lower >= 0 ? e.context().index(range.upper + 1) : arith::Expr();
}

class Transform {
 public:
  Transform(FunctionParts& fn, const ast::Expr& call, const ast::Expr& lambda, Value* x)
      : fn_(fn), call_(call), lambda_(lambda), x_(x), b_(fn.context()) {}

  Result<Term> run(const ast::Expr* pad) {
    const auto& dims = x_->shape();
    if (lambda_.items.size() != dims.size() + 1)
      return fn_.source.error(lambda_.place, Kind::rank_mismatch, "a map of {} subscripts for {}",
                              lambda_.items.size() - 1, relax::to_string(x_->info));
    arith::Substitution symbols;
    std::vector<arith::Expr> own;
    for (size_t i = 0; i < dims.size(); ++i) {
      own.push_back(dims[i].constant() != nullptr ? dims[i] : fn_.context().var("d" + std::to_string(i)));
      if (dims[i].constant() == nullptr) symbols[own.back()] = dims[i];
      vars_.push_back(fn_.context().var(lambda_.items[i]->text));
    }
    RELAXC_DO(read_map());
    std::vector<arith::Expr> shape, given;
    for (arith::Expr e : map_) {
      arith::Expr extent = extent_of(e, vars_, own);
      if (!extent)
        return fn_.source.error(lambda_.items.back()->place, Kind::shape_mismatch,
                                "the extent of {} is not known when compiling", arith::to_string(e));
      shape.push_back(extent);
      given.push_back(arith::simplify(arith::substitute(extent, symbols)));
    }
    RELAXC_TRY(std::string name, define(own, shape, pad));
    return results_of(fn_.graph.at(call_.place)
                          .call_tir(name, {x_}, {relax::tensor_info(fn_.context(), std::move(given), x_->dtype())}));
  }

 private:
  Status read_map() {
    MapReader reader(fn_, lambda_, {vars_.begin(), vars_.end()});
    const ast::Expr& body = *lambda_.items.back();
    std::vector<const ast::Expr*> values = body.is_sequence() ? body.items : std::vector<const ast::Expr*>{&body};
    for (const ast::Expr* value : values) {
      RELAXC_TRY(arith::Expr e, reader.index(*value));
      map_.push_back(e);
    }
    return Done{};
  }

  /// Adds the prim func to the module, and returns its unique name.
  Result<std::string> define(const std::vector<arith::Expr>& dims, const std::vector<arith::Expr>& shape,
                             const ast::Expr* pad) {
    tir::PrimFunc made;
    made.name = fn_.scope.module.unique_name("layout_transform");
    made.location = fn_.source.at(call_.place);
    made.origins = {made.location};
    tir::BufferRef from = b_.buffer("x", x_->dtype(), dims), to = b_.buffer("y", x_->dtype(), shape);
    made.params = {{from, {}}, {to, {}}};
    tir::Stmt body = b_.store(to, map_, b_.load(from, {vars_.begin(), vars_.end()}));
    for (size_t i = vars_.size(); i-- > 0;) body = b_.loop(vars_[i], b_.index(0), dims[i], body);
    const arith::Expr wanted = elements(shape);
    if (!arith::prove_equal(elements(dims), wanted)) {
      RELAXC_TRY(arith::Expr rest, padding(pad));
      body = b_.seq({b_.nest(shape, [&](const tir::Indices& i) { return b_.store(to, i, rest); }), body});
    }
    made.body = body;
    tir::collect_symbols(made);
    std::string name = made.name;
    fn_.scope.module.add_prim_func(std::move(made));
    return name;
  }

  arith::Expr elements(const std::vector<arith::Expr>& dims) const {
    arith::Expr count = fn_.context().index(1);
    for (arith::Expr dim : dims) count = count * dim;
    return arith::simplify(count);
  }

  Result<arith::Expr> padding(const ast::Expr* pad) {
    if (is_none(pad)) return fn_.context().number(x_->dtype(), 0);
    const ast::Expr* number = pad;
    bool value =
        pad->is(AstKind::kCall) && pad->items.size() == 2 && fn_.names.path_of(*pad->items[0]) == "R.prim_value";
    if (value) number = pad->items[1];
    return fn_.dims.value(*number, x_->dtype());
  }

  FunctionParts& fn_;
  const ast::Expr &call_, &lambda_;
  Value* x_;
  tir::Builder b_;
  std::vector<arith::Var> vars_;
  tir::Indices map_;
};

}  // namespace

Result<Term> layout_transform(FunctionParts& fn, const ast::Expr& e) {
  RELAXC_DO(check_keywords(fn, e, {"x", "index_map", "pad_value", "axis_separators", "input_axis_separators"}));
  const ast::Expr *data = argument(e, 1, {"x"}), *map = argument(e, 2, {"index_map"});
  if (data == nullptr || map == nullptr)
    return fn.source.error(e.place, Kind::wrong_arity, "R.layout_transform takes a tensor and an index_map");
  const ast::Expr* lambda = map->is(AstKind::kCall) && map->items.size() >= 2 ? map->items[1] : map;
  if (!lambda->is(AstKind::kLambda))
    return fn.source.error(map->place, Kind::ill_formed, "expected T.index_map(lambda i, j: (j, i))");
  Value* x = operand_value(fn, *data);
  if (x == nullptr) return fn.diag().failed();
  const auto* tensor = x->info->as<relax::TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype)
    return fn.source.error(data->place, Kind::shape_mismatch, "expected a tensor of known dims, found {}",
                           relax::to_string(x->info));
  return Transform(fn, e, *lambda, x).run(argument(e, 3, {"pad_value"}));
}

}  // namespace relaxc::frontend
