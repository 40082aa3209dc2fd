// custom_op.cpp: converts a node whose operator the user declared to a call of an external function.
//
// Operands are passed in order, then the attributes that the rule names: an integer as a number, everything else as a
// tensor. Dims of operands bind the rule's names; further occurrences of a name are guarded.
#include "frontends/onnx/custom_op.h"

#include "frontends/onnx/custom_results.h"
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {
namespace {

class CustomNode {
 public:
  CustomNode(const CustomOp& op, Node& node) : op_(op), node_(node), diag(node.diag) {}

  Status run() {
    RELAXC_DO(operands());
    for (const RuleAttribute& attribute : op_.attributes) RELAXC_DO(pass(attribute));
    return results();
  }

 private:
  Status operands() {
    if (node_.inputs() != op_.operands.size())
      return node_.error(Kind::wrong_arity, "its rule takes {} operands, found {}", op_.operands.size(),
                         node_.inputs());
    for (size_t i = 0; i < node_.inputs(); ++i) {
      RELAXC_TRY(Value * value, node_.input(i));
      const RuleTensor& rule = op_.operands[i];
      if (rule.dtype && value->dtype() != *rule.dtype)
        return node_.error(Kind::dtype_mismatch, "its rule requires operand {} in {}, found {}", i,
                           to_string(*rule.dtype), relax::to_string(value->info));
      if (!rule.any) {
        RELAXC_TRY(value, matched(rule, value, i));
      }
      values_.push_back(value);
      passed_.push_back(value);
    }
    return Done{};
  }

  /// Returns the operand with the rule's dims: a name seen first here becomes the operand's dim; other dims must agree.
  Result<Value*> matched(const RuleTensor& rule, Value* value, size_t index) {
    std::vector<Expr> dims = value->shape();
    if (dims.size() != rule.dims.size())
      return node_.error(Kind::rank_mismatch, "its rule requires {} dims of operand {}, found {}", rule.dims.size(),
                         index, relax::to_string(value->info));
    for (size_t k = 0; k < dims.size(); ++k)
      if (rule.dims[k].kind == RuleDim::kName && !find(rule.dims[k].name)) names_[rule.dims[k].name] = dims[k];
    for (size_t k = 0; k < dims.size(); ++k) {
      RELAXC_TRY(dims[k], evaluate(rule.dims[k]));
    }
    return with_shape(node_, value, std::move(dims), fmt::format("the rule of operand {}", index));
  }

  /// Returns the value of a name: a dim, or else an integer attribute of the node; a null Expr if it is neither.
  Expr find(const std::string& name) {
    if (auto known = names_.find(name); known != names_.end()) return known->second;
    const onnx::AttributeProto* attribute = node_.attribute(name);
    if (attribute != nullptr && attribute->type() == onnx::AttributeProto::INT) return node_.index(attribute->i());
    for (const RuleAttribute& declared : op_.attributes)
      if (const auto* value = std::get_if<int64_t>(&declared.fallback); value != nullptr && declared.name == name)
        return node_.index(*value);
    return {};
  }

  Result<Expr> evaluate(const RuleDim& dim) {
    if (dim.kind == RuleDim::kNumber) return node_.index(dim.number);
    if (dim.kind == RuleDim::kName) {
      if (Expr found = find(dim.name)) return found;
      return node_.error(Kind::unbound_name, "'{}' in its rule is neither a dim of an operand nor an integer attribute",
                         dim.name);
    }
    if (dim.kind == RuleDim::kFound) {
      found_.push_back(node_.context().var(dim.name));
      node_.importer().function().facts.bound(found_.back(), arith::Range::at_least(0));
      return Expr(names_.emplace(dim.name, found_.back()).first->second);
    }
    RELAXC_TRY(Expr a, evaluate(dim.parts[0]));
    RELAXC_TRY(Expr b, evaluate(dim.parts[1]));
    if ((dim.kind == RuleDim::kFloorDivide || dim.kind == RuleDim::kFloorModulo) && b.is_constant(0))
      return node_.error(Kind::invalid_value, "its rule divides by 0");
    return node_.simplify(relax::combined_dims(dim.kind, a, b));
  }

  Status pass(const RuleAttribute& declared) {
    const onnx::AttributeProto* given = node_.attribute(declared.name);
    if (given == nullptr) {
      if (const auto* integer = std::get_if<int64_t>(&declared.fallback))
        passed_.push_back(node_.builder().prim(node_.index(*integer)));
      else if (const auto* real = std::get_if<double>(&declared.fallback))
        passed_.push_back(node_.scalar(DType::f(32), *real));
      else
        return node_.error(Kind::invalid_attribute, "attribute '{}' is missing, and its rule has no default",
                           declared.name);
      return Done{};
    }
    switch (given->type()) {
      case onnx::AttributeProto::INT:
        passed_.push_back(node_.builder().prim(node_.index(given->i())));
        return Done{};
      case onnx::AttributeProto::FLOAT:
        passed_.push_back(node_.scalar(DType::f(32), given->f()));
        return Done{};
      case onnx::AttributeProto::INTS:
        passed_.push_back(list(DType::i(64), given->ints()));
        return Done{};
      case onnx::AttributeProto::FLOATS:
        passed_.push_back(list(DType::f(32), given->floats()));
        return Done{};
      case onnx::AttributeProto::STRING:
        passed_.push_back(list(DType::u(8), given->s()));
        return Done{};
      case onnx::AttributeProto::TENSOR: {
        RELAXC_TRY(relax::ConstantRef data, node_.tensor_attr(given->t()));
        passed_.push_back(node_.builder().constant(std::move(data)));
        return Done{};
      }
      default:
        return node_.error(Kind::unsupported,
                           "attribute '{}' is neither a number, a list of numbers, a string nor a tensor",
                           declared.name);
    }
  }

  template <typename List>
  Value* list(DType dtype, const List& items) {
    auto count = static_cast<size_t>(items.size());
    const auto* begin = reinterpret_cast<const std::byte*>(items.data());
    std::vector<std::byte> bytes(begin, begin + count * static_cast<size_t>(dtype.bytes()));
    return node_.builder().constant(
        relax::ConstantData::inline_bytes(dtype, {static_cast<int64_t>(count)}, std::move(bytes)));
  }

  Status results() {
    if (node_.outputs() > op_.results.size())
      return node_.error(Kind::wrong_arity, "its rule gives {} results, the node takes {}", op_.results.size(),
                         node_.outputs());
    auto extent = [&](const RuleDim& dim) { return evaluate(dim); };
    RELAXC_TRY(std::vector<relax::Info> infos,
               custom_results(op_, node_.context(), values_, extent, node_.location, diag));
    relax::Op* call = node_.builder().append(relax::OpKind::kCallExternal, passed_);
    call->callee = op_.function;
    if (!found_.empty()) call->attrs.set("returned", true);
    call->binds = found_;
    for (size_t i = 0; i < infos.size(); ++i) {
      Value* result = node_.builder().function().make_result(call, {}, infos[i]);
      RELAXC_DO(node_.set(i, result));
    }
    return Done{};
  }

  const CustomOp& op_;
  Node& node_;
  Diagnostics& diag;
  std::map<std::string, Expr> names_;
  std::vector<arith::Var> found_;  ///< extents that the C function determines at run time
  std::vector<Value*> values_, passed_;
};

}  // namespace

Status convert_custom_op(const CustomOp& op, Node& node) {
  return CustomNode(op, node).run();
}

}  // namespace relaxc::frontend
