// wide_tile.cpp: see wide_tile.h.
//
// Four products of a row and a column take two instructions of pairs. For a row that is already widened to 16 bits, the
// operands come by a load of two words, and for a column by a load and two instructions that widen its bytes. A tile of
// one column needs the fewest registers: a sum for each row, and two pairs of each operand.
#include "compiler/schedule/strategies/parts/wide_tile.h"

#include <algorithm>

#include "compiler/arith/dot.h"
#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/simplify_subscripts.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/primitives/widen_bytes.h"
#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/tir/dot_word.h"
#include "targets/byte_tile.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kMostRows = 5;  ///< maximum whose sums fit registers with two operands, two addresses and a counter
constexpr int64_t kMostRowsOfRun = 6;    ///< the same of a loop in assembly (ByteTileForm::kHalves)
constexpr double kWidenCycles = 2.75;    ///< of a byte: load, store, and a share of the loop
constexpr double kNarrowProduct = 1.25;  ///< cycles of a product in 2x2 tiles that widen their input

/// The cycles of a product in tiles of this many rows.
double wide_product(int64_t rows) {
  const auto n = static_cast<double>(rows);
  return (3 * n + 3) / (4 * n);
}

/// Whether the sum is one run, whose rows are widened side by side: its loop is in assembly.
bool sums_one_run(const Draft& draft) {
  return byte_tile_form(*draft.target) == ByteTileForm::kHalves && draft.reduction.reduced.size() == 1;
}

/// The largest number of rows that the registers hold and that divides the extent; 0 if it is unknown.
int64_t rows_of(const Draft& draft, uint32_t loop) {
  const int64_t* extent = ReductionView(draft).extent(loop);
  int64_t rows = extent != nullptr ? (sums_one_run(draft) ? kMostRowsOfRun : kMostRows) : 0;
  while (rows > 0 && *extent % rows != 0) --rows;
  return rows;
}

/// The buffer of bytes that the sum reads.
BufferRef bytes_of(const Draft& draft) {
  const std::optional<arith::Dot4> dot = arith::as_dot4(update_of(ReductionView(draft).store()).value);
  const arith::Load* first = dot ? tir::word_of(*dot) : nullptr;
  return first != nullptr ? first->buffer : nullptr;
}

double elements(const Region& region) {
  double count = 1;
  for (int64_t extent : region.extent) count *= static_cast<double>(extent);
  return count;
}

}  // namespace

Legal<int64_t> tile_of_wide_rows(Draft& draft, uint32_t rows, uint32_t columns) {
  constexpr int64_t kWord = 4;
  const ReductionView view(draft);
  const BufferRef bytes = draft.reduction.words != nullptr ? bytes_of(draft) : nullptr;
  const int64_t count = rows_of(draft, rows);
  if (bytes == nullptr || count < 2) return int64_t{0};
  const double products = view.terms() * static_cast<double>(kWord * count * *view.extent(columns));
  const Tree before = draft.tree;
  RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(draft.tree, rows, count));
  const WidenBytes widen{bytes, {parts[0].inner}};
  const Legal<WidenBytes::Facts> facts = widen.legal(draft.tree);
  if (!facts || products * (kNarrowProduct - wide_product(count)) < elements(facts->copies[0].region) * kWidenCycles) {
    draft.tree = before;
    return int64_t{0};
  }
  std::vector<BufferRef> packed;
  RELAXC_LEGAL(apply(draft.tree, widen));
  RELAXC_LEGAL(pack_along(draft, columns, 1, packed));
  RELAXC_LEGAL(apply(draft.tree, Unroll{parts[0].inner}));
  RELAXC_LEGAL(apply(draft.tree, Jam{parts[0].inner}));
  for (BufferRef buffer : packed) RELAXC_LEGAL(apply(draft.tree, SimplifySubscripts{buffer}));
  return count;
}

}  // namespace relaxc::schedule
