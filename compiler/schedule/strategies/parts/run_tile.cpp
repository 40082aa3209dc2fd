// run_tile.cpp: see run_tile.h.
//
// Thumb's first version has eight registers that it multiplies in. Panels, whose columns are side by side, would need a
// step of their own beside that of the other operand; a run each needs an address each, and one step for all.
#include "compiler/schedule/strategies/parts/run_tile.h"

#include "compiler/schedule/strategies/parts/pack_constants.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "targets/byte_tile.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kShortestRun = 8;  ///< for which it pays to put sums and addresses in place

bool is_byte(Expr factor) {
  const auto* cast = factor.as<arith::Cast>();
  const auto* load = cast != nullptr ? cast->value.as<arith::Load>() : nullptr;
  return load != nullptr && (load->dtype == DType::u(8) || load->dtype == DType::i(8));
}

bool is_unsigned_byte(Expr factor) {
  return factor.as<arith::Cast>()->value.dtype() == DType::u(8);
}

/// Products of bytes, one of which is unsigned, are added in int32.
bool sums_bytes(const tir::Store& store) {
  const Expr term = update_of(store).value;
  const auto* product = term ? term.as<arith::Mul>() : nullptr;
  if (product == nullptr || store.value.as<arith::Add>() == nullptr || store.buffer->dtype != DType::i(32))
    return false;
  return is_byte(product->a) && is_byte(product->b) && (is_unsigned_byte(product->a) || is_unsigned_byte(product->b));
}

/// Along the innermost loop of the sum, both operands go on by a byte.
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
