// in_place_concat.cpp: concatenations that copy nothing.
//
// If the operands of a concatenation are contiguous in its result, the kernel that computes one of them can write it
// there directly. So before a region is lowered, every operand that a kernel of that region computes, and that has no
// other destination, gets its place in the result; the result is allocated with the first of them. Operands that cannot
// be placed (an input, a constant, an operand that occurs twice) are copied when the concatenation is reached. An
// operand that is computed long before is copied too, unless the concatenation asks for it in place.
//
// The offset of a part is the sum of the sizes before it. Where the sum has become long, a Let gives it a name, and the
// following offsets start from there: n open operands take n additions instead of n^2 / 2.
//
// A result in a state's memory is not written before the concatenation, since the state may still be read. One that the
// state grows into is: new rows go behind the old ones.
#include <algorithm>
#include <set>

#include "compiler/relax/name_dims.h"
#include "compiler/transform/concat_parts.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns the last few kernels, loops and concatenations before `concat`. A part that is made earlier would hold
/// memory for the whole result for a long time, which costs more than a copy.
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

/// Returns whether the result would be written over a state that may still be read.
bool overwrites_state(const HostLowering& host, const Op& concat) {
  BufferRef assigned = host.destinations.of(*concat.result());
  const std::vector<Output>& outputs = host.signature.outputs();
  return assigned != nullptr && std::any_of(outputs.begin(), outputs.end(), [&](const Output& output) {
           return output.buffer == assigned && output.pair >= 0 && output.append_axis < 0;
         });
}

/// Returns the value behind `made`, possibly through views, if its producer can write it to its place in a
/// concatenation; else null. `near` lists the producers that may do so; null allows all.
Value* placeable(const HostLowering& host, const Region& region, Value* made, const std::set<const Op*>* near) {
  if (!host.destinations.fits(*made)) return nullptr;
  bool promised = host.destinations.of(*made) != nullptr;
  while (made->op != nullptr && is_view(*made->op)) {
    made = made->op->operand(0);
    promised |= host.destinations.of(*made) != nullptr;
  }
  const Op* producer = made->op;
  if (promised || producer == nullptr || producer->block->parent != &region) return nullptr;
  if (host.destinations.part_of(*made) != nullptr) return nullptr;
  bool writes = producer->kind == OpKind::kLoop ? host.destinations.can_write(*made, region) == producer
                                                : producer->kind == OpKind::kCallTir && producer->binds.empty();
  const bool is_near = near == nullptr || near->count(producer) != 0;
  return (writes || contiguous_parts(*producer)) && is_near ? made : nullptr;
}

/// The byte offsets at which parts begin, in order; see above.
class PartOffsets {
 public:
  PartOffsets(HostLowering& host, const std::vector<Expr>& offsets) : host_(host), offsets_(offsets) {}

  /// Returns the offset of the next part, `operand`.
  Expr next(const Value& operand) {
    Expr offset = after_named_ ? after_named_ : host_.shapes.symbols().known(offsets_[at_]);
    if (is_large_dim(offset)) {
      Var name = host_.context().var("offset");
      host_.at.steps().let(name, offset);
      offset = after_named_ = name;
    }
    if (after_named_)
      after_named_ = offset + host_.shapes.elements_of(host_.shapes.dims(operand.info)) * operand.dtype().bytes();
    ++at_;
    return offset;
  }

 private:
  HostLowering& host_;
  const std::vector<Expr>& offsets_;
  size_t at_ = 0;
  Expr after_named_;  ///< the offset of the next part; null as long as none has a name
};

}  // namespace

void choose_parts(HostLowering& host, const Region& region) {
  const Symbols& symbols = host.shapes.symbols();
  for (Op* op : ops_of(region)) {
    std::optional<std::vector<Expr>> offsets = contiguous_parts(*op);
    if (!offsets || !op->requirements.empty() || !symbols.of_entry(relax_dims(op->result()->info))) continue;
    if (overwrites_state(host, *op)) continue;
    const bool anywhere = op->attrs.flag("in_place");
    const std::set<const Op*> near = anywhere ? std::set<const Op*>() : kernels_before(region, *op);
    for (size_t i = 0; i < offsets->size(); ++i) {
      Value* made = placeable(host, region, op->operand(i), anywhere ? nullptr : &near);
      // The offset of a part must be known when the part is made, which may be before the data is there.
      if (made != nullptr && symbols.of_entry(symbols.known((*offsets)[i])))
        host.destinations.place(*made, {op, (*offsets)[i]});
    }
  }
}

Status lower_concat(HostLowering& host, Op& op) {
  const std::vector<Expr> offsets = *contiguous_parts(op);
  PartOffsets known(host, offsets);
  BufferRef whole = host.destinations.whole_of(op);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Value* operand = op.operand(i);
    const Expr offset = known.next(*operand);
    const Value* made = operand;
    while (made->op != nullptr && is_view(*made->op) && host.destinations.part_of(*made) == nullptr)
      made = made->op->operand(0);
    const Destinations::Part* part = host.destinations.part_of(*made);
    if (part != nullptr && part->concat == &op && part->byte_offset == offsets[i]) continue;  // already in place
    BufferRef from = host.values.buffer(*operand);
    host.memory.copy(
        from, host.memory.view_as(whole, operand->name, operand->dtype(), host.shapes.dims(operand->info), offset));
  }
  host.values.slot(*op.result()).buffer = whole;
  return Done{};
}

}  // namespace relaxc::lower
