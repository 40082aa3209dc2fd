// run_tile.cpp: see run_tile.h.
//
// Thumb in Cortex-M0 and M23 can multiply in eight registers only. With panels, whose columns are adjacent, their step
// and that of the other operand would differ; with one run per column, each needs an address, but one step serves all.
#include "compiler/schedule/strategies/parts/run_tile.h"

#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "targets/byte_tile.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kShortestRun = 8;  ///< minimum for which setting up sums and addresses pays

bool is_byte(Expr factor) {
  const auto* cast = factor.as<arith::Cast>();
  const auto* load = cast != nullptr ? cast->value.as<arith::Load>() : nullptr;
  return load != nullptr && (load->dtype == DType::u(8) || load->dtype == DType::i(8));
}

bool is_unsigned_byte(Expr factor) {
  return factor.as<arith::Cast>()->value.dtype() == DType::u(8);
}

/// Whether products of bytes, of which at least one is unsigned, are summed in int32.
bool sums_bytes(const tir::Store& store) {
  const Expr term = update_of(store).value;
  const auto* product = term ? term.as<arith::Mul>() : nullptr;
  if (product == nullptr || store.value.as<arith::Add>() == nullptr || store.buffer->dtype != DType::i(32))
    return false;
  return is_byte(product->a) && is_byte(product->b) && (is_unsigned_byte(product->a) || is_unsigned_byte(product->b));
}

/// Whether both operands advance by a byte along the innermost loop of the sum.
bool goes_by_bytes(const Draft& draft) {
  const ReductionView view(draft);
  const Expr var = view.var(draft.reduction.reduced.back());
  const BufferRef result = view.store().buffer;
  bool bytes = true;
  for_each_access(draft.tree.loop(draft.reduction.reduced.back()).body, [&](const Access& access) {
    if (access.buffer != result) bytes &= step_of(access.buffer, access.indices, var) == 1;
  });
  return bytes;
}

}  // namespace

Legal<bool> takes_runs(Draft& draft, uint32_t rows, uint32_t columns) {
  if (draft.options->small || byte_tile_form(*draft.target) != ByteTileForm::kThumb) return false;
  if (!sums_bytes(ReductionView(draft).store())) return false;
  const int64_t* run = ReductionView(draft).extent(draft.reduction.reduced.back());
  if (run == nullptr || *run < kShortestRun) return false;
  const Tree before = draft.tree;
  std::vector<BufferRef> packed;
  RELAXC_LEGAL(pack_in_order(draft, columns, packed));
  if (rows != 0) RELAXC_LEGAL(pack_in_order(draft, rows, packed));
  if (goes_by_bytes(draft)) return true;
  draft.tree = before;
  return false;
}

}  // namespace relaxc::schedule
