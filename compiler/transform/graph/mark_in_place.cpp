// mark_in_place.cpp: records which kernels may write their result over an operand.
//
// A kernel that computes every element of its result from the operand's element at the same index, and reads no other,
// can write to the operand's memory if the operand is not needed any more. Memory planning finds out whether it is;
// what the kernel allows must be read from its loops before a schedule transforms them.
//
// Of a kernel with several results, the last one may be in place if all of them are maps of elements of one shape: each
// nest then visits the elements in order, and the last one reads and writes after the others.
#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

bool buffers_agree_in_shape(const tir::Buffer& a, const tir::Buffer& b) {
  return a.dtype.bytes() == b.dtype.bytes() && a.dtype.bits >= 8 && b.dtype.bits >= 8 && a.strides.empty() &&
         b.strides.empty() && a.shape == b.shape;
}

/// Returns the nests of a kernel that only maps elements to elements; nothing for any other kernel.
std::vector<analysis::Nest> maps_of(const tir::PrimFunc& function) {
  std::vector<tir::BufferRef> temporaries;
  std::vector<analysis::Nest> nests;
  for (tir::Stmt part : analysis::parts_of(function, temporaries)) nests.push_back(analysis::as_nest(part));
  auto fits = [&](const analysis::Nest& nest) {
    return nest.block != nullptr && nest.store->buffer->shape == nests.back().store->buffer->shape &&
           analysis::maps_elements(nest);
  };
  return temporaries.empty() && std::all_of(nests.begin(), nests.end(), fits) ? nests : std::vector<analysis::Nest>();
}

/// Returns the indices of the parameters that the result, which is the last buffer, may overwrite.
std::vector<size_t> overwritable(const tir::PrimFunc& function) {
  std::vector<size_t> found;
  analysis::KernelShape shape = analysis::classify(function);
  std::vector<analysis::Nest> nests{shape.nest};
  if (!shape.before.empty()) nests = maps_of(function);
  if (nests.empty() || shape.reduces || !shape.temporaries.empty() || shape.pattern == analysis::Pattern::kOpaque)
    return found;
  tir::BufferRef result = shape.nest.store->buffer;
  for (size_t i = 0; i < function.params.size(); ++i) {
    tir::BufferRef buffer = function.params[i].buffer;
    bool written = std::any_of(nests.begin(), nests.end(), [&](const auto& n) { return n.store->buffer == buffer; });
    if (buffer == nullptr || written || !buffers_agree_in_shape(*buffer, *result)) continue;
    if (std::all_of(nests.begin(), nests.end(), [&](const auto& n) { return analysis::reads_at_own_index(n, buffer); }))
      found.push_back(i);
  }
  return found;
}

}  // namespace

Result<Changed> mark_in_place(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (tir::PrimFunc* function : module.prim_funcs()) {
    if (!function->is_private || !function->memory.in_place.empty()) continue;
    function->memory.in_place = overwritable(*function);
    if (!function->memory.in_place.empty()) changed = Changed::kYes;
  }
  return changed;
}

}  // namespace relaxc
