// name_dims.cpp: see name_dims.h.
#include "compiler/relax/name_dims.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/arith/walks.h"

namespace relaxc::relax {
namespace {

/// Calls `f` with `inner` and the regions around it, whose values can be used in it, until `f` returns true; returns
/// whether it did.
template <typename F>
bool any_around(const Region* inner, F f) {
  while (inner != nullptr) {
    if (f(*inner)) return true;
    const Op* around = inner->parent_op;
    inner = around != nullptr && around->block != nullptr ? around->block->parent : nullptr;
  }
  return false;
}

class DimNames {
 public:
  explicit DimNames(GraphBuilder& build) : build_(build) {}

  Value* cast(Value* value) {
    const auto* tensor = value == nullptr ? nullptr : value->info->as<TensorInfo>();
    if (tensor == nullptr || !tensor->shape || std::none_of(tensor->shape->begin(), tensor->shape->end(), is_large_dim))
      return value;
    if (Value* known = known_cast(*value)) return known;
    std::vector<Expr> dims = *tensor->shape;
    std::vector<Var> binds = name(dims);
    for (Var var : binds) build_.function().facts.bound(var, arith::Range::at_least(0));
    return add(value, tensor_info(build_.context(), std::move(dims), tensor->dtype), std::move(binds));
  }

  void numbers(std::vector<Expr>& list) {
    Value* shape = build_.shape(list);
    std::vector<Var> binds = name(list);
    add(shape, shape_info(build_.context(), list), std::move(binds));
  }

 private:
  /// Replaces the large ones of `list`; returns the symbols that are new. Equal dims get one symbol, since operators
  /// have to know of them that they are equal.
  std::vector<Var> name(std::vector<Expr>& list) {
    std::vector<Var> made;
    for (Expr& one : list) {
      if (!is_large_dim(one)) continue;
      auto [named, fresh] = names_.try_emplace(one);
      if (fresh) named->second = symbol_of(one);
      if (!named->second) named->second = build_.context().var("d"), made.push_back(named->second);
      one = named->second;
    }
    return made;
  }

  /// Returns the symbol that a cast before gives to `dim`, in this region or one around it; null if none does.
  Var symbol_of(Expr dim) const {
    Var symbol;
    any_around(build_.block()->parent, [&](const Region& region) {
      for (const Block* block : region.blocks)
        for (const Op* op : block->ops)
          if (op->kind == OpKind::kMatchCast && !op->binds.empty() && (symbol = symbol_of(dim, *op))) return true;
      return false;
    });
    return symbol;
  }

  static Var symbol_of(Expr dim, const Op& cast) {
    const Value* from = cast.operand(0);
    if (from == nullptr) return {};
    const std::vector<Expr>*given = dims_of(*from), *named = dims_of(*cast.result());
    if (given == nullptr || named == nullptr) return {};
    for (size_t i = 0; i < given->size() && i < named->size(); ++i)
      if ((*given)[i] == dim)
        if (const auto* var = (*named)[i].as<arith::VarNode>()) return Var(var);
    return {};
  }

  /// Returns the dims of a tensor or the numbers of a shape; null for what has none.
  static const std::vector<Expr>* dims_of(const Value& value) {
    if (const auto* tensor = value.info->as<TensorInfo>()) return tensor->shape ? &*tensor->shape : nullptr;
    const auto* shape = value.info->as<ShapeInfo>();
    return shape != nullptr && shape->dims ? &*shape->dims : nullptr;
  }

  Value* add(Value* value, Info info, std::vector<Var> binds) {
    Op* op = build_.append(OpKind::kMatchCast, {value});
    op->binds = std::move(binds);
    return build_.function().make_result(op, value->name, info);
  }

  /// Returns a cast of `value` that names its large dims and can be used here; null if there is none.
  Value* known_cast(const Value& value) {
    for (const Use& use : value.uses()) {
      const Op& op = *use.user;
      if (op.kind != OpKind::kMatchCast) continue;
      if (!any_around(build_.block()->parent, [&](const Region& region) { return &region == op.block->parent; }))
        continue;
      const auto* tensor = op.result()->info->as<TensorInfo>();
      if (tensor == nullptr || !tensor->shape || tensor->shape->size() != value.shape().size()) continue;
      if (std::any_of(tensor->shape->begin(), tensor->shape->end(), is_large_dim)) continue;
      return op.result();
    }
    return nullptr;
  }

  GraphBuilder& build_;
  std::unordered_map<Expr, Var> names_;
};

}  // namespace

bool is_large_dim(Expr dim) {
  constexpr size_t kLargest = 64;        // distinct operations and operands
  constexpr size_t kNodesOfMinimum = 6;  // weight of a minimum, maximum or select: simplifying one takes two proofs
  size_t nodes = 0;
  if (!dim.dtype().is_index()) return false;
  arith::for_each_reached(dim, [&](Expr node) {
    const bool chooses = node->kind == arith::ExprKind::kMin || node->kind == arith::ExprKind::kMax;
    nodes += chooses || node->kind == arith::ExprKind::kSelect ? kNodesOfMinimum : 1;
    return nodes > kLargest ? std::vector<Expr>{} : arith::operands(node);
  });
  return nodes > kLargest;
}

void name_large_dims(GraphBuilder& build, std::vector<Value*>& values) {
  DimNames names(build);
  for (Value*& value : values) value = names.cast(value);
}

void name_large_numbers(GraphBuilder& build, std::vector<Expr>& numbers) {
  if (std::any_of(numbers.begin(), numbers.end(), is_large_dim)) DimNames(build).numbers(numbers);
}

}  // namespace relaxc::relax
