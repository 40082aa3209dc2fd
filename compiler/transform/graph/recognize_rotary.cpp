// recognize_rotary.cpp: replaces rotary embeddings by the operator for them.
//
// Exporters write them in two ways. Hugging Face's models exchange the halves of a head and add,
//
//   x * cos + concat(-x2, x1) * sin                                 (GPT-NeoX, Llama; tables repeated along the halves)
//
// with neighbours in place of halves in GPT-J; those that turn pairs as complex numbers give two parts that are put
// together again,
//
//   concat(a * cos - b * sin, a * sin + b * cos)                    (opset 23 written out; Llama's original code)
//
// where a and b are slices, results of a split, or elements of a dim of two. In both cases the concatenation prevents
// one kernel for all of it; the operator (ops/rotary.cpp) computes the same without one.
//
// If tables are computed from angles that are repeated along the halves, they are computed from one half instead.
//
// Rejected: rows of text as in recognize_patterns, which cannot express slices.
#include <algorithm>
#include <map>

#include "compiler/transform/graph/moves/transpose_sinking.h"
#include "compiler/transform/graph/rewriting/origins.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc {
namespace {

using namespace relax;

/// The first or the second channel of every pair of channels of `of`.
struct Side {
  Value* of = nullptr;
  bool second = false, neighbours = false;
  bool own_dim = false;  ///< the pairs of `of` are in a last dim of two
};

/// Returns the value below a view that only removes or adds a last dim of 1; `value` itself if it is no such view.
Value* past_unit_dim(Value* value) {
  const Op* op = value->op;
  if (op == nullptr || op->kind != OpKind::kOperator || op->def->role != Role::kView) return value;
  Value* below = op->operand(0);
  const auto &from = below->shape(), &to = value->shape();
  bool longer = from.size() > to.size();
  const auto &more = longer ? from : to, &less = longer ? to : from;
  bool unit = more.size() == less.size() + 1 && more.back().is_constant(1) &&
              std::equal(less.begin(), less.end(), more.begin());
  return unit ? below : value;
}

/// Returns which side of the pairs in the last dim of a tensor `value` is; nothing if it is none.
std::optional<Side> side_of(Value* value) {
  Value* cut = past_unit_dim(value);
  const Op* op = cut->op;
  if (op == nullptr || op->kind != OpKind::kOperator || op->operand(0) == nullptr) return std::nullopt;
  Value* x = op->operand(0);
  if (x->info->as<TensorInfo>() == nullptr || x->shape().empty()) return std::nullopt;
  const int64_t* width = x->shape().back().constant();
  size_t last = x->shape().size() - 1;
  if (width == nullptr || *width % 2 != 0) return std::nullopt;
  auto side = [&](int64_t begin, int64_t extent) -> std::optional<Side> {
    if (extent * 2 != *width || begin % extent != 0) return std::nullopt;
    return Side{x, begin != 0, false, *width == 2 && cut != value};
  };
  if (op->is("split") && op->results.size() == 2 && axis_at(op->attrs.integer("axis"), last + 1) == last) {
    const int64_t* first = op->results[0]->shape().back().constant();
    return first == nullptr ? std::nullopt : side(cut->index == 0 ? 0 : *first, *width - *first);
  }
  if (op->is("take") && *width == 2) {
    int64_t axis = op->attrs.integer("axis");
    std::optional<double> which = uniform_value(op->operand(1));
    bool element = which && op->operand(1)->shape().empty() && axis_at(axis, last + 1) == last;
    if (!element) return std::nullopt;
    return Side{x, *which != 0, false, true};
  }
  if (std::optional<Part> part = part_of(op))
    return part->axis == last ? side(part->begin, part->extent) : std::nullopt;
  if (!op->is("strided_slice")) return std::nullopt;
  auto begins = shape_numbers(op->operand(1)), strides = shape_numbers(op->operand(3));
  const int64_t* extent = cut->shape().back().constant();
  const auto& axes = op->attrs.ints("axes");
  bool every_other = begins && strides && begins->size() == 1 && axes.size() == 1 && strides->at(0) == 2 &&
                     axis_at(axes[0], last + 1) == last && (begins->at(0) == 0 || begins->at(0) == 1) &&
                     extent != nullptr && *extent * 2 == *width;
  return every_other ? std::optional(Side{x, begins->at(0) == 1, true, false}) : std::nullopt;
}

/// The parts that are joined by a concatenation, or by a stack that a view flattens, so that pairs are neighbours.
struct Together {
  Value *first = nullptr, *second = nullptr;
  bool neighbours = false;
};

std::optional<Together> together(Value* value) {
  Op* op = producer_of(value, "concat");
  bool neighbours = false;
  if (op == nullptr && value->op != nullptr && value->op->kind == OpKind::kOperator &&
      value->op->def->role == Role::kView && value->op->operand(0)->has_one_use()) {
    const auto &from = value->op->operand(0)->shape(), &to = value->shape();
    bool flattens = from.size() == to.size() + 1 && from.back().is_constant(2) &&
                    std::equal(to.begin(), to.end() - 1, from.begin());
    if (!flattens) return std::nullopt;
    op = value->op->operand(0)->op;
    neighbours = true;
  }
  if (op == nullptr || op->operands().size() != 2) return std::nullopt;
  if (neighbours && op->is("stack")) return Together{op->operand(0), op->operand(1), true};
  size_t rank = op->result()->shape().size();
  if (!op->is("concat") || axis_at(op->attrs.integer("axis"), rank) != rank - 1) return std::nullopt;
  if (!neighbours) return Together{op->operand(0), op->operand(1), false};
  Value *a = past_unit_dim(op->operand(0)), *b = past_unit_dim(op->operand(1));
  return a != op->operand(0) && b != op->operand(1) ? std::optional(Together{a, b, true}) : std::nullopt;
}

/// Returns x for a value that is written as -x; null for any other.
Value* negated(Value* value) {
  if (Op* op = producer_of(value, "negative")) return op->operand(0);
  Op* product = producer_of(value, "multiply");
  for (size_t i : {size_t{0}, size_t{1}})
    if (product != nullptr && uniform_value(product->operand(i)) == -1) return product->operand(1 - i);
  return nullptr;
}

/// Returns whether a and b are the first and the second channels of one tensor.
bool are_pairs(const std::optional<Side>& a, const std::optional<Side>& b) {
  return a && b && a->of == b->of && !a->second && b->second && a->neighbours == b->neighbours &&
         a->own_dim == b->own_dim;
}

class Rotary {
 public:
  explicit Rotary(const Site& site) : site_(site) {}

  Value* replacement() {
    if (site_.op.kind != OpKind::kOperator || !site_.out()->dtype().is_float()) return nullptr;
    return site_.op.is("add") ? exchanged_halves() : turned_pairs();
  }

 private:
  /// Matches x * cos + exchanged(x) * sin.
  Value* exchanged_halves() {
    Op *a = producer_of(site_.in(0), "multiply"), *b = producer_of(site_.in(1), "multiply");
    if (a == nullptr || b == nullptr || !a->result()->has_one_use() || !b->result()->has_one_use()) return nullptr;
    for (auto [plain, turned] : {std::pair(a, b), std::pair(b, a)})
      for (size_t i : {size_t{0}, size_t{1}}) {
        std::optional<Side> pairs = exchanged(turned->operand(i));
        for (size_t k : {size_t{0}, size_t{1}})
          if (pairs && plain->operand(k) == pairs->of)
            return build(*pairs, plain->operand(1 - k), turned->operand(1 - i),
                         {&site_.op, plain, turned, turned->operand(i)->op});
      }
    return nullptr;
  }

  /// Returns the tensor (a, b) for which `value` is (-b, a).
  std::optional<Side> exchanged(Value* value) {
    std::optional<Together> parts = value->has_one_use() ? together(value) : std::nullopt;
    Value* b = parts ? negated(parts->first) : nullptr;
    if (b == nullptr) return std::nullopt;
    std::optional<Side> first = side_of(parts->second), second = side_of(b);
    if (!are_pairs(first, second) || first->own_dim || first->neighbours != parts->neighbours) return std::nullopt;
    return first;
  }

  /// Matches (a * cos - b * sin, a * sin + b * cos).
  Value* turned_pairs() {
    std::optional<Together> parts = together(site_.out());
    if (!parts || !parts->first->has_one_use() || !parts->second->has_one_use()) return nullptr;
    Op *difference = producer_of(parts->first, "subtract"), *sum = producer_of(parts->second, "add");
    if (difference == nullptr || sum == nullptr) return nullptr;
    Op *ac = producer_of(difference->operand(0), "multiply"), *bs = producer_of(difference->operand(1), "multiply");
    if (ac == nullptr || bs == nullptr) return nullptr;
    for (size_t i : {size_t{0}, size_t{1}})
      for (size_t k : {size_t{0}, size_t{1}}) {
        Value *a = ac->operand(i), *cosine = ac->operand(1 - i), *b = bs->operand(k), *sine = bs->operand(1 - k);
        std::optional<Side> first = side_of(a), second = side_of(b);
        if (!are_pairs(first, second) || !is_sum_of(*sum, a, sine, b, cosine)) continue;
        if (parts->neighbours != (first->neighbours || first->own_dim)) continue;
        return build(*first, cosine, sine, {&site_.op, parts->first->op, parts->second->op, ac, bs});
      }
    return nullptr;
  }

  static bool is_product(const Value* value, const Value* x, const Value* y) {
    const Op* op = producer_of(value, "multiply");
    return op != nullptr &&
           ((op->operand(0) == x && op->operand(1) == y) || (op->operand(0) == y && op->operand(1) == x));
  }
  static bool is_sum_of(const Op& sum, const Value* a, const Value* sine, const Value* b, const Value* cosine) {
    for (size_t i : {size_t{0}, size_t{1}})
      if (is_product(sum.operand(i), a, sine) && is_product(sum.operand(1 - i), b, cosine)) return true;
    return false;
  }

  Value* build(const Side& pairs, Value* cosine, Value* sine, const std::vector<const Op*>& ops) {
    Value* x = pairs.of;
    if (pairs.own_dim) x = site_.make("reshape", {x, site_.builder.shape(site_.out()->shape())});
    bool neighbours = pairs.neighbours || pairs.own_dim;
    if (!site_.like_result(*x) || !fits(*cosine, *x) || !fits(*sine, *x)) return nullptr;
    if (!neighbours) {
      Value *half_cosine = first_half(cosine, 0), *half_sine = first_half(sine, 0);
      if (half_cosine != nullptr && half_sine != nullptr) cosine = half_cosine, sine = half_sine;
    }
    Result<Value*> made =
        site_.builder.call("nn.rotary_embedding", {x, cosine, sine}, {{"interleaved", neighbours}}, site_.out()->name);
    if (!made || !site_.like_result(**made)) return nullptr;
    mark_origins(**made, ops);
    return *made;
  }

  /// Returns whether the table is known to broadcast to x, with an element for each channel or for each pair.
  bool fits(const Value& table, const Value& x) const {
    const auto &own = table.shape(), &whole = x.shape();
    if (table.dtype() != x.dtype() || own.empty() || own.size() > whole.size()) return false;
    auto equal = [&](Expr a, Expr b) { return arith::prove_equal(a, b, site_.facts); };
    if (!equal(own.back(), whole.back()) && !equal(own.back() * 2, whole.back())) return false;
    for (size_t i = 0; i + 1 < own.size(); ++i)
      if (Expr dim = whole[whole.size() - own.size() + i]; !own[i].is_constant(1) && !equal(own[i], dim)) return false;
    return true;
  }

  /// Returns the first half of a table along its last dim, if the table is made of a concatenation of equal halves.
  Value* first_half(Value* table, int depth) {
    auto [known, fresh] = halves_.emplace(table, nullptr);
    if (!fresh) return known->second;
    Value* half = made_half(table, depth);
    return halves_[table] = half;
  }

  Value* made_half(Value* table, int depth) {
    constexpr int kDeepest = 16;
    const Op* op = table->op;
    if (op == nullptr || op->kind != OpKind::kOperator || table->shape().empty() || depth > kDeepest) return nullptr;
    size_t rank = table->shape().size();
    if (op->is("concat")) {
      bool twice = op->operands().size() == 2 && op->operand(0) == op->operand(1) &&
                   axis_at(op->attrs.integer("axis"), rank) == rank - 1;
      return twice ? op->operand(0) : nullptr;
    }
    std::vector<Value*> operands = op->operands();
    if (op->def->role == Role::kView) {
      const auto& from = operands[0]->shape();
      if (from.empty() || !(from.back() == table->shape().back())) return nullptr;
      Value* half = first_half(operands[0], depth + 1);
      if (half == nullptr) return nullptr;
      std::vector<Expr> dims = table->shape();
      dims.back() = half->shape().back();
      return make("reshape", {half, site_.builder.shape(dims)}, {});
    }
    if (!is_elementwise(site_.builder.context(), *op)) return nullptr;
    bool halved = false;
    for (Value*& operand : operands) {
      if (operand->info->as<TensorInfo>() == nullptr) return nullptr;
      if (operand->shape().empty() || operand->shape().back().is_constant(1)) continue;
      operand = first_half(operand, depth + 1);
      if (operand == nullptr) return nullptr;
      halved = true;
    }
    return halved ? make(op->def->name, operands, op->attrs) : nullptr;
  }

  Value* make(OpName name, std::vector<Value*> operands, Attrs attrs) {
    Result<Value*> made = site_.builder.call(name, std::move(operands), std::move(attrs));
    return made ? *made : nullptr;
  }

  const Site& site_;
  std::map<const Value*, Value*> halves_;  ///< halves of tables that were visited; looked up only
};

Value* rotary(const Site& site) {
  return Rotary(site).replacement();
}

constexpr Rule kRotaryRules[] = {rotary};

}  // namespace

Result<Changed> recognize_rotary(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= rewrite_ops(module, *function, context, kRotaryRules);
  return changed;
}

}  // namespace relaxc
