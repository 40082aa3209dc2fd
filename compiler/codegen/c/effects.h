// effects.h: what code does to memory that is declared outside of it, for contracts (contracts.h).
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "compiler/codegen/c/conventions.h"
#include "compiler/interface/object.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

struct Effects {
  /// Buffers that are stored into, by the code or by what it calls, in the order of the code and each once. A view of a
  /// buffer that is declared outside counts as that buffer.
  std::vector<tir::BufferRef> stored;
  std::vector<const tir::View*> addressed;  ///< views of addresses that are computed at run time
  bool known = true;                        ///< whether that is all
};

/// \param callees the functions that may be called, with their effects
Effects effects_of(tir::Stmt code, const Conventions& callees);

/// Returns the statuses that a function returns besides 0; nothing if a function of others, or a hook, decides.
std::optional<std::set<int32_t>> statuses_of(const tir::PrimFunc& function, const Conventions& callees,
                                             const interface::Hooks& hooks);

/// Sets what `own`, the convention of `function`, says of effects.
void add_effects(const tir::PrimFunc& function, const Conventions& callees, const interface::Hooks& hooks,
                 Convention& own);

/// Returns the number of elements of a buffer; nothing if it is not fixed or not known.
std::optional<int64_t> elements_of(tir::BufferRef buffer);

}  // namespace relaxc::codegen_c
