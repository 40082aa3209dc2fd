// mark_overlaps.cpp: records how far the result of each kernel must stay from operands that it overwrites.
//
// Memory planning finds out which operands end with a call, and lets the result overlap one of them. A kernel that does
// so is compiled without the assumption that the two are apart, which costs a few instructions where loads could
// otherwise come after stores. Machines of 64 bits have memory enough not to pay that.
//
// Most kernels go upwards through their operand and their result, so a result begins before its operand, and a chain of
// them would move to lower and lower addresses. Copies that make a tensor larger, such as those that put a border
// around an image, go downwards in place of that: the larger result then begins after its operand, and a convolution
// that takes the border away again returns to where the chain began.
#include <algorithm>

#include "compiler/analysis/overlaps.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using tir::Stmt;

/// Returns the loops of a kernel that is one nest of serial loops around a block of independent points, which it may
/// run in any order; none for any other kernel.
std::vector<const tir::For*> free_loops(const tir::PrimFunc& kernel) {
  std::vector<const tir::For*> loops;
  Stmt s = kernel.body;
  for (const auto* loop = s.as<tir::For>(); loop != nullptr; loop = s.as<tir::For>()) {
    if (loop->loop_kind != tir::LoopKind::kSerial) return {};
    loops.push_back(loop);
    s = loop->body;
  }
  const auto* block = s.as<tir::Block>();
  if (block == nullptr || block->init || block->body.as<tir::Store>() == nullptr) return {};
  for (const tir::IterVar& axis : block->iters)
    if (axis.iter_kind != tir::IterKind::kSpatial) return {};
  return loops;
}

/// Whether the result is larger than every operand.
bool makes_larger(const tir::PrimFunc& kernel) {
  const std::optional<size_t> result = kernel.result();
  if (!result) return false;
  const std::optional<int64_t> made = analysis::known_bytes(*kernel.params[*result].buffer);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const tir::BufferRef buffer = kernel.params[i].buffer;
    const std::optional<int64_t> bytes = buffer == nullptr ? std::nullopt : analysis::known_bytes(*buffer);
    if (!bytes || (i != *result && *bytes >= made)) return false;
  }
  return true;
}

/// Returns the nest with its outermost loop of several iterations run downwards. For all of them LLVM made up to four
/// times the code of a padding, of which it then unrolled or peeled more.
Stmt downwards(arith::Context& context, const std::vector<const tir::For*>& loops) {
  const auto outermost =
      std::find_if(loops.begin(), loops.end(), [](const tir::For* loop) { return !loop->extent.is_constant(1); });
  Stmt s = loops.back()->body;
  for (auto at = loops.rbegin(); at != loops.rend(); ++at) {
    tir::For loop = **at;
    if (outermost != loops.end() && *at == *outermost)
      s = tir::substitute(context, s, {{loop.var, loop.min * 2 + loop.extent - 1 - loop.var}});
    loop.body = s;
    s = Stmt(context.arena().make<tir::For>(std::move(loop)));
  }
  return s;
}

}  // namespace

Result<Changed> mark_overlaps(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  if (context.target.pointer_bits > 32) return changed;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    if (!kernel->is_private || kernel->is_host() || kernel->c_function || !kernel->noalias || kernel->memory.copies)
      continue;
    if (const std::vector<const tir::For*> loops = free_loops(*kernel); loops.size() > 1 && makes_larger(*kernel))
      kernel->body = downwards(module.context(), loops), changed = Changed::kYes;
    kernel->memory.overlaps = analysis::overlaps_of(*kernel);
    if (!kernel->memory.overlaps.empty()) changed = Changed::kYes;
  }
  return changed;
}

}  // namespace relaxc
