// loop.cpp: Loop.
//
// Carried values begin with the types of their first values; if the body returns another extent, that dim becomes a
// symbol and the body is converted again with it. All collected elements have one size: dims on which it depends must
// not change, and a run in which they do fails.
#include <algorithm>
#include <set>

#include "frontends/onnx/regions.h"

namespace relaxc::frontend::loop_family {
namespace {

using relax::Op;
using relax::Region;

class LoopConverter {
 public:
  explicit LoopConverter(Node& node) : node_(node), diag(node.diag) {}

  Status run() {
    body_ = subgraph(node_, "body");
    if (body_ == nullptr) return node_.error(Kind::invalid_attribute, "it needs the graph body");
    RELAXC_DO(read_operands());
    // Each round makes at least one more dim symbolic, or holds one for good, so there are at most two rounds per
    // dim.
    for (;;) {
      RELAXC_TRY(bool settled, attempt());
      if (settled && !hold_collected()) return finish();
    }
  }

 private:
  /// A dim of a carried value whose extent differs between iterations, and the symbol for it.
  struct Grown {
    arith::Var symbol;
    size_t value, dim;
  };

  Status read_operands() {
    if (node_.has(0)) {
      RELAXC_TRY(std::vector<Expr> trips, node_.ints(0));
      if (trips.size() != 1) return node_.error(Kind::invalid_value, "the trip count must be a scalar");
      // Exporters write an endless loop as a trip count of INT64_MAX.
      if (!trips[0].is_constant(INT64_MAX)) trips_ = trips[0];
    }
    if (node_.has(1)) {
      const Known* known = node_.known(1);
      std::optional<std::vector<int64_t>> value = known == nullptr ? std::nullopt : known->constants();
      if (!value || *value != std::vector<int64_t>{1}) {
        RELAXC_TRY(condition_, condition_of(node_, 1));
      }
    }
    size_t carried = node_.inputs() < 2 ? 0 : node_.inputs() - 2;
    if (static_cast<size_t>(body_->input_size()) != carried + 2 ||
        static_cast<size_t>(body_->output_size()) < carried + 1)
      return node_.error(Kind::wrong_arity, "the body takes {} values and gives {}, but the loop carries {}",
                         body_->input_size(), body_->output_size(), carried);
    for (size_t i = 0; i < carried; ++i) RELAXC_DO(read_carried(i));
    return Done{};
  }

  Status read_carried(size_t at) {
    if (!node_.has(at + 2)) return node_.error(Kind::wrong_arity, "input {} is missing", at + 2);
    NamedValue slot = *node_.importer().find(node_.proto.input(static_cast<int>(at) + 2));
    if (slot.composite == nullptr) {
      RELAXC_TRY(slot.value, node_.input(at + 2));
    }
    RELAXC_TRY(std::vector<Value*> values, Composites(node_.importer()).flatten(slot));
    std::vector<std::string> suffixes = flattened_suffixes(slot);
    if (sequence_in(slot) != nullptr) shapes_.insert(initial_.size() + 1);
    for (size_t k = 0; k < values.size(); ++k) {
      initial_.push_back(values[k]);
      infos_.push_back(values[k]->info);
      names_.push_back(body_->input(static_cast<int>(at) + 2).name() + suffixes[k]);
    }
    carried_.push_back(std::move(slot));
    return Done{};
  }

  /// Converts the body once. Returns false if a carried value changed its extent, so the body must be converted again.
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
    for (const Grown& grown : grown_) op_->binds.push_back(grown.symbol);
    function.make_argument(region, body_->input(0).name(),
                           relax::prim_info(node_.context(), DType::index(), iteration));
    std::vector<NamedValue> arguments(2);
    arguments[0].known = Known{DType::i(64), {}, {iteration}};
    arguments[1].known = Known{DType::boolean(), {}, {node_.index(1)}};  // the body only runs while the condition holds
    std::vector<Value*> inside;
    for (size_t i = 0; i < initial_.size(); ++i) inside.push_back(function.make_argument(region, names_[i], infos_[i]));
    std::span<Value* const> rest(inside);
    for (const NamedValue& like : carried_) arguments.push_back(Composites(node_.importer()).rebuild(like, rest));
    Status filled = fill_body(region, std::move(arguments));
    bool expected = filled && expect_declared(*region->blocks.back()) && expect_held(*region->blocks.back());
    Result<bool> settled = expected ? generalize() : Result<bool>(diag.failed());
    if (!settled || !*settled) discard(node_, op_);
    return settled;
  }

  /// Converts the body, and stores its results as tensors: the condition, then carried values, then collected values.
  Status fill_body(Region* region, std::vector<NamedValue> arguments) {
    RELAXC_TRY(std::vector<NamedValue> slots, fill(node_, region, *body_, std::move(arguments)));
    std::vector<NamedValue> likes{NamedValue()};
    likes.insert(likes.end(), carried_.begin(), carried_.end());
    likes.resize(slots.size());
    RELAXC_TRY(values_, flattened(node_, region, slots, likes));
    declared_.assign(1, nullptr);
    for (size_t i = 1; i < slots.size(); ++i) {
      size_t parts = flattened_suffixes(likes[i]).size();
      const auto& type = body_->output(static_cast<int>(i)).type();
      for (size_t k = 0; k < parts; ++k)
        declared_.push_back(parts == 1 && type.has_tensor_type() ? &type.tensor_type() : nullptr);
    }
    return Done{};
  }

  /// Extents that depend on data, but that the body declares as numbers, are checked at run time and then used. A
  /// carried value's extent only if its first value has it too, since declarations of growing values are often stale.
  Status expect_declared(relax::Block& block) {
    relax::GraphBuilder builder(node_.importer().module(), node_.importer().ops(), &block, diag);
    builder.location = node_.location;
    for (size_t i = 1; i < values_.size(); ++i) {
      if (declared_[i] == nullptr) continue;
      const onnx::TypeProto::Tensor& type = *declared_[i];
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

  /// Adds run-time checks that held dims of carried values do not change.
  Status expect_held(relax::Block& block) {
    relax::GraphBuilder builder(node_.importer().module(), node_.importer().ops(), &block, diag);
    builder.location = node_.location;
    for (auto [i, k] : held_) {
      const auto *before = infos_[i]->as<TensorInfo>(), *after = values_[i + 1]->info->as<TensorInfo>();
      if (after == nullptr || !after->shape || before->ndim != after->ndim) continue;
      std::vector<Expr> dims = *after->shape;
      dims[k] = (*before->shape)[k];
      relax::Info info = relax::tensor_info(node_.context(), std::move(dims), after->dtype);
      RELAXC_TRY(values_[i + 1], builder.match_cast(values_[i + 1], info, {}));
    }
    return Done{};
  }

  /// All collected elements have one size, so carried dims on which it depends are held. Returns true if there is a dim
  /// that was not held yet; the body must then be converted again.
  bool hold_collected() {
    std::vector<Grown> kept;
    for (const Grown& grown : grown_)
      if (is_collected(grown.symbol)) {
        held_.emplace_back(grown.value, grown.dim);
        const auto *first = initial_[grown.value]->info->as<TensorInfo>(), *now = infos_[grown.value]->as<TensorInfo>();
        std::vector<Expr> dims = *now->shape;
        dims[grown.dim] = (*first->shape)[grown.dim];
        infos_[grown.value] = relax::tensor_info(node_.context(), std::move(dims), now->dtype);
      } else {
        kept.push_back(grown);
      }
    if (kept.size() == grown_.size()) return false;
    grown_ = std::move(kept);
    discard(node_, op_);
    return true;
  }

  bool is_collected(arith::Var symbol) const {
    for (size_t i = initial_.size() + 1; i < values_.size(); ++i)
      for (Expr extent : values_[i]->shape()) {
        const auto& vars = arith::free_vars(extent);
        if (std::find(vars.begin(), vars.end(), symbol) != vars.end()) return true;
      }
    return false;
  }

  /// Gives an empty initial sequence the rank of the elements that the body adds; returns whether value `at` is one.
  Result<bool> takes_rank(size_t at, const TensorInfo& after) {
    const std::vector<Expr>& dims = initial_[at]->shape();
    if (shapes_.count(at) == 0 || !dims[0].is_constant(0) || (*after.shape)[1].constant() == nullptr) return false;
    if (dims[1] == (*after.shape)[1]) return false;
    Value* none = node_.shape({node_.index(0), (*after.shape)[1]});
    RELAXC_TRY(initial_[at], node_.call("zeros", {none}, {{"dtype", DType::i(64)}}));
    infos_[at] = initial_[at]->info;
    return true;
  }

  /// Makes dims symbolic where the body changes a carried value's extent. Returns false if something changed.
  Result<bool> generalize() {
    bool settled = true;
    for (size_t i = 0; i < initial_.size(); ++i) {
      const auto *before = infos_[i]->as<TensorInfo>(), *after = values_[i + 1]->info->as<TensorInfo>();
      if (after == nullptr || !after->shape || before->dtype != after->dtype || before->ndim != after->ndim)
        return node_.error(Kind::unsupported, "carried value '{}' is {} before and {} after an iteration", names_[i],
                           relax::to_string(before), relax::to_string(values_[i + 1]->info));
      RELAXC_TRY(bool taken, takes_rank(i, *after));
      if (taken) return false;
      std::vector<Expr> dims = *before->shape;
      for (size_t k = 0; k < dims.size(); ++k) {
        if (arith::prove_equal(dims[k], (*after->shape)[k], node_.facts())) continue;
        if (std::any_of(grown_.begin(), grown_.end(), [&](const Grown& g) { return dims[k] == g.symbol; })) continue;
        arith::Var symbol = node_.context().var(names_[i] + "_d" + std::to_string(k));
        node_.importer().function().facts.bound(symbol, arith::Range::at_least(0));
        grown_.push_back({symbol, i, k});
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
    RELAXC_DO(set_carried());
    bool exact = endless && condition_ == nullptr && trips_;
    for (size_t i = initial_.size(); i + 1 < values_.size(); ++i) {
      std::vector<Expr> dims = values_[i + 1]->shape();
      RELAXC_DO(expect_one_size(node_, op_, dims, i));
      Expr count = exact ? node_.simplify(arith::max(trips_, node_.index(0))) : Expr();
      if (!count) {
        arith::Var trips = node_.context().var("trips");
        op_->binds.push_back(trips);
        function.facts.bound(trips, arith::Range::at_least(0));
        count = trips;
      }
      dims.insert(dims.begin(), count);
      relax::Info info = relax::tensor_info(node_.context(), std::move(dims), values_[i + 1]->dtype());
      size_t output = carried_.size() + i - initial_.size();
      RELAXC_DO(node_.set(output, function.make_result(op_, {}, info)));
    }
    return Done{};
  }

  /// Sets the outputs of carried values. An optional that the body declares as its content is present at the end.
  Status set_carried() {
    std::vector<Value*> results;
    for (relax::Info info : infos_) results.push_back(node_.importer().function().make_result(op_, {}, info));
    RELAXC_DO(set_rebuilt(node_, 0, carried_, results));
    for (size_t i = 0; i < carried_.size(); ++i) {
      const Composite* optional = optional_in(carried_[i]);
      const auto& type = body_->output(static_cast<int>(i) + 1).type();
      if (optional == nullptr || type.has_optional_type() || !node_.wants(i)) continue;
      NamedValue& slot = node_.importer().scope().slots[node_.proto.output(static_cast<int>(i))];
      slot = NamedValue(optional_in(slot)->content);
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
  std::vector<NamedValue> carried_;  ///< values before the loop
  std::vector<Value*> initial_, values_;
  std::vector<relax::Info> infos_;
  std::vector<std::string> names_;
  std::vector<const onnx::TypeProto::Tensor*>
      declared_;  ///< the type declared for each of values_; null if there is none to check
  std::vector<Grown> grown_;
  std::set<size_t> shapes_;  ///< indices in initial_ of values that are the shapes of a sequence's elements
  std::vector<std::pair<size_t, size_t>> held_;  ///< carried values and dims that must not change
};

/// Converts a loop that collects strings: they are carried as a sequence, and stacked after the loop.
class CollectedStrings {
 public:
  CollectedStrings(Node& node, const onnx::GraphProto& body)
      : node_(node),
        prefix_(node.proto.output(0) + "/"),
        first_(static_cast<int>(std::max<size_t>(node.inputs(), 2)) - 1),
        body_(body) {
    for (int i = first_; i < body.output_size(); ++i)
      if (body.output(i).type().tensor_type().elem_type() == onnx::TensorProto::STRING) strings_.push_back(i);
  }

  bool any() const { return !strings_.empty(); }

  Status run() {
    loop_ = node_.proto;
    loop_.clear_output();
    while (loop_.input_size() < 2) loop_.add_input("");
    carry();
    onnx::GraphProto graph;
    std::vector<onnx::NodeProto> joins;
    int outputs = body_.output_size() - 1;
    for (int i = 0; i < outputs; ++i) graph.add_output()->set_name(name("out", i));
    for (int i = 0; i < first_ - 1; ++i) loop_.add_output(name("out", i));
    for (int i : strings_) {
      onnx::NodeProto& none = *graph.add_node();
      none.set_op_type("SequenceEmpty");
      none.add_output(name("none", i));
      integer(none, "dtype", onnx::TensorProto::STRING);
      loop_.add_input(name("none", i));
      loop_.add_output(name("all", i));
      onnx::NodeProto& join = joins.emplace_back();
      join.set_op_type("ConcatFromSequence");
      join.add_input(name("all", i));
      join.add_output(name("out", i - 1));
      integer(join, "axis", 0);
      integer(join, "new_axis", 1);
    }
    for (int i = first_; i < body_.output_size(); ++i)
      if (!is_string(i)) loop_.add_output(name("out", i - 1));
    *graph.add_node() = loop_;
    for (const onnx::NodeProto& join : joins) *graph.add_node() = join;
    RELAXC_TRY(std::vector<NamedValue> results, node_.importer().inline_graph(graph, {}, nullptr));
    for (size_t i = 0; i < results.size(); ++i)
      if (node_.wants(i)) node_.importer().scope().slots[node_.proto.output(static_cast<int>(i))] = results[i];
    return Done{};
  }

 private:
  /// Adds a carried sequence to the body for each output of collected strings, after the body's own carried values.
  void carry() {
    for (onnx::AttributeProto& attribute : *loop_.mutable_attribute()) {
      if (attribute.name() != "body") continue;
      onnx::GraphProto& body = *attribute.mutable_g();
      body.clear_output();
      for (int i = 0; i < first_; ++i) *body.add_output() = body_.output(i);
      for (int i : strings_) {
        body.add_input()->set_name(name("so_far", i));
        onnx::NodeProto& insert = *body.add_node();
        insert.set_op_type("SequenceInsert");
        insert.add_input(name("so_far", i));
        insert.add_input(body_.output(i).name());
        insert.add_output(name("more", i));
        body.add_output()->set_name(name("more", i));
      }
      for (int i = first_; i < body_.output_size(); ++i)
        if (!is_string(i)) *body.add_output() = body_.output(i);
    }
  }

  bool is_string(int output) const { return std::find(strings_.begin(), strings_.end(), output) != strings_.end(); }
  std::string name(const char* what, int output) const { return prefix_ + what + std::to_string(output); }
  static void integer(onnx::NodeProto& node, const char* name, int64_t value) {
    onnx::AttributeProto& made = *node.add_attribute();
    made.set_name(name);
    made.set_type(onnx::AttributeProto::INT);
    made.set_i(value);
  }

  Node& node_;
  std::string prefix_;
  int first_;  ///< index of the body's first collected output
  const onnx::GraphProto& body_;
  onnx::NodeProto loop_;
  std::vector<int> strings_;
};

Status loop(Node& node) {
  const onnx::AttributeProto* body = node.attribute("body");
  if (body != nullptr && body->has_g() && node.outputs() > 0) {
    CollectedStrings collected(node, body->g());
    if (collected.any()) return collected.run();
  }
  return LoopConverter(node).run();
}

constexpr Converter kRows[] = {
    {.name = "Loop", .convert = loop, .note = "carried values must keep their ranks"},
};

}  // namespace
}  // namespace relaxc::frontend::loop_family

RELAXC_CONVERTERS(loop, kRows)
