// graph.cpp: links values, ops, blocks and regions, and maintains use-lists.
#include "compiler/relax/graph.h"

#include <algorithm>

#include "compiler/relax/op_def.h"

namespace relaxc::relax {

void Value::replace_all_uses_with(Value* other) {
  RELAXC_CHECK(other != this, "a value cannot replace itself");
  std::vector<Use> uses = uses_;
  for (const Use& use : uses) use.user->set_operand(use.index, other);
}

const TensorInfo& Value::tensor() const {
  const auto* tensor = info->as<TensorInfo>();
  RELAXC_CHECK(tensor != nullptr && tensor->shape && tensor->dtype,
               "'" + name + "' is not a tensor of known shape and dtype");
  return *tensor;
}

const std::vector<Value*>& Region::results() const {
  return yield->operands();
}

void Op::set_operand(size_t index, Value* value) {
  RELAXC_CHECK(index < operands_.size(), "no such operand");
  Value* before = operands_[index];
  if (before == value) return;
  if (before != nullptr)
    std::erase_if(before->uses_, [&](const Use& use) { return use.user == this && use.index == index; });
  operands_[index] = value;
  if (value != nullptr) value->uses_.push_back({this, static_cast<uint32_t>(index)});
}

void Op::add_operand(Value* value) {
  operands_.push_back(nullptr);
  set_operand(operands_.size() - 1, value);
}

void Op::drop_operands() {
  // Each value is asked once: one that an op reads n times would go through its uses n times.
  std::vector<Value*> values = std::move(operands_);
  operands_.clear();
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (Value* value : values)
    if (value != nullptr) std::erase_if(value->uses_, [&](const Use& use) { return use.user == this; });
}

bool Op::is(OpName name) const {
  return kind == OpKind::kOperator && def != nullptr && def->name == name;
}

Function::Function(Context& context, std::string name) : name(std::move(name)), context_(context) {
  body_ = make_region(nullptr);
}

Region* Function::make_region(Op* parent) {
  Region* region = arena_.make<Region>();
  region->parent_op = parent;
  region->function = this;
  region->yield = make_op(OpKind::kTuple, nullptr);
  region->yield->is_yield = true;
  if (parent != nullptr) parent->regions.push_back(region);
  return region;
}

Block* Function::make_block(Region* region, bool dataflow) {
  Block* block = arena_.make<Block>();
  block->dataflow = dataflow;
  block->parent = region;
  region->blocks.push_back(block);
  return block;
}

Value* Function::make_argument(Region* region, std::string name, Info info) {
  Value* value = arena_.make<Value>();
  value->id = next_id_++;
  value->name = std::move(name);
  value->info = info;
  value->region = region;
  value->index = static_cast<uint32_t>(region->arguments.size());
  region->arguments.push_back(value);
  return value;
}

Op* Function::make_op(OpKind kind, Location location) {
  Op* op = arena_.make<Op>();
  op->id = next_id_++;
  op->kind = kind;
  op->location = location;
  return op;
}

Value* Function::make_result(Op* op, std::string name, Info info) {
  Value* value = arena_.make<Value>();
  value->id = next_id_++;
  value->name = std::move(name);
  value->info = info;
  value->op = op;
  value->index = static_cast<uint32_t>(op->results.size());
  op->results.push_back(value);
  return value;
}

std::vector<Op*> ops_of(const Region& region, bool nested) {
  std::vector<Op*> out;
  auto walk = [&](const Region& r, auto&& self) -> void {
    for (Block* block : r.blocks)
      for (Op* op : block->ops) {
        out.push_back(op);
        if (nested)
          for (Region* inner : op->regions) self(*inner, self);
      }
  };
  walk(region, walk);
  return out;
}

void erase_ops(Region& region, const std::function<bool(Op*)>& dead, bool nested) {
  for (Block* block : region.blocks) {
    for (Op* op : block->ops) {
      if (!dead(op)) {
        if (nested)
          for (Region* inner : op->regions) erase_ops(*inner, dead, true);
        continue;
      }
      for (Region* inner : op->regions) {
        inner->yield->drop_operands();
        erase_ops(*inner, [](Op*) { return true; });
      }
    }
    // Users are removed before the ops that they use, so that a value has no uses any more when it is destroyed.
    for (auto it = block->ops.rbegin(); it != block->ops.rend(); ++it) {
      if (!dead(*it)) continue;
      for (Value* value : (*it)->results) RELAXC_CHECK(value->unused(), "'" + value->name + "' is erased but used");
      (*it)->drop_operands();
      (*it)->block = nullptr;
    }
    std::erase_if(block->ops, [](Op* op) { return op->block == nullptr; });
  }
}

}  // namespace relaxc::relax
