// custom.cpp: converts an operator that the user declared to a call of a C function.
//
// The call's arguments are the operands in their order, then the attributes that the rule names. TFLite stores a custom
// operator's options as bytes of its own format, so there is only one attribute: `custom_options`, a tensor of uint8.
#include <map>

#include "frontends/onnx/custom_results.h"
#include "frontends/tflite/importer.h"

namespace relaxc::tflite {
namespace {

using frontend::CustomOp;
using frontend::RuleAttribute;
using frontend::RuleDim;
using frontend::RuleTensor;

class CustomNode {
 public:
  CustomNode(const CustomOp& op, Node& node) : op_(op), node_(node), diag(node.diag) {}

  Status run() {
    if (node_.inputs() != op_.operands.size())
      return node_.error(Kind::wrong_arity, "its rule takes {} operands, found {}", op_.operands.size(),
                         node_.inputs());
    if (node_.outputs() > op_.results.size())
      return node_.error(Kind::wrong_arity, "its rule gives {} results, the operator {}", op_.results.size(),
                         node_.outputs());
    for (size_t i = 0; i < node_.inputs(); ++i) RELAXC_DO(operand(i));
    for (const RuleAttribute& attribute : op_.attributes) RELAXC_DO(pass(attribute));
    return results();
  }

 private:
  Status operand(size_t i) {
    Value* value = node_.input(i);
    const RuleTensor& rule = op_.operands[i];
    Ints dims = node_.dims(value);
    if (!node_.ok()) return node_.status();
    if (rule.dtype && value->dtype() != *rule.dtype)
      return node_.error(Kind::dtype_mismatch, "its rule requires operand {} in {}, found {}", i,
                         to_string(*rule.dtype), relax::to_string(value->info));
    values_.push_back(value);
    passed_.push_back(value);
    if (rule.any) return Done{};
    if (dims.size() != rule.dims.size())
      return node_.error(Kind::rank_mismatch, "its rule requires {} dims of operand {}, found {}", rule.dims.size(), i,
                         relax::to_string(value->info));
    for (size_t k = 0; k < dims.size(); ++k)
      if (rule.dims[k].kind == RuleDim::kName) names_.try_emplace(rule.dims[k].name, dims[k]);
    for (size_t k = 0; k < dims.size(); ++k) {
      RELAXC_TRY(int64_t wanted, evaluate(rule.dims[k]));
      if (wanted != dims[k])
        return node_.error(Kind::shape_mismatch, "its rule requires {} in dim {} of operand {}, found {}", wanted, k, i,
                           dims[k]);
    }
    return Done{};
  }

  Result<int64_t> evaluate(const RuleDim& dim) {
    if (dim.kind == RuleDim::kNumber) return dim.number;
    if (dim.kind == RuleDim::kName) {
      auto found = names_.find(dim.name);
      if (found != names_.end()) return found->second;
      return node_.error(Kind::unbound_name, "'{}' in its rule is not a dim of an operand", dim.name);
    }
    if (dim.kind == RuleDim::kFound)
      return node_.error(Kind::unsupported, "sizes that the function decides are not supported for TFLite models");
    RELAXC_TRY(int64_t a, evaluate(dim.parts[0]));
    RELAXC_TRY(int64_t b, evaluate(dim.parts[1]));
    return combined(dim.kind, a, b);
  }

  Result<int64_t> combined(RuleDim::Kind kind, int64_t a, int64_t b) {
    int64_t result = 0;
    bool fits = true;
    if (kind == RuleDim::kAdd) fits = !__builtin_add_overflow(a, b, &result);
    if (kind == RuleDim::kSubtract) fits = !__builtin_sub_overflow(a, b, &result);
    if (kind == RuleDim::kMultiply) fits = !__builtin_mul_overflow(a, b, &result);
    if (kind == RuleDim::kMin) result = std::min(a, b);
    if (kind == RuleDim::kMax) result = std::max(a, b);
    if (kind == RuleDim::kFloorDivide || kind == RuleDim::kFloorModulo) {
      if (b <= 0 || a == INT64_MIN) return node_.error(Kind::invalid_value, "its rule divides {} by {}", a, b);
      int64_t rest = (a % b + b) % b;
      result = kind == RuleDim::kFloorModulo ? rest : (a - rest) / b;
    }
    if (!fits) return node_.error(Kind::overflow, "a size in its rule overflows");
    return result;
  }

  Status pass(const RuleAttribute& declared) {
    if (declared.name != "custom_options") {
      if (const auto* integer = std::get_if<int64_t>(&declared.fallback)) {
        passed_.push_back(node_.builder().prim(node_.importer.module().context().index(*integer)));
      } else if (const auto* real = std::get_if<double>(&declared.fallback)) {
        passed_.push_back(node_.number(DType::f(32), *real));
      } else {
        return node_.error(Kind::invalid_attribute,
                           "there is no attribute '{}'; an operator of TFLite has 'custom_options', its bytes",
                           declared.name);
      }
      return Done{};
    }
    std::span<const std::byte> bytes = node_.op.custom_options;
    passed_.push_back(node_.builder().constant(relax::ConstantData::inline_bytes(
        DType::u(8), {static_cast<int64_t>(bytes.size())}, std::vector<std::byte>(bytes.begin(), bytes.end()))));
    return Done{};
  }

  Status results() {
    arith::Context& context = node_.importer.module().context();
    auto extent = [&](const RuleDim& dim) -> Result<arith::Expr> {
      RELAXC_TRY(int64_t size, evaluate(dim));
      if (size < 0) return node_.error(Kind::invalid_value, "a dim of a result would be {}", size);
      return context.index(size);
    };
    RELAXC_TRY(std::vector<relax::Info> infos,
               frontend::custom_results(op_, context, values_, extent, node_.location, diag));
    relax::Op* call = node_.builder().append(relax::OpKind::kCallExternal, passed_);
    call->callee = op_.function;
    for (size_t i = 0; i < infos.size(); ++i) {
      Value* result = node_.builder().function().make_result(call, {}, infos[i]);
      if (i < node_.outputs()) RELAXC_DO(node_.set(i, result));
    }
    return Done{};
  }

  const CustomOp& op_;
  Node& node_;
  Diagnostics& diag;
  std::map<std::string, int64_t> names_;
  std::vector<Value*> values_, passed_;
};

}  // namespace

Status convert_custom_op(const CustomOp& custom, Node& node) {
  return CustomNode(custom, node).run();
}

}  // namespace relaxc::tflite
