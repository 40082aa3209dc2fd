// recognize_attention.cpp: replaces two products with a softmax in between by the operator for attention.
//
// Every exporter writes attention differently: BERT divides the scores, DistilBERT the queries, PyTorch multiplies
// keys by the square root of the scale, GPT-2 masks by a where and adds a mask after it, T5 has no scale and a bias,
// others add a bias and a mask, use one mask after the other, or scale the sum of scores and mask (then the mask is
// scaled by itself), and Gemma 2 caps scores by a tanh before it masks any. Read from the second product upwards they
// are all
//
//   matmul(weights(softmax(bias, mask, cap and cast of (scale * matmul(q, k^T)))), v)
//
// with the parts in between in some order, which the operator keeps. The operator (ops/attention.cpp) has the scale on
// the queries, so that it meets the projection before them; a kernel that does all of it at once finds one operator
// instead of five. Keys are untransposed: canonicalize joins that permutation with the exporter's.
//
// Scores and weights must have no other readers. Rejected: rows of text as in recognize_patterns, since there are
// hundreds of orders of the parts times places of the scale.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/transform/graph/rewriting/origins.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// A value times a number that is known at compile time.
struct Multiple {
  Value* value = nullptr;
  double factor = 1;
};

/// Returns `value` as a multiple of another value of its shape; as one times itself if it is none.
Multiple as_multiple(const Site& site, Value* value) {
  Op* op = value->op;
  bool product = op != nullptr && op->is("multiply"), quotient = op != nullptr && op->is("divide");
  if (!product && !quotient) return {value};
  for (size_t side : {size_t{0}, size_t{1}}) {
    if (quotient && side == 1) break;
    Value* of = op->operand(side);
    std::optional<double> number = uniform_value(op->operand(1 - side));
    bool fits = number && *number != 0 && of->dtype() == value->dtype() && site.same_shape(*of, *value);
    if (fits) return {of, product ? *number : 1 / *number};
  }
  return {value};
}

/// A value that is added to scores, and the factor by which the sum is multiplied after that.
struct Addend {
  Value* value = nullptr;
  double factor = 1;
};

/// A condition by which scores are hidden.
struct Mask {
  Value* value = nullptr;
  bool seen = true;  ///< scores are visible where the condition is true
};

/// The operators between the two products.
struct Between {
  Op* product = nullptr;       ///< the matmul of queries and keys
  std::vector<Addend> biases;  ///< all before or all after the masks
  std::vector<Mask> masks;     ///< all hide scores by the same number
  double hidden = 0, scale = 1;
  double cap = 0;  ///< 0: there is no cap
  bool bias_last = false, widened = false;
  std::vector<const Op*> ops;
};

class Attention {
 public:
  explicit Attention(const Site& site) : site_(site) {}

  Value* replacement() {
    if (!site_.op.is("matmul") || !site_.out()->dtype().is_float()) return nullptr;
    Value *weights = site_.in(0), *v = site_.in(1);
    if (weights->dtype() != site_.out()->dtype() || v->dtype() != weights->dtype() || v->shape().size() < 2)
      return nullptr;
    ops_ = {&site_.op};
    Value* softmax = read_weights(weights);
    if (softmax == nullptr) return nullptr;
    std::optional<Between> found = read_scores(softmax->op->operand(0), {});
    if (!found) return nullptr;
    ops_.insert(ops_.end(), found->ops.begin(), found->ops.end());
    return closed() && fits(*found) ? build(*found, v) : nullptr;
  }

 private:
  Value* past_cast(Value* value) {
    Op* op = producer_of(value, "astype");
    if (op == nullptr || !op->operand(0)->dtype().is_float()) return value;
    ops_.push_back(op);
    return op->operand(0);
  }

  /// Returns the result of the softmax that gives the weights; null if there is no softmax over the last dim.
  Value* read_weights(Value* value) {
    value = past_cast(value);
    if (Op* where = producer_of(value, "where")) {
      std::optional<double> zero = uniform_value(where->operand(1));
      if (!zero || *zero != 0) return nullptr;
      ops_.push_back(where);
      value = where->operand(2);
      if (!read_empty_rows(*where->operand(0), *value)) return nullptr;
    }
    Op* softmax = producer_of(value, "nn.softmax");
    if (softmax == nullptr) return nullptr;
    int64_t axis = softmax->attrs.integer("axis"), rank = static_cast<int64_t>(value->shape().size());
    if ((axis < 0 ? axis + rank : axis) != rank - 1) return nullptr;
    ops_.push_back(softmax);
    if (empty_rows_.empty()) empty_rows_ = softmax->attrs.string("empty_rows");
    return value;
  }

  /// Returns whether `condition` tells which rows of `weights` have no key.
  bool read_empty_rows(Value& condition, Value& weights) {
    Op* softmax = producer_of(&weights, "nn.softmax");
    if (condition.op == nullptr || softmax == nullptr) return false;
    ops_.push_back(condition.op);
    if (condition.op->is("isnan")) {
      empty_rows_ = "no_nans";
      return condition.op->operand(0) == &weights;
    }
    Op* most = condition.op->is("equal") ? producer_of(condition.op->operand(0), "max") : nullptr;
    if (most == nullptr || most->operand(0) != softmax->operand(0) || !most->attrs.flag("keepdims")) return false;
    std::optional<double> nothing = uniform_value(condition.op->operand(1));
    int64_t rank = static_cast<int64_t>(weights.shape().size());
    const std::vector<int64_t>& axes = most->attrs.ints("axis");
    ops_.push_back(most);
    empty_rows_ = "zeros";
    return nothing && std::isinf(*nothing) && *nothing < 0 && axes.size() == 1 &&
           (axes[0] == -1 || axes[0] == rank - 1);
  }

  /// Reads upwards from the softmax's operand to the product; `so_far` has the parts that were read before. Either side
  /// of a sum may hold the product: sums of shared values have very many paths up, of which some are tried.
  std::optional<Between> read_scores(Value* value, Between so_far) {
    constexpr int kMostSteps = 256;
    if (++steps_ > kMostSteps) return std::nullopt;
    Op* op = value->op;
    if (op == nullptr || op->kind != OpKind::kOperator || op->def->define == nullptr) return std::nullopt;
    so_far.ops.push_back(op);
    if (op->is("matmul")) {
      so_far.product = op;
      return so_far;
    }
    if (op->is("astype")) {
      bool widens = op->operand(0)->dtype().is_float() && op->operand(0)->dtype().bits < value->dtype().bits;
      if (!widens || so_far.widened) return std::nullopt;
      so_far.widened = true;
      return read_scores(op->operand(0), so_far);
    }
    if (Multiple multiple = as_multiple(site_, value); multiple.value != value) {
      so_far.scale *= multiple.factor;
      return read_scores(multiple.value, so_far);
    }
    if (so_far.widened) return std::nullopt;  // biases and masks are of the wider dtype
    if (op->is("tanh") && so_far.cap == 0) {
      so_far.cap = std::exchange(so_far.scale, 1);
      return read_scores(op->operand(0), so_far);
    }
    if (so_far.cap != 0) return std::nullopt;  // a cap applies before biases and masks
    if (op->is("add")) return read_bias(*op, so_far);
    return op->is("where") ? read_mask(*op, so_far) : std::nullopt;
  }

  std::optional<Between> read_bias(const Op& add, const Between& so_far) {
    bool last = so_far.masks.empty();
    for (size_t side : {size_t{0}, size_t{1}}) {
      Between next = so_far;
      next.biases.push_back({add.operand(1 - side), so_far.scale});
      next.bias_last = last;
      std::optional<Between> found = read_scores(add.operand(side), next);
      if (!found) continue;
      found->bias_last &= !found->masks.empty();
      return found;
    }
    return std::nullopt;
  }

  std::optional<Between> read_mask(const Op& where, const Between& so_far) {
    if (where.operand(0)->dtype() != DType::boolean()) return std::nullopt;
    for (size_t side : {size_t{1}, size_t{2}}) {
      std::optional<double> number = uniform_value(where.operand(3 - side));
      if (!number) continue;
      Between next = so_far;
      next.hidden = *number * so_far.scale;
      bool bias_between = !so_far.biases.empty() && !so_far.bias_last;
      if (!so_far.masks.empty() && (bias_between || so_far.hidden != next.hidden)) return std::nullopt;
      next.masks.push_back({where.operand(0), side == 1});
      std::optional<Between> found = read_scores(where.operand(side), next);
      bool both_sides = found && !so_far.biases.empty() && found->biases.size() > so_far.biases.size();
      return both_sides ? std::nullopt : found;
    }
    return std::nullopt;
  }

  /// Returns whether no other op reads the values between the operands and the result.
  bool closed() const {
    for (const Op* op : ops_) {
      if (op == &site_.op) continue;
      for (const Use& use : op->result()->uses())
        if (std::find(ops_.begin(), ops_.end(), use.user) == ops_.end()) return false;
    }
    return true;
  }

  /// Returns whether the operator requires no more than its parts did: masks and biases broadcast to the scores.
  bool fits(const Between& found) const {
    const Value &q = *found.product->operand(0), &k = *found.product->operand(1);
    if (q.shape().size() < 2 || k.shape().size() < 2 || k.dtype() != q.dtype()) return false;
    if (found.product->result()->dtype() != q.dtype() || q.dtype() != site_.out()->dtype()) return false;
    const auto& scores = found.product->result()->shape();
    std::vector<const Value*> beside;
    for (const Mask& mask : found.masks) beside.push_back(mask.value);
    for (const Addend& bias : found.biases) beside.push_back(bias.value);
    for (const Value* operand : beside) {
      size_t own = operand->shape().size();
      for (size_t back = 1; back <= std::min<size_t>(own, 2); ++back) {
        Expr dim = operand->shape()[own - back];
        if (!dim.is_constant(1) && !arith::prove_equal(dim, scores[scores.size() - back], site_.facts)) return false;
      }
    }
    return true;
  }

  /// Returns `keys` [.., E, T] as [.., T, E], and the product of the factors before and after their permutation.
  Multiple untransposed(Value* keys) const {
    Multiple behind = as_multiple(site_, keys);
    Value* x = behind.value;
    std::vector<int64_t> swap;
    for (size_t i = 0; i < x->shape().size(); ++i) swap.push_back(static_cast<int64_t>(i));
    if (Op* permute = producer_of(x, "permute_dims")) {
      Multiple before = as_multiple(site_, permute->operand(0));
      if (before.value != permute->operand(0)) {
        x = site_.make("permute_dims", {before.value}, permute->attrs);
        behind.factor *= before.factor;
      }
    }
    std::swap(swap.end()[-1], swap.end()[-2]);
    return {site_.make("permute_dims", {x}, {{"axes", swap}}), behind.factor};
  }

  /// Returns the sum of all that is added to scores; null if there is nothing.
  Value* bias_of(const Between& found) const {
    Value* all = nullptr;
    for (const auto& [value, factor] : found.biases) {
      Value* one = value;
      if (factor != 1) one = site_.make("multiply", {one, site_.builder.scalar(one->dtype(), factor)});
      all = all == nullptr ? one : site_.make("add", {one, all});
    }
    return all;
  }

  /// Returns where all masks show a score; null if there is no mask.
  Value* mask_of(const Between& found) const {
    Value* all = nullptr;
    for (const auto& [value, seen] : found.masks) {
      Value* one = seen ? value : site_.make("logical_not", {value});
      all = all == nullptr ? one : site_.make("logical_and", {one, all});
    }
    return all;
  }

  Value* build(const Between& found, Value* v) {
    Multiple q = as_multiple(site_, found.product->operand(0)), k = untransposed(found.product->operand(1));
    DType scores = site_.op.operand(0)->dtype();
    double scale = found.scale * q.factor * k.factor;
    Attrs attrs{{"scale", found.cap == 0 ? scale : scale * found.cap}, {"bias_last", found.bias_last}};
    if (found.cap != 0) attrs.set("softcap", found.cap);
    attrs.set("empty_rows", empty_rows_);
    if (found.widened) {
      const Op& softmax = *producer_of_softmax();
      scores = softmax.result()->dtype();
      attrs.set("precision", to_string(scores));
    }
    Value *mask = mask_of(found), *hidden = nullptr;
    if (mask != nullptr && !(std::isinf(found.hidden) && found.hidden < 0))
      hidden = site_.builder.scalar(scores, found.hidden);
    Result<Value*> made =
        site_.builder.call("nn.scaled_dot_product_attention", {q.value, k.value, v, bias_of(found), mask, hidden},
                           attrs, site_.out()->name);
    if (!made || !site_.like_result(**made)) return nullptr;
    mark_origins(**made, ops_);
    mark_rounding(site_.builder.function());
    return *made;
  }

  const Op* producer_of_softmax() const {
    return *std::find_if(ops_.begin(), ops_.end(), [](const Op* op) { return op->is("nn.softmax"); });
  }

  const Site& site_;
  int steps_ = 0;
  std::vector<const Op*> ops_;
  std::string empty_rows_;
};

Value* attention(const Site& site) {
  return Attention(site).replacement();
}

constexpr Rule kRules[] = {attention};

}  // namespace

Result<Changed> recognize_attention(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= rewrite_ops(module, *function, context, kRules);
  return changed;
}

}  // namespace relaxc
