// host_parts.cpp: concatenations that copy nothing.
//
// Where the operands of a concatenation lie one behind the other in its result, a kernel that makes one of them can
// write it there at once. So before a region is lowered, every operand that is made by a kernel of that region, and is
// not promised to another place, is given its place in the result; the result's memory comes into being with the first
// of them. What cannot be placed (an input, a constant, an operand that stands twice) is copied when the concatenation
// is reached.
//
// A result that is a state's memory is not written before the concatenation: the state may still be read. One that the
// state grows into is: what is new lies behind what was there.
#include <algorithm>
#include <set>

#include "compiler/transform/concat_parts.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// The last kernels, loops and concatenations before `concat`. A part that is made earlier would keep room for the
/// whole result for a long time, which costs more than a copy.
std::set<const Op*> kernels_before(const Region& region, const Op& concat) {
  constexpr size_t kNear = 8;
  std::set<const Op*> near;
  std::vector<Op*> ops = ops_of(region);
  auto at = std::find(ops.begin(), ops.end(), &concat);
  while (at != ops.begin() && near.size() < kNear)
    if (const Op* op = *--at; op->kind == OpKind::kCallTir || op->kind == OpKind::kLoop || contiguous_parts(*op))
      near.insert(op);
  return near;
}

}  // namespace

void HostFunction::choose_parts(const Region& region) {
  for (Op* op : ops_of(region)) {
    std::optional<std::vector<Expr>> offsets = contiguous_parts(*op);
    if (!offsets || !op->requirements.empty() || !symbols_.of_entry(relax_dims(op->result()->info))) continue;
    auto told = destinations_.find(op->result());
    bool state =
        told != destinations_.end() && std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
          return output.buffer == told->second && output.pair >= 0 && output.append_axis < 0;
        });
    if (state) continue;
    std::set<const Op*> near = kernels_before(region, *op);
    for (size_t i = 0; i < offsets->size(); ++i) {
      // Where a part begins must be known when it is made, which may be before the data tells.
      if (!symbols_.of_entry(symbols_.known((*offsets)[i]))) continue;
      Value* made = op->operand(i);
      bool promised = destinations_.count(made) != 0;
      while (made->op != nullptr && is_view(*made->op)) {
        made = made->op->operand(0);
        promised |= destinations_.count(made) != 0;
      }
      const Op* producer = made->op;
      if (promised || producer == nullptr || producer->block->parent != &region || parts_.count(made) != 0) continue;
      bool writes = producer->kind == OpKind::kLoop ? can_write(*made, region) == producer
                                                    : producer->kind == OpKind::kCallTir && producer->binds.empty();
      if ((!writes && !contiguous_parts(*producer)) || near.count(producer) == 0) continue;
      parts_[made] = {op, (*offsets)[i]};
    }
  }
}

/// The memory of a concatenation's result, from the first time that somebody asks.
BufferRef HostFunction::whole_of(Op& concat) {
  auto found = wholes_.find(&concat);
  if (found != wholes_.end()) return found->second;
  return wholes_[&concat] = produce(*concat.result());
}

BufferRef HostFunction::produce_part(const Value& value) {
  auto part = parts_.find(&value);
  if (part == parts_.end()) return nullptr;
  return memory_.view_as(whole_of(*part->second.concat), value.name.empty() ? "part" : value.name, value.dtype(),
                         shapes_.dims(value.info), symbols_.known(part->second.byte_offset));
}

Status HostFunction::lower_concat(Op& op) {
  std::vector<Expr> offsets = *contiguous_parts(op);
  BufferRef whole = whole_of(op);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Value* operand = op.operand(i);
    const Value* made = operand;
    while (made->op != nullptr && is_view(*made->op) && parts_.count(made) == 0) made = made->op->operand(0);
    auto part = parts_.find(made);
    bool in_place = part != parts_.end() && part->second.concat == &op && part->second.byte_offset == offsets[i];
    if (in_place) continue;
    Expr offset = symbols_.known(offsets[i]);
    memory_.copy(values_.buffer(*operand),
                 memory_.view_as(whole, operand->name, operand->dtype(), shapes_.dims(operand->info), offset));
  }
  values_.slot(*op.result()).buffer = whole;
  return Done{};
}

}  // namespace relaxc::lower
