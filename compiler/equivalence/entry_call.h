// entry_call.h: calls an entry of a lowered module as the generic call of runtime-lite does.
#pragma once

#include <optional>

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/object.h"

namespace relaxc::equivalence {

/// What a caller gives besides the inputs.
struct EntryCallOptions {
  std::optional<int64_t> capacity;  ///< elements of each output without a size; else as `shapes` says, up to 2^20
  bool in_place = false;            ///< outputs paired with an input are in its memory
};

/// Solves symbols, runs `values`, `shapes`, `arena` and `call`, with memory of exact sizes between guard bytes. A write
/// beside the arena, a pool or an output is an InternalError. Before plan_memory the arena is empty.
Outcome call_entry(const relax::Module& module, const interface::Object& object, const interface::Entry& entry,
                   const std::vector<HostTensor>& inputs, tir::Evaluator& evaluator,
                   const EntryCallOptions& options = {});

}  // namespace relaxc::equivalence
