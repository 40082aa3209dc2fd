// quantized_io.cpp: keeps inputs and outputs as integers that a quantized network converts first or last.
//
// The problem: an exported quantized network takes floats, quantizes them first, and dequantizes its results last. A
// board whose sensor gives bytes, and whose program looks for the largest of ten results, pays for both: four times the
// memory of these tensors, and divisions in a kernel that may have no floating-point unit.
//
// The method: a float parameter whose uses are all quantizations by the same known numbers becomes their integer
// result; a float result that is a dequantization by known numbers becomes its integer operand. No other value is
// rounded, so quantize(x) before the call and (stored - zero_point) * scale after it give the same bits as the float
// interface did. The function keeps the numbers (Function::quantized), from which the tensors' specs and the header get
// them. A state stays as it is unless both of its ends change in the same way.
//
// Rejected: moving quantizations past transposes and paddings before them to reach the input. It would change which
// values the caller's program has to provide, which the model's author decided.
#include <algorithm>
#include <set>

#include "compiler/transform/graph/functions/tuple_leaves.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;
using tir::Quantization;

/// Returns the elements of a float32 constant; nothing for any other value.
std::optional<std::vector<float>> known_floats(const Value* value) {
  ConstantRef data = constant_of(value);
  if (data == nullptr || data->dtype() != DType::f(32)) return std::nullopt;
  std::vector<float> numbers;
  data->with_bytes([&](std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(float))
      numbers.push_back(static_cast<float>(decode_scalar(data->dtype(), bytes.data() + at)));
  });
  return numbers;
}

/// Returns the scales, zero points and axis of a `quantize` or `dequantize`; nothing if they are not known.
std::optional<Quantization> numbers_of(const Op& op, size_t rank) {
  Quantization q;
  std::optional<std::vector<float>> scale = known_floats(op.operand(1));
  if (!scale || scale->empty()) return std::nullopt;
  q.scale = *scale;
  q.zero_point.assign(q.scale.size(), 0);
  if (op.operand(2) != nullptr) {
    auto zero = known_integers(op.operand(2));
    if (!zero || (zero->size() != q.scale.size() && zero->size() != 1)) return std::nullopt;
    for (size_t i = 0; i < q.scale.size(); ++i)
      q.zero_point[i] = static_cast<int32_t>(zero->size() == 1 ? zero->front() : (*zero)[i]);
  }
  if (q.scale.size() == 1) return q;
  int64_t axis = op.attrs.integer("axis");
  q.axis = static_cast<int32_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  return q;
}

/// A tensor among the function's results, with tuples that are made for the return taken apart.
struct TensorPlace {
  Op* holder;  ///< the yield, or the tuple that is returned
  size_t operand;
  size_t index;  ///< index among the outputs of the object
};

class Border {
 public:
  explicit Border(Function& function) : function_(function) {}

  bool run() {
    list_results(*function_.body().yield);
    find_inputs();
    find_outputs();
    keep_states();
    for (auto& [index, argument] : arguments_)
      if (tensors_.inputs.count(index) != 0) store_input(*argument);
    for (const TensorPlace& result : results_)
      if (tensors_.outputs.count(result.index) != 0) store_output(result);
    if (tensors_.inputs.empty() && tensors_.outputs.empty()) return false;
    function_.quantized = tensors_;
    return true;
  }

 private:
  static size_t leaves(const Value& value) { return leaves_of({value.info}).size(); }

  void list_results(Op& holder) {
    for (size_t i = 0; i < holder.operands().size(); ++i) {
      Value* value = holder.operand(i);
      if (value->op != nullptr && value->op->kind == OpKind::kTuple && value->has_one_use()) {
        list_results(*value->op);
        continue;
      }
      results_.push_back({&holder, i, next_});
      next_ += leaves(*value);
    }
  }

  void find_inputs() {
    size_t index = 0;
    for (Value* argument : function_.body().arguments) {
      if (std::optional<Quantization> q = quantized(*argument)) {
        tensors_.inputs.emplace(index, std::move(*q));
        arguments_.emplace_back(index, argument);
      }
      index += leaves(*argument);
    }
  }

  /// Returns the quantization that all uses of the parameter apply; nothing if they differ or do anything else.
  static std::optional<Quantization> quantized(const Value& argument) {
    const auto* tensor = argument.info->as<TensorInfo>();
    if (tensor == nullptr || !tensor->shape || tensor->dtype != DType::f(32) || argument.unused()) return std::nullopt;
    std::optional<Quantization> common;
    DType stored;
    for (const Use& use : argument.uses()) {
      if (use.user->is_yield || use.index != 0 || !use.user->is("quantize")) return std::nullopt;
      std::optional<Quantization> q = numbers_of(*use.user, tensor->shape->size());
      if (!q || (common && (*common != *q || stored != use.user->result()->dtype()))) return std::nullopt;
      common = q;
      stored = use.user->result()->dtype();
    }
    return common;
  }

  /// Returns whether the value is a result itself, which has a name of its own already.
  bool is_result(const Value& value) const {
    return std::any_of(results_.begin(), results_.end(),
                       [&](const TensorPlace& place) { return place.holder->operand(place.operand) == &value; });
  }

  void find_outputs() {
    for (const TensorPlace& result : results_) {
      Value* value = result.holder->operand(result.operand);
      Op* op = producer_of(value, "dequantize");
      if (op == nullptr || value->dtype() != DType::f(32) || is_result(*op->operand(0))) continue;
      if (std::optional<Quantization> q = numbers_of(*op, value->shape().size()))
        tensors_.outputs.emplace(result.index, std::move(*q));
    }
  }

  /// Keeps both ends of a state alike: they are one tensor, so both are stored as integers or neither.
  void keep_states() {
    for (const State& state : function_.states) {
      std::optional<size_t> input = input_named(state.input), output = output_named(state.output);
      if (!input || !output) continue;  // lowering reports it
      auto from = tensors_.inputs.find(*input);
      auto to = tensors_.outputs.find(*output);
      if (from != tensors_.inputs.end() && to != tensors_.outputs.end() && from->second == to->second) continue;
      tensors_.inputs.erase(*input);
      tensors_.outputs.erase(*output);
    }
  }

  std::optional<size_t> input_named(const std::string& name) const {
    for (const auto& [index, argument] : arguments_)
      if (argument->name == name) return index;
    return std::nullopt;
  }

  std::optional<size_t> output_named(const std::string& name) const {
    const std::vector<std::string>& names = function_.output_names;
    for (const TensorPlace& result : results_)
      if ((result.index < names.size() ? names[result.index] : result.holder->operand(result.operand)->name) == name)
        return result.index;
    return std::nullopt;
  }

  /// Makes the parameter the stored tensor; its quantizations are erased, since they would quantize integers.
  void store_input(Value& argument) {
    std::set<const Op*> gone;
    for (const Use& use : argument.uses()) gone.insert(use.user);
    argument.info = argument.uses().front().user->result()->info;
    for (const Use& use : std::vector<Use>(argument.uses())) use.user->result()->replace_all_uses_with(&argument);
    erase_ops(function_.body(), [&](Op* op) { return gone.count(op) != 0; });
  }

  /// Makes the stored tensor the result, under the name that callers know.
  void store_output(const TensorPlace& result) {
    Value* real = result.holder->operand(result.operand);
    Value* stored = real->op->operand(0);
    if (stored->op != nullptr) stored->name = real->name;
    result.holder->set_operand(result.operand, stored);
    if (result.holder->is_yield) return;
    std::vector<Info> fields;
    for (const Value* field : result.holder->operands()) fields.push_back(field->info);
    result.holder->result()->info = tuple_info(function_.context(), std::move(fields));
  }

  Function& function_;
  size_t next_ = 0;
  std::vector<TensorPlace> results_;
  std::vector<std::pair<size_t, Value*>> arguments_;  ///< parameters that are quantized, with their index
  tir::QuantizedTensors tensors_;
};

}  // namespace

Result<Changed> quantized_io(Module& module, PassContext& context) {
  if (context.option(kQuantizedIo) == 0) return Changed::kNo;
  std::set<std::string> called;
  for (Function* function : module.functions())
    for (Op* op : ops_of(function->body(), true)) called.insert(op->callee);
  for (Function* function : module.functions()) {
    if (function->is_private || called.count(function->name) != 0) continue;
    if (!Border(*function).run())
      return context.diag.error(function->location, Kind::unsupported,
                                "no input of '{}' is only quantized, and no output only dequantized, by numbers that "
                                "are known: there is nothing that could stay quantized",
                                function->name);
  }
  return Changed::kYes;
}

}  // namespace relaxc
