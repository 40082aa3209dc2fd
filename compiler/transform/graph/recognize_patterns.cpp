// recognize_patterns.cpp: replaces what exporters write in small operators by the operator that it means.
//
// PyTorch writes GELU as five nodes, tf2onnx another five, and Keras folds a batch norm's scale into a layer norm. Each
// spelling is a row of text below (op_pattern.h describes the syntax) and is replaced by an operator with the same
// definition, rounded no more often. So schedules see one form, softmax without its maximum cannot overflow, and norms
// take their variance from distances instead of a difference of large numbers.
//
// A row matches only if nothing else reads inner values, and if every hole broadcasts to the result: a mean that is
// also an output stays a mean. Ops are visited in order, so rows may use results of rows before them. Numbers must be
// constants by then: canonicalize_early and fold_constants_early run before.
//
// Attention has too many orders of its parts for rows of text: recognize_attention.cpp. Rotary embeddings are made of
// slices: recognize_rotary.cpp.
#include <algorithm>
#include <array>
#include <optional>

#include "compiler/transform/graph/rewriting/op_pattern.h"
#include "compiler/transform/graph/rewriting/origins.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr PatternPart kParts[] = {
    {"square", "(power(?, 2) | multiply(?, ?) | square(?))"},
    {"cube", "(power(?, 3) | multiply(?, @square(?)) | multiply(multiply(?, ?), ?))"},
    {"mean", "mean[axis:axes, keepdims=true](?)"},
    {"sum", "sum[axis:axes, keepdims=true](?)"},
    {"max", "max[axis:axes, keepdims=true](?)"},
    {"root", "(sqrt(?) | power(?, 0.5))"},
    {"inverse_root", "(rsqrt(?) | reciprocal(@root(?)) | divide(1, @root(?)) | power(?, -0.5))"},
    {"cut_0_6", "(minimum(maximum(?, 0), 6) | maximum(minimum(?, 6), 0) | nn.relu6(?))"},
    {"inverse_plus_1", "(reciprocal(add(?, 1)) | divide(1, add(?, 1)))"},
    // GELU: 1 + erf(x / sqrt(2)), 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))
    {"erf_plus_1", "add(erf((divide(?, 1.4142135623) | multiply(?, 0.7071067811))), 1)"},
    {"tanh_plus_1", "add(tanh(@tanh_argument(?)), 1)"},
    {"tanh_argument",
     "(multiply(add(?, multiply(@cube(?), 0.044715)), 0.7978845608)"
     " | multiply(add(?, multiply(?, multiply(@square(?), 0.044715))), 0.7978845608)"
     " | multiply(add(?, multiply(?, multiply(?, multiply(?, 0.044715)))), 0.7978845608)"
     " | multiply(multiply(?, 0.7978845608), add(multiply(@square(?), 0.044715), 1))"
     " | multiply(multiply(?, 0.7978845608), add(multiply(multiply(?, 0.044715), ?), 1))"
     " | multiply(?, multiply(add(multiply(@square(?), 0.044715), 1), 0.7978845608))"
     " | multiply(?, add(multiply(@square(?), 0.0356774081), 0.7978845608)))"},
    {"distance", "subtract(?, @mean(?))"},
    {"variance",
     "(@mean(@square(@distance(?))) | subtract(@mean(@square(?)), @square(@mean(?)))"
     " | variance[axis:axes, keepdims=true](?))"},
    {"spread", "add(@variance(?), #epsilon)"},
    {"mean_square", "add(@mean(@square(?)), #epsilon)"},
    {"shifted", "subtract(?, @max(?))"},
};

struct Row {
  std::string_view pattern, meaning;
};

constexpr Row kRows[] = {
    {"@inverse_plus_1(exp(negative(x)))", "sigmoid(x)"},
    {"divide(x, add(exp(negative(x)), 1))", "nn.silu(x)"},
    {"multiply(x, sigmoid(x))", "nn.silu(x)"},
    {"log(add(exp(x), 1))", "nn.softplus(x)"},
    {"multiply(x, tanh(nn.softplus(x)))", "nn.mish(x)"},
    {"(divide(@cut_0_6(add(x, 3)), 6) | multiply(@cut_0_6(add(x, 3)), 0.1666666667))",
     "nn.hard_sigmoid[alpha:sixth, beta:half](x)"},
    {"(divide(multiply(x, @cut_0_6(add(x, 3))), 6) | multiply(multiply(x, @cut_0_6(add(x, 3))), 0.1666666667)"
     " | multiply(multiply(x, 0.1666666667), @cut_0_6(add(x, 3))))",
     "nn.hard_swish(x)"},
    {"multiply(x, nn.hard_sigmoid[alpha=0.1666666667, beta=0.5](x))", "nn.hard_swish(x)"},

    // The factor 0.5 comes before, between or after the others, or inside of the sum.
    {"(multiply(multiply(x, 0.5), @erf_plus_1(x)) | multiply(multiply(x, @erf_plus_1(x)), 0.5)"
     " | multiply(x, multiply(@erf_plus_1(x), 0.5)))",
     "nn.gelu(x)"},
    {"multiply(x, add(multiply(erf((divide(x, 1.4142135623) | multiply(x, 0.7071067811))), 0.5), 0.5))", "nn.gelu(x)"},
    {"(multiply(multiply(x, 0.5), @tanh_plus_1(x)) | multiply(multiply(x, @tanh_plus_1(x)), 0.5)"
     " | multiply(x, multiply(@tanh_plus_1(x), 0.5)))",
     "nn.gelu[approximate=tanh](x)"},
    {"multiply(x, add(multiply(tanh(@tanh_argument(x)), 0.5), 0.5))", "nn.gelu[approximate=tanh](x)"},

    {"(divide(exp(@shifted(x)), @sum(exp(@shifted(x)))) | divide(exp(x), @sum(exp(x)))"
     " | multiply(exp(@shifted(x)), reciprocal(@sum(exp(@shifted(x))))))",
     "nn.softmax[axis:axes](x)"},
    {"(subtract(@shifted(x), log(@sum(exp(@shifted(x))))) | subtract(x, log(@sum(exp(x)))))",
     "nn.log_softmax[axis:axes](x)"},
    {"log(nn.softmax[axis:axes](x))", "nn.log_softmax[axis:axes](x)"},

    {"(divide(@distance(x), @root(@spread(x))) | multiply(@distance(x), @inverse_root(@spread(x))))",
     "nn.layer_norm[axes:axes, epsilon:epsilon](x)"},
    // TensorFlow's form: x * scale + (beta - mean * scale), where scale = gamma / sqrt(variance + epsilon).
    {"add(multiply(x, @inverse_root(@spread(x))), subtract(%beta, multiply(@mean(x), @inverse_root(@spread(x)))))",
     "add(nn.layer_norm[axes:axes, epsilon:epsilon](x), %beta)"},
    {"add(multiply(x, multiply(@inverse_root(@spread(x)), %gamma)),"
     " subtract(%beta, multiply(@mean(x), multiply(@inverse_root(@spread(x)), %gamma))))",
     "nn.layer_norm[axes:axes, epsilon:epsilon](x, %gamma, %beta)"},
    {"(divide(x, @root(@mean_square(x))) | multiply(x, @inverse_root(@mean_square(x))))",
     "nn.rms_norm[axes:axes, epsilon:epsilon](x)"},

    {"multiply(nn.layer_norm[axes:axes, epsilon:epsilon](x), %gamma)",
     "nn.layer_norm[axes:axes, epsilon:epsilon](x, %gamma)"},
    {"add(nn.layer_norm[axes:axes, epsilon:epsilon](x, %gamma), %beta)",
     "nn.layer_norm[axes:axes, epsilon:epsilon](x, %gamma, %beta)"},
    {"multiply(nn.rms_norm[axes:axes, epsilon:epsilon](x), %gamma)",
     "nn.rms_norm[axes:axes, epsilon:epsilon](x, %gamma)"},
};

class Recognition {
 public:
  Recognition(Module& module, PassContext& context) : module_(module), context_(context) {}

  Changed run(Function& function) {
    Changed changed = Changed::kNo;
    for (Op* op : ops_of(function.body(), true)) {
      // The result of one row may be the root of the next: a norm, its scale, its shift.
      bool candidate = op->kind == OpKind::kOperator && op->results.size() == 1 && !op->result()->unused();
      if (candidate && op->result()->info->as<TensorInfo>() != nullptr) changed |= one(function, *op);
    }
    return changed;
  }

 private:
  struct Recognized {
    PatternNode pattern, meaning;
  };

  /// Returns the row, or null if `op` cannot be its root. It is parsed when it is first asked for: all rows take three
  /// times as long as the other passes on a model of one operator.
  const Recognized* row(size_t i, const Op& op) {
    const std::string_view text = kRows[i].pattern, root = text.substr(0, text.find_first_of("(["));
    const bool is_named = !root.empty() && root.front() != '@';
    if (is_named && root != op.def->name.text()) return nullptr;
    if (!rows_[i]) rows_[i] = Recognized{parse_pattern(text, kParts), parse_pattern(kRows[i].meaning, kParts)};
    return &*rows_[i];
  }

  Changed one(Function& function, Op& op) {
    if (!op.result()->dtype().is_float()) return Changed::kNo;
    GraphBuilder builder(module_, context_.ops, &op, context_.diag);
    builder.location = op.location;
    Site site{op, builder, function.facts};
    for (size_t i = 0; i < std::size(kRows); ++i) {
      const Recognized* known = row(i, op);
      std::optional<PatternMatch> match;
      if (known != nullptr) match = match_pattern(known->pattern, *op.result());
      if (!match || !fits(site, *match)) continue;
      match->attrs.emplace("sixth", 1.0 / 6);
      match->attrs.emplace("half", 0.5);
      Value* meaning = build_pattern(known->meaning, *match, site);
      if (meaning == nullptr || !site.like_result(*meaning)) continue;
      mark_origins(*meaning, match->ops);
      mark_rounding(function);
      op.result()->replace_all_uses_with(meaning);
      return Changed::kYes;
    }
    return Changed::kNo;
  }

  /// Returns whether x has the result's shape and all other values broadcast to it.
  static bool fits(const Site& site, const PatternMatch& match) {
    const std::vector<Expr>& shape = site.out()->shape();
    for (const auto& [name, value] : match.values) {
      if (value->dtype() != site.out()->dtype() || value->shape().size() > shape.size()) return false;
      if (name == "x" && !site.like_result(*value)) return false;
      size_t before = shape.size() - value->shape().size();
      for (size_t i = 0; i < value->shape().size(); ++i) {
        Expr dim = value->shape()[i];
        if (!dim.is_constant(1) && !arith::prove_equal(dim, shape[before + i], site.facts)) return false;
      }
    }
    return true;
  }

  Module& module_;
  PassContext& context_;
  std::array<std::optional<Recognized>, std::size(kRows)> rows_;  ///< those that were asked for
};

}  // namespace

Result<Changed> recognize_patterns(relax::Module& module, PassContext& context) {
  Recognition recognition(module, context);
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= recognition.run(*function);
  return changed;
}

}  // namespace relaxc
