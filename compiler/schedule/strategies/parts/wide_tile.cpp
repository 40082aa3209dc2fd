// wide_tile.cpp: see wide_tile.h.
//
// Four products of a row and a column take two instructions of pairs. For a row that is already widened to 16 bits, the
// operands come by a load of two words, and for a column by a load and two instructions that widen its bytes. A tile of
// one column needs the fewest registers: a sum for each row, and two pairs of each operand.
//
// The rows are copied as the box that they are, or word by word in the order of the sums (interleave_words). In the
// second form a loop in assembly loads the words of two rows by one instruction, and has registers for one more row.
// But a convolution's taps are copied for each pixel that they belong to.
#include "compiler/schedule/strategies/parts/wide_tile.h"

#include <algorithm>

#include "compiler/arith/dot.h"
#include "compiler/schedule/primitives/fuse.h"
#include "compiler/schedule/primitives/interleave_words.h"
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
constexpr int64_t kMostRowsOfRun = 6;  ///< the same of a loop in assembly (ByteTileForm::kHalves)

/// How rows are copied, and how many.
struct WideForm {
  bool interleaved = false;
  int64_t rows = 0;
  double cycles = 0;  ///< of a product and its share of the copy
};

/// Whether the loop of the sums is in assembly if their words lie side by side.
bool loads_pairs_of_rows(const Draft& draft) {
  return byte_tile_form(*draft.target) == ByteTileForm::kHalves;
}

/// The cycles of a product in tiles of this many rows, of which `loads` instructions load the words.
double wide_product(int64_t rows, int64_t loads) {
  return static_cast<double>(2 * rows + loads + 3) / static_cast<double>(4 * rows);
}

/// The largest number of rows, at most `most`, that divides the extent; 0 if that is unknown.
int64_t rows_of(const Draft& draft, uint32_t loop, int64_t most) {
  const int64_t* extent = ReductionView(draft).extent(loop);
  int64_t rows = extent != nullptr ? most : 0;
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

/// Tries the forms on copies of the tree, for the least cycles; no rows if widening where bytes are read takes fewer.
class WideForms {
 public:
  WideForms(const Draft& draft, BufferRef bytes, uint32_t rows, uint32_t columns)
      : draft_(draft), bytes_(bytes), rows_(rows) {
    products_of_row_ =
        ReductionView(draft).terms() * kWord * static_cast<double>(*ReductionView(draft).extent(columns));
  }

  Legal<WideForm> least() {
    WideForm best{.cycles = draft_.target->narrow_product_cycles};
    const bool in_assembly = loads_pairs_of_rows(draft_);
    for (const bool interleaved : {true, false}) {
      if (interleaved && !in_assembly && draft_.reduction.reduced.size() > 1) continue;
      const int64_t count = rows_of(draft_, rows_, interleaved && in_assembly ? kMostRowsOfRun : kMostRows);
      if (count < 2) continue;
      RELAXC_STEP(const double copied, copied_bytes(interleaved, count));
      if (interleaved && in_assembly && draft_.options->little_memory && is_large(copied)) continue;
      const int64_t loads = interleaved && in_assembly ? (count + 1) / 2 : count;
      const double cycles = wide_product(count, loads) +
                            copied * draft_.target->byte_widen_cycles / (products_of_row_ * static_cast<double>(count));
      if (copied > 0 && cycles < best.cycles) best = {interleaved, count, cycles};
    }
    return best;
  }

 private:
  static constexpr double kWord = 4;

  /// Whether a window's copy of this many bytes takes more scratch memory than a program with a budget of RAM spares.
  bool is_large(double bytes) const {
    constexpr double kMostBytes = 1024;  // before they are widened to 16 bits
    return draft_.reduction.reduced.size() > 1 && bytes > kMostBytes;
  }

  /// Those of a tile; 0 if they cannot be copied in this form.
  Legal<double> copied_bytes(bool interleaved, int64_t count) const {
    Tree tree = draft_.tree;
    RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(tree, rows_, count));
    if (interleaved) {
      const Legal<InterleaveWords::Facts> facts = InterleaveWords{bytes_, parts[0].inner}.legal(tree);
      return facts ? kWord * static_cast<double>(facts->words()) : 0;
    }
    const Legal<WidenBytes::Facts> facts = WidenBytes{bytes_, {parts[0].inner}}.legal(tree);
    return facts ? elements(facts->copies[0].region) : 0;
  }

  const Draft& draft_;
  const BufferRef bytes_;
  const uint32_t rows_;
  double products_of_row_ = 0;
};

/// Makes one loop of those of the sum, as far as they are contiguous in what they read.
Legal<> fuse_steps(Draft& draft) {
  std::vector<uint32_t>& steps = draft.reduction.reduced;
  while (steps.size() > 1) {
    const Fuse fuse{steps[steps.size() - 2], steps.back()};
    if (!fuse.legal(draft.tree)) break;
    RELAXC_STEP(const uint32_t fused, apply(draft.tree, fuse));
    steps.pop_back(), steps.back() = fused;
  }
  return Done{};
}

}  // namespace

Legal<int64_t> tile_of_wide_rows(Draft& draft, uint32_t rows, uint32_t columns) {
  const BufferRef bytes = draft.reduction.words != nullptr ? bytes_of(draft) : nullptr;
  if (bytes == nullptr) return int64_t{0};
  RELAXC_STEP(const WideForm form, WideForms(draft, bytes, rows, columns).least());
  if (form.rows == 0) return int64_t{0};
  RELAXC_STEP(const std::vector<AxisPart> parts, split_axis(draft.tree, rows, form.rows));
  const uint32_t tile = parts[0].inner;
  if (form.interleaved)
    RELAXC_LEGAL(apply(draft.tree, InterleaveWords{bytes, tile}));
  else
    RELAXC_LEGAL(apply(draft.tree, WidenBytes{bytes, {tile}}));
  std::vector<BufferRef> packed;
  RELAXC_LEGAL(pack_along(draft, columns, 1, packed));
  if (form.interleaved) RELAXC_LEGAL(fuse_steps(draft));
  RELAXC_LEGAL(apply(draft.tree, Unroll{tile}));
  RELAXC_LEGAL(apply(draft.tree, Jam{tile}));
  for (BufferRef buffer : packed)
    RELAXC_LEGAL(apply(draft.tree, SimplifySubscripts{ReductionView(draft).current(buffer)}));
  return form.rows;
}

}  // namespace relaxc::schedule
