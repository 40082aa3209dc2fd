// lookup_table.cpp: see lookup_table.h.
//
// A quantized exp, or a GELU that an exporter has quantized after each of its steps, has one of 256 results, whatever
// it computes in between. From its last quantization the program is walked upwards, the latest operator first, so that
// all paths have joined again when only one value is left to visit: if that is a tensor of bytes, it determines the
// result. The farthest one is used. The table is computed by the same operators, so it has their bits.
//
// An operator with other users stays where it is, and computes for them what the table holds. Arithmetic alone is no
// reason for a table: fused with others, it takes one instruction for many bytes.
#include "compiler/transform/graph/quantization/lookup_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/arith/math.h"
#include "compiler/relax/op_def.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/graph/moves/transpose_sinking.h"
#include "compiler/transform/graph/quantization/quantized_operand.h"
#include "compiler/transform/graph/quantization/requantization.h"
#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {
namespace {

using namespace relax;

constexpr size_t kMostOperators = 32;  ///< in a function that becomes a table

/// Returns whether the definition calls a function that takes many instructions.
bool calls_function(Context& context, const Op& op) {
  bool found = false;
  tir::PrimFunc function = define_op(context, op, "asked");
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    for (arith::Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](arith::Expr node) {
        const auto* call = node.as<arith::Call>();
        found |= call != nullptr && arith::is_expandable(call->intrinsic);
      });
  });
  return found;
}

bool is_bytes(const Value& value) {
  return value.dtype().bits == 8 && value.dtype().is_integer();
}

/// Returns whether each element of the result is computed from the operands' elements at its own place.
bool keeps_places(Context& context, const Op& op) {
  auto is_tensor = [](const Value* v) { return v == nullptr || v->info->as<TensorInfo>() != nullptr; };
  const std::vector<Value*>& operands = op.operands();
  if (op.kind != OpKind::kOperator || !std::all_of(operands.begin(), operands.end(), is_tensor)) return false;
  if (op.is("quantize") || op.is("dequantize")) return quantization_parameters(op).has_value();
  return is_elementwise(context, op);
}

/// Returns whether `number` is one number that is known at compile time, possibly computed from constants.
bool is_number(Context& context, const Value* number) {
  std::vector<const Value*> pending{number};
  std::set<const Value*> seen;  // asked for membership only
  while (!pending.empty()) {
    const Value* value = pending.back();
    pending.pop_back();
    if (value == nullptr || !seen.insert(value).second) continue;
    if (value->op == nullptr || !is_single(*value)) return false;
    if (value->op->kind == OpKind::kConstant) continue;
    if (!keeps_places(context, *value->op)) return false;
    pending.insert(pending.end(), value->op->operands().begin(), value->op->operands().end());
  }
  return true;
}

/// A function of one tensor of bytes: its operators, the last first.
struct ByteFunction {
  Value* bytes = nullptr;
  std::vector<Op*> ops;
};

class Tables {
 public:
  Tables(Module& module, PassContext& context) : module_(module), context_(context) {}

  Result<Changed> run(Function& function) {
    Diagnostics& diag = context_.diag;
    std::vector<Op*> ops = ops_of(function.body(), true);
    for (size_t i = 0; i < ops.size(); ++i) position_[ops[i]] = i;
    Changed changed = Changed::kNo;
    for (size_t i = ops.size(); i-- > 0;) {
      Op& op = *ops[i];
      if (op.kind != OpKind::kOperator || !op.is("quantize") || op.result()->unused() || !is_bytes(*op.result()))
        continue;
      ByteFunction found = function_before(op);
      if (found.bytes == nullptr) continue;
      GraphBuilder b(module_, context_.ops, &op, diag);
      b.location = op.location;
      RELAXC_TRY(Value * looked_up, look_up(b, found));
      op.result()->replace_all_uses_with(looked_up);
      changed = Changed::kYes;
    }
    return changed;
  }

 private:
  /// Returns the longest one that ends with `last`, if an operator in it is expensive; else one without `bytes`.
  ByteFunction function_before(Op& last) {
    std::map<size_t, Op*> waiting{{position_.at(&last), &last}};
    std::set<Value*> arguments;  // values that are not walked through
    ByteFunction longest;
    std::vector<Op*> walked;
    bool expensive = false;
    while (!waiting.empty() && arguments.size() < 2 && walked.size() < kMostOperators) {
      Op* op = std::prev(waiting.end())->second;
      waiting.erase(std::prev(waiting.end()));
      if (!keeps_places(module_.context(), *op)) {
        arguments.insert(op->result());
      } else {
        walked.push_back(op);
        expensive |= calls_function(module_.context(), *op);
        for (Value* operand : op->operands()) {
          if (is_number(module_.context(), operand)) continue;
          auto at = operand->op == nullptr ? position_.end() : position_.find(operand->op);
          if (at != position_.end() && operand->op->results.size() == 1)
            waiting.emplace(at->second, operand->op);
          else
            arguments.insert(operand);
        }
      }
      if (!expensive || waiting.size() + arguments.size() != 1) continue;
      Value* alone = arguments.empty() ? waiting.begin()->second->result() : *arguments.begin();
      if (is_bytes(*alone) && alone->shape() == last.result()->shape()) longest = {alone, walked};
    }
    return longest;
  }

  Result<Value*> look_up(GraphBuilder& b, const ByteFunction& function) {
    std::vector<std::byte> all;
    for (int i = 0; i < 256; ++i) all.push_back(static_cast<std::byte>(i));
    std::map<const Value*, Value*> made;
    made[function.bytes] = b.constant(ConstantData::inline_bytes(function.bytes->dtype(), {256}, std::move(all)));
    for (size_t i = function.ops.size(); i-- > 0;) {
      const Op& op = *function.ops[i];
      std::vector<Value*> operands = op.operands();
      for (Value*& operand : operands) {
        if (operand == nullptr) continue;
        if (auto found = made.find(operand); found != made.end())
          operand = found->second;
        else if (!operand->shape().empty()) {
          RELAXC_TRY(operand, b.call("reshape", {operand, b.shape({})}));
        }
      }
      Attrs attrs = op.attrs;
      if (op.is("quantize") || op.is("dequantize")) attrs.set("axis", int64_t{0});  // scalars have no axis
      RELAXC_TRY(made[op.result()], b.call(op.def->name, operands, attrs));
    }
    Value* place = function.bytes;  // the index in the table: the bits of a byte, whatever its sign
    if (place->dtype().is_int()) {
      RELAXC_TRY(place, b.call("astype", {place}, {{"dtype", DType::u(8)}}));
    }
    const Value* result = function.ops.front()->result();
    return b.call("take", {made.at(result), place}, {{"axis", int64_t{0}}}, result->name);
  }

  Module& module_;
  PassContext& context_;
  std::unordered_map<const Op*, size_t> position_;
};

}  // namespace

Result<Changed> look_up_expensive_functions(Module& module, Function& function, PassContext& context) {
  return Tables(module, context).run(function);
}

}  // namespace relaxc
