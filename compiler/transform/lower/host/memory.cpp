// memory.cpp: allocations, views and copies.
#include "compiler/transform/lower/host/memory.h"

namespace relaxc::lower {

using relax::Info;
using relax::ShapeInfo;

BufferRef Memory::allocate(const std::string& name, DType dtype, const std::vector<Expr>& shape) {
  const Symbols& symbols = shapes_.symbols();
  shapes_.require_extents(shape);
  if (symbols.of_entry(shape)) return at_.alloc(name, dtype, shape);
  Expr bound = symbols.bounded(shapes_.elements_of(shape));
  if (!bound) return heap_.claim(name, dtype, shape);
  return view_as(at_.alloc(name + "_room", dtype, {bound}), name, dtype, shape);
}

BufferRef Memory::in_memory(Info info, DType dtype, bool read) {
  std::vector<Expr> list = shapes_.symbols().known(numbers(info)), shape;
  if (info->as<ShapeInfo>() != nullptr) shape.push_back(build_.index(static_cast<int64_t>(list.size())));
  BufferRef memory = at_.alloc("scalars", dtype, shape);
  for (size_t k = 0; k < list.size() && read; ++k)
    at_.add(build_.store(memory, tir::Indices(shape.size(), build_.index(static_cast<int64_t>(k))),
                         arith::cast(dtype, list[k])));
  return memory;
}

BufferRef Memory::constant(const std::string& name, DType dtype, const std::vector<Expr>& shape,
                           const relax::ConstantRef& data) {
  BufferRef memory = build_.buffer(name, dtype, shape, tir::Scope::kWeights, WeightLayout::kAlignment);
  constants_.emplace_back(memory, shared_.weights.place(data));
  return memory;
}

tir::Stmt Memory::with_constants(tir::Stmt body) {
  for (auto constant = constants_.rbegin(); constant != constants_.rend(); ++constant)
    body = build_.view(constant->first, shared_.weights_buffer, build_.index(static_cast<int64_t>(constant->second)),
                       body);
  return body;
}

BufferRef Memory::view_as(BufferRef base, const std::string& name, DType dtype, std::vector<Expr> shape,
                          Expr byte_offset) {
  shapes_.require_extents(shape);
  BufferRef seen = build_.buffer(name, dtype, std::move(shape), base->scope, byte_offset ? 0 : base->alignment);
  at_.steps().view(seen, base, byte_offset ? byte_offset : build_.index(0));
  bases_[seen] = base;
  return seen;
}

/// Returns a view of `output` by its true dims instead of its bound's if its size depends on data.
BufferRef Memory::view_of_output(BufferRef output, const std::string& name, const std::vector<Expr>& shape) {
  auto limited = capacities_.find(output);
  if (limited != capacities_.end()) shapes_.require_room(shapes_.elements_of(shape), limited->second);
  shapes_.require_extents(shape);
  if (output->shape == shape && shapes_.symbols().of_entry(shape)) return output;
  return view_as(output, name, output->dtype, shape);
}

bool Memory::aliases(BufferRef buffer, BufferRef base) const {
  while (buffer != base) {
    auto it = bases_.find(buffer);
    if (it == bases_.end()) return false;
    buffer = it->second;
  }
  return true;
}

void Memory::copy(BufferRef from, BufferRef to) {
  tir::Invoke invoke = copy_call(shared_, from, to);
  invoke.trace_node = origins_.kernel(invoke.callee);
  at_.add(build_.invoke(std::move(invoke)));
}

}  // namespace relaxc::lower
