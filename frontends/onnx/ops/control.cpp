// control.cpp: If and Loop.
//
// A condition that is known when compiling leaves only its branch; exporters write such Ifs around optional squeezes
// all the time. Otherwise both branches become regions, and dims in which their results differ become symbols that the
// If binds. A Loop's carried values start with the types of their first values; where the body gives back another
// extent, that dim becomes a symbol and the body is converted again with it.
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {
namespace {

using relax::Op;
using relax::Region;

const onnx::GraphProto* subgraph(Node& node, std::string_view name) {
  const onnx::AttributeProto* found = node.attribute(name);
  return found == nullptr || !found->has_g() ? nullptr : &found->g();
}

/// What holds of a value that is either one or the other; dims that differ become symbols bound by `op`.
Result<relax::Info> join(Node& node, Op* op, Value* a, Value* b, const std::string& name) {
  const auto *x = a->info->as<TensorInfo>(), *y = b->info->as<TensorInfo>();
  if (x == nullptr || y == nullptr || !x->shape || !y->shape || x->dtype != y->dtype || x->ndim != y->ndim)
    return node.error(Kind::unsupported, "the branches give '{}' as {} and as {}; type and rank must agree", name,
                      relax::to_string(a->info), relax::to_string(b->info));
  std::vector<Expr> dims = *x->shape;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (arith::prove_equal(dims[i], (*y->shape)[i], node.facts())) continue;
    arith::Var symbol = node.context().var(name + "_d" + std::to_string(i));
    op->binds.push_back(symbol);
    dims[i] = symbol;
  }
  return relax::tensor_info(node.context(), std::move(dims), x->dtype);
}

/// Takes `op`, which the builder appended last, out again with everything inside.
void discard(Node& node, Op* op) {
  relax::erase_ops(*node.builder().block()->parent, [op](Op* other) { return other == op; });
}

/// The values of a region's results; constants and contents become tensors inside it.
Result<std::vector<Value*>> fill(Node& node, Region* region, const onnx::GraphProto& graph,
                                 std::vector<Slot> arguments) {
  Diagnostics& diag = node.diag;
  relax::Block* block = node.importer().function().make_block(region, true);
  RELAXC_TRY(std::vector<Slot> slots, node.importer().inline_graph(graph, std::move(arguments), block));
  std::vector<Value*> values;
  for (const Slot& slot : slots) values.push_back(slot.value);
  return values;
}

Result<Value*> condition_of(Node& node, size_t input) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * condition, node.input(input));
  if (condition->shape().empty()) return condition;
  return reshape(node, condition, {});  // [1] is what older exporters give
}

Status if_known(Node& node, const onnx::GraphProto& branch) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Slot> results, node.importer().inline_graph(branch, {}, nullptr));
  for (size_t i = 0; i < results.size() && i < node.outputs(); ++i)
    if (node.wants(i)) node.importer().scope().slots[node.proto.output(static_cast<int>(i))] = results[i];
  return Done{};
}

Status if_node(Node& node) {
  Diagnostics& diag = node.diag;
  const onnx::GraphProto *then_graph = subgraph(node, "then_branch"), *else_graph = subgraph(node, "else_branch");
  if (then_graph == nullptr || else_graph == nullptr)
    return node.error(Kind::invalid_attribute, "it needs the graphs then_branch and else_branch");
  if (const Known* known = node.known(0); known != nullptr && known->size() == 1 && known->constants())
    return if_known(node, (*known->constants())[0] != 0 ? *then_graph : *else_graph);
  RELAXC_TRY(Value * condition, condition_of(node, 0));
  Op* op = node.builder().append(relax::OpKind::kIf, {condition});
  relax::Function& function = node.importer().function();
  Result<std::vector<Value*>> a = fill(node, function.make_region(op), *then_graph, {});
  Result<std::vector<Value*>> b = fill(node, function.make_region(op), *else_graph, {});
  bool ok = a && b;
  if (ok && (a->size() != b->size() || a->size() < node.outputs())) {
    node.error(Kind::wrong_arity, "the branches give {} and {} values for {} outputs", a->size(), b->size(),
               node.outputs());
    ok = false;
  }
  std::vector<relax::Info> infos;
  for (size_t i = 0; ok && i < a->size(); ++i) {
    std::string name = node.wants(i) ? node.proto.output(static_cast<int>(i)) : "result";
    Result<relax::Info> info = join(node, op, (*a)[i], (*b)[i], name);
    ok = bool(info);
    if (ok) infos.push_back(*info);
  }
  if (!ok) {
    discard(node, op);
    return diag.failed();
  }
  for (size_t i = 0; i < infos.size(); ++i) {
    op->regions[0]->yield->add_operand((*a)[i]);
    op->regions[1]->yield->add_operand((*b)[i]);
    Value* result = function.make_result(op, {}, infos[i]);
    node.importer().add_size_facts(infos[i]);
    RELAXC_DO(node.set(i, result));
  }
  return Done{};
}

class LoopConverter {
 public:
  explicit LoopConverter(Node& node) : node_(node), diag(node.diag) {}

  Status run() {
    body_ = subgraph(node_, "body");
    if (body_ == nullptr) return node_.error(Kind::invalid_attribute, "it needs the graph body");
    RELAXC_DO(read_operands());
    // Each round makes at least one more dim symbolic, so there are no more rounds than dims.
    for (;;) {
      RELAXC_TRY(bool settled, attempt());
      if (settled) return finish();
    }
  }

 private:
  Status read_operands() {
    if (node_.has(0)) {
      RELAXC_TRY(std::vector<Expr> trips, node_.ints(0));
      if (trips.size() != 1) return node_.error(Kind::invalid_value, "the trip count must be a scalar");
      // "For ever" is written as the largest int64.
      if (!trips[0].is_constant(INT64_MAX)) trips_ = trips[0];
    }
    if (node_.has(1)) {
      const Known* known = node_.known(1);
      std::optional<std::vector<int64_t>> value = known == nullptr ? std::nullopt : known->constants();
      if (!value || *value != std::vector<int64_t>{1}) {
        RELAXC_TRY(condition_, condition_of(node_, 1));
      }
    }
    for (size_t i = 2; i < node_.inputs(); ++i) {
      RELAXC_TRY(Value * value, node_.input(i));
      initial_.push_back(value);
      infos_.push_back(value->info);
    }
    if (static_cast<size_t>(body_->input_size()) != initial_.size() + 2 ||
        static_cast<size_t>(body_->output_size()) < initial_.size() + 1)
      return node_.error(Kind::wrong_arity, "the body takes {} values and gives {}, but the loop carries {}",
                         body_->input_size(), body_->output_size(), initial_.size());
    return Done{};
  }

  /// Converts the body once; false if a carried value changed its extent and the body must be converted again.
  Result<bool> attempt() {
    relax::Function& function = node_.importer().function();
    std::vector<Value*> operands{trips_ ? node_.builder().prim(trips_) : nullptr, condition_};
    operands.insert(operands.end(), initial_.begin(), initial_.end());
    op_ = node_.builder().append(relax::OpKind::kLoop, operands);
    Region* region = function.make_region(op_);
    arith::Var iteration = node_.context().var("iteration");
    int64_t most = trips_ ? arith::bounds(trips_, node_.facts()).upper : INT64_MAX;
    function.facts.bound(iteration, {0, most == INT64_MAX ? most : std::max<int64_t>(0, most - 1)});
    op_->binds.push_back(iteration);
    op_->binds.insert(op_->binds.end(), symbols_.begin(), symbols_.end());
    function.make_argument(region, body_->input(0).name(),
                           relax::prim_info(node_.context(), DType::index(), iteration));
    std::vector<Slot> arguments(2);
    arguments[0].known = Known{DType::i(64), {}, {iteration}};
    arguments[1].known = Known{DType::boolean(), {}, {node_.index(1)}};  // the body runs, so it holds
    for (size_t i = 0; i < initial_.size(); ++i) {
      Slot slot;
      slot.value = function.make_argument(region, body_->input(static_cast<int>(i) + 2).name(), infos_[i]);
      arguments.push_back(std::move(slot));
    }
    Result<std::vector<Value*>> values = fill(node_, region, *body_, std::move(arguments));
    if (!values) {
      discard(node_, op_);
      return diag.failed();
    }
    values_ = *std::move(values);
    Result<bool> settled = expect_declared(*region->blocks.back()) ? generalize() : Result<bool>(diag.failed());
    if (!settled || !*settled) discard(node_, op_);
    return settled;
  }

  /// Extents that depend on the data, but that the body declares as numbers: they are expected at run time. For what is
  /// carried only if the first value has them too, since declarations of growing values are often stale.
  Status expect_declared(relax::Block& block) {
    relax::GraphBuilder builder(node_.importer().module(), node_.importer().ops(), &block, diag);
    builder.location = node_.location;
    for (size_t i = 1; i < values_.size(); ++i) {
      const auto& type = body_->output(static_cast<int>(i)).type().tensor_type();
      const auto* tensor = values_[i]->info->as<TensorInfo>();
      if (tensor == nullptr || !tensor->shape || type.shape().dim_size() != tensor->ndim) continue;
      const auto* first = i <= initial_.size() ? initial_[i - 1]->info->as<TensorInfo>() : nullptr;
      std::vector<Expr> dims = *tensor->shape;
      bool changed = false;
      for (size_t k = 0; k < dims.size(); ++k) {
        const auto& declared = type.shape().dim(static_cast<int>(k));
        if (dims[k].constant() != nullptr || !declared.has_dim_value() || declared.dim_value() < 0) continue;
        if (first != nullptr && (first->ndim != tensor->ndim || !(*first->shape)[k].is_constant(declared.dim_value())))
          continue;
        dims[k] = node_.index(declared.dim_value());
        changed = true;
      }
      if (!changed) continue;
      relax::Info info = relax::tensor_info(node_.context(), std::move(dims), tensor->dtype);
      RELAXC_TRY(values_[i], builder.match_cast(values_[i], info, {}));
    }
    return Done{};
  }

  /// Makes the dims symbolic in which a carried value differs from what the body got.
  Result<bool> generalize() {
    bool settled = true;
    for (size_t i = 0; i < initial_.size(); ++i) {
      const auto *before = infos_[i]->as<TensorInfo>(), *after = values_[i + 1]->info->as<TensorInfo>();
      if (after == nullptr || !after->shape || before->dtype != after->dtype || before->ndim != after->ndim)
        return node_.error(Kind::unsupported, "carried value '{}' is {} before and {} after an iteration",
                           body_->input(static_cast<int>(i) + 2).name(), relax::to_string(before),
                           relax::to_string(values_[i + 1]->info));
      std::vector<Expr> dims = *before->shape;
      for (size_t k = 0; k < dims.size(); ++k) {
        if (arith::prove_equal(dims[k], (*after->shape)[k], node_.facts())) continue;
        if (std::find(symbols_.begin(), symbols_.end(), dims[k]) != symbols_.end()) continue;
        arith::Var symbol =
            node_.context().var(body_->input(static_cast<int>(i) + 2).name() + "_d" + std::to_string(k));
        node_.importer().function().facts.bound(symbol, arith::Range::at_least(0));
        symbols_.push_back(symbol);
        dims[k] = symbol;
        settled = false;
      }
      infos_[i] = relax::tensor_info(node_.context(), std::move(dims), before->dtype);
    }
    return settled;
  }

  Status finish() {
    relax::Function& function = node_.importer().function();
    const Value* again = values_[0];
    bool endless = again->op != nullptr && again->op->kind == relax::OpKind::kConstant &&
                   again->op->constant->elements() == 1 && decoded(*again->op->constant) != 0;
    op_->regions[0]->yield->add_operand(endless ? nullptr : values_[0]);
    for (size_t i = 1; i < values_.size(); ++i) op_->regions[0]->yield->add_operand(values_[i]);
    for (size_t i = 0; i < initial_.size(); ++i) RELAXC_DO(node_.set(i, function.make_result(op_, {}, infos_[i])));
    bool exact = endless && condition_ == nullptr && trips_;
    for (size_t i = initial_.size(); i + 1 < values_.size(); ++i) {
      std::vector<Expr> dims = values_[i + 1]->shape();
      for (Expr extent : dims)
        for (arith::Var var : arith::free_vars(extent))
          if (std::find(op_->binds.begin(), op_->binds.end(), var) != op_->binds.end())
            return node_.error(Kind::unsupported, "the size of scan output {} changes between iterations", i);
      Expr count = exact ? node_.simplify(arith::max(trips_, node_.index(0))) : Expr();
      if (!count) {
        arith::Var trips = node_.context().var("trips");
        op_->binds.push_back(trips);
        function.facts.bound(trips, arith::Range::at_least(0));
        count = trips;
      }
      dims.insert(dims.begin(), count);
      relax::Info info = relax::tensor_info(node_.context(), std::move(dims), values_[i + 1]->dtype());
      RELAXC_DO(node_.set(i, function.make_result(op_, {}, info)));
    }
    return Done{};
  }

  static int64_t decoded(const relax::ConstantData& data) {
    int64_t value = 0;
    data.with_bytes(
        [&](std::span<const std::byte> bytes) { value = relax::decode_integer(data.dtype(), bytes.data()); });
    return value;
  }

  Node& node_;
  Diagnostics& diag;
  const onnx::GraphProto* body_ = nullptr;
  Op* op_ = nullptr;
  Expr trips_;
  Value* condition_ = nullptr;
  std::vector<Value*> initial_, values_;
  std::vector<relax::Info> infos_;
  std::vector<arith::Var> symbols_;
};

Status loop(Node& node) {
  return LoopConverter(node).run();
}

constexpr Converter kRows[] = {
    {.name = "If", .convert = if_node, .note = "branches agree in type and rank"},
    {.name = "Loop", .convert = loop, .note = "tensors are carried, not sequences"},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(control, kRows)
