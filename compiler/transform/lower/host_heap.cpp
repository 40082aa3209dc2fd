// host_heap.cpp: memory for sizes that nobody can bound before the run.
//
// A block is two words in the arena, address and bytes, which functions of the runtime fill in; a buffer is
// then a View at that address. What is claimed is released after its last use, so a loop's iterations use the same
// memory in turn. A function that claims anything, or calls one that does, has the run's heap: an entry makes it,
// others are given it.
//
// Some results are claimed where they are written and live on elsewhere: those of branches, of loops and of callees.
// Their code is written for a room of unknown size; what looks into the room becomes a claim of the size seen there.
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

namespace {

constexpr int64_t kHeapWords = 59;  ///< RLX_HEAP_WORDS; tests/unit/lower compares
constexpr int64_t kBlockWords = 2;

}  // namespace

BufferRef HostFunction::heap() {
  if (heap_ == nullptr)
    heap_ =
        build_.buffer("heap", DType::i(64), {build_.index(kHeapWords)}, tir::Scope::kGlobal, WeightLayout::kAlignment);
  return heap_;
}

BufferRef HostFunction::block_buffer(const std::string& name) {
  return build_.buffer(name + "_block", DType::i(64), {build_.index(kBlockWords)}, tir::Scope::kGlobal,
                       WeightLayout::kAlignment);
}

BufferRef HostFunction::claimed_block(const std::string& name, Expr bytes) {
  BufferRef block = block_buffer(name);
  steps_->alloc(block);
  tir::Invoke invoke;
  invoke.callee = "rlx_heap_claim", invoke.external = invoke.runtime = true, invoke.error_node = node_of_call();
  invoke.args = {heap(), block, bytes};
  steps_->add(build_.invoke(std::move(invoke)));
  return block;
}

BufferRef HostFunction::empty_block(const std::string& name) {
  BufferRef block = block_buffer(name);
  steps_->alloc(block);
  for (int64_t word = 0; word < kBlockWords; ++word)
    steps_->add(build_.store(block, {build_.index(word)}, context().zero(DType::i(64))));
  return block;
}

tir::Stmt HostFunction::reserve(BufferRef block, Expr keep, Expr bytes) {
  tir::Invoke invoke;
  invoke.callee = "rlx_heap_reserve", invoke.external = invoke.runtime = true, invoke.error_node = node_of_call();
  invoke.args = {heap(), block, keep, bytes};
  return build_.invoke(std::move(invoke));
}

tir::Stmt HostFunction::release(BufferRef block) {
  tir::Invoke invoke;
  invoke.callee = "rlx_heap_release", invoke.external = invoke.runtime = true;
  invoke.args = {heap(), block};
  return build_.invoke(std::move(invoke));
}

Expr HostFunction::block_word(BufferRef block, int64_t word) {
  return arith::cast(DType::index(), build_.load(block, {build_.index(word)}));
}

BufferRef HostFunction::view_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape,
                                   Expr byte_offset) {
  Var address = context().var(name + "_at");
  steps_->let(address, block_word(block, 0));
  require_extents(shape);
  uint32_t alignment = byte_offset ? 0 : WeightLayout::kAlignment;
  BufferRef seen = build_.buffer(name, dtype, std::move(shape), tir::Scope::kGlobal, alignment);
  steps_->view(seen, nullptr, byte_offset ? address + byte_offset : Expr(address));
  return seen;
}

BufferRef HostFunction::own_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape) {
  BufferRef seen = view_block(block, name, dtype, std::move(shape));
  steps_->own(seen, release(block));
  return seen;
}

BufferRef HostFunction::claim(const std::string& name, DType dtype, const std::vector<Expr>& shape) {
  BufferRef block = claimed_block(name, bytes_of(dtype, shape));
  return own_block(block, name, dtype, shape);
}

Expr HostFunction::bytes_of(DType dtype, const std::vector<Expr>& shape) {
  return elements_of(shape) * dtype.bytes();
}

tir::Stmt HostFunction::claim_views(tir::Stmt body, BufferRef room, BufferRef block) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](tir::Stmt s) {
    const auto* view = s.as<tir::View>();
    if (view == nullptr || view->base != room) return s;
    RELAXC_CHECK(view->byte_offset.is_constant(0), "a part of a room of unknown size");
    Var address = context().var(view->buffer->name + "_at");
    tir::Stmt seen = build_.view(view->buffer, nullptr, address, view->body);
    Expr bytes = tir::byte_size(context(), *view->buffer);  // of extents, which making the view required
    return build_.seq({reserve(block, build_.index(0), bytes), build_.let(address, block_word(block, 0), seen)});
  };
  return tir::rewrite(context(), body, rewriter);
}

/// The heap begins where the entry does, and lies in its arena.
tir::Stmt HostFunction::with_own_heap(tir::Stmt body) {
  tir::Invoke begin;
  begin.callee = "rlx_heap_begin", begin.external = begin.runtime = true;
  begin.args = {heap_};
  return build_.alloc(heap_, build_.seq({build_.invoke(std::move(begin)), body}));
}

}  // namespace relaxc::lower
