// fuse_horizontal_matmuls.cpp: merges products of one tensor by several weights into one product.
//
// Queries, keys and values, and the branches of an inception, read the same data. One product by all their weights
// reads it once, fills tiles that each product alone leaves half empty, and is one parallel loop instead of several.
//
//   x @ w0, x @ w1, …        ->  x @ [w0 | w1 | …]   where x is one row: the products are one behind the other
//                            ->  x @ stack(w0, w1, …)  for rows in any number, if all weights have one shape
//   conv(x, w0), conv(x, w1) ->  conv(x, [w0; w1])   where x is one image
//
// Equal ops after every product (a bias, an activation) are merged too. The results are then slices that are read in
// place. Nothing is merged if a slice would have to be copied (rows of different lengths side by side, results that the
// function returns), or if a different op after one product would lose that product as the kernel whose epilogue it
// could be. Sums keep their order, so results keep their bits.
//
// Merged weights are made while compiling; `fuse_horizontal_matmuls.budget` bounds them, since large products gain
// nothing. Rejected: products whose weights are not constant (they would have to be copied side by side in every run).
#include <algorithm>
#include <map>

#include "compiler/transform/graph/moves/transpose_sinking.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// A product, and the result of the last operation after it that is merged with it.
struct Branch {
  Op* product = nullptr;
  Value* end = nullptr;

  Value& weight() const { return *product->operand(1); }
  int64_t channels() const {
    const auto& shape = weight().shape();
    return *(product->is("matmul") ? shape.back() : shape[0]).constant();
  }
};

/// An operation that follows every product: the op after the first product, the index of its operand that is the
/// product, and the other operands, one per product, if there are two.
struct Follower {
  Op* op = nullptr;
  size_t side = 0;
  std::vector<Value*> constants = {};
};

bool is_product(const Op& op) {
  if (!op.is("matmul") && !op.is("nn.conv")) return false;
  const Value &x = *op.operand(0), &weight = *op.operand(1);
  if (constant_of(&weight) == nullptr || !x.dtype().is_float()) return false;
  if (op.is("matmul")) return weight.shape().size() == 2 && x.shape().size() >= 2;
  return op.attrs.integer("groups") == 1 && x.shape()[0].is_constant(1);
}

/// Returns whether the two may be one product once their weights are joined.
bool alike(const Op& a, const Op& b) {
  if (a.def != b.def || !(a.attrs == b.attrs)) return false;
  const auto &p = a.operand(1)->shape(), &q = b.operand(1)->shape();
  if (p.size() != q.size() || a.operand(1)->dtype() != b.operand(1)->dtype()) return false;
  size_t channels = a.is("matmul") ? 1 : 0;
  for (size_t i = 0; i < p.size(); ++i)
    if (i != channels && p[i] != q[i]) return false;
  return true;
}

/// Merges products of one tensor in one block, which are given in order.
class ProductMerging {
 public:
  ProductMerging(Module& module, PassContext& context, std::vector<Branch> branches)
      : module_(module),
        context_(context),
        branches_(std::move(branches)),
        first_(*branches_[0].product),
        builder_(module, context.ops, &first_, context.diag) {
    builder_.location = first_.location;
  }

  Changed run() {
    Expr rows = rows_of_data();
    matmul_ = first_.is("matmul");
    stacked_ = matmul_ && !rows.is_constant(1);
    if (stacked_ && !same_channels()) return Changed::kNo;
    if (merged_bytes() > context_.option(kFuseHorizontalMatmulsBudget)) return Changed::kNo;
    while (extend()) {
    }
    if (!pays()) return Changed::kNo;
    build(rows);
    return Changed::kYes;
  }

 private:
  Expr rows_of_data() const {
    Expr rows = module_.context().index(1);
    const auto& shape = first_.operand(0)->shape();
    if (!first_.is("matmul")) return rows;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows = rows * shape[i];
    return rows;
  }

  bool same_channels() const {
    return std::all_of(branches_.begin(), branches_.end(),
                       [&](const Branch& b) { return b.channels() == branches_[0].channels(); });
  }

  int64_t merged_bytes() const {
    int64_t bytes = 0;
    for (const Branch& branch : branches_) bytes += constant_of(&branch.weight())->byte_size();
    return bytes;
  }

  /// Adds the next operation if it is the same after every product.
  bool extend() {
    Follower next;
    for (const Branch& branch : branches_) {
      if (!branch.end->has_one_use()) return false;
      const Use& use = branch.end->uses()[0];
      if (next.op == nullptr) next.op = use.user, next.side = use.index;
      if (use.index != next.side || !follows(*use.user, *next.op, *branch.end)) return false;
      if (use.user->operands().size() == 2) next.constants.push_back(use.user->operand(1 - use.index));
    }
    for (Branch& branch : branches_) branch.end = branch.end->uses()[0].user->result();
    followers_.push_back(std::move(next));
    return true;
  }

  /// Returns whether `op` is the element-wise operator `like`, of `data` and possibly of a constant along its channels.
  bool follows(const Op& op, const Op& like, const Value& data) const {
    if (op.is_yield || op.block != first_.block || op.def != like.def || !(op.attrs == like.attrs)) return false;
    if (!keeps_elements(op, data) || op.result()->dtype() != data.dtype() || !op.requirements.empty()) return false;
    if (op.operands().size() == 1) return true;
    return op.operands().size() == 2 && is_along_channels(op.operand(op.operand(0) == &data ? 1 : 0), data);
  }

  /// Returns whether the operator gives one element for each of `data`, at the same place.
  bool keeps_elements(const Op& op, const Value& data) const {
    if (!is_elementwise(module_.context(), op)) return false;
    for (const Value* operand : op.operands())
      if (operand == nullptr || operand->info->as<TensorInfo>() == nullptr) return false;
    return op.result()->shape() == data.shape();
  }

  size_t channel_axis(const Value& data) const { return matmul_ ? data.shape().size() - 1 : 1; }

  /// Returns whether `constant` has one element for each channel of `data`, and no others.
  bool is_along_channels(const Value* constant, const Value& data) const {
    if (constant_of(constant) == nullptr) return false;
    size_t rank = data.shape().size(), own = constant->shape().size(), axis = channel_axis(data);
    if (own > rank || own < rank - axis) return false;
    for (size_t i = 0; i < own; ++i) {
      size_t at = i + rank - own;
      if (at == axis ? constant->shape()[i] != data.shape()[axis] : !constant->shape()[i].is_constant(1)) return false;
    }
    return true;
  }

  /// Returns whether every result can be read as a slice, and none would have been an epilogue of its product.
  bool pays() const {
    for (const Branch& branch : branches_)
      for (const Use& use : branch.end->uses()) {
        bool copied = use.user->is_yield || use.user->is("concat");
        bool epilogue = branch.end->has_one_use() && keeps_elements(*use.user, *branch.end);
        if (copied || epilogue) return false;
      }
    return true;
  }

  Value* must(Result<Value*> made) const {
    RELAXC_CHECK(static_cast<bool>(made), "merged products are ill-typed");
    return *made;
  }
  Value* call(OpName name, std::vector<Value*> operands, Attrs attrs = {}) {
    return must(builder_.call(name, std::move(operands), std::move(attrs)));
  }
  Value* reshape(Value* value, std::vector<Expr> shape) {
    return call("reshape", {value, builder_.shape(std::move(shape))});
  }
  Expr number(int64_t value) const { return module_.context().index(value); }

  void build(Expr rows) {
    std::vector<Value*> weights;
    for (const Branch& branch : branches_) weights.push_back(builder_.constant(branch.weight().op->constant));
    Value* x = first_.operand(0);
    if (matmul_) x = reshape(x, {rows, x->shape().back()});
    Value* y = call(first_.def->name, {x, joined_weights(weights)}, first_.attrs);
    for (const Follower& follower : followers_) {
      std::vector<Value*> operands{y};
      if (!follower.constants.empty())
        operands.insert(operands.begin() + (follower.side == 0), joined_constants(follower.constants));
      y = call(follower.op->def->name, operands, follower.op->attrs);
    }
    int64_t at = 0;
    for (const Branch& branch : branches_) {
      int64_t extent = stacked_ ? 1 : branch.channels();
      int64_t axis = stacked_ ? 0 : 1;
      Value *begin = builder_.shape({number(at)}), *count = builder_.shape({number(extent)});
      Value* part = call("slice_part", {y, begin, count}, {{"axis", axis}});
      at += extent;
      Value* result = matmul_ ? reshape(part, branch.end->shape()) : part;
      result->name = branch.end->name;
      branch.end->replace_all_uses_with(result);
    }
  }

  Value* joined_weights(std::vector<Value*> weights) {
    if (!stacked_) return call("concat", weights, {{"axis", int64_t{matmul_ ? 1 : 0}}});
    for (Value*& weight : weights) weight = reshape(weight, {number(1), weight->shape()[0], weight->shape()[1]});
    return call("concat", weights, {{"axis", int64_t{0}}});
  }

  /// Joins constants of one element per channel into one that broadcasts with the merged product.
  Value* joined_constants(const std::vector<Value*>& constants) {
    std::vector<Value*> parts;
    size_t rank = branches_[0].end->shape().size();
    for (Value* constant : constants) {
      Expr count = number(constant_of(constant)->elements());
      std::vector<Expr> shape{number(1), count};
      if (stacked_) shape = {number(1), number(1), count};
      if (!matmul_) shape.resize(rank, number(1));
      parts.push_back(reshape(builder_.constant(constant->op->constant), shape));
    }
    return call("concat", parts, {{"axis", int64_t{stacked_ ? 0 : 1}}});
  }

  Module& module_;
  PassContext& context_;
  std::vector<Branch> branches_;
  Op& first_;
  GraphBuilder builder_;
  bool matmul_ = false, stacked_ = false;
  std::vector<Follower> followers_;
};

/// Returns the groups of two or more products in a block that read one tensor and are alike.
std::vector<std::vector<Branch>> candidates(const Block& block) {
  std::map<const Value*, std::vector<std::vector<Branch>>> by_data;  // looked up only
  std::vector<const Value*> order;
  for (Op* op : block.ops) {
    if (op->kind != OpKind::kOperator || !is_product(*op)) continue;
    auto [found, fresh] = by_data.emplace(op->operand(0), std::vector<std::vector<Branch>>{});
    if (fresh) order.push_back(op->operand(0));
    auto fits = [&](const std::vector<Branch>& group) { return alike(*group[0].product, *op); };
    auto group = std::find_if(found->second.begin(), found->second.end(), fits);
    if (group == found->second.end()) group = found->second.insert(found->second.end(), std::vector<Branch>{});
    group->push_back({op, op->result()});
  }
  std::vector<std::vector<Branch>> several;
  for (const Value* data : order)
    for (std::vector<Branch>& group : by_data.at(data))
      if (group.size() > 1) several.push_back(std::move(group));
  return several;
}

}  // namespace

Result<Changed> fuse_horizontal_matmuls(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) {
    std::vector<Region*> regions{&function->body()};
    while (!regions.empty()) {
      Region* region = regions.back();
      regions.pop_back();
      for (Block* block : region->blocks) {
        for (Op* op : block->ops) regions.insert(regions.end(), op->regions.begin(), op->regions.end());
        for (std::vector<Branch>& group : candidates(*block))
          changed |= ProductMerging(module, context, std::move(group)).run();
      }
    }
  }
  return changed;
}

}  // namespace relaxc
