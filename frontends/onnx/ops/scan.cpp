// scan.cpp: Scan as the loop that it is: one iteration an element of the scanned inputs.
//
// Inside the body an element is a slice of the whole input, so nothing is cut up beforehand; what is collected is
// stacked along a new leading dim by the loop, and turned round or moved to its axis afterwards.
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {
namespace {

using Ints = std::vector<int64_t>;

class ScanConverter {
 public:
  explicit ScanConverter(Node& node) : node_(node), diag(node.diag) {}

  Status run() {
    RELAXC_DO(read_operands());
    RELAXC_DO(convert_body());
    return set_results();
  }

 private:
  struct Scanned {
    Value* value = nullptr;
    int64_t axis = 0;
    bool backward = false;
  };

  /// One number for each of `count`, 0 where the attribute is absent.
  Result<Ints> numbers(const char* name, size_t count) {
    Ints list = node_.ints_attr(name, Ints(count, 0));
    if (list.size() != count)
      return node_.error(Kind::invalid_attribute, "{} has {} numbers for {} values", name, list.size(), count);
    return list;
  }

  Status read_operands() {
    const onnx::AttributeProto* body = node_.attribute("body");
    if (body == nullptr || !body->has_g()) return node_.error(Kind::invalid_attribute, "it needs the graph body");
    body_ = &body->g();
    RELAXC_TRY(std::vector<Value*> operands, node_.all_inputs());
    int64_t count = node_.int_attr("num_scan_inputs", 0);
    if (count < 1 || count > static_cast<int64_t>(operands.size()) ||
        body_->input_size() != static_cast<int>(operands.size()))
      return node_.error(Kind::wrong_arity, "{} inputs, {} of them scanned, do not fit a body of {}", operands.size(),
                         count, body_->input_size());
    size_t scanned = static_cast<size_t>(count);
    states_.assign(operands.begin(), operands.end() - count);
    if (static_cast<size_t>(body_->output_size()) < states_.size())
      return node_.error(Kind::wrong_arity, "the body gives {} values for {} states", body_->output_size(),
                         states_.size());
    RELAXC_TRY(Ints axes, numbers("scan_input_axes", scanned));
    RELAXC_TRY(Ints directions, numbers("scan_input_directions", scanned));
    for (size_t i = 0; i < scanned; ++i) {
      Value* value = operands[states_.size() + i];
      RELAXC_TRY(int64_t axis, normal_axis(node_, axes[i], static_cast<int64_t>(value->shape().size())));
      scanned_.push_back({value, axis, directions[i] != 0});
      Expr extent = value->shape()[static_cast<size_t>(axis)];
      if (!trips_) trips_ = extent;
      if (arith::prove_equal(trips_, extent, node_.facts())) continue;
      // Lengths that may differ are expected to be the same when the program runs.
      std::vector<Expr> dims = value->shape();
      dims[static_cast<size_t>(axis)] = trips_;
      relax::Info info = relax::tensor_info(node_.context(), std::move(dims), value->dtype());
      RELAXC_TRY(scanned_.back().value, node_.builder().match_cast(value, info, {}));
    }
    return Done{};
  }

  Status convert_body() {
    relax::Function& function = node_.importer().function();
    std::vector<Value*> operands{node_.builder().prim(trips_), nullptr};
    operands.insert(operands.end(), states_.begin(), states_.end());
    op_ = node_.builder().append(relax::OpKind::kLoop, operands);
    relax::Region* region = function.make_region(op_);
    arith::Var iteration = node_.context().var("iteration");
    int64_t most = arith::bounds(trips_, node_.facts()).upper;
    function.facts.bound(iteration, {0, most == INT64_MAX ? most : std::max<int64_t>(0, most - 1)});
    op_->binds.push_back(iteration);
    function.make_argument(region, "iteration", relax::prim_info(node_.context(), DType::index(), iteration));
    std::vector<Slot> arguments;
    auto pass = [&](Value* value) {
      Slot slot;
      slot.value = value;
      arguments.push_back(std::move(slot));
    };
    for (size_t i = 0; i < states_.size(); ++i)
      pass(function.make_argument(region, body_->input(static_cast<int>(i)).name(), states_[i]->info));
    relax::Block* block = function.make_block(region, true);
    relax::GraphBuilder inside(node_.importer().module(), node_.importer().ops(), block, diag);
    inside.location = node_.location;
    for (const Scanned& input : scanned_) {
      Expr at = input.backward ? trips_ - 1 - iteration : Expr(iteration);
      Value *begin = inside.shape({at}), *one = inside.shape({node_.index(1)});
      RELAXC_TRY(Value * part, inside.call("slice_part", {input.value, begin, one}, {{"axis", input.axis}}));
      RELAXC_TRY(part, inside.call("squeeze", {part}, {{"axis", Ints{input.axis}}}));
      pass(part);
    }
    RELAXC_TRY(std::vector<Slot> made, node_.importer().inline_graph(*body_, std::move(arguments), block));
    region->yield->add_operand(nullptr);
    for (size_t i = 0; i < made.size(); ++i) {
      Value* value = made[i].value;
      if (i < states_.size()) {
        if (value->dtype() != states_[i]->dtype())
          return node_.error(Kind::dtype_mismatch, "state {} is {} before and {} after an iteration", i,
                             relax::to_string(states_[i]->info), relax::to_string(value->info));
        RELAXC_TRY(value, with_shape(node_, value, states_[i]->shape(), fmt::format("state {}", i), &inside));
      }
      region->yield->add_operand(value);
      made_.push_back(value);
    }
    return Done{};
  }

  Status set_results() {
    relax::Function& function = node_.importer().function();
    size_t collected = made_.size() - states_.size();
    RELAXC_TRY(Ints axes, numbers("scan_output_axes", collected));
    RELAXC_TRY(Ints directions, numbers("scan_output_directions", collected));
    std::vector<Value*> results;
    for (size_t i = 0; i < made_.size(); ++i) {
      std::vector<Expr> dims = made_[i]->shape();
      if (i >= states_.size()) dims.insert(dims.begin(), trips_);
      results.push_back(
          function.make_result(op_, {}, relax::tensor_info(node_.context(), std::move(dims), made_[i]->dtype())));
    }
    for (size_t i = 0; i < made_.size(); ++i) {
      if (i >= states_.size()) {
        size_t k = i - states_.size();
        RELAXC_TRY(results[i], arranged(results[i], axes[k], directions[k] != 0));
      }
      if (node_.wants(i)) RELAXC_DO(node_.set(i, results[i]));
    }
    return Done{};
  }

  Result<Value*> arranged(Value* stacked, int64_t axis, bool backward) {
    int64_t rank = static_cast<int64_t>(stacked->shape().size());
    RELAXC_TRY(axis, normal_axis(node_, axis, rank));
    if (backward) {
      RELAXC_TRY(stacked, node_.call("flip", {stacked}, {{"axis", Ints{0}}}));
    }
    if (axis == 0) return stacked;
    Ints order;
    for (int64_t i = 1; i < rank; ++i) order.push_back(i);
    order.insert(order.begin() + axis, 0);
    return node_.call("permute_dims", {stacked}, {{"axes", order}});
  }

  Node& node_;
  Diagnostics& diag;
  const onnx::GraphProto* body_ = nullptr;
  relax::Op* op_ = nullptr;
  Expr trips_;
  std::vector<Value*> states_, made_;
  std::vector<Scanned> scanned_;
};

Status scan(Node& node) {
  return ScanConverter(node).run();
}

constexpr Converter kRows[] = {
    {.name = "Scan", .convert = scan, .since = 9, .note = "states keep their shapes"},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(scan, kRows)
