// states.cpp: which outputs continue which inputs, and which ops read the old value.
#include "compiler/transform/lower/host/states.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/transform/concat_parts.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc::lower {

using namespace relax;

namespace {

template <typename Items>
std::string names_of(const Items& items) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : ", ") + item.name;
  return list.empty() ? "none" : list;
}

/// Returns the axis along which `output` appends to `input` in place: it is a concatenation of contiguous operands that
/// starts with the input. Returns nothing for any other output.
std::optional<int32_t> append_axis(const Input& input, const Output& output) {
  if (input.value == nullptr || !output.path.empty() || input.value->dtype() != output.value->dtype()) return {};
  const std::vector<Expr>&from = input.value->shape(), &to = output.value->shape();
  if (from.size() != to.size()) return {};
  size_t axis = 0;
  while (axis < to.size() && from[axis].is_constant(1) && to[axis].is_constant(1)) ++axis;
  if (axis == to.size() || !std::equal(from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end(),
                                       to.begin() + static_cast<std::ptrdiff_t>(axis) + 1))
    return {};
  const Value* first = with_viewed(*output.value).back();
  while (first->op != nullptr && contiguous_parts(*first->op)) first = with_viewed(*first->op->operand(0)).back();
  if (first != input.value) return {};
  return static_cast<int32_t>(axis);
}

/// Pairs the input and the output of one state.
class StatePair {
 public:
  StatePair(const Function& function, Signature& signature, Diagnostics& diag)
      : function_(function), inputs_(signature.inputs()), outputs_(signature.outputs()), diag_(diag) {}

  Status add(const State& state) {
    std::string pair = to_string(state);
    input_ = named(inputs_, state.input), output_ = named(outputs_, state.output);
    if (input_ == inputs_.end() || output_ == outputs_.end())
      return diag_.error(function_.location, Kind::invalid_value, "state '{}' names no {} of '{}'; they are: {}", pair,
                         input_ == inputs_.end() ? "input" : "output", function_.name,
                         input_ == inputs_.end() ? names_of(inputs_) : names_of(outputs_));
    if (input_->pair >= 0 || output_->pair >= 0)
      return diag_.error(function_.location, Kind::invalid_value,
                         "state '{}': one of the two already belongs to another state", pair);
    if (!same(input_->info, output_->info)) {
      std::optional<int32_t> axis = append_axis(*input_, *output_);
      if (!axis)
        return diag_.error(function_.location, Kind::shape_mismatch,
                           "state '{}' pairs {} with {}; both must be the same, or the output a concatenation that "
                           "continues the input along an axis with nothing but dims of 1 before it",
                           pair, to_string(input_->info), to_string(output_->info));
      input_->append_axis = output_->append_axis = *axis;
    }
    input_->pair = static_cast<int32_t>(output_ - outputs_.begin());
    output_->pair = static_cast<int32_t>(input_ - inputs_.begin());
    return Done{};
  }

 private:
  template <typename Items>
  static typename Items::iterator named(Items& items, const std::string& name) {
    return std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  }

  const Function& function_;
  std::vector<Input>& inputs_;
  std::vector<Output>& outputs_;
  Diagnostics& diag_;
  std::vector<Input>::iterator input_;
  std::vector<Output>::iterator output_;
};

}  // namespace

Status pair_states(const Function& function, Signature& signature, Diagnostics& diag) {
  for (const State& state : function.states) RELAXC_DO(StatePair(function, signature, diag).add(state));
  return Done{};
}

bool may_write_early(const Function& function, const Signature& signature, const Output& output, const Op& producer) {
  if (output.pair < 0 || output.append_axis >= 0) return true;
  const Input& state = signature.inputs()[static_cast<size_t>(output.pair)];
  if (state.value == nullptr) return false;  // part of a tuple
  std::set<const Value*> same_memory{state.value};
  bool after = false, safe = true;
  auto walk = [&](const Region& region, auto&& self) -> void {
    for (const Op* op : ops_of(region)) {
      after |= op == &producer;
      bool reads = false;
      for (const Value* operand : op->operands()) reads |= operand != nullptr && same_memory.count(operand) != 0;
      bool renames =
          is_view(*op) || contiguous_part(*op) || op->kind == OpKind::kTuple || op->kind == OpKind::kTupleGet;
      if (reads && renames)
        for (const Value* result : op->results) same_memory.insert(result);
      if (reads && !renames && after) safe = false;
      for (const Region* inner : op->regions) self(*inner, self);
    }
    for (const Value* result : region.results())
      if (result != nullptr && same_memory.count(result) != 0) safe = false;
  };
  walk(function.body(), walk);
  return safe;
}

}  // namespace relaxc::lower
