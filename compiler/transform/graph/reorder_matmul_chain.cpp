// reorder_matmul_chain.cpp: orders chains of matrix products so that they multiply least.
//
// (x @ a) @ b and x @ (a @ b) are the same matrix, but with a wide and b narrow the second may be a hundredth of the
// work, and if a and b are constant all of it is done when compiling. Linear attention, low-rank adapters and products
// by vectors are written in arbitrary order.
//
// The method: the textbook's dynamic program over intervals of the chain (Godbole 1973), with multiplications as
// polynomials of the symbols: an order counts as better only if it is proved to be, whatever the sizes. Two products
// that cannot be compared stay as they are written. A product of constants costs nothing if fold_constants will store
// it. Sums are taken in another order, so results round differently.
//
// Rejected: comparing at some assumed size (it would make programs slow at the others), and choosing at run time (both
// orders would have to be kept).
#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/relax/known.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr size_t kMostFactors = 16;

bool is_product(const Op* op) {
  return op != nullptr && op->is("matmul") && op->operand(0)->shape().size() >= 2 &&
         op->operand(1)->shape().size() >= 2 && op->operand(0)->dtype() == op->result()->dtype() &&
         op->operand(1)->dtype() == op->result()->dtype();
}

/// Chooses an order for the chain of products whose last one is `root`.
class MatmulChain {
 public:
  MatmulChain(Op& root, GraphBuilder& builder, const arith::Facts& facts, int64_t most_stored)
      : root_(root), builder_(builder), facts_(facts), most_stored_(most_stored) {}

  /// Returns the ops that were read, the root first; they are part of no other chain.
  const std::vector<const Op*>& ops() const { return ops_; }

  /// Returns the same matrix by fewer multiplications; null if no order is known to need fewer.
  Value* better() {
    size_t count = flatten(root_);
    if (count < 3 || count > kMostFactors) return nullptr;
    for (size_t first = 0; first < count; ++first) best_[{first, first}] = {builder_.context().index(0), first, true};
    for (size_t length = 2; length <= count; ++length)
      for (size_t first = 0; first + length <= count; ++first)
        if (!choose(first, first + length - 1)) return nullptr;
    const Plan& whole = best_.at({0, count - 1});
    if (!is_less(whole.cost, written_cost(0, count - 1))) return nullptr;
    if (root_.result()->dtype().is_float()) mark_rounding(builder_.function());
    return build(0, count - 1);
  }

 private:
  using Interval = std::pair<size_t, size_t>;  ///< indices of the first factor and of the last
  struct Plan {
    Expr cost;
    size_t split = 0;  ///< index of the last factor of the left part
    bool constant = false;
  };

  /// Appends the factors of `op` and records the order in which they are multiplied; returns the number of factors.
  /// kMostFactors limits the recursion.
  size_t flatten(const Op& op) {
    ops_.push_back(&op);
    size_t first = factors_.size();
    take(*op.operand(0));
    size_t split = factors_.size() - 1;
    take(*op.operand(1));
    written_[{first, factors_.size() - 1}] = split;
    return factors_.size();
  }

  void take(Value& value) {
    bool inside = is_product(value.op) && value.has_one_use() && value.op->block == root_.block &&
                  value.op->attrs == root_.attrs && value.dtype() == root_.result()->dtype() &&
                  ops_.size() < kMostFactors;
    if (inside)
      flatten(*value.op);
    else
      factors_.push_back(&value);
  }

  /// Returns whether a is never more than b and not always equal: without rows, nothing costs anything.
  bool is_less(Expr a, Expr b) const { return arith::prove_le(a, b, facts_) && !arith::prove_le(b, a, facts_); }

  Expr rows(size_t factor) const { return factors_[factor]->shape().end()[-2]; }
  Expr columns(size_t factor) const { return factors_[factor]->shape().back(); }

  /// Returns the number of matrices in the product of `first` to `last`; nothing if batches are not known to broadcast.
  std::optional<Expr> batch(size_t first, size_t last) const {
    std::vector<Expr> dims;  // the last dim first
    for (size_t i = first; i <= last; ++i) {
      const auto& shape = factors_[i]->shape();
      for (size_t k = 0; k + 2 < shape.size(); ++k) {
        Expr dim = shape[shape.size() - 3 - k];
        if (k == dims.size()) dims.push_back(dim);
        if (dims[k].is_constant(1)) dims[k] = dim;
        if (!dim.is_constant(1) && !arith::prove_equal(dim, dims[k], facts_)) return std::nullopt;
      }
    }
    Expr count = builder_.context().index(1);
    for (Expr dim : dims) count = count * dim;
    return count;
  }

  /// Returns the multiplications of the last product of an interval; nothing if batches are not known to broadcast.
  std::optional<Expr> multiplications(size_t first, size_t split, size_t last) const {
    std::optional<Expr> count = batch(first, last);
    if (!count) return std::nullopt;
    return *count * rows(first) * columns(split) * columns(last);
  }

  /// Returns whether the product of an interval is computed at compile time.
  bool is_constant(size_t first, size_t last) const {
    if (!std::all_of(factors_.begin() + static_cast<std::ptrdiff_t>(first),
                     factors_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                     [](const Value* factor) { return constant_of(factor) != nullptr; }))
      return false;
    std::optional<Expr> count = batch(first, last);
    if (!count) return false;
    Expr bytes = *count * rows(first) * columns(last) * factors_[first]->dtype().bytes();
    return bytes.constant() != nullptr && *bytes.constant() <= most_stored_;
  }

  /// Chooses the order of an interval: as written unless another is proved better. Returns false if costs are unknown.
  bool choose(size_t first, size_t last) {
    auto as_written = written_.find({first, last});
    size_t start = as_written == written_.end() ? first : as_written->second;
    Plan best;
    bool constant = is_constant(first, last);
    for (size_t i = 0; i < last - first; ++i) {
      size_t split = first + (start - first + i) % (last - first);
      std::optional<Expr> own = multiplications(first, split, last);
      if (!own) return false;
      Expr cost = best_.at({first, split}).cost + best_.at({split + 1, last}).cost + *own;
      if (constant) cost = builder_.context().index(0);
      if (!best.cost || is_less(cost, best.cost)) best = {cost, split, constant};
    }
    best_[{first, last}] = best;
    return true;
  }

  Expr written_cost(size_t first, size_t last) const {
    if (first == last || best_.at({first, last}).constant) return builder_.context().index(0);
    size_t split = written_.at({first, last});
    return written_cost(first, split) + written_cost(split + 1, last) + *multiplications(first, split, last);
  }

  Value* build(size_t first, size_t last) {
    if (first == last) return factors_[first];
    size_t split = best_.at({first, last}).split;
    Value *left = build(first, split), *right = build(split + 1, last);
    Result<Value*> made = builder_.call("matmul", {left, right}, root_.attrs);
    RELAXC_CHECK(static_cast<bool>(made), "a chain of products in another order is ill-typed");
    (*made)->op->origins = origins();
    return *made;
  }

  std::vector<Location> origins() const {
    std::vector<Location> all;
    for (const Op* op : ops_)
      if (op->location != nullptr && std::find(all.begin(), all.end(), op->location) == all.end())
        all.push_back(op->location);
    return all;
  }

  Op& root_;
  GraphBuilder& builder_;
  const arith::Facts& facts_;
  const int64_t most_stored_;
  std::vector<Value*> factors_;
  std::vector<const Op*> ops_;
  std::map<Interval, size_t> written_;
  std::map<Interval, Plan> best_;
};

}  // namespace

Result<Changed> reorder_matmul_chain(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    std::vector<Op*> ops = ops_of(function->body(), true);
    std::unordered_set<const Op*> read;  // looked up only
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      if ((*op)->kind != OpKind::kOperator || read.count(*op) != 0 || !is_product(*op)) continue;
      GraphBuilder builder(module, context.ops, *op, context.diag);
      builder.location = (*op)->location;
      arith::Facts room;
      MatmulChain chain(**op, builder, known_facts(*(*op)->block->parent, *op, room), context.option(kFoldLarge));
      Value* better = chain.better();
      read.insert(chain.ops().begin(), chain.ops().end());
      if (better == nullptr) continue;
      if (better->name.empty()) better->name = (*op)->result()->name;
      (*op)->result()->replace_all_uses_with(better);
      changed = Changed::kYes;
    }
  }
  return changed;
}

}  // namespace relaxc
