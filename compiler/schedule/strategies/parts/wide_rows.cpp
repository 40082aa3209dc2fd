// wide_rows.cpp: see wide_rows.h.
//
// Products of pairs of 16-bit numbers (pmaddwd) need the even and the odd bytes of a word separately. A vector of the
// constant's words serves all rows of a tile, so separating it is shared. A word of a row serves only the one or two
// vectors of a tile's columns, and separating it takes two instructions of ten; with a copy of 16 bits per element it
// takes none. Measured on Zen 3, sums of 384 terms, 120 rows by 1536 columns, tiles of 6x2: 60 GMAC/s if bytes are read
// in place, 73 with the copy.
#include "compiler/schedule/strategies/parts/wide_rows.h"

#include <algorithm>

#include "compiler/arith/dot.h"
#include "compiler/schedule/primitives/split.h"
#include "compiler/schedule/primitives/widen_bytes.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kLeastColumns = 64;   ///< minimum for which copying a row pays
constexpr int64_t kLeastKnownRows = 4;  ///< minimum of a known number: with fewer, the constant is the bottleneck

/// The buffer of bytes that a sum of dot products reads.
BufferRef summed_bytes(const Draft& draft) {
  BufferRef found = nullptr;
  for_each_access(ReductionView(draft).summed(), [&](const Access& access) {
    if (access.buffer->dtype == DType::u(8) && !access.is_store) found = access.buffer;
  });
  return found;
}

bool is_along(const Draft& draft, uint32_t loop, BufferRef buffer) {
  const std::vector<BufferRef> all = ReductionView(draft).operands_along(loop);
  return std::find(all.begin(), all.end(), buffer) != all.end();
}

}  // namespace

bool gains_by_wide_rows(const Draft& draft, uint32_t rows, uint32_t columns) {
  const ReductionForm& form = draft.reduction;
  const Target& target = *draft.target;
  if (target.dots.of(target.vector_bits) != DotProduct::kPairs || form.words == nullptr) return false;
  if (rows == 0 || form.words_of.in_lanes || draft.in_blocks || form.sliding.vector != 0) return false;
  const ReductionView view(draft);
  const int64_t *height = view.extent(rows), *width = view.extent(columns);
  if (width == nullptr || *width < kLeastColumns || (height != nullptr && *height < kLeastKnownRows)) return false;
  const BufferRef bytes = summed_bytes(draft);
  return bytes != nullptr && is_along(draft, rows, bytes) && !is_along(draft, columns, bytes);
}

Legal<std::vector<AxisPart>> cut_wide_rows(Draft& draft, uint32_t rows, int64_t height) {
  const Tree before = draft.tree;
  WidenBytes widen{summed_bytes(draft), {}};
  RELAXC_STEP(std::vector<AxisPart> parts, split_axis(draft.tree, rows, height));
  for (AxisPart& part : parts) {
    if (part.inner == 0) {  // rows that remain are single
      RELAXC_STEP(const SplitLoops split, apply(draft.tree, Split{part.single, 1, Tail::kPeel}));
      part.inner = split.inner;
    }
    widen.loops.push_back(part.inner);
  }
  const Legal<WidenBytes::Facts> facts = widen.legal(draft.tree);
  if (!facts) {
    draft.tree = before;
    return std::vector<AxisPart>{};
  }
  RELAXC_LEGAL(apply(draft.tree, widen));
  return parts;
}

}  // namespace relaxc::schedule
