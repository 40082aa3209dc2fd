// destinations.cpp: which ops can write to a given destination, and which destination each gets.
//
// A copy remains for an input or a constant that is returned, one value returned twice, a result whose size its own
// kernel computes, and a state whose old value is still read while the new one is computed.
#include "compiler/transform/lower/host/destinations.h"

#include <algorithm>

#include "compiler/relax/op_def.h"
#include "compiler/transform/concat_parts.h"
#include "compiler/transform/lower/host/states.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns whether `value` is a scan output of a loop whose number of iterations is known before it starts.
bool is_stack_of_known_height(const Value& value) {
  const Op& op = *value.op;
  bool until = op.operand(0) == nullptr || op.operand(1) != nullptr || op.regions[0]->results()[0] != nullptr;
  return op.kind == OpKind::kLoop && !until && value.index + 2 >= op.operands().size();
}

/// Returns whether the op that makes `value` can write it to memory that is chosen beforehand.
bool writes_in_place(const Value& value) {
  const Op& op = *value.op;
  if (op.kind == OpKind::kLoop) return is_stack_of_known_height(value);
  if (op.kind == OpKind::kOperator) {
    bool by_host = op.def->role == Role::kHost || op.def->role == Role::kNode;
    return by_host || contiguous_parts(op);
  }
  bool calls = op.kind == OpKind::kCallTir || op.kind == OpKind::kIf || op.kind == OpKind::kCallInplace;
  if (op.kind == OpKind::kCallExternal)  // the function chooses the memory of results that it allocates
    calls = !op.attrs.has("returned") &&
            std::none_of(op.results.begin(), op.results.end(), [](const Value* result) { return is_handle(*result); });
  if (op.kind == OpKind::kCallFunction)
    return op.results.size() == 1 && op.result()->info->as<TensorInfo>() != nullptr && op.binds.empty();
  return calls && op.binds.empty();
}

}  // namespace

BufferRef Destinations::of(const Value& value) const {
  auto chosen = destinations_.find(&value);
  return chosen == destinations_.end() ? nullptr : chosen->second;
}

void Destinations::assign(Value& value, BufferRef target) {
  for (Value* one : with_viewed(value)) destinations_[one] = target;
}

bool Destinations::fits(const Value& value) const {
  for (const Op* op = value.op; op != nullptr && is_view(*op); op = op->operand(0)->op)
    if (!shapes_.is_size_known_before(*op)) return false;
  return true;
}

const Op* Destinations::can_write(Value& value, const Region& region) const {
  std::vector<Value*> chain = with_viewed(value);
  const Value& made = *chain.back();
  bool here = made.op != nullptr && made.op->block != nullptr && made.op->block->parent == &region;
  if (!here || !writes_in_place(made) || !fits(value)) return nullptr;
  if (made.op->kind == OpKind::kLoop && !shapes_.symbols().of_entry(shapes_.dims(made.info))) return nullptr;
  bool taken = std::any_of(chain.begin(), chain.end(), [&](Value* v) { return of(*v) != nullptr; });
  return taken ? nullptr : made.op;
}

std::vector<bool> Destinations::assign_targets(const Region& region, const std::vector<BufferRef>& targets) {
  const std::vector<Value*>& results = region.results();
  std::vector<bool> assigned(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (targets[i] == nullptr || results[i] == nullptr) continue;
    const Op* producer = can_write(*results[i], region);
    bool one_kernel = producer == results[i]->op && producer != nullptr && producer->kind == OpKind::kCallTir;
    assigned[i] = producer != nullptr && (one_kernel || shapes_.symbols().of_entry(targets[i]->shape));
    if (assigned[i]) assign(*results[i], targets[i]);
  }
  return assigned;
}

void Destinations::choose_outputs(const Function& function) {
  for (const Output& output : signature_.outputs()) {
    if (!output.path.empty() || output.info->as<TensorInfo>() == nullptr) continue;
    const Op* producer = can_write(*output.value, function.body());
    if (producer != nullptr && may_write_early(function, signature_, output, *producer))
      assign(*output.value, output.buffer);
  }
}

BufferRef Destinations::produce(const Value& value) {
  if (const Part* part = part_of(value)) {
    BufferRef whole = whole_of(*part->concat);
    const Expr offset = shapes_.symbols().known(part->byte_offset);
    return memory_.view_as(whole, value.name.empty() ? "part" : value.name, value.dtype(), shapes_.dims(value.info),
                           offset);
  }
  const std::string name = value.name.empty() ? "t" : value.name;
  std::vector<Expr> shape = shapes_.dims(value.info);
  BufferRef chosen = of(value);
  if (chosen == nullptr) return memory_.allocate(name, value.dtype(), shape);
  return view_of(chosen, name, shape);
}

BufferRef Destinations::view_of(BufferRef target, const std::string& name, const std::vector<Expr>& shape) {
  if (!shapes_.symbols().of_entry(shape))
    for (const Output& output : signature_.outputs())
      if (output.buffer == target) require_capacity(output, shape);
  return memory_.view_of_output(target, name, shape);
}

void Destinations::require_capacity(const Output& output, const std::vector<Expr>& shape) {
  const Symbols& symbols = shapes_.symbols();
  Expr needed = shapes_.elements_of(shape);
  // The capacity of an output with exact dims follows from them, whatever symbols the value has had before; for other
  // outputs, the caller states it in out_dims.
  std::vector<Expr> exact = shapes_.dims(output.info);
  Expr first = build_.index(static_cast<int64_t>(output.first_dim));
  Expr capacity = symbols.of_entry(exact) ? shapes_.elements_of(exact)
                                          : arith::cast(DType::index(), build_.load(signature_.out_dims(), {first}));
  tir::Guard record;
  record.condition = arith::le(needed, capacity);
  record.code = kDataCapacity;
  record.tensor =
      static_cast<int32_t>(signature_.inputs().size()) + static_cast<int32_t>(&output - signature_.outputs().data());
  record.expected = needed, record.actual = capacity;
  at_.add(build_.guard(std::move(record)));
}

const Destinations::Part* Destinations::part_of(const Value& value) const {
  auto part = parts_.find(&value);
  return part == parts_.end() ? nullptr : &part->second;
}

BufferRef Destinations::whole_of(Op& concat) {
  auto found = wholes_.find(&concat);
  if (found != wholes_.end()) return found->second;
  return wholes_[&concat] = produce(*concat.result());
}

}  // namespace relaxc::lower
