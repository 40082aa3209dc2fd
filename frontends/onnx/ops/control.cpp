// control.cpp: If.
//
// If the condition is known at compile time, only its branch remains; exporters often write such Ifs around optional
// squeezes. Otherwise both branches become regions, and dims in which their results differ become symbols that the If
// binds.
#include <algorithm>
#include <functional>

#include "frontends/onnx/regions.h"

namespace relaxc::frontend::control_family {
namespace {

using relax::Op;

/// Returns a type that covers both values; dims that differ become symbols bound by `op`. Reports other differences.
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

Status if_known(Node& node, const onnx::GraphProto& branch) {
  RELAXC_TRY(std::vector<NamedValue> results, node.importer().inline_graph(branch, {}, nullptr));
  for (size_t i = 0; i < results.size() && i < node.outputs(); ++i)
    if (node.wants(i)) node.importer().scope().slots[node.proto.output(static_cast<int>(i))] = results[i];
  return Done{};
}

/// If one branch gives a scalar and the other the same with dims of 1, reshapes the scalar to these dims, and warns.
Status agree_on_dims(Node& node, Op* op, std::vector<Value*>& x, std::vector<Value*>& y) {
  Diagnostics& diag = node.diag;
  for (size_t i = 0; i < x.size(); ++i) {
    bool first = x[i]->shape().empty();
    if (first == y[i]->shape().empty()) continue;
    Value*& scalar = first ? x[i] : y[i];
    const std::vector<Expr>& dims = (first ? y : x)[i]->shape();
    if (!std::all_of(dims.begin(), dims.end(), [](Expr dim) { return dim.is_constant(1); })) continue;
    diag.warning(node.location, Kind::rank_mismatch,
                 "the branches give one number with {} dims and without; they are assumed", dims.size());
    GraphImporter::Inside inside(node.importer(), op->regions[first ? 0 : 1]->blocks.back());
    RELAXC_TRY(scalar, reshape(node, scalar, dims));
  }
  return Done{};
}

/// The branches of an If that become two regions. If ranks differ between the branches, the nodes that depend on the
/// results are converted inside both branches as well.
struct Branches {
  const onnx::GraphProto &then_graph, &else_graph;
  const onnx::NodeProto* whole = nullptr;  ///< the If whose outputs the dependents read
  const NodeList* dependents = nullptr;
};

Result<std::vector<NamedValue>> fill_branch(Node& node, Op* op, const onnx::GraphProto& graph,
                                            const Branches& branches) {
  relax::Region* region = node.importer().function().make_region(op);
  RELAXC_TRY(std::vector<NamedValue> made, fill(node, region, graph, {}));
  if (branches.dependents == nullptr) return made;
  return node.importer().inline_dependents(*branches.whole, std::move(made), *branches.dependents,
                                           region->blocks.back());
}

/// Returns whether both values are tensors and their ranks differ.
bool ranks_differ(const Value* a, const Value* b) {
  const auto *x = a->info->as<TensorInfo>(), *y = b->info->as<TensorInfo>();
  return x != nullptr && y != nullptr && x->ndim != y->ndim;
}

/// Builds regions, results and outputs of an If. Returns false if ranks differ between the branches and the dependents
/// are not in the branches; the op then has no results, and the caller discards it.
Result<bool> fill_branches(Node& node, Op* op, const Branches& branches) {
  Diagnostics& diag = node.diag;
  relax::Function& function = node.importer().function();
  Result<std::vector<NamedValue>> a = fill_branch(node, op, branches.then_graph, branches);
  Result<std::vector<NamedValue>> b = fill_branch(node, op, branches.else_graph, branches);
  if (branches.dependents != nullptr && bool(a) != bool(b))
    node.importer().misfits.emplace(branches.whole->SerializeAsString(), !a);
  if (!a || !b) return diag.failed();
  if (a->size() != b->size() || a->size() < node.outputs())
    return node.error(Kind::wrong_arity, "the branches give {} and {} values for {} outputs", a->size(), b->size(),
                      node.outputs());
  std::vector<NamedValue> likes;
  std::vector<std::string> names;
  for (size_t i = 0; i < a->size(); ++i) {
    likes.push_back(optional_in((*a)[i]) != nullptr ? (*a)[i] : (*b)[i]);
    for (const std::string& suffix : flattened_suffixes(likes.back()))
      names.push_back((node.wants(i) ? node.proto.output(static_cast<int>(i)) : "result") + suffix);
  }
  RELAXC_TRY(std::vector<Value*> x, flattened(node, op->regions[0], *a, likes));
  RELAXC_TRY(std::vector<Value*> y, flattened(node, op->regions[1], *b, likes));
  if (x.size() != y.size()) return node.error(Kind::unsupported, "the branches give values of different forms");
  RELAXC_DO(agree_on_dims(node, op, x, y));
  if (branches.dependents == nullptr && !std::equal(x.begin(), x.end(), y.begin(), std::not_fn(ranks_differ)))
    return false;
  std::vector<relax::Info> infos;
  for (size_t i = 0; i < x.size(); ++i) {
    RELAXC_TRY(relax::Info info, join(node, op, x[i], y[i], names[i]));
    infos.push_back(info);
  }
  std::vector<Value*> results;
  for (size_t i = 0; i < infos.size(); ++i) {
    op->regions[0]->yield->add_operand(x[i]);
    op->regions[1]->yield->add_operand(y[i]);
    results.push_back(function.make_result(op, {}, infos[i]));
    node.importer().sizes().add_facts(infos[i]);
  }
  RELAXC_DO(set_rebuilt(node, 0, likes, results));
  return true;
}

/// Converts only one branch, since what follows does not fit the other: a run that takes the other is refused, as ONNX
/// Runtime refuses it at the node that does not fit.
Status only_branch(Node& node, Value* condition, const Branches& branches, bool taken) {
  Diagnostics& diag = node.diag;
  diag.warning(node.location, Kind::rank_mismatch,
               "what depends on the results does not fit their ranks in the {} branch; runs that take it are refused",
               taken ? "else" : "then");
  RELAXC_TRY(std::vector<Expr> value, values_of(node, condition));
  relax::Info holds = relax::shape_info(node.context(), {node.index(taken ? 1 : 0)});
  RELAXC_DO(node.builder().match_cast(node.shape(std::move(value)), holds, {}));
  return if_known(node, taken ? branches.then_graph : branches.else_graph);
}

/// Converts an If whose results differ in rank: nodes that depend on them are converted in both branches, so that only
/// the graph's outputs need to have one rank.
Status if_with_dependents(Node& node, Value* condition, Branches branches) {
  Diagnostics& diag = node.diag;
  GraphImporter& importer = node.importer();
  for (bool branch : {false, true})
    if (!importer.given_up.empty() && importer.given_up.count({node.proto.SerializeAsString(), branch}) != 0)
      return only_branch(node, condition, branches, !branch);
  RELAXC_TRY(NodeList dependents, importer.take_dependents(node.proto));
  onnx::NodeProto whole = node.proto;
  whole.clear_output();
  for (const std::string& output : dependents.outputs) whole.add_output(output);
  Node all(importer, whole, node.opset, node.location);
  branches.whole = &node.proto;
  branches.dependents = &dependents;
  Op* op = node.builder().append(relax::OpKind::kIf, {condition});
  Result<bool> done = fill_branches(all, op, branches);
  if (!done) discard(node, op);
  // All readers are in the branches now. Outputs that have no value are marked as failed.
  for (const std::string& output : node.proto.output())
    if (!output.empty()) importer.scope().slots.try_emplace(output, NamedValue{nullptr, std::nullopt, true});
  for (const auto& [dependent, number] : dependents.nodes)
    for (const std::string& output : dependent->output())
      if (!output.empty()) importer.scope().slots.try_emplace(output, NamedValue{nullptr, std::nullopt, true});
  return done ? Status(Done{}) : Status(diag.failed());
}

/// Returns whether the If is an exported squeeze of an open dim: it squeezes a value if the dim is 1, and else passes
/// it on unchanged. The nodes that follow were traced with the squeezed rank.
bool is_open_squeeze(const onnx::GraphProto& then_graph, const onnx::GraphProto& else_graph) {
  if (then_graph.node_size() == 0 || else_graph.node_size() != 1) return false;
  int last = then_graph.node_size() - 1;
  const onnx::NodeProto &squeeze = then_graph.node(last), &same = else_graph.node(0);
  auto is = [](const onnx::NodeProto& node, const char* op) {
    return node.op_type() == op && domain_of(node.domain()).empty();
  };
  auto constant = [&](const onnx::NodeProto& node) { return is(node, "Constant"); };
  return is(squeeze, "Squeeze") && is(same, "Identity") && squeeze.input(0) == same.input(0) &&
         std::all_of(then_graph.node().begin(), then_graph.node().begin() + last, constant);
}

/// Converts such an If to its squeeze. Runs whose condition is false are refused, since a program has one rank.
Status squeeze_if(Node& node, Expr condition, const onnx::GraphProto& then_graph) {
  relax::Info holds = relax::shape_info(node.context(), {node.index(1)});
  RELAXC_DO(node.builder().match_cast(node.shape({condition}), holds, {}));
  return if_known(node, then_graph);
}

Status if_node(Node& node) {
  Diagnostics& diag = node.diag;
  const onnx::GraphProto *then_graph = subgraph(node, "then_branch"), *else_graph = subgraph(node, "else_branch");
  if (then_graph == nullptr || else_graph == nullptr)
    return node.error(Kind::invalid_attribute, "it needs the graphs then_branch and else_branch");
  if (const Known* known = node.known(0); known != nullptr && known->size() == 1 && known->constants())
    return if_known(node, (*known->constants())[0] != 0 ? *then_graph : *else_graph);
  if (const Known* known = node.known(0);
      known != nullptr && known->size() == 1 && is_open_squeeze(*then_graph, *else_graph))
    return squeeze_if(node, known->elements[0], *then_graph);
  RELAXC_TRY(Value * condition, condition_of(node, 0));
  Op* op = node.builder().append(relax::OpKind::kIf, {condition});
  Branches branches{*then_graph, *else_graph};
  Result<bool> done = fill_branches(node, op, branches);
  if (done && *done) return Done{};
  discard(node, op);
  return done ? if_with_dependents(node, condition, branches) : Status(diag.failed());
}

constexpr Converter kRows[] = {
    {.name = "If",
     .convert = if_node,
     .note =
         "what depends on a result of two ranks is in both branches, if it fits both; the squeeze of an open dim is "
         "one that must be 1"},
};

}  // namespace
}  // namespace relaxc::frontend::control_family

RELAXC_CONVERTERS(control, kRows)
