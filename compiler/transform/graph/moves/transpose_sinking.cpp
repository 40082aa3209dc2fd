// transpose_sinking.cpp: moves permutations of dims towards the results.
//
// A kernel that wants its channels last gets them by a permutation before and one after. Most ops after it work in any
// order of dims, and the next such kernel permutes back; so the permutation after one kernel moves down until it meets
// the one before the next, where canonicalize removes both.
//
// An operator with several operands moves if all of them are permuted alike or small: one number, or a list along one
// dim, whose permutation is a view.
#include "compiler/transform/graph/moves/transpose_sinking.h"

#include <algorithm>
#include <deque>

#include "compiler/analysis/pattern.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {
namespace {

using namespace relax;

using Axes = std::vector<int64_t>;

class Sinking {
 public:
  Sinking(Module& module, const OpTable& ops, Diagnostics& diag) : module_(module), ops_(ops), diag_(diag) {}

  Status run(std::vector<Op*> seeds) {
    waiting_.assign(seeds.begin(), seeds.end());
    while (!waiting_.empty()) {
      Op* permute = waiting_.front();
      waiting_.pop_front();
      const std::vector<Use> uses = permute->result()->uses();
      for (const Use& use : uses) {
        bool still = use.user->operand(use.index) == permute->result();
        if (still && !use.user->is_yield && use.user->block != nullptr) RELAXC_DO(pass(*permute, *use.user));
      }
    }
    return Done{};
  }

 private:
  static Axes axes_of(const Op& permute) { return permute.attrs.ints("axes"); }

  /// Lets `user` read the input of `permute`, and permutes the result of `user` instead.
  Status pass(const Op& permute, Op& user) {
    if (user.kind != OpKind::kOperator || user.results.size() != 1 || user.result()->unused()) return Done{};
    GraphBuilder b(module_, ops_, &user, diag_);
    b.location = user.location;
    OpName name = user.def->name;
    if (name == "quantize" || name == "dequantize") return quantization(b, permute, user);
    if (name == "sum" || name == "max" || name == "min") return reduction(b, permute, user);
    if (name == "nn.max_pool") return max_pool(b, permute, user);
    if (name == "concat") return concat(b, permute, user);
    return is_elementwise(b.context(), user) ? elementwise(b, permute, user) : Done{};
  }

  Status replace(GraphBuilder& b, Op& user, Value* made, Axes axes) {
    RELAXC_TRY(Value * y, b.call("permute_dims", {made}, {{"axes", std::move(axes)}}, user.result()->name));
    user.result()->replace_all_uses_with(y);
    waiting_.push_back(y->op);
    return Done{};
  }

  /// Returns the operand in the order of dims before the permutation `axes`; null if that would take a copy.
  Result<Value*> unpermuted(GraphBuilder& b, Value* operand, const Axes& axes) {
    if (operand->info->as<TensorInfo>() == nullptr) return nullptr;
    const auto& shape = operand->shape();
    if (shape.empty()) return operand;
    if (operand->op != nullptr && operand->op->is("permute_dims") && axes_of(*operand->op) == axes)
      return operand->op->operand(0);
    size_t rank = axes.size(), first = rank - std::min(rank, shape.size()), wide = 0;
    if (shape.size() > rank) return nullptr;
    std::vector<Expr> dims(rank, b.context().index(1));
    for (size_t i = first; i < rank; ++i) {
      dims[static_cast<size_t>(axes[i])] = shape[i - first];
      wide += shape[i - first].is_constant(1) ? 0 : 1;
    }
    if (wide > 1) return nullptr;
    return b.call("reshape", {operand, b.shape(dims)});
  }

  Status elementwise(GraphBuilder& b, const Op& permute, Op& user) {
    Axes axes = axes_of(permute);
    if (user.result()->shape().size() != axes.size()) return Done{};
    std::vector<Value*> operands;
    for (Value* operand : user.operands()) {
      RELAXC_TRY(Value * before, unpermuted(b, operand, axes));
      if (before == nullptr) return Done{};
      operands.push_back(before);
    }
    RELAXC_TRY(Value * made, b.call(user.def->name, operands, user.attrs));
    return replace(b, user, made, axes);
  }

  Status quantization(GraphBuilder& b, const Op& permute, Op& user) {
    if (user.operand(0) != permute.result()) return Done{};
    Axes axes = axes_of(permute);
    Attrs attrs = user.attrs;
    int64_t axis = attrs.integer("axis"), rank = static_cast<int64_t>(axes.size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) axis = 0;  // the axis is unused if one number scales all
    attrs.set("axis", axes[static_cast<size_t>(axis)]);
    std::vector<Value*> operands = user.operands();
    operands[0] = permute.operand(0);
    RELAXC_TRY(Value * made, b.call(user.def->name, operands, attrs));
    return replace(b, user, made, axes);
  }

  Status reduction(GraphBuilder& b, const Op& permute, Op& user) {
    Axes axes = axes_of(permute), reduced, rest;
    int64_t rank = static_cast<int64_t>(axes.size());
    std::vector<bool> gone(axes.size(), user.attrs.ints("axis").empty());
    for (int64_t axis : user.attrs.ints("axis")) gone[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
    for (size_t i = 0; i < axes.size(); ++i) (gone[i] ? reduced : rest).push_back(axes[i]);
    bool reordered = !std::is_sorted(reduced.begin(), reduced.end());
    if (reordered && user.is("sum") && user.result()->dtype().is_float()) mark_rounding(b.function());
    std::sort(reduced.begin(), reduced.end());
    Attrs attrs = user.attrs;
    attrs.set("axis", reduced);
    RELAXC_TRY(Value * made, b.call(user.def->name, {permute.operand(0)}, attrs));
    if (attrs.flag("keepdims")) return replace(b, user, made, axes);
    // The dims that are left keep the order that the permutation gave them.
    Axes order = rest;
    std::sort(order.begin(), order.end());
    Axes kept;
    for (int64_t axis : rest) kept.push_back(std::find(order.begin(), order.end(), axis) - order.begin());
    if (!std::is_sorted(kept.begin(), kept.end())) return replace(b, user, made, kept);
    user.result()->replace_all_uses_with(made);
    return Done{};
  }

  Status concat(GraphBuilder& b, const Op& permute, Op& user) {
    Axes axes = axes_of(permute);
    std::vector<Value*> operands;
    for (Value* operand : user.operands()) {
      bool alike = operand->op != nullptr && operand->op->is("permute_dims") && axes_of(*operand->op) == axes;
      if (!alike) return Done{};
      operands.push_back(operand->op->operand(0));
    }
    int64_t axis = user.attrs.integer("axis"), rank = static_cast<int64_t>(axes.size());
    RELAXC_TRY(Value * made,
               b.call("concat", operands, {{"axis", axes[static_cast<size_t>(axis < 0 ? axis + rank : axis)]}}));
    return replace(b, user, made, axes);
  }

  /// Pools expect channels second. With channels last, the maximum over a small window of bytes is an element-wise
  /// maximum of slices of the whole tensor, so that channels fill lanes.
  Status max_pool(GraphBuilder& b, const Op& permute, Op& user) {
    constexpr int64_t kLargestWindow = 9;
    Axes axes = axes_of(permute), window = user.attrs.ints("pool_size");
    Value* x = permute.operand(0);
    bool fits = axes == Axes{0, 3, 1, 2} && window.size() == 2 && window[0] * window[1] <= kLargestWindow &&
                x->dtype() == DType::u(8) && !user.attrs.flag("indices") && !user.attrs.flag("ceil_mode");
    for (Expr dim : x->shape()) fits &= dim.constant() != nullptr;
    if (!fits) return Done{};
    auto filled = [&](const char* name, int64_t fallback) {
      Axes values = user.attrs.ints(name);
      return values.empty() ? Axes{fallback, fallback} : values.size() == 1 ? Axes{values[0], values[0]} : values;
    };
    Axes strides = filled("strides", 1), dilations = filled("dilation", 1), pads = filled("padding", 0);
    if (pads.size() == 2) pads = {pads[0], pads[1], pads[0], pads[1]};
    auto shape = [&](const Axes& values) {
      std::vector<Expr> dims;
      for (int64_t value : values) dims.push_back(b.context().index(value));
      return b.shape(dims);
    };
    if (pads != Axes(4, 0)) {  // 0 is the least byte
      Value* around = shape({0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0});
      RELAXC_TRY(x, b.call("pad", {x, around, b.scalar(DType::u(8), 0)}, {{"mode", std::string("constant")}}));
    }
    int64_t rows = *user.result()->shape()[2].constant(), columns = *user.result()->shape()[3].constant();
    Value* largest = nullptr;
    for (int64_t tap = 0; tap < window[0] * window[1]; ++tap) {
      int64_t i = tap / window[1] * dilations[0], j = tap % window[1] * dilations[1];
      Value* end = shape({i + (rows - 1) * strides[0] + 1, j + (columns - 1) * strides[1] + 1});
      RELAXC_TRY(Value * part,
                 b.call("strided_slice", {x, shape({i, j}), end, shape(strides)}, {{"axes", Axes{1, 2}}}));
      if (largest != nullptr) {
        RELAXC_TRY(part, b.call("maximum", {largest, part}));
      }
      largest = part;
    }
    return replace(b, user, largest, axes);
  }

  Module& module_;
  const OpTable& ops_;
  Diagnostics& diag_;
  std::deque<Op*> waiting_;
};

}  // namespace

bool is_elementwise(arith::Context& context, const Op& op) {
  bool defined = op.kind == OpKind::kOperator && op.def->pure && op.def->define != nullptr && op.results.size() == 1;
  if (!defined || op.attrs.has("axis") || op.attrs.has("axes")) return false;
  analysis::KernelShape shape = analysis::classify(define_op(context, op, "asked"));
  return shape.spatial() && analysis::maps_elements(shape.nest);
}

Status sink_transposes(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag,
                       std::vector<relax::Op*> seeds) {
  return Sinking(module, ops, diag).run(std::move(seeds));
}

}  // namespace relaxc
