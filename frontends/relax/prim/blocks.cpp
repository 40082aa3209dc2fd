// blocks.cpp: see blocks.h.
#include "frontends/relax/prim/blocks.h"

#include <algorithm>
#include <utility>

#include "compiler/arith/visit.h"

namespace relaxc::frontend {

void Blocks::note_store(tir::BufferRef buffer, arith::Expr value, bool certain) {
  if (state_.block == nullptr) {
    note_written(buffer);
    return;
  }
  const bool first = std::find(state_.stored.begin(), state_.stored.end(), buffer) == state_.stored.end();
  state_.stored.push_back(buffer);
  if (!value) return;
  bool reads = false;
  arith::for_each_node(value, [&](arith::Expr node) {
    const auto* load = node.as<arith::Load>();
    reads |= load != nullptr && load->buffer == buffer;
  });
  if (reads && certain && first) state_.combined.push_back(buffer);
}

Blocks::Inside::Inside(Blocks& blocks, tir::Block& block, Place place, std::vector<arith::Expr> loops)
    : blocks_(blocks), with_axes_(blocks.with_axes_) {
  BlockState inner;
  inner.block = &block, inner.place = place, inner.loops = std::move(loops);
  inner.read = blocks.state_.read;
  inner.before = blocks.state_.before;
  inner.before.insert(inner.before.end(), blocks.state_.stored.begin(), blocks.state_.stored.end());
  outer_ = std::exchange(blocks.state_, std::move(inner));
}

Blocks::Inside::~Inside() {
  std::vector<tir::BufferRef> stored = std::move(blocks_.state_.stored);
  blocks_.state_ = std::move(outer_);
  blocks_.with_axes_ = with_axes_;
  for (tir::BufferRef buffer : stored) blocks_.note_written(buffer);
  blocks_.state_.stored.insert(blocks_.state_.stored.end(), stored.begin(), stored.end());
}

}  // namespace relaxc::frontend
