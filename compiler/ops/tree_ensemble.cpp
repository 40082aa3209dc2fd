// tree_ensemble.cpp: evaluates many decision trees on rows of features.
//
// The trees are tables, not code: a model may have a hundred thousand nodes, and one loop that walks tables fits the
// cache, while a branch for each node does not. Node i is an inner node if branches[i] is two nodes (the successors if
// its condition is false, and if it is true), and a leaf if they are negative. ranges[i] is the range of its leaf's
// weights in `weights`, whose targets are beside them, or, for a node that tests membership, of its values in
// `members`. Subscripts that a valid table does not have are clamped, and no walk is longer than `depth`, so that bad
// tables give bad numbers and nothing else. Weights are summed in the order of the trees.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/indexing.h"

namespace relaxc::ops::tree_ensemble_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"},        {"roots"},  {"features"}, {"modes"},   {"splits"}, {"missing"},
                                    {"branches"}, {"ranges"}, {"members"},  {"targets"}, {"weights"}};
constexpr AttrDef kAttrs[] = {{"targets", AttrType::kInt, true},
                              {"depth", AttrType::kInt, true},
                              {"mode", AttrType::kInt, false, "-1"},
                              {"aggregate", AttrType::kString, false, "sum"}};
enum Operand : size_t {
  kFeatureRows,
  kRoots,
  kFeatures,
  kModes,
  kSplits,
  kMissing,
  kBranches,
  kRanges,
  kMembers,
  kTargets,
  kWeights
};
/// The condition of a node on its feature: a comparison, or membership in a list.
enum Mode : int64_t { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember, kModeCount };

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(kFeatureRows));
  if (x->ndim != 2 || !x->dtype->is_float())
    return c.error(Kind::rank_mismatch, "'tree_ensemble' of {}; it takes rows of float features",
                   to_string(c.op.operand(0)->info));
  for (size_t k : {kRoots, kFeatures, kModes, kMissing, kBranches, kRanges, kTargets}) {
    RELAXC_TRY(const TensorInfo* table, index_tensor(c, k));
    bool pairs = k == kBranches || k == kRanges;
    if (table->ndim != (pairs ? 2 : 1) || (pairs && !(*table->shape)[1].is_constant(2)))
      return c.error(Kind::shape_mismatch, "'{}' of 'tree_ensemble' is {}", c.op.def->operands[k].name,
                     to_string(c.op.operand(k)->info));
  }
  for (size_t k : {kSplits, kMembers, kWeights}) {
    RELAXC_TRY(const TensorInfo* table, c.tensor(k));
    if (table->ndim != 1 || *table->dtype != *x->dtype)
      return c.error(Kind::dtype_mismatch, "'{}' of 'tree_ensemble' is {}; it must be a list of {}",
                     c.op.def->operands[k].name, to_string(c.op.operand(k)->info), to_string(*x->dtype));
  }
  auto extent = [&](size_t k) { return (*c.op.operand(k)->info->as<TensorInfo>()->shape)[0]; };
  for (size_t k : {kModes, kSplits, kMissing, kBranches, kRanges})
    RELAXC_DO(require_equal(c, extent(kFeatures), extent(k), "numbers of nodes"));
  RELAXC_DO(require_equal(c, extent(kTargets), extent(kWeights), "numbers of weights"));
  Expr least = c.context.index(1);
  RELAXC_DO(c.require(arith::le(least, (*x->shape)[1]), kDerivedDim, least, (*x->shape)[1],
                      {Finding::kAtLeast, "the number of features"}, "'tree_ensemble' of rows without features"));
  RELAXC_DO(c.require(arith::le(least, extent(kFeatures)), kDerivedDim, least, extent(kFeatures),
                      {Finding::kAtLeast, "the number of nodes"}, "'tree_ensemble' without nodes"));
  const std::string& aggregate = c.op.attrs.string("aggregate");
  int64_t targets = c.op.attrs.integer("targets"), mode = c.op.attrs.integer("mode");
  if (aggregate != "sum" && aggregate != "min" && aggregate != "max")
    return c.error(Kind::invalid_attribute, "aggregate '{}' is not one of sum, min, max", aggregate);
  if (targets < 1 || c.op.attrs.integer("depth") < 0 || mode < -1 || mode >= kModeCount)
    return c.error(Kind::invalid_attribute, "'tree_ensemble' needs targets >= 1, depth >= 0 and a mode in -1..{}",
                   static_cast<int64_t>(kModeCount) - 1);
  Dims shape{(*x->shape)[0], c.context.index(targets)};
  return std::vector<Info>{tensor_info(c.context, shape, *x->dtype), tensor_info(c.context, shape, DType::boolean())};
}

class Ensemble {
 public:
  explicit Ensemble(DefineContext& d)
      : d_(d), b_(d.builder), x_(d.input(kFeatureRows)), scores_(d.output(0)), seen_(d.output(1)) {
    first_ = b_.index(0);
    node_ = b_.buffer("node", DType::i(64), {b_.index(1)}, tir::Scope::kLocal);
    found_ = b_.buffer("found", DType::boolean(), {b_.index(1)}, tir::Scope::kLocal);
    aggregate_ = d.attrs().string("aggregate");
  }

  Stmt run() {
    Stmt rows = b_.loop("row", x_->shape[0], [&](Var row) {
      Stmt trees = b_.loop("tree", d_.input(kRoots)->shape[0], [&](Var tree) {
        return b_.seq({descend(row, tree), add_leaf(row)});
      });
      return b_.seq({clear(row), trees});
    });
    return b_.alloc(node_, b_.alloc(found_, rows));
  }

 private:
  Expr table(Operand which, Expr at) { return cast(DType::index(), b_.load(d_.input(which), {at})); }
  Expr pair(Operand which, Expr at, Expr second) {
    return cast(DType::index(), b_.load(d_.input(which), {at, second}));
  }
  Expr within(Expr at, Expr extent) { return arith::max(first_, arith::min(at, extent - 1)); }
  Expr here() { return within(cast(DType::index(), b_.load(node_, {first_})), d_.input(kFeatures)->shape[0]); }

  Stmt clear(Var row) {
    return b_.loop("target", scores_->shape[1], [&](Var t) {
      return b_.seq({b_.store(scores_, {row, t}, d_.context().zero(scores_->dtype)),
                     b_.store(seen_, {row, t}, d_.context().boolean(false))});
    });
  }

  /// Descends the tree for `row`, and leaves the index of the leaf in `node_`.
  Stmt descend(Var row, Var tree) {
    Stmt start = b_.store(node_, {first_}, cast(DType::i(64), table(kRoots, tree)));
    Stmt steps = b_.loop("step", b_.index(d_.attrs().integer("depth")), [&](Var) {
      return b_.let("here", here(), [&](Var at) {
        Stmt leave = b_.branch(arith::lt(pair(kBranches, at, b_.index(1)), first_), b_.leave_loop());
        return b_.seq({leave, step(row, at)});
      });
    });
    return b_.seq({start, steps});
  }

  Stmt step(Var row, Var at) {
    Expr feature = within(table(kFeatures, at), x_->shape[1]);
    return b_.let("value", b_.load(x_, {row, feature}), [&](Var value) {
      int64_t mode = d_.attrs().integer("mode");
      Stmt search = mode == -1 || mode == kMember ? find(at, value) : Stmt();
      Expr unknown = call(Intrinsic::k_isnan, value);
      Expr holds =
          arith::logical_or(condition(at, value), arith::logical_and(unknown, arith::ne(table(kMissing, at), first_)));
      Expr next = pair(kBranches, at, select(holds, b_.index(1), first_));
      return b_.seq({search, b_.store(node_, {first_}, cast(DType::i(64), next))});
    });
  }

  /// Sets `found_` to whether `value` is a member of the node's list; only for nodes of mode kMember.
  Stmt find(Var at, Var value) {
    Expr none = d_.context().boolean(false), size = d_.input(kMembers)->shape[0];
    Expr mode = d_.attrs().integer("mode") == kMember ? b_.index(kMember) : table(kModes, at);
    Stmt look = b_.let("begin", arith::max(first_, pair(kRanges, at, first_)), [&](Var begin) {
      Expr end = arith::min(size, pair(kRanges, at, b_.index(1)));
      return b_.loop("member", arith::max(first_, end - begin), [&](Var k) {
        Expr member = b_.load(d_.input(kMembers), {within(begin + k, size)});
        return b_.branch(arith::eq(member, value), b_.store(found_, {first_}, d_.context().boolean(true)));
      });
    });
    return b_.seq({b_.store(found_, {first_}, none), b_.branch(arith::eq(mode, b_.index(kMember)), look)});
  }

  Expr condition(Var at, Var value) {
    Expr split = b_.load(d_.input(kSplits), {at});
    auto holds = [&](int64_t mode) -> Expr {
      switch (mode) {
        case kLessEqual:
          return arith::le(value, split);
        case kLess:
          return arith::lt(value, split);
        case kGreaterEqual:
          return arith::ge(value, split);
        case kGreater:
          return arith::gt(value, split);
        case kEqual:
          return arith::eq(value, split);
        case kNotEqual:
          return arith::ne(value, split);
        default:
          return b_.load(found_, {first_});
      }
    };
    if (int64_t mode = d_.attrs().integer("mode"); mode >= 0) return holds(mode);
    Expr mode = table(kModes, at), result = holds(kMember);
    for (int64_t m = kMember; m-- > 0;) result = select(arith::eq(mode, b_.index(m)), holds(m), result);
    return result;
  }

  Stmt add_leaf(Var row) {
    Expr count = d_.input(kWeights)->shape[0];
    return b_.let("leaf", here(), [&](Var leaf) {
      return b_.let("begin", arith::max(first_, pair(kRanges, leaf, first_)), [&](Var begin) {
        Expr end = arith::min(count, pair(kRanges, leaf, b_.index(1)));
        return b_.loop("k", arith::max(first_, end - begin), [&](Var k) {
          Expr at = within(begin + k, count), target = within(table(kTargets, at), scores_->shape[1]);
          return b_.let("target", target, [&](Var t) { return add(row, t, b_.load(d_.input(kWeights), {at})); });
        });
      });
    });
  }

  Stmt add(Var row, Var target, Expr weight) {
    Expr old_value = b_.load(scores_, {row, target}), seen = b_.load(seen_, {row, target});
    Expr both = aggregate_ == "sum"   ? old_value + weight
                : aggregate_ == "min" ? select(arith::lt(weight, old_value), weight, old_value)
                                      : select(arith::lt(old_value, weight), weight, old_value);
    return b_.seq({b_.store(scores_, {row, target}, select(seen, both, weight)),
                   b_.store(seen_, {row, target}, d_.context().boolean(true))});
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, scores_, seen_, node_, found_;
  Expr first_;
  std::string aggregate_;
};

Stmt define(DefineContext& d) {
  return Ensemble(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "tree_ensemble",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "the leaves' weights of decision trees for rows of features, by target: their sum, minimum or maximum, and "
            "whether there was any; the trees are tables of nodes (tree_ensemble.cpp); mode >= 0: that of all nodes"},
};

}  // namespace
}  // namespace relaxc::ops::tree_ensemble_family

RELAXC_OPERATORS(tree_ensemble, kOps)
