// entry_call.h: an entry of a lowered module, called as the generic call of runtime-lite does it.
#pragma once

#include <optional>

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/object.h"

namespace relaxc::equivalence {

/// What a caller gives beside the inputs.
struct EntryCallOptions {
  std::optional<int64_t> capacity;  ///< elements of each output without a size; if none, as many as `shapes` says
  bool in_place = false;            ///< outputs paired with an input get its memory
};

/// Solves symbols, asks `values`, `shapes` and `arena`, lends exactly that arena between two marked zones, and calls.
/// A write outside the arena is an InternalError. Before plan_memory the arena is empty and the body allocates.
Outcome call_entry(const relax::Module& module, const interface::Object& object, const interface::Entry& entry,
                   const std::vector<HostTensor>& inputs, tir::Evaluator& evaluator,
                   const EntryCallOptions& options = {});

}  // namespace relaxc::equivalence
