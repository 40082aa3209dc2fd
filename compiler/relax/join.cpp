// join.cpp: one info for the results of two branches.
#include "compiler/relax/join.h"

#include <algorithm>
#include <unordered_set>

namespace relaxc::relax {
namespace {

class Join {
 public:
  explicit Join(Op& branch) : branch_(branch), function_(*branch.regions[0]->function) {
    for (const Region* side : branch.regions)
      for (const Op* inner : ops_of(*side, true))
        for (Var var : inner->binds) local_.insert(var.node());
  }

  Info info(Info a, Info b) {
    Context& context = function_.context();
    if (const auto* x = a->as<TensorInfo>(), *y = b->as<TensorInfo>(); x && y && x->shape && y->shape)
      return tensor_info(context, dims(*x->shape, *y->shape), x->dtype);
    if (const auto* x = a->as<ShapeInfo>(), *y = b->as<ShapeInfo>(); x && y && x->dims && y->dims)
      return shape_info(context, dims(*x->dims, *y->dims));
    if (const auto* x = a->as<PrimInfo>(), *y = b->as<PrimInfo>(); x && y && x->value && y->value)
      return prim_info(context, x->dtype, dim(x->value, y->value));
    if (const auto* x = a->as<TupleInfo>(), *y = b->as<TupleInfo>(); x && y) {
      std::vector<Info> fields;
      for (size_t i = 0; i < x->fields.size() && i < y->fields.size(); ++i)
        fields.push_back(info(x->fields[i], y->fields[i]));
      return tuple_info(context, std::move(fields));
    }
    return a;
  }

 private:
  Expr dim(Expr a, Expr b) {
    std::vector<Var> vars = arith::free_vars(a);
    bool outside = std::none_of(vars.begin(), vars.end(), [&](Var var) { return local_.count(var.node()) != 0; });
    if (outside && (a == b || arith::prove_equal(a, b, function_.facts))) return a;
    Var var = function_.context().var("d", a.dtype());
    branch_.binds.push_back(var);
    return var;
  }
  std::vector<Expr> dims(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    std::vector<Expr> all;
    for (size_t i = 0; i < a.size() && i < b.size(); ++i) all.push_back(dim(a[i], b[i]));
    return all;
  }

  Op& branch_;
  Function& function_;
  std::unordered_set<const arith::Node*> local_;
};

}  // namespace

Info joined_info(Op& branch, Info a, Info b) {
  return Join(branch).info(a, b);
}

Value* join_results(Op& branch, Value* yes, Value* no) {
  if (yes == no) return yes;
  Info info = joined_info(branch, yes->info, no->info);
  branch.regions[0]->yield->add_operand(yes);
  branch.regions[1]->yield->add_operand(no);
  return branch.regions[0]->function->make_result(&branch, yes->name, info);
}

}  // namespace relaxc::relax
