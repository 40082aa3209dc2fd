// host_results.cpp: where results are written.
//
// A result that a kernel makes and the function returns is written to the caller's memory at once; views on the way
// cost nothing. A copy remains for what cannot be: an input or a constant that is returned, one value returned twice,
// a result whose size its own kernel finds out, and a state whose old value is still read while the new one is made.
#include <algorithm>
#include <set>

#include "compiler/transform/concat_parts.h"
#include "compiler/transform/lower/host_function.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Whether a loop stacks what its iterations give, and knows how many there are before it begins.
bool is_stack_of_known_height(const Value& value) {
  const Op& op = *value.op;
  bool until = op.operand(0) == nullptr || op.operand(1) != nullptr || op.regions[0]->results()[0] != nullptr;
  return op.kind == OpKind::kLoop && !until && value.index + 2 >= op.operands().size();
}

/// Whether lowering lets what makes `value` write where it is told.
bool writes_where_told(const Value& value) {
  const Op& op = *value.op;
  if (op.kind == OpKind::kLoop) return is_stack_of_known_height(value);
  if (op.kind == OpKind::kOperator) return op.def->role == Role::kHost || contiguous_parts(op);
  bool calls = op.kind == OpKind::kCallTir || op.kind == OpKind::kIf || op.kind == OpKind::kCallInplace;
  if (op.kind == OpKind::kCallExternal)  // what the function makes itself lies where it says
    calls = !op.attrs.has("returned") &&
            std::none_of(op.results.begin(), op.results.end(), [](const Value* result) { return is_handle(*result); });
  if (op.kind == OpKind::kCallFunction)
    return op.results.size() == 1 && op.result()->info->as<TensorInfo>() != nullptr && op.binds.empty();
  return calls && op.binds.empty();
}

}  // namespace

/// The op in `region` that can write `value` where it is told as it makes it; null: there is none.
const Op* HostFunction::can_write(Value& value, const Region& region) const {
  std::vector<Value*> chain = with_viewed(value);
  const Value& made = *chain.back();
  bool here = made.op != nullptr && made.op->block != nullptr && made.op->block->parent == &region;
  if (!here || !writes_where_told(made)) return nullptr;
  if (made.op->kind == OpKind::kLoop && !symbols_.of_entry(shapes_.dims(made.info))) return nullptr;
  bool taken = std::any_of(chain.begin(), chain.end(), [&](Value* v) { return destinations_.count(v) != 0; });
  return taken ? nullptr : made.op;
}

void HostFunction::promise(Value& value, BufferRef target) {
  for (Value* one : with_viewed(value)) destinations_[one] = target;
}

void HostFunction::flatten_result(Value& value, Info info, std::vector<size_t> path, const std::string& name) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      bool made_here = path.empty() && value.op != nullptr && value.op->kind == OpKind::kTuple;
      std::string field = name + "_" + std::to_string(i);
      if (made_here) {
        Value& inner = *value.op->operand(i);
        flatten_result(inner, inner.info, {}, inner.name.empty() ? field : inner.name);
        continue;
      }
      std::vector<size_t> deeper = path;
      deeper.push_back(i);
      flatten_result(value, tuple->fields[i], deeper, field);
    }
    return;
  }
  outputs_.push_back({.name = name, .value = &value, .path = std::move(path), .info = info});
}

void HostFunction::list_outputs() {
  const std::vector<std::string>& names = function_.output_names;
  const std::vector<Value*>& results = function_.body().results();
  for (size_t i = 0; i < results.size(); ++i) {
    std::string fallback = results.size() == 1 ? "output" : "output_" + std::to_string(i);
    flatten_result(*results[i], results[i]->info, {}, results[i]->name.empty() ? fallback : results[i]->name);
  }
  for (size_t i = 0; i < outputs_.size() && i < names.size(); ++i) outputs_[i].name = names[i];
}

namespace {

template <typename Items>
std::string names_of(const Items& items) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "" : ", ") + item.name;
  return list.empty() ? "none" : list;
}

}  // namespace

/// The axis along which `output` continues `input`, if what it had stays where it was: a concatenation that begins with
/// the input, of parts that lie one behind the other.
std::optional<int32_t> HostFunction::append_axis(const Input& input, const Output& output) const {
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

Status HostFunction::pair_states() {
  Diagnostics& diag = this->diag();
  for (const std::string& pair : function_.states) {
    auto named = [](const std::string& name) { return [&name](const auto& item) { return item.name == name; }; };
    auto input = inputs_.end();
    auto output = outputs_.end();
    // Names may hold colons themselves.
    for (size_t colon = pair.find(':'); colon != std::string::npos; colon = pair.find(':', colon + 1)) {
      auto from = std::find_if(inputs_.begin(), inputs_.end(), named(pair.substr(0, colon)));
      auto to = std::find_if(outputs_.begin(), outputs_.end(), named(pair.substr(colon + 1)));
      if (from == inputs_.end() && input != inputs_.end()) continue;
      input = from, output = to;
      if (input != inputs_.end() && output != outputs_.end()) break;
    }
    if (input == inputs_.end() || output == outputs_.end())
      return diag.error(function_.location, Kind::invalid_value, "state '{}' names no {} of '{}'; they are: {}", pair,
                        input == inputs_.end() ? "input" : "output", function_.name,
                        input == inputs_.end() ? names_of(inputs_) : names_of(outputs_));
    if (input->pair >= 0 || output->pair >= 0)
      return diag.error(function_.location, Kind::invalid_value,
                        "state '{}': one of the two is in another state already", pair);
    if (!same(input->info, output->info)) {
      std::optional<int32_t> axis = append_axis(*input, *output);
      if (!axis)
        return diag.error(function_.location, Kind::shape_mismatch,
                          "state '{}' pairs {} with {}; both must be the same, or the output a concatenation that "
                          "continues the input along an axis with nothing but dims of 1 before it",
                          pair, to_string(input->info), to_string(output->info));
      input->append_axis = output->append_axis = *axis;
    }
    input->pair = static_cast<int32_t>(output - outputs_.begin());
    output->pair = static_cast<int32_t>(input - inputs_.begin());
  }
  return Done{};
}

/// Whether the memory of `output` may be written while `producer` runs: always, unless it may be the memory of a state
/// that is still read. What a state grows by lies behind all that was in it.
bool HostFunction::may_write_early(size_t output, const Op& producer) const {
  if (outputs_[output].pair < 0 || outputs_[output].append_axis >= 0) return true;
  const Input& state = inputs_[static_cast<size_t>(outputs_[output].pair)];
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
  walk(function_.body(), walk);
  return safe;
}

void HostFunction::choose_destinations() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.path.empty() || output.info->as<TensorInfo>() == nullptr) continue;
    const Op* producer = can_write(*output.value, function_.body());
    if (producer != nullptr && may_write_early(i, *producer)) promise(*output.value, output.buffer);
  }
}

void HostFunction::require_capacity(const Output& output, const std::vector<Expr>& shape) {
  if (symbols_.of_entry(shape)) return;
  Expr needed = shapes_.elements_of(shape);
  // An output of exact dims holds what they say, whatever the value was called on the way; only others tell their
  // capacity.
  std::vector<Expr> exact = shapes_.dims(output.info);
  Expr capacity =
      symbols_.of_entry(exact)
          ? shapes_.elements_of(exact)
          : arith::cast(DType::index(), build_.load(out_dims_, {build_.index(static_cast<int64_t>(output.first_dim))}));
  tir::Guard record;
  record.condition = arith::le(needed, capacity);
  record.code = kDataCapacity;
  record.tensor = static_cast<int32_t>(inputs_.size() + static_cast<size_t>(&output - outputs_.data()));
  record.expected = needed, record.actual = capacity;
  at_.add(build_.guard(std::move(record)));
}

Status HostFunction::write_output(Output& output, const Slot& from) {
  if (output.info->as<TensorInfo>() == nullptr) {
    std::vector<Expr> elements = symbols_.known(numbers(output.info));
    if (output.info->as<PrimInfo>() != nullptr && elements.empty()) elements = {build_.load(from.buffer, {})};
    for (size_t i = 0; i < elements.size(); ++i) {
      tir::Indices at(output.buffer->shape.size(), build_.index(static_cast<int64_t>(i)));
      at_.add(build_.store(output.buffer, at, arith::cast(output.buffer->dtype, elements[i])));
    }
    return Done{};
  }
  auto chosen = destinations_.find(output.value);
  if (output.path.empty() && chosen != destinations_.end() && chosen->second == output.buffer) return Done{};
  std::vector<Expr> shape = shapes_.dims(output.info);
  require_capacity(output, shape);
  memory_.copy(from.buffer, memory_.seen_as(output.buffer, output.name, shape));
  return Done{};
}

/// Copies read their sources before any state is overwritten, then write; last, the dims that data decided.
Status HostFunction::write_outputs() {
  std::vector<Slot> from;
  for (Output& output : outputs_) {
    Slot* at = &values_.slot(*output.value);
    for (size_t field : output.path) at = &at->fields.at(field);
    from.push_back(*at);
    auto reads = [&](const Input& input) {
      return input.pair >= 0 && input.pair != &output - outputs_.data() && memory_.aliases(at->buffer, input.buffer);
    };
    if (at->buffer == nullptr || std::none_of(inputs_.begin(), inputs_.end(), reads)) continue;
    BufferRef kept = memory_.allocate(output.name + "_kept", at->buffer->dtype, at->buffer->shape);
    memory_.copy(at->buffer, kept);
    from.back().buffer = kept;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) RELAXC_DO(write_output(outputs_[i], from[i]));
  for (const Output& output : outputs_) {
    std::vector<Expr> shape = output_dims(output);
    if (symbols_.of_entry(shape)) continue;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      Expr at = build_.index(static_cast<int64_t>(output.first_dim + axis));
      at_.add(build_.store(out_dims_, {at}, arith::cast(DType::i(64), shape[axis])));
    }
  }
  return Done{};
}

}  // namespace relaxc::lower
