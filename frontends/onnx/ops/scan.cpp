// scan.cpp: Scan as a loop: one iteration for each element of the scanned inputs.
//
// In the body an element is a slice of the whole input, so nothing is split beforehand; the loop stacks collected
// values along a new leading dim, which is reversed or moved to its axis afterwards.
#include "frontends/onnx/regions.h"

namespace relaxc::frontend::scan_family {
namespace {

using Ints = std::vector<int64_t>;

class ScanConverter {
 public:
  explicit ScanConverter(Node& node) : node_(node) {}

  Status run() {
    RELAXC_TRY(std::vector<Value*> operands, node_.all_inputs());
    RELAXC_DO(read_body(operands.size()));
    RELAXC_TRY(std::vector<Value*> results, scan(operands));
    return set(results);
  }

  /// Converts Scan of opset 8: every operand has a leading batch dim, whose members are scanned separately.
  Status run_batched() {
    RELAXC_TRY(Value * lengths, node_.optional_input(0));
    std::vector<Value*> operands;
    for (size_t i = 1; i < node_.inputs(); ++i) {
      RELAXC_TRY(Value * value, node_.input(i));
      if (value->shape().size() < 1)
        return node_.error(Kind::rank_mismatch, "input {} has no batch dim: {}", i, relax::to_string(value->info));
      operands.push_back(value);
    }
    RELAXC_DO(read_body(operands.size()));
    Expr batch = operands[0]->shape()[0];
    for (Value*& value : operands) {
      RELAXC_TRY(value, of_extent(value, 0, batch));
    }
    Loop members = open_loop(batch, {});
    std::vector<Value*> results;
    {
      GraphImporter::Inside inside(node_.importer(), members.block);
      for (Value*& value : operands) {
        RELAXC_TRY(value, element(value, 0, members.iteration));
      }
      if (lengths != nullptr) {
        RELAXC_TRY(Value * length, element(lengths, 0, members.iteration));
        RELAXC_TRY(std::vector<Expr> read, values_of(node_, length));
        length_ = read.at(0);
      }
      RELAXC_TRY(results, scan(operands));
    }
    RELAXC_TRY(results, close_loop(members, results, 0));
    return set(results);
  }

 private:
  struct Scanned {
    Value* value = nullptr;
    int64_t axis = 0;
    bool backward = false;
  };
  /// A loop under construction that runs `trips` times.
  struct Loop {
    relax::Op* op;
    relax::Block* block;
    Expr trips, iteration;
    std::vector<Value*> arguments;  ///< the carried values inside the body
  };

  /// Returns the numbers of an attribute, which must be `count`; zeros if it is absent.
  Result<Ints> numbers(const char* name, size_t count) {
    Ints list = node_.ints_attr(name, Ints(count, 0));
    if (list.size() != count)
      return node_.error(Kind::invalid_attribute, "{} has {} numbers for {} values", name, list.size(), count);
    return list;
  }

  Status read_body(size_t operands) {
    const onnx::AttributeProto* body = node_.attribute("body");
    if (body == nullptr || !body->has_g()) return node_.error(Kind::invalid_attribute, "it needs the graph body");
    body_ = &body->g();
    int64_t count = node_.int_attr("num_scan_inputs", 0);
    if (count < 1 || count > static_cast<int64_t>(operands) || body_->input_size() != static_cast<int>(operands))
      return node_.error(Kind::wrong_arity, "{} inputs, {} of them scanned, do not fit a body of {}", operands, count,
                         body_->input_size());
    states_ = operands - static_cast<size_t>(count);
    if (static_cast<size_t>(body_->output_size()) < states_)
      return node_.error(Kind::wrong_arity, "the body gives {} values for {} states", body_->output_size(), states_);
    return Done{};
  }

  /// Returns `value` with that extent along the axis; if it is not proven equal, a run-time check is added.
  Result<Value*> of_extent(Value* value, int64_t axis, Expr extent) {
    std::vector<Expr> dims = value->shape();
    if (arith::prove_equal(extent, dims[static_cast<size_t>(axis)], node_.facts())) return value;
    dims[static_cast<size_t>(axis)] = extent;
    relax::Info info = relax::tensor_info(node_.context(), std::move(dims), value->dtype());
    return node_.builder().match_cast(value, info, {});
  }

  Result<Value*> element(Value* value, int64_t axis, Expr at) {
    Value *begin = node_.shape({at}), *one = node_.shape({node_.index(1)});
    RELAXC_TRY(Value * part, node_.call("slice_part", {value, begin, one}, {{"axis", axis}}));
    return node_.call("squeeze", {part}, {{"axis", Ints{axis}}});
  }

  Loop open_loop(Expr trips, const std::vector<Value*>& carried) {
    relax::Function& function = node_.importer().function();
    std::vector<Value*> operands{node_.builder().prim(trips), nullptr};
    operands.insert(operands.end(), carried.begin(), carried.end());
    relax::Op* op = node_.builder().append(relax::OpKind::kLoop, operands);
    relax::Region* region = function.make_region(op);
    arith::Var iteration = node_.context().var("iteration");
    int64_t most = arith::bounds(trips, node_.facts()).upper;
    function.facts.bound(iteration, {0, most == INT64_MAX ? most : std::max<int64_t>(0, most - 1)});
    op->binds.push_back(iteration);
    function.make_argument(region, "iteration", relax::prim_info(node_.context(), DType::index(), iteration));
    Loop loop{op, nullptr, trips, iteration, {}};
    for (size_t i = 0; i < carried.size(); ++i)
      loop.arguments.push_back(
          function.make_argument(region, body_->input(static_cast<int>(i)).name(), carried[i]->info));
    loop.block = function.make_block(region, true);
    return loop;
  }

  /// Completes the loop, and returns its results: the first `carried` are final values, the others are stacked.
  Result<std::vector<Value*>> close_loop(const Loop& loop, const std::vector<Value*>& given, size_t carried) {
    relax::Op* yield = loop.op->regions[0]->yield;
    yield->add_operand(nullptr);
    std::vector<Value*> results;
    for (size_t i = 0; i < given.size(); ++i) {
      yield->add_operand(given[i]);
      std::vector<Expr> dims = given[i]->shape();
      if (i >= carried) RELAXC_DO(expect_one_size(node_, loop.op, dims, i));
      if (i >= carried) dims.insert(dims.begin(), loop.trips);
      relax::Info info = relax::tensor_info(node_.context(), std::move(dims), given[i]->dtype());
      results.push_back(node_.importer().function().make_result(loop.op, {}, info));
    }
    return results;
  }

  /// Emits the scan of operands without a batch dim at the insertion point, and returns its results.
  Result<std::vector<Value*>> scan(const std::vector<Value*>& operands) {
    std::vector<Value*> states(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(states_));
    size_t count = operands.size() - states_;
    RELAXC_TRY(Ints axes, numbers("scan_input_axes", count));
    RELAXC_TRY(Ints directions, numbers(node_.opset < 9 ? "directions" : "scan_input_directions", count));
    std::vector<Scanned> scanned;
    Expr trips;
    for (size_t i = 0; i < count; ++i) {
      Value* value = operands[states_ + i];
      RELAXC_TRY(int64_t axis, normal_axis(node_, axes[i], static_cast<int64_t>(value->shape().size())));
      if (!trips) trips = value->shape()[static_cast<size_t>(axis)];
      RELAXC_TRY(value, of_extent(value, axis, trips));
      scanned.push_back({value, axis, directions[i] != 0});
    }
    Expr most = trips;
    if (length_) {
      RELAXC_TRY(trips, shortened(most));
    }
    Loop loop = open_loop(trips, states);
    RELAXC_TRY(std::vector<Value*> given, convert_body(loop, scanned));
    RELAXC_TRY(std::vector<Value*> results, close_loop(loop, given, states_));
    for (size_t i = states_; length_ && i < results.size(); ++i) {
      std::vector<Expr> pads(2 * results[i]->shape().size(), node_.index(0));
      pads[pads.size() / 2] = node_.simplify(most - trips);
      RELAXC_TRY(results[i], node_.call("pad", {results[i], node_.shape(std::move(pads))}));
    }
    return arranged(std::move(results));
  }

  /// Returns the length of this member, checked at run time to be 0 to `most`; results after it stay 0.
  Result<Expr> shortened(Expr most) {
    Expr zero = node_.index(0);
    Expr fits = arith::logical_and(arith::le(zero, length_), arith::le(length_, most));
    Value* holds = node_.shape({arith::select(fits, node_.index(1), zero)});
    RELAXC_DO(node_.builder().match_cast(holds, relax::shape_info(node_.context(), {node_.index(1)}), {}));
    return node_.simplify(arith::max(zero, arith::min(length_, most)));
  }

  Result<std::vector<Value*>> convert_body(const Loop& loop, const std::vector<Scanned>& scanned) {
    std::vector<NamedValue> arguments;
    auto pass = [&](Value* value) {
      NamedValue slot;
      slot.value = value;
      arguments.push_back(std::move(slot));
    };
    for (Value* state : loop.arguments) pass(state);
    {
      GraphImporter::Inside inside(node_.importer(), loop.block);
      for (const Scanned& input : scanned) {
        Expr at = input.backward ? loop.trips - 1 - loop.iteration : loop.iteration;
        RELAXC_TRY(Value * part, element(input.value, input.axis, at));
        pass(part);
      }
    }
    RELAXC_TRY(std::vector<NamedValue> made, node_.importer().inline_graph(*body_, std::move(arguments), loop.block));
    std::vector<Value*> values;
    for (size_t i = 0; i < made.size(); ++i) {
      Value* value = made[i].value;
      if (i < states_) {
        const Value* before = loop.arguments[i];
        if (value->dtype() != before->dtype())
          return node_.error(Kind::dtype_mismatch, "state {} is {} before and {} after an iteration", i,
                             relax::to_string(before->info), relax::to_string(value->info));
        GraphImporter::Inside inside(node_.importer(), loop.block);
        RELAXC_TRY(value, with_shape(node_, value, before->shape(), fmt::format("state {}", i)));
      }
      values.push_back(value);
    }
    return values;
  }

  /// Returns the results with their leading, stacked dim reversed and moved as the attributes say.
  Result<std::vector<Value*>> arranged(std::vector<Value*> results) {
    size_t collected = results.size() - states_;
    RELAXC_TRY(Ints axes, numbers("scan_output_axes", collected));
    RELAXC_TRY(Ints directions, numbers("scan_output_directions", collected));
    for (size_t k = 0; k < collected; ++k) {
      RELAXC_TRY(results[states_ + k], turned(results[states_ + k], axes[k], directions[k] != 0));
    }
    return results;
  }

  Result<Value*> turned(Value* stacked, int64_t axis, bool backward) {
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

  Status set(const std::vector<Value*>& results) {
    for (size_t i = 0; i < results.size(); ++i)
      if (node_.wants(i)) RELAXC_DO(node_.set(i, results[i]));
    return Done{};
  }

  Node& node_;
  const onnx::GraphProto* body_ = nullptr;
  size_t states_ = 0;
  Expr length_;  ///< length of the current member, if sequence_lens is given
};

Status scan(Node& node) {
  ScanConverter converter(node);
  return node.opset < 9 ? converter.run_batched() : converter.run();
}

constexpr Converter kRows[] = {
    {.name = "Scan", .convert = scan, .since = 8, .note = "states must keep their shapes"},
};

}  // namespace
}  // namespace relaxc::frontend::scan_family

RELAXC_CONVERTERS(scan, kRows)
