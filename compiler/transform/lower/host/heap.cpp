// heap.cpp: calls of the runtime's heap, and views of the memory that it returns.
#include "compiler/transform/lower/host/heap.h"

#include "compiler/tir/runtime_functions.h"
#include "compiler/tir/visit.h"

namespace relaxc::lower {

Expr block_word(tir::Builder& build, BufferRef block, int64_t word) {
  return arith::cast(DType::index(), build.load(block, {build.index(word)}));
}

BufferRef Heap::buffer() {
  if (heap_ == nullptr) heap_ = at_.arena_buffer("heap", DType::i(64), {build_.index(tir::kHeapWords)});
  return heap_;
}

BufferRef Heap::block_buffer(const std::string& name) {
  return at_.arena_buffer(name + "_block", DType::i(64), {build_.index(tir::kBlockWords)});
}

BufferRef Heap::claimed_block(const std::string& name, Expr bytes) {
  BufferRef block = block_buffer(name);
  at_.alloc(block);
  tir::Invoke invoke;
  invoke.callee = tir::runtime_name(tir::RuntimeFunction::kHeapClaim), invoke.external = invoke.runtime = true,
  invoke.error_node = origins_.of_call();
  invoke.args = {buffer(), block, bytes};
  at_.add(build_.invoke(std::move(invoke)));
  return block;
}

BufferRef Heap::empty_block(const std::string& name) {
  BufferRef block = block_buffer(name);
  at_.alloc(block);
  for (int64_t word = 0; word < tir::kBlockWords; ++word)
    at_.add(build_.store(block, {build_.index(word)}, at_.context().zero(DType::i(64))));
  return block;
}

tir::Stmt Heap::reserve(BufferRef block, Expr keep, Expr bytes) {
  tir::Invoke invoke;
  invoke.callee = tir::runtime_name(tir::RuntimeFunction::kHeapReserve), invoke.external = invoke.runtime = true,
  invoke.error_node = origins_.of_call();
  invoke.args = {buffer(), block, keep, bytes};
  return build_.invoke(std::move(invoke));
}

tir::Stmt Heap::release(BufferRef block) {
  tir::Invoke invoke;
  invoke.callee = tir::runtime_name(tir::RuntimeFunction::kHeapRelease), invoke.external = invoke.runtime = true;
  invoke.args = {buffer(), block};
  return build_.invoke(std::move(invoke));
}

void Heap::swap_blocks(BufferRef a, BufferRef b) {
  for (int64_t word = 0; word < tir::kBlockWords; ++word) {
    Var kept = at_.context().var("kept", DType::i(64));
    at_.let(kept, build_.load(a, {build_.index(word)}));
    at_.add(build_.store(a, {build_.index(word)}, build_.load(b, {build_.index(word)})));
    at_.add(build_.store(b, {build_.index(word)}, kept));
  }
}

BufferRef Heap::view_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape,
                           Expr byte_offset) {
  Var address = at_.context().var(name + "_at");
  at_.let(address, block_word(build_, block, 0));
  shapes_.require_extents(shape);
  uint32_t alignment = byte_offset ? 0 : WeightLayout::kAlignment;
  BufferRef seen = build_.buffer(name, dtype, std::move(shape), tir::Scope::kGlobal, alignment);
  at_.steps().view(seen, nullptr, byte_offset ? address + byte_offset : Expr(address));
  return seen;
}

BufferRef Heap::own_block(BufferRef block, const std::string& name, DType dtype, std::vector<Expr> shape) {
  BufferRef seen = view_block(block, name, dtype, std::move(shape));
  at_.steps().own(seen, release(block));
  return seen;
}

BufferRef Heap::claim(const std::string& name, DType dtype, const std::vector<Expr>& shape) {
  BufferRef block = claimed_block(name, shapes_.bytes_of(dtype, shape));
  return own_block(block, name, dtype, shape);
}

tir::Stmt Heap::claim_views(tir::Stmt body, BufferRef room, BufferRef block) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](tir::Stmt s) {
    const auto* view = s.as<tir::View>();
    if (view == nullptr || view->base != room) return s;
    RELAXC_CHECK(view->byte_offset.is_constant(0), "a part of a room of unknown size");
    Var address = at_.context().var(view->buffer->name + "_at");
    tir::Stmt seen = build_.view(view->buffer, nullptr, address, view->body);
    Expr bytes = tir::byte_size(at_.context(), *view->buffer);  // not negative: the view required its extents
    return build_.seq(
        {reserve(block, build_.index(0), bytes), build_.let(address, block_word(build_, block, 0), seen)});
  };
  return tir::rewrite(at_.context(), body, rewriter);
}

tir::Stmt Heap::begun_around(tir::Stmt body) {
  tir::Invoke begin;
  begin.callee = tir::runtime_name(tir::RuntimeFunction::kHeapBegin), begin.external = begin.runtime = true;
  begin.args = {heap_};
  return build_.alloc(heap_, build_.seq({build_.invoke(std::move(begin)), body}));
}

}  // namespace relaxc::lower
